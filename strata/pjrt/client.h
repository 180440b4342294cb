// The client: its devices, their memories, and what runs on them.
//
// One device is the whole CPU. Several (option `cpu_device_count`) have a queue and a share of the
// cores each, so that what was asked of different ones runs at the same time; short programs run on
// the caller as ever. Each has three memory spaces under the names that XLA's CPU has, all of them
// the host's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/base/version.h"
#include "strata/pjrt/queue.h"
#include "strata/runtime/plugin/abi.h"

struct PJRT_DeviceDescription : PJRT_Object {
  int id = 0;
  std::string kind, debug, text;
};

struct PJRT_Memory : PJRT_Object {
  PJRT_Device* device = nullptr;
  int id = 0, kind_id = 0;
  std::string kind, debug, text;
};

struct PJRT_Device : PJRT_Object {
  PJRT_Client* client = nullptr;
  PJRT_DeviceDescription description;
  std::vector<PJRT_Memory*> memories;  // the default one first
  std::unique_ptr<strata::pjrt::Queue> queue;
};

struct PJRT_TopologyDescription : PJRT_Object {
  std::string platform;
  int devices = 1;
  std::vector<PJRT_DeviceDescription*> descriptions;
  /// "platform:devices"; the inverse throws Failure.
  std::string serialize() const;
  static std::unique_ptr<PJRT_TopologyDescription> deserialize(std::string_view bytes);
  std::vector<std::unique_ptr<PJRT_DeviceDescription>> own;  // of one that was deserialised
};

struct PJRT_Client : PJRT_Object {
  /// Runs what waits on any device first.
  ~PJRT_Client();
  std::string platform;
  std::vector<std::unique_ptr<PJRT_Device>> own_devices;
  std::vector<std::unique_ptr<PJRT_Memory>> own_memories;
  std::vector<PJRT_Device*> devices;
  std::vector<PJRT_Memory*> memories;
  PJRT_TopologyDescription topology;
};

namespace strata::pjrt {

/// What the plugin says of itself.
inline constexpr const char* kVersion = "strata " STRATA_VERSION;

struct ClientOptions {
  std::string platform =
      "strata";     // option `platform_name`: what the platform is reported as, "cpu" for a drop-in
  int devices = 1;  // option `cpu_device_count`, 1 to 1024; a number or its digits
};
/// Throws Failure for an option that is unknown or has a wrong value.
ClientOptions client_options(const PJRT_NamedValue* options, std::size_t count);
std::unique_ptr<PJRT_Client> make_client(const ClientOptions& options);

/// The device of that id; throws Failure.
PJRT_Device* device_of(const PJRT_Client& client, int id);
/// The memory space of that kind; throws Failure.
PJRT_Memory* memory_of(const PJRT_Device& device, std::string_view kind);

}  // namespace strata::pjrt
