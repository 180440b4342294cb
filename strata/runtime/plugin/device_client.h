// What a plugin's client is made of, for the programs that run on one of its devices (client.cc) or
// on several (sharded.cc).
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/error.h"
#include "strata/runtime/allocator.h"
#include "strata/runtime/client.h"
#include "strata/runtime/plugin/library.h"

namespace strata::runtime::plugin {

/// Throws for a failure.
inline void require(const std::string& name, const Status& status) {
  if (status.ok()) return;
  Error error(name, "{}", status.message());
  if (status.code() == Code::unsupported) error.unsupported();
  throw error;
}

/// The client's objects, which go in the order that plugins ask for: what was made of a client
/// before the client.
struct Connection {
  Connection(LibraryPtr l, PJRT_Client* c) : library(std::move(l)), client(c) {}
  ~Connection() {
    auto destroy = args<PJRT_Client_Destroy_Args>();
    destroy.client = client;
    library->drop(kClient_Destroy, destroy);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// `require`, with the largest arrays on the device where its memory is full.
  void need(const std::string& name, const Status& status) {
    if (status.code() != Code::no_space) return require(name, status);
    throw Error(name, "{}{}", status.message(), largest());
  }
  void add(const Type& type) {
    std::lock_guard lock(mutex);
    ++live[{type.bytes(), type.to_string()}];
  }
  void remove(const Type& type) {
    std::lock_guard lock(mutex);
    auto it = live.find({type.bytes(), type.to_string()});
    if (--it->second == 0) live.erase(it);
  }

  LibraryPtr library;
  PJRT_Client* client;
  std::string platform, release, version;

 private:
  /// "; arrays there: 3 x tensor<8192x8192xf32> (805306368 bytes), ...".
  std::string largest() {
    std::lock_guard lock(mutex);
    std::string out;
    int told = 0;
    for (auto it = live.rbegin(); it != live.rend() && told < 5; ++it, ++told)
      out += fmt::format("{}{} x {} ({} bytes)", told == 0 ? "; largest arrays there: " : ", ",
                         it->second, it->first.second,
                         it->first.first * static_cast<std::size_t>(it->second));
    return out;
  }
  std::mutex mutex;
  std::map<std::pair<std::size_t, std::string>, int> live;  // arrays there, by bytes and type
};
using ConnectionPtr = std::shared_ptr<Connection>;

/// An array on the plugin's device.
class PluginBuffer final : public DeviceBuffer {
 public:
  /// `memory`: its place in the device's memory_kinds.
  PluginBuffer(ConnectionPtr c, Device& device, PJRT_Buffer* buffer, Type type, std::string program,
               std::size_t memory = 0)
      : c_(std::move(c)),
        device_(device),
        buffer_(buffer),
        type_(std::move(type)),
        program_(std::move(program)),
        memory_(memory) {
    c_->add(type_);
  }
  ~PluginBuffer() override {
    c_->remove(type_);
    auto destroy = args<PJRT_Buffer_Destroy_Args>();
    destroy.buffer = buffer_;
    c_->library->drop(kBuffer_Destroy, destroy);
  }
  PluginBuffer(const PluginBuffer&) = delete;
  PluginBuffer& operator=(const PluginBuffer&) = delete;

  Device& device() const override { return device_; }
  std::string memory_kind() const override { return device_.memory_kinds()[memory_]; }
  std::size_t memory() const { return memory_; }
  PJRT_Buffer* get() const { return buffer_; }
  const Connection& connection() const { return *c_; }
  void wait() override {
    auto of = args<PJRT_Buffer_ReadyEvent_Args>();
    of.buffer = buffer_;
    c_->need(program_, c_->library->call(kBuffer_ReadyEvent, of));
    c_->need(program_, c_->library->await(of.event));
  }
  const Literal& host() override {
    std::lock_guard lock(mutex_);
    if (!host_) {
      Literal out(type_, allocate(type_.bytes()));
      fetch(out.mutable_data());
      host_ = std::move(out);
    }
    return *host_;
  }

 private:
  void fetch(void* data) {
    if (type_.bytes() == 0) return wait();
    std::vector<std::int64_t> order;  // row-major, whatever the device prefers
    for (int d = type_.rank() - 1; d >= 0; --d) order.push_back(d);
    PJRT_Buffer_MemoryLayout layout{};
    layout.struct_size = sizeof layout;
    layout.type = PJRT_Buffer_MemoryLayout::kTiled;
    layout.tiled.struct_size = sizeof layout.tiled;
    layout.tiled.minor_to_major = order.data();
    layout.tiled.minor_to_major_size = order.size();
    auto of = args<PJRT_Buffer_ToHostBuffer_Args>();
    of.src = buffer_;
    of.host_layout = &layout;
    c_->need(program_, c_->library->call(kBuffer_ToHostBuffer, of));  // asks the size
    if (of.dst_size != type_.bytes())
      throw Error(program_, "plugin {} keeps {} in {} bytes; {} are expected", c_->library->path(),
                  type_.to_string(), of.dst_size, type_.bytes());
    of.dst = data;
    c_->need(program_, c_->library->call(kBuffer_ToHostBuffer, of));
    c_->need(program_, c_->library->await(of.event));
  }

  ConnectionPtr c_;
  Device& device_;
  PJRT_Buffer* buffer_;
  Type type_;
  std::string program_;  // that made it
  std::size_t memory_;
  std::mutex mutex_;
  std::optional<Literal> host_;
};
using PluginBufferPtr = std::shared_ptr<PluginBuffer>;

/// Throws for values that no plugin's program has: tokens.
void check_type(const Type& type, const char* what, std::size_t i, const std::string& name);
/// Throws for functions of this process that a program calls (api/transform/callback.h): a plugin
/// cannot, and some leave out calls of unknown names that give nothing, so that a print would be
/// lost.
void refuse_callbacks(const ir::Block& block, const std::string& name);

/// A device, and the compiler for it.
class PluginClient final : public Client, public Device {
 public:
  PluginClient(ConnectionPtr c, PJRT_Device* device) : c_(std::move(c)), device_(device) {}
  /// What the device says of itself.
  Status ask();

  std::string platform() const override { return c_->platform; }
  Device* device() override { return this; }
  Client& client() override { return *this; }
  int id() const override { return id_; }
  std::string kind() const override { return kind_; }
  std::string to_string() const override { return text_; }
  std::optional<MemoryStats> memory_stats() const override {
    auto of = args<PJRT_Device_MemoryStats_Args>();
    of.device = device_;
    if (!c_->library->call(kDevice_MemoryStats, of).ok()) return std::nullopt;
    MemoryStats out{of.bytes_in_use, std::nullopt, std::nullopt};
    if (of.peak_bytes_in_use_is_set) out.peak = of.peak_bytes_in_use;
    if (of.bytes_limit_is_set) out.limit = of.bytes_limit;
    return out;
  }
  std::shared_ptr<DeviceBuffer> put(const Buffer& buffer) override {
    return put(buffer, "device_put");
  }
  std::vector<std::string> memory_kinds() const override { return kinds_; }
  std::shared_ptr<DeviceBuffer> put_in(const std::string& kind, const Buffer& buffer) override {
    return put(buffer, "device_put", memory_index(kind));
  }
  /// The same for a program, which messages name, into any of its memories.
  PluginBufferPtr put(const Buffer& buffer, const std::string& name, std::size_t memory = 0);
  /// Takes elements from this process's memory. `keep` holds them; without it they are read before
  /// this returns.
  PluginBufferPtr take(const Type& type, const void* data, const Literal* keep,
                       const std::string& name, std::size_t memory = 0);
  std::shared_ptr<Executable> compile(const ir::Block& block,
                                      const CompileOptions& options) override;
  /// A program as the plugin has compiled it, now or in an earlier process; whoever asks destroys
  /// it.
  PJRT_LoadedExecutable* compiled(std::string& code, const std::string& request,
                                  const std::string& name);
  const ConnectionPtr& connection() const { return c_; }

 private:
  void ask_memories();
  std::shared_ptr<Executable> kept(const std::string& code) {
    std::lock_guard lock(mutex_);
    auto it = kept_.find(code);
    return it == kept_.end() ? nullptr : it->second;
  }
  ConnectionPtr c_;
  PJRT_Device* device_;
  int id_ = 0;
  std::string kind_, text_;
  std::vector<std::string> kinds_{"device"};     // of its memories, the default's first
  std::vector<PJRT_Memory*> memories_{nullptr};  // null: where the plugin puts what it is given
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Executable>> kept_;  // by their programs
};

/// That the plugin has compiled as many results as are expected.
Status check_results(const Library& library, PJRT_LoadedExecutable* loaded, std::size_t expected);

}  // namespace strata::runtime::plugin
