// A client of the table, for tests: what a framework does, in few words.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "strata/pjrt/plugin.h"
#include "strata/runtime/plugin/abi.h"

namespace strata::pjrt::testing {

/// Slots by name.
enum Slot : int {
#define STRATA_PJRT_NAMED(slot, name) k##name = slot,
  STRATA_PJRT_SLOTS(STRATA_PJRT_NAMED, STRATA_PJRT_NAMED)
#undef STRATA_PJRT_NAMED
};

/// What a call failed with; code 0: it did not.
struct Outcome {
  PJRT_Error_Code code{};
  std::string message;
  bool ok() const { return code == 0; }
};

template <class Args>
PJRT_Error* raw(int slot, Args& args) {
  return GetPjrtApi()->slots[slot](&args);
}

inline Outcome taken(PJRT_Error* error) {
  if (error == nullptr) return {};
  PJRT_Error_Message_Args message{sizeof message, nullptr, error};
  PJRT_Error_GetCode_Args code{sizeof code, nullptr, error};
  raw(kError_Message, message);
  raw(kError_GetCode, code);
  Outcome out{code.code, std::string(message.message, message.message_size)};
  PJRT_Error_Destroy_Args destroy{sizeof destroy, nullptr, error};
  raw(kError_Destroy, destroy);
  return out;
}

template <class Args>
Outcome call(int slot, Args& args) {
  return taken(raw(slot, args));
}

#define STRATA_PJRT_OK(...)                         \
  do {                                              \
    const Outcome outcome_ = __VA_ARGS__;           \
    ASSERT_TRUE(outcome_.ok()) << outcome_.message; \
  } while (false)

/// A fresh Args with its size set.
template <class Args>
Args fresh() {
  Args out{};
  out.struct_size = sizeof(Args);
  return out;
}

/// Waits for an event and destroys it.
inline Outcome awaited(PJRT_Event* event) {
  auto await = fresh<PJRT_Event_Await_Args>();
  await.event = event;
  Outcome out = call(kEvent_Await, await);
  auto destroy = fresh<PJRT_Event_Destroy_Args>();
  destroy.event = event;
  call(kEvent_Destroy, destroy);
  return out;
}

/// xla.CompileOptionsProto {executable_build_options {device_ordinal: -1, num_replicas: 1,
/// num_partitions: 1}}.
inline std::string plain_options() {
  return std::string("\x1a\x0f\x08") + std::string(9, '\xff') + "\x01\x20\x01\x28\x01";
}

class Client {
 public:
  explicit Client(std::vector<PJRT_NamedValue> options = {}) {
    auto create = fresh<PJRT_Client_Create_Args>();
    create.create_options = options.data();
    create.num_options = options.size();
    outcome = call(kClient_Create, create);
    client = create.client;
    if (!outcome.ok()) return;
    auto devices_of = fresh<PJRT_Client_Devices_Args>();
    devices_of.client = client;
    call(kClient_Devices, devices_of);
    devices.assign(devices_of.devices, devices_of.devices + devices_of.num_devices);
  }
  ~Client() {
    if (client == nullptr) return;
    auto destroy = fresh<PJRT_Client_Destroy_Args>();
    destroy.client = client;
    call(kClient_Destroy, destroy);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Outcome compile(std::string code, PJRT_LoadedExecutable*& out,
                  std::string options = plain_options(), std::string format = "mlir") const {
    PJRT_Program program{sizeof program, nullptr,       code.data(),
                         code.size(),    format.data(), format.size()};
    auto args = fresh<PJRT_Client_Compile_Args>();
    args.client = client;
    args.program = &program;
    args.compile_options = options.data();
    args.compile_options_size = options.size();
    Outcome outcome = call(kClient_Compile, args);
    out = args.executable;
    return outcome;
  }

  /// An array of floats; strides in bytes, none: dense.
  PJRT_Buffer* buffer(
      const float* data, std::vector<std::int64_t> dims, std::vector<std::int64_t> strides = {},
      PJRT_HostBufferSemantics semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
      PJRT_Event** done = nullptr, int device = 0) const {
    auto args = fresh<PJRT_Client_BufferFromHostBuffer_Args>();
    args.client = client;
    args.data = data;
    args.type = PJRT_Buffer_Type_F32;
    args.dims = dims.data();
    args.num_dims = dims.size();
    args.byte_strides = strides.data();
    args.num_byte_strides = strides.size();
    args.host_buffer_semantics = semantics;
    args.device = devices[static_cast<std::size_t>(device)];
    const Outcome outcome = call(kClient_BufferFromHostBuffer, args);
    EXPECT_TRUE(outcome.ok()) << outcome.message;
    if (done != nullptr)
      *done = args.done_with_host_buffer;
    else
      EXPECT_TRUE(awaited(args.done_with_host_buffer).ok());
    return args.buffer;
  }

  PJRT_Client* client = nullptr;
  std::vector<PJRT_Device*> devices;
  Outcome outcome;
};

inline Outcome execute(PJRT_LoadedExecutable* executable, std::vector<PJRT_Buffer*> arguments,
                       std::vector<PJRT_Buffer*>& results, std::vector<std::int64_t> kept = {}) {
  auto options = fresh<PJRT_ExecuteOptions>();
  options.non_donatable_input_indices = kept.data();
  options.num_non_donatable_input_indices = kept.size();
  PJRT_Buffer* const* argument_list = arguments.data();
  PJRT_Buffer** result_list = results.data();
  PJRT_Event* done = nullptr;
  auto args = fresh<PJRT_LoadedExecutable_Execute_Args>();
  args.executable = executable;
  args.options = &options;
  args.argument_lists = &argument_list;
  args.num_devices = 1;
  args.num_args = arguments.size();
  args.output_lists = &result_list;
  args.device_complete_events = &done;
  Outcome outcome = call(kLoadedExecutable_Execute, args);
  return outcome.ok() ? awaited(done) : outcome;
}

inline Outcome read(PJRT_Buffer* buffer, std::vector<float>& out,
                    const PJRT_Buffer_MemoryLayout* layout = nullptr) {
  auto args = fresh<PJRT_Buffer_ToHostBuffer_Args>();
  args.src = buffer;
  if (Outcome o = call(kBuffer_ToHostBuffer, args); !o.ok()) return o;  // asks the size
  out.resize(args.dst_size / sizeof(float));
  args.dst = out.data();
  args.host_layout = const_cast<PJRT_Buffer_MemoryLayout*>(layout);
  std::vector<float> none(1);
  if (args.dst == nullptr) args.dst = none.data();
  if (Outcome o = call(kBuffer_ToHostBuffer, args); !o.ok()) return o;
  return awaited(args.event);
}

inline bool is_deleted(PJRT_Buffer* buffer) {
  auto args = fresh<PJRT_Buffer_IsDeleted_Args>();
  args.buffer = buffer;
  call(kBuffer_IsDeleted, args);
  return args.is_deleted;
}

inline const void* pointer(PJRT_Buffer* buffer) {
  auto args = fresh<PJRT_Buffer_UnsafePointer_Args>();
  args.buffer = buffer;
  call(kBuffer_UnsafePointer, args);
  return reinterpret_cast<const void*>(args.buffer_pointer);
}

inline void destroy(PJRT_Buffer* buffer) {
  auto args = fresh<PJRT_Buffer_Destroy_Args>();
  args.buffer = buffer;
  call(kBuffer_Destroy, args);
}
inline void destroy(PJRT_LoadedExecutable* executable) {
  auto args = fresh<PJRT_LoadedExecutable_Destroy_Args>();
  args.executable = executable;
  call(kLoadedExecutable_Destroy, args);
}

}  // namespace strata::pjrt::testing
