#include "strata/pjrt/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "strata/base/thread_pool.h"
#include "strata/pjrt/error.h"
#include "strata/pjrt/functions.h"
#include "strata/runtime/allocator.h"

namespace strata::pjrt {
namespace {

constexpr const char* kKinds[] = {"device", "pinned_host", "unpinned_host"};
constexpr int kMaxDevices = 1024;

PJRT_NamedValue named(const char* name, std::int64_t value) {
  PJRT_NamedValue out{sizeof(PJRT_NamedValue), nullptr, name, std::char_traits<char>::length(name),
                      PJRT_NamedValue::kInt64, {},      1};
  out.int64_value = value;
  return out;
}

/// StableHLO's version as three numbers.
PJRT_NamedValue named(const char* name, const std::int64_t (&values)[3]) {
  PJRT_NamedValue out{
      sizeof(PJRT_NamedValue),     nullptr, name, std::char_traits<char>::length(name),
      PJRT_NamedValue::kInt64List, {},      3};
  out.int64_array_value = values;
  return out;
}

int number(std::string_view name, const PJRT_NamedValue& option) {
  std::int64_t value = 0;
  if (option.type == PJRT_NamedValue::kInt64) {
    value = option.int64_value;
  } else if (option.type == PJRT_NamedValue::kString) {
    const char* end = option.string_value + option.value_size;
    if (auto [stop, error] = std::from_chars(option.string_value, end, value);
        error != std::errc() || stop != end)
      fail(PJRT_Error_Code_INVALID_ARGUMENT, "option {} is \"{}\", not a number", name,
           std::string_view(option.string_value, option.value_size));
  } else {
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "option {} is not a number", name);
  }
  if (value < 1 || value > kMaxDevices)
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "option {} is {}, not 1 to {}", name, value,
         kMaxDevices);
  return static_cast<int>(value);
}

std::unique_ptr<PJRT_DeviceDescription> description(const std::string& platform, int id) {
  auto out = std::make_unique<PJRT_DeviceDescription>();
  out->id = id;
  out->kind = "cpu";
  out->debug = fmt::format("{}:{}", platform, id);
  out->text = fmt::format("{}(id={})", platform == "cpu" ? "CpuDevice" : "StrataDevice", id);
  return out;
}

void add_device(PJRT_Client& client, int id, int threads) {
  auto device = std::make_unique<PJRT_Device>();
  device->queue = std::make_unique<Queue>(threads);
  device->client = &client;
  device->description = *description(client.platform, id);
  for (int kind = 0; kind < static_cast<int>(std::size(kKinds)); ++kind) {
    auto memory = std::make_unique<PJRT_Memory>();
    memory->device = device.get();
    memory->id = id * static_cast<int>(std::size(kKinds)) + kind;
    memory->kind_id = kind;
    memory->kind = kKinds[kind];
    memory->debug = fmt::format("{}({})", memory->kind, memory->id);
    memory->text = fmt::format("{} of {}", memory->kind, device->description.debug);
    device->memories.push_back(memory.get());
    client.memories.push_back(memory.get());
    client.own_memories.push_back(std::move(memory));
  }
  client.devices.push_back(device.get());
  client.topology.descriptions.push_back(&device->description);
  client.own_devices.push_back(std::move(device));
}

}  // namespace
}  // namespace strata::pjrt

PJRT_Client::~PJRT_Client() {
  // A job of one device may wait for another's, so all queues live until the last one is done.
  std::vector<std::unique_ptr<strata::pjrt::Queue>> queues;
  for (auto& device : own_devices) queues.push_back(std::move(device->queue));
  queues.clear();
}

namespace strata::pjrt {

ClientOptions client_options(const PJRT_NamedValue* options, std::size_t count) {
  ClientOptions out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name(options[i].name, options[i].name_size);
    if (name == "cpu_device_count") {
      out.devices = number(name, options[i]);
    } else if (name == "platform_name") {
      if (options[i].type != PJRT_NamedValue::kString || options[i].value_size == 0)
        fail(PJRT_Error_Code_INVALID_ARGUMENT, "option platform_name is not a name");
      out.platform = std::string(options[i].string_value, options[i].value_size);
    } else {
      fail(PJRT_Error_Code_INVALID_ARGUMENT,
           "unknown option {}; there are cpu_device_count and platform_name", name);
    }
  }
  return out;
}

std::unique_ptr<PJRT_Client> make_client(const ClientOptions& options) {
  auto client = std::make_unique<PJRT_Client>();
  client->platform = options.platform;
  client->topology.platform = options.platform;
  client->topology.devices = options.devices;
  const int share = options.devices == 1 ? 0 : std::max(1, num_threads() / options.devices);
  for (int id = 0; id < options.devices; ++id) add_device(*client, id, share);
  return client;
}

PJRT_Device* device_of(const PJRT_Client& client, int id) {
  if (id < 0 || id >= static_cast<int>(client.devices.size()))
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "no device {}: there are {} (option cpu_device_count)",
         id, client.devices.size());
  return client.devices[static_cast<std::size_t>(id)];
}

PJRT_Memory* memory_of(const PJRT_Device& device, std::string_view kind) {
  for (PJRT_Memory* memory : device.memories)
    if (memory->kind == kind) return memory;
  fail(PJRT_Error_Code_INVALID_ARGUMENT, "no memory of kind {} on {}: there are {}", kind,
       device.description.debug, fmt::join(kKinds, ", "));
}

// ---- plugin and client -------------------------------------------------------------------------

void Plugin_Initialize(PJRT_Plugin_Initialize_Args&) {}

void Plugin_Attributes(PJRT_Plugin_Attributes_Args& args) {
  // The reader of bytecode knows 0.9.0 to 1.20.0; jaxlib sends the lower of its own version and the
  // current one here.
  static constexpr std::int64_t kCurrent[] = {1, 17, 0}, kMinimum[] = {0, 9, 0};
  static const PJRT_NamedValue attributes[] = {named("stablehlo_current_version", kCurrent),
                                               named("stablehlo_minimum_version", kMinimum),
                                               named("xla_version", 0)};
  args.attributes = attributes;
  args.num_attributes = std::size(attributes);
}

void Client_Create(PJRT_Client_Create_Args& args) {
  args.client = make_client(client_options(args.create_options, args.num_options)).release();
}
void Client_Destroy(PJRT_Client_Destroy_Args& args) { delete args.client; }
void Client_PlatformName(PJRT_Client_PlatformName_Args& args) {
  give(args.client->platform, args.platform_name, args.platform_name_size);
}
void Client_ProcessIndex(PJRT_Client_ProcessIndex_Args& args) { args.process_index = 0; }
void Client_PlatformVersion(PJRT_Client_PlatformVersion_Args& args) {
  static const std::string version = kVersion;
  give(version, args.platform_version, args.platform_version_size);
}
void Client_Devices(PJRT_Client_Devices_Args& args) {
  args.devices = args.client->devices.data();
  args.num_devices = args.client->devices.size();
}
void Client_AddressableDevices(PJRT_Client_AddressableDevices_Args& args) {
  args.addressable_devices = args.client->devices.data();
  args.num_addressable_devices = args.client->devices.size();
}
void Client_LookupDevice(PJRT_Client_LookupDevice_Args& args) {
  args.device = device_of(*args.client, args.id);
}
void Client_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args& args) {
  args.addressable_device = device_of(*args.client, args.local_hardware_id);
}
void Client_AddressableMemories(PJRT_Client_AddressableMemories_Args& args) {
  args.addressable_memories = args.client->memories.data();
  args.num_addressable_memories = args.client->memories.size();
}
void Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args& args) {
  const std::size_t wanted =
      static_cast<std::size_t>(args.num_replicas) * static_cast<std::size_t>(args.num_partitions);
  if (args.num_replicas < 1 || args.num_partitions < 1 || args.default_assignment_size < wanted ||
      wanted > args.client->devices.size())
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "{} replicas of {} partitions on {} devices",
         args.num_replicas, args.num_partitions, args.client->devices.size());
  for (std::size_t i = 0; i < wanted; ++i) args.default_assignment[i] = static_cast<int>(i);
}
void Client_TopologyDescription(PJRT_Client_TopologyDescription_Args& args) {
  args.topology = &args.client->topology;
}

// ---- devices -----------------------------------------------------------------------------------

void DeviceDescription_Id(PJRT_DeviceDescription_Id_Args& args) {
  args.id = args.device_description->id;
}
void DeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args& args) {
  args.process_index = 0;
}
void DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args& args) {
  args.num_attributes = 0;
  args.attributes = nullptr;
}
void DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args& args) {
  give(args.device_description->kind, args.device_kind, args.device_kind_size);
}
void DeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args& args) {
  give(args.device_description->debug, args.debug_string, args.debug_string_size);
}
void DeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args& args) {
  give(args.device_description->text, args.to_string, args.to_string_size);
}
void Device_GetDescription(PJRT_Device_GetDescription_Args& args) {
  args.device_description = &args.device->description;
}
void Device_IsAddressable(PJRT_Device_IsAddressable_Args& args) { args.is_addressable = true; }
void Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args& args) {
  args.local_hardware_id = args.device->description.id;
}
void Device_AddressableMemories(PJRT_Device_AddressableMemories_Args& args) {
  args.memories = args.device->memories.data();
  args.num_memories = args.device->memories.size();
}
void Device_DefaultMemory(PJRT_Device_DefaultMemory_Args& args) {
  args.memory = args.device->memories.front();
}
void Device_MemoryStats(PJRT_Device_MemoryStats_Args& args) {
  const runtime::MemoryCounts counts =
      runtime::memory_counts();  // of the process: the devices share its memory
  args.bytes_in_use = static_cast<std::int64_t>(counts.in_use);
  args.peak_bytes_in_use = static_cast<std::int64_t>(counts.peak);
  args.peak_bytes_in_use_is_set = true;
  args.num_allocs_is_set = args.largest_alloc_size_is_set = args.bytes_limit_is_set =
      args.bytes_reserved_is_set = false;
  args.peak_bytes_reserved_is_set = args.bytes_reservable_limit_is_set =
      args.largest_free_block_bytes_is_set = false;
  args.pool_bytes = static_cast<std::int64_t>(counts.in_use + counts.cached);
  args.pool_bytes_is_set = true;
  args.peak_pool_bytes_is_set = false;
}
void Device_ClearMemoryStats(PJRT_Device_ClearMemoryStats_Args&) {
  fail(PJRT_Error_Code_UNIMPLEMENTED, "the peak of memory is that of the process");
}
void Device_GetAttributes(PJRT_Device_GetAttributes_Args& args) {
  args.attributes = nullptr;
  args.num_attributes = 0;
  args.device_attributes = nullptr;
  args.attributes_deleter = [](PJRT_Device_Attributes*) {};
}

// ---- memories ----------------------------------------------------------------------------------

void Memory_Id(PJRT_Memory_Id_Args& args) { args.id = args.memory->id; }
void Memory_Kind(PJRT_Memory_Kind_Args& args) {
  give(args.memory->kind, args.kind, args.kind_size);
}
void Memory_Kind_Id(PJRT_Memory_Kind_Id_Args& args) { args.kind_id = args.memory->kind_id; }
void Memory_DebugString(PJRT_Memory_DebugString_Args& args) {
  give(args.memory->debug, args.debug_string, args.debug_string_size);
}
void Memory_ToString(PJRT_Memory_ToString_Args& args) {
  give(args.memory->text, args.to_string, args.to_string_size);
}
void Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args& args) {
  args.devices = &args.memory->device;
  args.num_devices = 1;
}

// ---- topologies --------------------------------------------------------------------------------

}  // namespace strata::pjrt

std::string PJRT_TopologyDescription::serialize() const {
  return fmt::format("{}:{}", platform, devices);
}

std::unique_ptr<PJRT_TopologyDescription> PJRT_TopologyDescription::deserialize(
    std::string_view bytes) {
  auto out = std::make_unique<PJRT_TopologyDescription>();
  const std::size_t colon = bytes.rfind(':');
  if (colon == 0 || colon == std::string_view::npos)
    strata::pjrt::fail(PJRT_Error_Code_INVALID_ARGUMENT, "not a topology of Strata");
  const char* end = bytes.data() + bytes.size();
  if (auto [stop, error] = std::from_chars(bytes.data() + colon + 1, end, out->devices);
      error != std::errc() || stop != end || out->devices < 1 ||
      out->devices > strata::pjrt::kMaxDevices)
    strata::pjrt::fail(PJRT_Error_Code_INVALID_ARGUMENT, "a topology of \"{}\" devices",
                       bytes.substr(colon + 1));
  out->platform = std::string(bytes.substr(0, colon));
  for (int id = 0; id < out->devices; ++id) {
    out->own.push_back(strata::pjrt::description(out->platform, id));
    out->descriptions.push_back(out->own.back().get());
  }
  return out;
}

struct PJRT_SerializedTopology : PJRT_Object {
  std::string bytes;
};

namespace strata::pjrt {

void TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args& args) {
  if (!args.topology->own.empty()) delete args.topology;  // a client's belongs to the client
}
void TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args& args) {
  give(args.topology->platform, args.platform_name, args.platform_name_size);
}
void TopologyDescription_PlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args& args) {
  static const std::string version = kVersion;
  give(version, args.platform_version, args.platform_version_size);
}
void TopologyDescription_GetDeviceDescriptions(
    PJRT_TopologyDescription_GetDeviceDescriptions_Args& args) {
  args.descriptions = args.topology->descriptions.data();
  args.num_descriptions = args.topology->descriptions.size();
}
void TopologyDescription_Serialize(PJRT_TopologyDescription_Serialize_Args& args) {
  auto* out = new PJRT_SerializedTopology{{}, args.topology->serialize()};
  give(out->bytes, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_topology = out;
  args.serialized_topology_deleter = [](PJRT_SerializedTopology* t) { delete t; };
}
void TopologyDescription_Deserialize(PJRT_TopologyDescription_Deserialize_Args& args) {
  args.topology = PJRT_TopologyDescription::deserialize(
                      {args.serialized_topology, args.serialized_topology_size})
                      .release();
}
void TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args& args) {
  args.attributes = nullptr;
  args.num_attributes = 0;
}
void TopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args& args) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (unsigned char c : args.topology->serialize() + kVersion) hash = (hash ^ c) * 0x100000001b3;
  args.fingerprint = hash;
}

}  // namespace strata::pjrt
