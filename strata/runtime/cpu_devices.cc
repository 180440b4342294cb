#include "strata/runtime/cpu_devices.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "strata/base/error.h"
#include "strata/base/thread_pool.h"
#include "strata/base/thread_share.h"
#include "strata/runtime/allocator.h"
#include "strata/runtime/device.h"
#include "strata/runtime/live_blocks.h"

namespace strata::runtime {
namespace {

constexpr int kMostDevices = 1024;
/// Names alone: all of them are this machine's memory.
constexpr const char* kMemoryKinds[] = {"device", "pinned_host", "unpinned_host"};

/// Something that is done once, and may fail.
class Event {
 public:
  void set(std::exception_ptr error) {
    std::lock_guard lock(mutex_);
    error_ = std::move(error);
    done_ = true;
    changed_.notify_all();
  }
  /// Throws what failed.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_; });
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::exception_ptr error_;
};

/// What the program says when it fails behind its caller's back.
std::exception_ptr named(const std::string& program, const Device& device) {
  try {
    throw;
  } catch (const Error& e) {
    Error out(e.operation(), "{} (in program {} on {})", e.message(), program, device.to_string());
    if (e.is_unsupported()) out.unsupported();
    return std::make_exception_ptr(out.at(e.where()));
  } catch (const std::bad_alloc&) {
    return std::make_exception_ptr(
        Error(program, "no memory on {}{}", device.to_string(), largest_blocks()));
  } catch (...) {
    return std::current_exception();
  }
}

/// A thread that does what it is given in order. It sleeps in between, and is never joined.
class Queue {
 public:
  explicit Queue(int threads) : threads_(threads) {}
  void add(std::function<void()> work) {
    std::lock_guard lock(mutex_);
    if (!started_) std::thread([this] { serve(); }).detach();
    started_ = true;
    waiting_.push_back(std::move(work));
    changed_.notify_all();
  }
  /// Returns when all is done.
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.empty() && !busy_; });
  }

 private:
  void serve() {
    ThreadShare share(threads_);
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return !waiting_.empty(); });
      std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      busy_ = true;
      lock.unlock();
      work();
      work = nullptr;  // lets go of what it holds before others are told
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }
  const int threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool started_ = false, busy_ = false;
};

class CpuDevice;

/// A tensor whose memory is there at once, and whose elements are when the event is set.
class CpuBuffer final : public DeviceBuffer {
 public:
  CpuBuffer(Device& device, Literal literal, std::shared_ptr<Event> ready,
            const char* kind = kMemoryKinds[0])
      : device_(device), literal_(std::move(literal)), ready_(std::move(ready)), kind_(kind) {}
  Device& device() const override { return device_; }
  std::string memory_kind() const override { return kind_; }
  void wait() override { ready_->wait(); }
  const Literal& host() override {
    wait();
    return literal_;
  }
  /// Its memory, whatever is in it yet.
  const Literal& memory() const { return literal_; }
  /// For who holds the only handle.
  Literal take() { return std::move(literal_); }
  const std::shared_ptr<Event>& ready() const { return ready_; }

 private:
  Device& device_;
  Literal literal_;
  std::shared_ptr<Event> ready_;
  const char* kind_;
};

/// The embedded CPU's program on one of several devices.
class CpuDeviceExecutable final : public Executable {
 public:
  CpuDeviceExecutable(CpuDevice& device, std::shared_ptr<Executable> inner, std::string name)
      : device_(device), inner_(std::move(inner)), name_(std::move(name)) {}
  std::vector<Buffer> run(std::vector<Buffer> arguments) override;
  bool on_device() const override { return true; }
  std::vector<Buffer> results_for(std::vector<Buffer>& arguments) override {
    return inner_->results_for(arguments);
  }
  int donor_of(std::size_t r) const override { return inner_->donor_of(r); }
  void run_at(void* const* arguments, void* const* results) override {
    inner_->run_at(arguments, results);
  }
  void run_timed(void* const* arguments, void* const* results, LaunchTimes& times) override {
    inner_->run_timed(arguments, results, times);
  }
  const std::vector<Launch>& launches() const override { return inner_->launches(); }
  const std::vector<Type>& argument_types() const override { return inner_->argument_types(); }
  const std::vector<Type>& result_types() const override { return inner_->result_types(); }
  std::size_t temporary_bytes() const override { return inner_->temporary_bytes(); }

 private:
  CpuDevice& device_;
  std::shared_ptr<Executable> inner_;
  std::string name_;
};

class CpuDevice final : public Device, public Client {
 public:
  CpuDevice(int id, int threads, bool queued) : id_(id), threads_(threads) {
    if (queued) queue_ = new Queue(threads_);
  }
  std::string platform() const override { return "cpu"; }
  int id() const override { return id_; }
  std::string kind() const override { return "cpu"; }
  std::string to_string() const override { return fmt::format("CpuDevice(id={})", id()); }
  Client& client() override { return *this; }
  Device* device() override { return this; }
  std::optional<MemoryStats> memory_stats() const override {
    const MemoryCounts counts = memory_counts();  // of the process: the devices share its memory
    return MemoryStats{static_cast<std::int64_t>(counts.in_use),
                       static_cast<std::int64_t>(counts.peak), std::nullopt};
  }

  std::shared_ptr<Executable> compile(const ir::Block& block,
                                      const CompileOptions& options) override {
    return std::make_shared<CpuDeviceExecutable>(
        *this, internal::cpu_client().compile(block, options), options.name);
  }

  std::shared_ptr<DeviceBuffer> put(const Buffer& buffer) override {
    return put_in(kMemoryKinds[0], buffer);
  }
  std::vector<std::string> memory_kinds() const override {
    return {std::begin(kMemoryKinds), std::end(kMemoryKinds)};
  }
  std::shared_ptr<DeviceBuffer> put_in(const std::string& kind, const Buffer& buffer) override {
    const char* const to = kMemoryKinds[memory_index(kind)];
    const auto& there = buffer.there();
    if (there && &there->device() == this && there->memory_kind() == to) return there;
    return copied(buffer, to);
  }
  std::shared_ptr<DeviceBuffer> copied(const Buffer& buffer, const char* kind) {
    Literal to(buffer.type(), allocate(buffer.type().bytes()));
    return later(kind, to, [buffer, to]() {
      try {
        const Literal& from = buffer.literal();
        if (from.bytes() > 0)
          std::memcpy(const_cast<std::byte*>(to.data()), from.data(), from.bytes());
      } catch (...) {
        return std::current_exception();
      }
      return std::exception_ptr();
    });
  }

  /// Does the work in its turn; the buffer is there when it has come without an error.
  template <class Work>
  std::shared_ptr<DeviceBuffer> later(const char* kind, Literal literal, Work work) {
    auto ready = std::make_shared<Event>();
    auto out = std::make_shared<CpuBuffer>(*this, std::move(literal), ready, kind);
    add([ready, work = std::optional<Work>(std::move(work))]() mutable {
      std::exception_ptr error = (*work)();
      work.reset();  // whoever waits may give the memory away, so nobody else holds it then
      ready->set(std::move(error));
    });
    return out;
  }
  void add(std::function<void()> work) {
    if (queue_ == nullptr) return work();
    queue_->add(std::move(work));
  }
  void drain() {
    if (queue_ != nullptr) queue_->drain();
  }
  void number(int id) { id_ = id; }
  /// In a forked child, where the old thread is not.
  void renew() {
    if (queue_ != nullptr) queue_ = new Queue(threads_);
  }

 private:
  std::atomic<int> id_;
  const int threads_;
  Queue* queue_ = nullptr;  // null: at once
};

std::vector<Buffer> run_on(CpuDevice& device, const std::shared_ptr<Executable>& inner,
                           const std::string& name, std::vector<Buffer> arguments,
                           std::function<void(const std::function<void()>&)> around) {
  std::vector<Buffer> memory;  // of the arguments
  std::vector<std::shared_ptr<Event>>
      before;  // what must be there; done in order, but for failures
  for (Buffer& a : arguments) {
    if (!a.there()) {
      memory.push_back(std::move(a));
      continue;
    }
    const bool last = a.unique();
    std::shared_ptr<DeviceBuffer> there = device.put(a);
    a = Buffer();
    auto& here = static_cast<CpuBuffer&>(*there);
    before.push_back(here.ready());
    memory.emplace_back(last && there.use_count() == 1 ? here.take() : here.memory());
  }
  std::vector<void*> in, out;
  for (Buffer& b : memory) in.push_back(const_cast<std::byte*>(b.data()));
  std::vector<Buffer> results = inner->results_for(memory);
  for (Buffer& b : results) out.push_back(b.mutable_data());
  auto done = std::make_shared<Event>();
  std::vector<Buffer> made;
  for (Buffer& b : results) {
    Type type = b.type();
    made.emplace_back(type, std::make_shared<CpuBuffer>(device, b.literal(), done));
  }
  device.add([inner, name, &device, around = std::move(around), memory = std::move(memory),
              results = std::move(results), before = std::move(before), in = std::move(in),
              out = std::move(out), done]() mutable {
    std::exception_ptr error;
    auto work = [&] {
      for (const auto& event : before) event->wait();  // throws what an argument was computed by
      try {
        inner->run_at(in.data(), out.data());
      } catch (...) {
        std::rethrow_exception(named(name, device));
      }
    };
    try {
      around ? around(work) : work();
    } catch (...) {
      error = std::current_exception();
    }
    memory.clear();
    results.clear();
    done->set(std::move(error));
  });
  return made;
}

std::vector<Buffer> CpuDeviceExecutable::run(std::vector<Buffer> arguments) {
  return run_on(device_, inner_, name_, std::move(arguments), nullptr);
}

struct All {
  std::vector<Device*> devices;
  std::vector<CpuDevice*> own;
};
/// The devices once made; never destroyed.
All* all = nullptr;
std::mutex all_mutex;
bool always_queued = false;

int wanted_devices() {
  const char* text = std::getenv("STRATA_NUM_CPU_DEVICES");
  if (text == nullptr || *text == '\0') return 1;
  char* end = nullptr;
  const long n = std::strtol(text, &end, 10);
  if (*end != '\0' || n < 1 || n > kMostDevices)
    throw Error("STRATA_NUM_CPU_DEVICES", "is \"{}\", not a number from 1 to {}", text,
                kMostDevices);
  return static_cast<int>(n);
}

void make(int n) {
  all = new All;
  const int share = std::max(1, num_threads() / n);
  const bool is_queued = n > 1 || always_queued;
  for (int id = 0; id < n; ++id) {
    all->own.push_back(new CpuDevice(id, share, is_queued));
    all->devices.push_back(all->own.back());
  }
  if (!is_queued) return;
  // What still runs at exit would use code that is going.
  std::atexit([] {
    for (CpuDevice* d : all->own) d->drain();
  });
  pthread_atfork(nullptr, nullptr, [] {
    for (CpuDevice* d : all->own) d->renew();
  });
}

}  // namespace

namespace internal {
void queue_cpu_devices() {
  std::lock_guard lock(all_mutex);
  always_queued = true;
}
void number_cpu_devices(int first) {
  std::lock_guard lock(all_mutex);
  for (CpuDevice* d : all->own) d->number(first++);
}
void drain_cpu_devices() {
  for (CpuDevice* d : all->own) d->drain();
}
std::vector<Buffer> run_on_cpu_device(Device& device, const std::shared_ptr<Executable>& program,
                                      const std::string& name, std::vector<Buffer> arguments,
                                      std::function<void(const std::function<void()>&)> around) {
  return run_on(static_cast<CpuDevice&>(device), program, name, std::move(arguments),
                std::move(around));
}
}  // namespace internal

const std::vector<Device*>& cpu_devices(int n) {
  std::lock_guard lock(all_mutex);
  if (n < 0 || n > kMostDevices)
    throw Error("cpu_devices", "{} devices, not 1 to {}", n, kMostDevices);
  if (all == nullptr) make(n == 0 ? wanted_devices() : n);
  if (n != 0 && static_cast<std::size_t>(n) != all->devices.size())
    throw Error("cpu_devices",
                "this process has {} already, so it cannot have {}: ask before anything is placed, "
                "or set STRATA_NUM_CPU_DEVICES",
                all->devices.size(), n);
  return all->devices;
}

}  // namespace strata::runtime
