// Every kind of device: CPUs, those of other processes, those of plugins (device.h).
#include <algorithm>
#include <map>
#include <mutex>

#include "strata/runtime/cpu_devices.h"
#include "strata/runtime/device.h"
#include "strata/runtime/distributed/devices.h"
#include "strata/runtime/plugin/client.h"
#include "strata/runtime/plugin/find.h"
#include "strata/runtime/plugin/probe.h"
#include "strata/runtime/plugin/sharded.h"
#include "strata/runtime/sharded.h"

namespace strata::runtime {

namespace {

/// Clients of plugins' devices, by the plugin's path; they are never destroyed.
struct Plugins {
  std::mutex mutex;
  std::map<std::string, std::vector<Client*>> clients;
  static Plugins& global() {
    static auto* const plugins = new Plugins;
    return *plugins;
  }
};

Result<std::vector<Client*>> clients_of(const std::string& library) {
  Plugins& made = Plugins::global();
  std::lock_guard lock(made.mutex);
  if (auto it = made.clients.find(library); it != made.clients.end()) return it->second;
  auto options = plugin::create_options();
  if (!options) return options.status();
  auto clients = plugin::make_clients({.library = library, .create = *options});
  if (!clients) return clients.status();
  std::vector<Client*> out;
  for (std::unique_ptr<Client>& c : *clients) out.push_back(c.release());
  return made.clients.emplace(library, std::move(out)).first->second;
}

/// A device and all others of its plugin, in their order.
std::vector<Device*> siblings(Device* device) {
  Plugins& made = Plugins::global();
  std::lock_guard lock(made.mutex);
  for (const auto& [library, clients] : made.clients) {
    std::vector<Device*> out;
    for (Client* c : clients) out.push_back(c->device());
    if (std::find(out.begin(), out.end(), device) != out.end()) return out;
  }
  return {device};
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
    return plugin::is_of_plugin(*own) ? siblings(own) : std::vector<Device*>{own};
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

std::vector<Device*> mesh_devices() {
  Device* own = default_client().device();
  return own != nullptr && plugin::is_of_plugin(*own) ? siblings(own)
                                                      : distributed::all_cpu_devices();
}

Device* device_of(const Buffer& buffer) {
  if (buffer.there()) return &buffer.there()->device();
  Device* own = default_client().device();
  return own != nullptr ? own : cpu_devices().front();
}

}  // namespace strata::runtime
