// The library libstrata_gloo.so: bytes by Gloo's transports over TCP. It uses nothing of Strata but
// the interface of bulk.h.
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <exception>
#include <utility>
#include <vector>

#include "strata/runtime/distributed/bulk.h"

namespace strata::runtime::distributed {
namespace {

/// Longer than anything that is waited for: who has died is told elsewhere, and ends the wait.
constexpr std::chrono::hours kForEver{24 * 365};

class GlooMove final : public Move {
 public:
  GlooMove(std::unique_ptr<gloo::transport::UnboundBuffer> buffer, bool receives)
      : buffer_(std::move(buffer)), receives_(receives) {}
  std::string wait() override {
    try {
      const bool done =
          receives_ ? buffer_->waitRecv(nullptr, kForEver) : buffer_->waitSend(nullptr, kForEver);
      return done ? "" : "it was given up";
    } catch (const std::exception& e) {
      return e.what();
    }
  }
  void abort() override { receives_ ? buffer_->abortWaitRecv() : buffer_->abortWaitSend(); }

 private:
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer_;
  const bool receives_;
};

class FailedMove final : public Move {
 public:
  explicit FailedMove(std::string why) : why_(std::move(why)) {}
  std::string wait() override { return why_; }
  void abort() override {}

 private:
  std::string why_;
};

class GlooBulk final : public Bulk {
 public:
  GlooBulk(const char* own_address, int process, int processes, const Exchange& exchange)
      : device_(gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr(own_address))),
        context_(device_->createContext(process, processes)) {
    context_->setTimeout(std::chrono::seconds(60));  // to connect
    const auto key = [](int from, int to) {
      return "strata/gloo/" + std::to_string(from) + "/" + std::to_string(to);
    };
    for (int other = 0; other < processes; ++other) {
      if (other == process) continue;
      const std::vector<char> address = context_->createPair(other)->address().bytes();
      exchange.set(key(process, other), std::string(address.begin(), address.end()));
    }
    for (int other = 0; other < processes; ++other) {
      if (other == process) continue;
      const std::string address = exchange.get(key(other, process));
      context_->getPair(other)->connect(std::vector<char>(address.begin(), address.end()));
    }
  }
  std::unique_ptr<Move> send(int process, std::uint64_t slot, std::byte* data,
                             std::size_t bytes) override {
    return begun(false, process, slot, data, bytes);
  }
  std::unique_ptr<Move> receive(int process, std::uint64_t slot, std::byte* data,
                                std::size_t bytes) override {
    return begun(true, process, slot, data, bytes);
  }

 private:
  std::unique_ptr<Move> begun(bool receives, int process, std::uint64_t slot, std::byte* data,
                              std::size_t bytes) {
    try {
      auto buffer = context_->createUnboundBuffer(data, bytes);
      receives ? buffer->recv(process, slot) : buffer->send(process, slot);
      return std::make_unique<GlooMove>(std::move(buffer), receives);
    } catch (const std::exception& e) {
      return std::make_unique<FailedMove>(e.what());
    }
  }
  std::shared_ptr<gloo::transport::Device> device_;
  std::shared_ptr<gloo::transport::Context> context_;
};

}  // namespace
}  // namespace strata::runtime::distributed

/// MakeBulk of bulk.h.
extern "C" __attribute__((visibility("default"))) strata::runtime::distributed::Bulk* strata_gloo(
    const char* own_address, int process, int processes,
    const strata::runtime::distributed::Exchange& exchange, std::string* failed) {
  try {
    return new strata::runtime::distributed::GlooBulk(own_address, process, processes, exchange);
  } catch (const std::exception& e) {
    *failed = e.what();
    return nullptr;
  }
}
