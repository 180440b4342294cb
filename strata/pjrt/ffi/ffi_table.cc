// The table of functions that handlers may call (ffi_api.h).
#include <algorithm>
#include <cstdlib>
#include <map>

#include "strata/pjrt/ffi/ffi.h"
#include "strata/pjrt/ffi/ffi_context.h"

namespace strata::pjrt {
namespace {

struct Types {
  std::mutex mutex;
  std::map<std::string, std::int64_t> numbers;
  std::map<std::int64_t, void (*)(void*)> deleters;
};
Types& types() {
  static Types& t = *new Types;  // states may be deleted as late as the process ends
  return t;
}

std::string text_of(const XLA_FFI_ByteSpan& span) { return std::string(span.ptr, span.len); }

template <class... Args>
XLA_FFI_Error* error(XLA_FFI_Error_Code code, fmt::format_string<Args...> format, Args&&... args) {
  return new XLA_FFI_Error{code, fmt::format(format, std::forward<Args>(args)...)};
}

/// A caller whose struct ends before what is asked of it speaks another version.
template <class Args>
XLA_FFI_Error* check_size(const Args* args, std::size_t needed, const char* name) {
  if (args->struct_size >= needed) return nullptr;
  return error(XLA_FFI_Error_Code_INVALID_ARGUMENT, "{} has a size of {}, expected at least {}",
               name, args->struct_size, needed);
}
#define STRATA_NEEDS(Args, last)                                                                  \
  if (XLA_FFI_Error* wrong =                                                                      \
          check_size(args, offsetof(XLA_FFI_##Args, last) + sizeof(XLA_FFI_##Args::last), #Args)) \
  return wrong

XLA_FFI_Error* Error_Create(XLA_FFI_Error_Create_Args* args) {
  return new XLA_FFI_Error{args->errc, args->message ? args->message : ""};
}
void Error_GetMessage(XLA_FFI_Error_GetMessage_Args* args) {
  args->message = args->error->message.c_str();
}
void Error_Destroy(XLA_FFI_Error_Destroy_Args* args) { delete args->error; }

XLA_FFI_Error* Handler_Register(XLA_FFI_Handler_Register_Args* args) {
  STRATA_NEEDS(Handler_Register_Args, traits);
  std::string platform = text_of(args->platform);
  if (platform != "Host" && platform != "cpu" && platform != "CPU")
    return nullptr;  // for a device that is not here
  Status status = register_ffi(text_of(args->name), args->bundle);
  return status.ok() ? nullptr : error(XLA_FFI_Error_Code_INVALID_ARGUMENT, "{}", status.message());
}

XLA_FFI_Error* Stream_Get(XLA_FFI_Stream_Get_Args*) {
  return error(XLA_FFI_Error_Code_UNIMPLEMENTED, "a CPU has no stream");
}

XLA_FFI_Error* Type_Register(XLA_FFI_Type_Register_Args* args) {
  STRATA_NEEDS(Type_Register_Args, type_id);
  bool has_info = args->struct_size >=
                  offsetof(XLA_FFI_Type_Register_Args, type_info) + sizeof(args->type_info);
  auto* deleter = has_info && args->type_info != nullptr ? args->type_info->deleter : nullptr;
  Result<std::int64_t> id = register_ffi_type(text_of(args->name), args->type_id->type_id, deleter);
  if (!id) return error(XLA_FFI_Error_Code_INVALID_ARGUMENT, "{}", id.status().message());
  args->type_id->type_id = *id;
  return nullptr;
}

XLA_FFI_Error* ExecutionContext_Get(XLA_FFI_ExecutionContext_Get_Args* args) {
  STRATA_NEEDS(ExecutionContext_Get_Args, data);
  args->data = args->ctx->run ? args->ctx->run->find(args->type_id->type_id) : nullptr;
  if (args->data != nullptr) return nullptr;
  return error(XLA_FFI_Error_Code_NOT_FOUND, "the run has no data of type {}",
               args->type_id->type_id);
}

FfiState* state_of(XLA_FFI_ExecutionContext* ctx, XLA_FFI_ExecutionStage stage) {
  return stage < ctx->states.size() ? ctx->states[stage] : nullptr;
}

XLA_FFI_Error* State_Set(XLA_FFI_State_Set_Args* args) {
  STRATA_NEEDS(State_Set_Args, state);
  FfiState* state = state_of(args->ctx, args->stage);
  if (state == nullptr)
    return error(XLA_FFI_Error_Code_INVALID_ARGUMENT, "stage {} has no state",
                 static_cast<int>(args->stage));
  if (state->object != nullptr)
    return error(XLA_FFI_Error_Code_FAILED_PRECONDITION, "the state is set already");
  state->type_id = args->type_id->type_id;
  state->object = args->state;
  return nullptr;
}

XLA_FFI_Error* State_Get(XLA_FFI_State_Get_Args* args) {
  STRATA_NEEDS(State_Get_Args, state);
  FfiState* state = state_of(args->ctx, args->stage);
  if (state == nullptr || state->object == nullptr)
    return error(XLA_FFI_Error_Code_NOT_FOUND, "the state is not set");
  if (state->type_id != args->type_id->type_id)
    return error(XLA_FFI_Error_Code_INVALID_ARGUMENT, "the state is of type {}, asked for {}",
                 state->type_id, args->type_id->type_id);
  args->state = state->object;
  return nullptr;
}

XLA_FFI_Error* DeviceMemory_Allocate(XLA_FFI_DeviceMemory_Allocate_Args* args) {
  STRATA_NEEDS(DeviceMemory_Allocate_Args, data);
  std::size_t alignment = std::max<std::size_t>(args->alignment, 64),
              bytes =
                  (std::max<std::size_t>(args->size, 1) + alignment - 1) / alignment * alignment;
  bool sound = (alignment & (alignment - 1)) == 0 && bytes >= args->size;
  args->data = sound ? std::aligned_alloc(alignment, bytes) : nullptr;
  if (args->data == nullptr)
    return error(XLA_FFI_Error_Code_RESOURCE_EXHAUSTED,
                 "no memory for {} bytes at a multiple of {}", args->size, args->alignment);
  args->ctx->memory.push_back(args->data);
  return nullptr;
}

XLA_FFI_Error* DeviceMemory_Free(XLA_FFI_DeviceMemory_Free_Args* args) {
  STRATA_NEEDS(DeviceMemory_Free_Args, data);
  auto& memory = args->ctx->memory;
  auto it = std::find(memory.begin(), memory.end(), args->data);
  if (it == memory.end())
    return error(XLA_FFI_Error_Code_INVALID_ARGUMENT, "this call did not allocate that memory");
  std::free(*it);
  memory.erase(it);
  return nullptr;
}

XLA_FFI_Error* ThreadPool_Schedule(XLA_FFI_ThreadPool_Schedule_Args* args) {
  STRATA_NEEDS(ThreadPool_Schedule_Args, data);
  args->task(args->data);
  return nullptr;
}
XLA_FFI_Error* ThreadPool_NumThreads(XLA_FFI_ThreadPool_NumThreads_Args* args) {
  STRATA_NEEDS(ThreadPool_NumThreads_Args, num_threads);
  *args->num_threads = 1;
  return nullptr;
}

XLA_FFI_Error* Future_Create(XLA_FFI_Future_Create_Args* args) {
  args->future = new XLA_FFI_Future;
  return nullptr;
}
XLA_FFI_Error* finish(XLA_FFI_Future* future, XLA_FFI_Error* with) {
  std::lock_guard lock(future->mutex);
  if (future->done) {
    delete with;
    return error(XLA_FFI_Error_Code_FAILED_PRECONDITION, "the future is done already");
  }
  future->done = true;
  future->error = with;
  future->changed.notify_all();  // with the mutex held: whoever waits deletes the future
  return nullptr;
}
XLA_FFI_Error* Future_SetAvailable(XLA_FFI_Future_SetAvailable_Args* args) {
  return finish(args->future, nullptr);
}
XLA_FFI_Error* Future_SetError(XLA_FFI_Future_SetError_Args* args) {
  return finish(args->future, args->error);
}

XLA_FFI_Error* RunId_Get(XLA_FFI_RunId_Get_Args* args) {
  STRATA_NEEDS(RunId_Get_Args, run_id);
  args->run_id = args->ctx->run ? args->ctx->run->run_id : 0;
  return nullptr;
}
XLA_FFI_Error* DeviceOrdinal_Get(XLA_FFI_DeviceOrdinal_Get_Args* args) {
  STRATA_NEEDS(DeviceOrdinal_Get_Args, device_ordinal);
  args->device_ordinal = args->ctx->run ? args->ctx->run->device : 0;
  return nullptr;
}

#undef STRATA_NEEDS

}  // namespace

const XLA_FFI_Api& ffi_api() {
  static constexpr XLA_FFI_Api api{
      .struct_size = sizeof(XLA_FFI_Api),
      .extension_start = nullptr,
      .api_version = {sizeof(XLA_FFI_Api_Version), nullptr, kXlaFfiMajor, kXlaFfiMinor},
      .internal_api = nullptr,
#define STRATA_FIELD(Returned, name) .name = name,
      STRATA_XLA_FFI_FUNCTIONS(STRATA_FIELD)
#undef STRATA_FIELD
  };
  return api;
}

Result<std::int64_t> register_ffi_type(const std::string& name, std::int64_t type_id,
                                       void (*deleter)(void*)) {
  Types& t = types();
  std::lock_guard lock(t.mutex);
  if (auto known = t.numbers.find(name); known != t.numbers.end()) {
    if (type_id != 0 && type_id != known->second)
      return Status(Code::exists, "the type '{}' has the number {}, not {}", name, known->second,
                    type_id);
    return known->second;
  }
  if (type_id == 0) type_id = t.deleters.empty() ? 1 : t.deleters.rbegin()->first + 1;
  if (!t.deleters.emplace(type_id, deleter).second)
    return Status(Code::exists, "another type than '{}' has the number {}", name, type_id);
  t.numbers[name] = type_id;
  return type_id;
}

void delete_ffi_object(std::int64_t type_id, void* object) {
  void (*deleter)(void*) = nullptr;
  {
    std::lock_guard lock(types().mutex);
    auto it = types().deleters.find(type_id);
    if (it != types().deleters.end()) deleter = it->second;
  }
  if (deleter != nullptr) deleter(object);
}

void FfiRun::add(std::int64_t type_id, void* data) {
  if (find(type_id) == nullptr) data_.emplace_back(type_id, data);
}
void* FfiRun::find(std::int64_t type_id) const {
  auto it = std::find_if(data_.begin(), data_.end(),
                         [&](const auto& entry) { return entry.first == type_id; });
  return it == data_.end() ? nullptr : it->second;
}

}  // namespace strata::pjrt

XLA_FFI_ExecutionContext::~XLA_FFI_ExecutionContext() {
  for (void* block : memory) std::free(block);
}
