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
  return &api;
}
