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
  if (manner() == "compile" || manner() == "run") {
    api.slots[16] = one_device;
    api.slots[20] = compile;
    api.slots[22] = take;
    api.slots[23] = number;
    api.slots[29] = description;
    api.slots[40] = nothing;  // Executable_Destroy
    api.slots[44] = results;
    api.slots[50] = nothing;  // LoadedExecutable_Destroy
    api.slots[51] = executable;
    api.slots[55] = execute;
    api.slots[58] = nothing;  // Buffer_Destroy
  }
  return &api;
}
