#include "strata/runtime/device.h"

#include <map>
#include <mutex>
#include <utility>

#include "strata/runtime/cpu_devices.h"
#include "strata/runtime/distributed/devices.h"
#include "strata/runtime/plugin/client.h"
#include "strata/runtime/plugin/find.h"
#include "strata/runtime/plugin/probe.h"

namespace strata::runtime {

namespace {

thread_local Device* of_thread = nullptr;

/// Clients of a plugin's devices, by the plugin's path; they are never destroyed.
Result<std::vector<Client*>> clients_of(const std::string& library) {
  static std::mutex mutex;
  static auto* const made = new std::map<std::string, std::vector<Client*>>;
  std::lock_guard lock(mutex);
  if (auto it = made->find(library); it != made->end()) return it->second;
  auto clients = plugin::make_clients({.library = library});
  if (!clients) return clients.status();
  std::vector<Client*> out;
  for (std::unique_ptr<Client>& c : *clients) out.push_back(c.release());
  return made->emplace(library, std::move(out)).first->second;
}

Result<std::vector<Client*>> clients_of(const std::string& device,
                                        const plugin::DeviceName& found) {
  if (found.platform == "tpu" && !plugin::has_tpu_chips())
    return Status(Code::unsupported,
                  "device {}: {} is here, but no TPU is; `strata compile --target=tpu:v5e:4x4` "
                  "compiles without one",
                  device, found.library);
  const plugin::Probe tried = plugin::probe(found.library);
  if (!tried.usable)
    return Status(Code::unsupported, "device {}: {} is not usable: {}", device, found.library,
                  tried.trouble);
  return clients_of(found.library);
}

}  // namespace

Result<Client*> internal::make_device_client(const std::string& device) {
  auto found = plugin::find_device(device);
  if (!found) return found.status();
  if (found->library.empty()) {
    if (found->index == 0) return static_cast<Client*>(nullptr);
    const std::vector<Device*>& cpus = cpu_devices();
    if (static_cast<std::size_t>(found->index) >= cpus.size())
      return Status(Code::invalid,
                    "device {}: there are {} CPU devices (STRATA_NUM_CPU_DEVICES makes more)",
                    device, cpus.size());
    return &cpus[static_cast<std::size_t>(found->index)]->client();
  }
  auto clients = clients_of(device, *found);
  if (!clients) return clients.status();
  if (found->index < 0 || static_cast<std::size_t>(found->index) >= clients->size())
    return Status(Code::invalid, "plugin {}: no device {}: it has {}", found->library, found->index,
                  clients->size());
  return (*clients)[static_cast<std::size_t>(found->index)];
}

Status use_device(const std::string& device) {
  auto client = internal::make_device_client(device);
  if (!client) return client.status();
  if (*client && !internal::install(*client))
    return Status(Code::invalid,
                  "device {}: this process has computed on {} already; choose before that", device,
                  default_client().platform());
  return {};
}

Result<std::vector<Device*>> devices(const std::string& platform) {
  if (platform.empty()) {
    Device* own = default_client().device();
    if (own == nullptr) return distributed::all_cpu_devices();
    return std::vector<Device*>{own};
  }
  auto found = plugin::find_device(platform);
  if (!found) return found.status();
  if (found->library.empty()) return distributed::all_cpu_devices();
  auto clients = clients_of(platform, *found);
  if (!clients) return clients.status();
  std::vector<Device*> out;
  for (Client* c : *clients) out.push_back(c->device());
  return out;
}

Device* thread_device() { return of_thread; }
Device* set_thread_device(Device* device) { return std::exchange(of_thread, device); }
Client& client_of(Device* device) {
  return device != nullptr ? device->client() : default_client();
}
Device* device_of(const Buffer& buffer) {
  if (buffer.there()) return &buffer.there()->device();
  Device* own = default_client().device();
  return own != nullptr ? own : cpu_devices().front();
}

}  // namespace strata::runtime
