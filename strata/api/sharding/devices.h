// Devices: which there are, which one holds an array, and on which one programs run.
//
//   std::vector<Device> cpus = cpu_devices(2);
//   Array x = device_put(arange(6), cpus[1]);       // copied there, and bound to it
//   Array y = jit(f)(x);                            // runs there; y.devices()[0] == cpus[1]
//   x = device_put(x, DeviceMemory(cpus[1], "pinned_host"));           // the host's, for later
//   { DefaultDevice here(cpus[0]); z = ones({3}) + 1.f; }    // what is bound to no device
//
// A program runs where its arguments are: on the device that one of them is bound to, else on the
// thread's default device, else on the process's own. Arguments that are bound to none go there;
// arrays bound to different devices in one call are an Error that names both. With several CPU
// devices or a plugin's, calls return before they have run, and what fails is thrown where a result
// is used. Programs that never ask run as ever: at once, on all cores.
// Source: jax.devices, jax.device_put, jax.default_device, jax.Device.addressable_memories.
// Deviation: a program takes arguments from any memory of its device, moving them by itself, and
// its results are in the default memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "strata/api/array.h"
#include "strata/api/tree.h"

namespace strata {

/// A device: a cheap handle of one that lives as long as the process.
class Device {
 public:
  explicit Device(runtime::Device& device) : device_(&device) {}
  /// "cpu", "cuda", "tpu", or what its plugin calls it.
  std::string platform() const { return device_->platform(); }
  /// Its number among those of its platform.
  int id() const { return device_->id(); }
  /// "cpu", "NVIDIA H100": what kind of device.
  std::string device_kind() const { return device_->kind(); }
  /// "CpuDevice(id=1)".
  std::string to_string() const { return device_->to_string(); }
  /// Bytes in use, their peak, their limit, where the device tells.
  std::optional<runtime::MemoryStats> memory_stats() const { return device_->memory_stats(); }
  /// The kinds of memory that it reaches, its default one first: "device", "pinned_host".
  std::vector<std::string> memory_kinds() const { return device_->memory_kinds(); }
  bool operator==(const Device&) const = default;
  /// What the handle points at.
  runtime::Device& get() const { return *device_; }

 private:
  runtime::Device* device_;
};

/// One of a device's memories.
struct DeviceMemory {
  /// Throws Error for a kind that the device does not reach, listing those that it does.
  DeviceMemory(const Device& device, std::string kind);
  Device device;
  /// "device", "pinned_host", "unpinned_host".
  std::string kind;
  bool operator==(const DeviceMemory&) const = default;
};

/// The devices of a platform: "cpu", "cuda", "tpu", "plugin:/path/x.so"; of the process's own for
/// "". Throws Error for one that is not here, with what to install.
std::vector<Device> devices(const std::string& platform = "");
/// The CPU devices of this process: `n` of them, made by the first call that asks, else as many as
/// STRATA_NUM_CPU_DEVICES says, else one. Each has its share of the cores. Throws Error for another
/// number than there are already.
std::vector<Device> cpu_devices(int n = 0);

/// The array on that device and bound to it, copied unless it is there. In a trace it is the array
/// itself: a program runs on one device. Throws Error when there is no memory.
Array device_put(const Array& x, const Device& device,
                 std::source_location where = std::source_location::current());
/// The array in that memory, copied unless it is there, and bound to the device. In a trace it is
/// the array itself.
Array device_put(const Array& x, const DeviceMemory& memory,
                 std::source_location where = std::source_location::current());
/// The kind of memory that holds it; the device's default one for arrays bound to none.
std::string memory_kind(const Array& x,
                        std::source_location where = std::source_location::current());
/// Every array of a tree.
template <tree::TreeLike T>
  requires(!std::same_as<T, Array>)
T device_put(T tree, const Device& device,
             std::source_location where = std::source_location::current()) {
  tree::for_each(tree, [&](Array& x) { x = device_put(std::as_const(x), device, where); });
  return tree;
}
template <tree::TreeLike T>
  requires(!std::same_as<T, Array>)
T device_put(T tree, const DeviceMemory& memory,
             std::source_location where = std::source_location::current()) {
  tree::for_each(tree, [&](Array& x) { x = device_put(std::as_const(x), memory, where); });
  return tree;
}
/// A copy in this process's memory, bound to no device.
Array device_get(const Array& x, std::source_location where = std::source_location::current());

/// While one lives, this thread's programs run on that device when no argument is bound to one.
class DefaultDevice {
 public:
  explicit DefaultDevice(const Device& device);
  ~DefaultDevice();
  DefaultDevice(const DefaultDevice&) = delete;
  DefaultDevice& operator=(const DefaultDevice&) = delete;

 private:
  runtime::Device* before_;
};

}  // namespace strata
