#include "strata/pjrt/plugin.h"

#include "strata/compile/cpu/cpu_client.h"
#include "strata/pjrt/call_log.h"
#include "strata/pjrt/error.h"
#include "strata/pjrt/ffi/ffi_extension.h"
#include "strata/pjrt/functions.h"
#include "strata/pjrt/profiler/profiler.h"
#include "strata/pjrt/shardings.h"
#include "strata/runtime/device.h"

namespace strata::pjrt {
namespace {

constexpr int kMajor = 0, kMinor = 112;

/// What a caller's struct must reach. Most have not grown since 0.29; of those that have, the size
/// of then.
template <class Args>
constexpr std::size_t oldest = sizeof(Args) - 7;  // sizes are told without what pads the last field
template <>
constexpr std::size_t oldest<PJRT_Client_Create_Args> =
    offsetof(PJRT_Client_Create_Args, kv_try_get_callback);
template <>
constexpr std::size_t oldest<PJRT_Device_MemoryStats_Args> =
    offsetof(PJRT_Device_MemoryStats_Args, peak_allocated_bytes) - 7;
template <>
constexpr std::size_t oldest<PJRT_Executable_DeserializeAndLoad_Args> =
    offsetof(PJRT_Executable_DeserializeAndLoad_Args, overridden_serialized_compile_options);
template <>
constexpr std::size_t oldest<PJRT_Executable_GetCompiledMemoryStats_Args> =
    offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, host_generated_code_size_in_bytes);
template <>
constexpr std::size_t oldest<PJRT_Client_CreateViewOfDeviceBuffer_Args> =
    offsetof(PJRT_Client_CreateViewOfDeviceBuffer_Args, memory);

void note(const char* name, const PJRT_Error* error) {
  log_call(name, error ? error->message.c_str() : nullptr);
}

/// A function of the table in C's way: what it throws comes back as an error.
template <auto f, class Args>
PJRT_Error* guarded(const char* name, void* arguments) {
  PJRT_Error* error = nullptr;
  try {
    auto* args = static_cast<Args*>(arguments);
    if (args->struct_size < oldest<Args>)
      fail(PJRT_Error_Code_INVALID_ARGUMENT,
           "Unexpected {} size: {} bytes, at least {} are needed; the framework is too old", name,
           args->struct_size, oldest<Args>);
    f(*args);
  } catch (...) {
    error = new PJRT_Error(caught());
  }
  note(name, error);
  return error;
}

PJRT_Error* absent(const char* name) {
  auto* error =
      new PJRT_Error{{}, PJRT_Error_Code_UNIMPLEMENTED, fmt::format("{} is not supported", name)};
  note(name, error);
  return error;
}

/// The handler's arguments begin with their size too, but have no list of extensions.
template <>
constexpr std::size_t oldest<PJRT_FFI_Register_Handler_Args> =
    sizeof(PJRT_FFI_Register_Handler_Args) - 4;

template <auto f, class Args>
PJRT_Error* extension_call(Args* args) {
  return guarded<f, Args>("extension", args);
}

PJRT_Api make_api() {
  PJRT_Api api{
      sizeof(PJRT_Api), extensions(), {sizeof(PJRT_Api_Version), nullptr, kMajor, kMinor}, {}};
#define STRATA_PJRT_PRESENT(slot, name)                                           \
  api.slots[slot] = [](void* args) {                                              \
    return guarded<&strata::pjrt::name, PJRT_##name##_Args>("PJRT_" #name, args); \
  };
#define STRATA_PJRT_ABSENT(slot, name) \
  api.slots[slot] = [](void*) { return absent("PJRT_" #name); };
  STRATA_PJRT_SLOTS(STRATA_PJRT_PRESENT, STRATA_PJRT_ABSENT)
#undef STRATA_PJRT_PRESENT
#undef STRATA_PJRT_ABSENT
  return api;
}

}  // namespace

PJRT_Extension_Base* extensions() {
  static PJRT_Shardings_Extension shardings{
      {sizeof(PJRT_Shardings_Extension), PJRT_Extension_Type_Shardings, nullptr},
      extension_call<&Shardings_PJRT_Executable_ParameterShardings,
                     PJRT_Shardings_PJRT_Executable_ParameterShardings_Args>,
      extension_call<&Shardings_PJRT_Executable_OutputShardings,
                     PJRT_Shardings_PJRT_Executable_OutputShardings_Args>};
  static PJRT_FFI_Extension ffi{
      {sizeof(PJRT_FFI_Extension), PJRT_Extension_Type_FFI, &shardings.base},
      extension_call<&FFI_Type_Register, PJRT_FFI_Type_Register_Args>,
      extension_call<&FFI_UserData_Add, PJRT_FFI_UserData_Add_Args>,
      extension_call<&FFI_Register_Handler, PJRT_FFI_Register_Handler_Args>};
  static PJRT_Profiler_Extension profiler{
      {sizeof(PJRT_Profiler_Extension), PJRT_Extension_Type_Profiler, &ffi.base},
      &profiler_api(),
      0};
  return &profiler.base;
}

}  // namespace strata::pjrt

extern "C" const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api api = [] {
    strata::compile::register_cpu();
    strata::runtime::ignore_devices();
    return strata::pjrt::make_api();
  }();
  return &api;
}
