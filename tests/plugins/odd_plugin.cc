// A PJRT plugin that misbehaves as the environment variable STRATA_ODD_PLUGIN says: what a client
// of plugins must survive. Without it: one without devices.
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "strata/runtime/plugin/abi.h"

struct PJRT_Error {
  PJRT_Error_Code code;
  std::string_view words;
};

namespace {

std::string_view manner() {
  const char* value = std::getenv("STRATA_ODD_PLUGIN");
  return value ? value : "";
}

PJRT_Error unknown{PJRT_Error_Code_UNAVAILABLE, "the device is on fire"};

PJRT_Error* error_message(void* args) {
  auto* a = static_cast<PJRT_Error_Message_Args*>(args);
  a->message = a->error->words.data();
  a->message_size = a->error->words.size();
  return nullptr;
}
PJRT_Error* error_code(void* args) {
  auto* a = static_cast<PJRT_Error_GetCode_Args*>(args);
  a->code = a->error->code;
  return nullptr;
}
PJRT_Error* nothing(void*) { return nullptr; }

PJRT_Error* initialize(void*) { return manner() == "refuses" ? &unknown : nullptr; }

PJRT_Error* create(void* args) {
  if (manner() == "dies") std::abort();
  if (manner() == "leaves") std::_Exit(3);
  if (manner() == "hangs")
    for (;;) ::pause();
  if (manner() == "fails") return &unknown;
  static int client;
  static_cast<PJRT_Client_Create_Args*>(args)->client = reinterpret_cast<PJRT_Client*>(&client);
  return nullptr;
}
PJRT_Error* platform(void* args) {
  auto* a = static_cast<PJRT_Client_PlatformName_Args*>(args);
  a->platform_name = "odd";
  a->platform_name_size = 3;
  return nullptr;
}

// ---- a device that takes arrays and fails later (manners "compile" and "run")
// ---------------------

int thing;  // whatever a handle points at
template <class T>
T* handle() {
  return reinterpret_cast<T*>(&thing);
}
PJRT_Error refused{PJRT_Error_Code_INVALID_ARGUMENT, "this compiler knows no sine"};
PJRT_Error full{PJRT_Error_Code_RESOURCE_EXHAUSTED, "out of memory on the device"};

PJRT_Error* one_device(void* args) {
  auto* a = static_cast<PJRT_Client_AddressableDevices_Args*>(args);
  static PJRT_Device* device = handle<PJRT_Device>();
  a->addressable_devices = &device;
  a->num_addressable_devices = 1;
  return nullptr;
}
PJRT_Error* description(void* args) {
  static_cast<PJRT_Device_GetDescription_Args*>(args)->device_description =
      handle<PJRT_DeviceDescription>();
  return nullptr;
}
PJRT_Error* number(void* args) {
  static_cast<PJRT_DeviceDescription_Id_Args*>(args)->id = 0;
  return nullptr;
}
PJRT_Error* take(void* args) {
  auto* a = static_cast<PJRT_Client_BufferFromHostBuffer_Args*>(args);
  a->buffer = handle<PJRT_Buffer>();
  a->done_with_host_buffer = nullptr;
  return nullptr;
}
PJRT_Error* compile(void* args) {
  if (manner() == "compile") return &refused;
  static_cast<PJRT_Client_Compile_Args*>(args)->executable = handle<PJRT_LoadedExecutable>();
  return nullptr;
}
PJRT_Error* executable(void* args) {
  static_cast<PJRT_LoadedExecutable_GetExecutable_Args*>(args)->executable =
      handle<PJRT_Executable>();
  return nullptr;
}
PJRT_Error* results(void* args) {
  static_cast<PJRT_Executable_NumOutputs_Args*>(args)->num_outputs = 1;
  return nullptr;
}
PJRT_Error* execute(void*) { return &full; }

// ---- a compiler without a device (manners that begin with "topology"): the topology "odd:4" of
// four chips

bool knows_topologies() { return manner().starts_with("topology"); }
PJRT_Error lacking{PJRT_Error_Code_UNIMPLEMENTED, "this plugin has no such function"};
PJRT_Error unheard{PJRT_Error_Code_INVALID_ARGUMENT, "no such topology"};
PJRT_Error large{PJRT_Error_Code_RESOURCE_EXHAUSTED,
                 "the total memory required (3.00K) exceeds available HBM (2.00K)"};

PJRT_Error* topology(void* args) {
  auto* a = static_cast<PJRT_TopologyDescription_Create_Args*>(args);
  if (!knows_topologies()) return &lacking;
  if (std::string_view(a->topology_name, a->topology_name_size) != "odd:4") return &unheard;
  a->topology = handle<PJRT_TopologyDescription>();
  return nullptr;
}
PJRT_Error* topology_platform(void* args) {
  auto* a = static_cast<PJRT_TopologyDescription_PlatformName_Args*>(args);
  a->platform_name = "odd";
  a->platform_name_size = 3;
  return nullptr;
}
PJRT_Error* chips(void* args) {
  auto* a = static_cast<PJRT_TopologyDescription_GetDeviceDescriptions_Args*>(args);
  static PJRT_DeviceDescription* four[4] = {
      handle<PJRT_DeviceDescription>(), handle<PJRT_DeviceDescription>(),
      handle<PJRT_DeviceDescription>(), handle<PJRT_DeviceDescription>()};
  a->descriptions = four;
  a->num_descriptions = 4;
  return nullptr;
}
PJRT_Error* kind(void* args) {
  if (!knows_topologies()) return &lacking;
  auto* a = static_cast<PJRT_DeviceDescription_Kind_Args*>(args);
  a->device_kind = "odd chip";
  a->device_kind_size = 8;
  return nullptr;
}
PJRT_NamedValue named(std::string_view name, PJRT_NamedValue::Kind type) {
  PJRT_NamedValue out{};
  out.struct_size = sizeof out;
  out.name = name.data();
  out.name_size = name.size();
  out.type = type;
  out.value_size = 1;
  return out;
}
PJRT_Error* attributes(void* args) {
  if (!knows_topologies()) return &lacking;
  auto* a = static_cast<PJRT_DeviceDescription_Attributes_Args*>(args);
  static PJRT_NamedValue limit = named("device_memory_bytes_limit", PJRT_NamedValue::kInt64);
  limit.int64_value = 2048;
  a->attributes = &limit;
  a->num_attributes = 1;
  return nullptr;
}
PJRT_Error* compile_alone(void* args) {
  if (manner() == "topology-none") return &lacking;
  if (manner() == "topology-full") return &large;
  static_cast<PJRT_Compile_Args*>(args)->executable = handle<PJRT_Executable>();
  return nullptr;
}
PJRT_Error* memory(void* args) {
  if (manner() == "topology-mute") return &lacking;
  auto* a = static_cast<PJRT_Executable_GetCompiledMemoryStats_Args*>(args);
  a->argument_size_in_bytes = 100;
  a->output_size_in_bytes = 40;
  a->alias_size_in_bytes = 30;
  a->temp_size_in_bytes = 500;
  a->generated_code_size_in_bytes = 7;
  a->peak_memory_in_bytes = manner() == "topology-peak" ? 1000 : 0;
  return nullptr;
}
PJRT_Error* cost(void* args) {
  if (manner() == "topology-mute") return &lacking;
  auto* a = static_cast<PJRT_Executable_GetCostAnalysis_Args*>(args);
  static PJRT_NamedValue values[3] = {named("flops", PJRT_NamedValue::kFloat),
                                      named("bytes accessed", PJRT_NamedValue::kFloat),
                                      named("flops", PJRT_NamedValue::kInt64)};
  values[0].float_value = 12;
  values[1].float_value = 34;
  values[2].int64_value = 99;  // of another type than XLA's, so not read
  a->properties = values;
  a->num_properties = 3;
  return nullptr;
}
/// An HloModuleProto of one instruction, all-reduce of f32[8]; with its configuration around it, or
/// in a format that nobody reads.
PJRT_Error* optimized(void* args) {
  using std::string_view_literals::operator""sv;
  constexpr std::string_view whole =
      "\x0a\x16\x1a\x14\x12\x12\x12\x0a"
      "all-reduce\x1a\x04\x10\x0b\x18\x08"sv;
  auto* p = static_cast<PJRT_Executable_OptimizedProgram_Args*>(args)->program;
  std::string_view code = whole, format = "hlo_with_config";
  if (manner() == "topology-plain") code = whole.substr(2), format = "hlo";
  if (manner() == "topology-text") format = "poem";
  if (manner() == "topology-cut") code = whole.substr(0, 9);
  if (manner() == "topology-empty") code = {};
  if (p->code != nullptr) code.copy(p->code, p->code_size);
  p->code_size = code.size();
  p->format = format.data();
  p->format_size = format.size();
  return nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi() {
  static PJRT_Api api{};
  if (manner() == "nothing") return nullptr;
  api.struct_size = sizeof api;
  api.pjrt_api_version = {sizeof(PJRT_Api_Version), nullptr, manner() == "major" ? 1 : 0,
                          manner() == "old" ? 20 : 90};
  api.slots[0] = nothing;
  api.slots[1] = error_message;
  api.slots[2] = error_code;
  api.slots[3] = initialize;
  if (manner() == "short") {  // a table that ends before the client
    api.struct_size = offsetof(PJRT_Api, slots) + 5 * sizeof(PJRT_Function);
    return &api;
  }
  api.slots[10] = create;
  api.slots[11] = nothing;
  api.slots[12] = platform;
  api.slots[16] = nothing;  // no devices
  // A table is read once, so these look at the manner themselves.
  api.slots[25] = attributes;
  api.slots[26] = kind;
  api.slots[40] = nothing;  // Executable_Destroy
  api.slots[46] = cost;
  api.slots[48] = optimized;
  api.slots[82] = topology;
  api.slots[83] = nothing;  // TopologyDescription_Destroy
  api.slots[84] = topology_platform;
  api.slots[86] = chips;
  api.slots[89] = compile_alone;
  api.slots[96] = memory;
  if (manner() == "compile" || manner() == "run") {
    api.slots[16] = one_device;
    api.slots[20] = compile;
    api.slots[22] = take;
    api.slots[23] = number;
    api.slots[29] = description;
    api.slots[44] = results;
    api.slots[50] = nothing;  // LoadedExecutable_Destroy
    api.slots[51] = executable;
    api.slots[55] = execute;
    api.slots[58] = nothing;  // Buffer_Destroy
  }
  return &api;
}
