#include "strata/api/sharding/devices.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "strata/api/trace/client.h"
#include "strata/api/trace/trace.h"
#include "strata/runtime/cpu_devices.h"
#include "strata/runtime/device.h"

namespace strata {
namespace {

std::vector<Device> handles(const std::vector<runtime::Device*>& of) {
  std::vector<Device> out;
  for (runtime::Device* d : of) out.emplace_back(*d);
  return out;
}

}  // namespace

std::vector<Device> devices(const std::string& platform) {
  internal::register_cpu();
  auto found = runtime::devices(platform);
  if (!found) internal::fail("devices", "{}", found.status().message());
  return handles(*found);
}
std::vector<Device> cpu_devices(int n) { return handles(runtime::cpu_devices(n)); }

Array device_put(const Array& x, const Device& device, std::source_location where) {
  internal::Site site(where);
  if (internal::Trace::current() || x.is_traced()) return x;
  const runtime::Buffer buffer = x.buffer();
  return internal::concrete(runtime::Buffer(buffer.type(), device.get().put(buffer)).bound(),
                            x.weak());
}
DeviceMemory::DeviceMemory(const Device& of, std::string name) : device(of), kind(std::move(name)) {
  const std::vector<std::string> kinds = device.memory_kinds();
  if (std::ranges::find(kinds, kind) == kinds.end())
    internal::fail("DeviceMemory", "{} has no memory of kind '{}'; it has {}", device.to_string(),
                   kind, fmt::join(kinds, ", "));
}
Array device_put(const Array& x, const DeviceMemory& memory, std::source_location where) {
  internal::Site site(where);
  if (internal::Trace::current() || x.is_traced()) return x;
  const runtime::Buffer buffer = x.buffer();
  return internal::concrete(
      runtime::Buffer(buffer.type(), memory.device.get().put_in(memory.kind, buffer)).bound(),
      x.weak());
}
std::string memory_kind(const Array& x, std::source_location where) {
  internal::Site site(where);
  const runtime::Buffer buffer = x.buffer();
  return buffer.there() ? buffer.there()->memory_kind() : "device";
}
Array device_get(const Array& x, std::source_location where) {
  internal::Site site(where);
  return internal::concrete(runtime::Buffer(x.literal()), x.weak());
}

DefaultDevice::DefaultDevice(const Device& device)
    : before_(runtime::set_thread_device(&device.get())) {}
DefaultDevice::~DefaultDevice() { runtime::set_thread_device(before_); }

}  // namespace strata
