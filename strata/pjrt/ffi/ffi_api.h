// The binary interface by which XLA calls functions from outside ("XLA FFI"), as far as Strata
// speaks it.
//
// Our own transcription of openxla/xla, xla/ffi/api/c_api.h (Apache-2.0), names and meanings as
// there, at version 0.3. Every struct begins with its size, up to its last field without padding
// behind it, and a list of extensions. A function that can fail returns null or an error that the
// caller owns.
#pragma once

#include <cstddef>
#include <cstdint>

// Opaque: an error, what a call knows of its run, a promise to be done later.
struct XLA_FFI_Error;
struct XLA_FFI_ExecutionContext;
struct XLA_FFI_Future;
struct XLA_FFI_InternalApi;
struct XLA_FFI_Api;

enum XLA_FFI_Extension_Type : std::uint32_t { XLA_FFI_Extension_Metadata = 1 };

struct XLA_FFI_Extension_Base {
  std::size_t struct_size;
  XLA_FFI_Extension_Type type;
  XLA_FFI_Extension_Base* next;
};

/// What every struct of arguments begins with.
#define STRATA_XLA_FFI_HEAD \
  std::size_t struct_size;  \
  XLA_FFI_Extension_Base* extension_start;

struct XLA_FFI_Api_Version {
  STRATA_XLA_FFI_HEAD
  std::int32_t major_version, minor_version;
};
inline constexpr std::int32_t kXlaFfiMajor = 0, kXlaFfiMinor = 3;

/// absl's codes; 0 is no error.
enum XLA_FFI_Error_Code : std::uint32_t {
  XLA_FFI_Error_Code_CANCELLED = 1,
  XLA_FFI_Error_Code_UNKNOWN = 2,
  XLA_FFI_Error_Code_INVALID_ARGUMENT = 3,
  XLA_FFI_Error_Code_DEADLINE_EXCEEDED = 4,
  XLA_FFI_Error_Code_NOT_FOUND = 5,
  XLA_FFI_Error_Code_ALREADY_EXISTS = 6,
  XLA_FFI_Error_Code_PERMISSION_DENIED = 7,
  XLA_FFI_Error_Code_RESOURCE_EXHAUSTED = 8,
  XLA_FFI_Error_Code_FAILED_PRECONDITION = 9,
  XLA_FFI_Error_Code_ABORTED = 10,
  XLA_FFI_Error_Code_OUT_OF_RANGE = 11,
  XLA_FFI_Error_Code_UNIMPLEMENTED = 12,
  XLA_FFI_Error_Code_INTERNAL = 13,
  XLA_FFI_Error_Code_UNAVAILABLE = 14,
  XLA_FFI_Error_Code_DATA_LOSS = 15,
  XLA_FFI_Error_Code_UNAUTHENTICATED = 16,
};

/// XLA's numbers of element types; PJRT has others.
enum XLA_FFI_DataType : std::uint32_t {
  XLA_FFI_DataType_INVALID = 0,
  XLA_FFI_DataType_PRED = 1,
  XLA_FFI_DataType_S8 = 2,
  XLA_FFI_DataType_S16 = 3,
  XLA_FFI_DataType_S32 = 4,
  XLA_FFI_DataType_S64 = 5,
  XLA_FFI_DataType_U8 = 6,
  XLA_FFI_DataType_U16 = 7,
  XLA_FFI_DataType_U32 = 8,
  XLA_FFI_DataType_U64 = 9,
  XLA_FFI_DataType_F16 = 10,
  XLA_FFI_DataType_F32 = 11,
  XLA_FFI_DataType_F64 = 12,
  XLA_FFI_DataType_C64 = 15,
  XLA_FFI_DataType_BF16 = 16,
  XLA_FFI_DataType_TOKEN = 17,
  XLA_FFI_DataType_C128 = 18,
  XLA_FFI_DataType_F8E5M2 = 19,
  XLA_FFI_DataType_F8E4M3FN = 20,
  XLA_FFI_DataType_S4 = 21,
  XLA_FFI_DataType_U4 = 22,
  XLA_FFI_DataType_F8E4M3B11FNUZ = 23,
  XLA_FFI_DataType_F8E5M2FNUZ = 24,
  XLA_FFI_DataType_F8E4M3FNUZ = 25,
  XLA_FFI_DataType_S2 = 26,
  XLA_FFI_DataType_U2 = 27,
  XLA_FFI_DataType_F8E4M3 = 28,
  XLA_FFI_DataType_F8E3M4 = 29,
  XLA_FFI_DataType_F4E2M1FN = 32,
  XLA_FFI_DataType_F8E8M0FNU = 33,
};

enum XLA_FFI_ArgType : std::uint32_t { XLA_FFI_ArgType_BUFFER = 1 };
enum XLA_FFI_RetType : std::uint32_t { XLA_FFI_RetType_BUFFER = 1 };
enum XLA_FFI_AttrType : std::uint32_t {
  XLA_FFI_AttrType_ARRAY = 1,
  XLA_FFI_AttrType_DICTIONARY = 2,
  XLA_FFI_AttrType_SCALAR = 3,
  XLA_FFI_AttrType_STRING = 4
};
enum XLA_FFI_ExecutionStage : std::uint32_t {
  XLA_FFI_ExecutionStage_INSTANTIATE = 0,
  XLA_FFI_ExecutionStage_PREPARE = 1,
  XLA_FFI_ExecutionStage_INITIALIZE = 2,
  XLA_FFI_ExecutionStage_EXECUTE = 3,
};

// ---- what a handler is given -------------------------------------------------------------------

struct XLA_FFI_Buffer {
  STRATA_XLA_FFI_HEAD
  XLA_FFI_DataType dtype;
  void* data;
  std::int64_t rank;
  std::int64_t* dims;
};
struct XLA_FFI_ByteSpan {
  const char* ptr;
  std::size_t len;
};
struct XLA_FFI_Scalar {
  XLA_FFI_DataType dtype;
  void* value;
};
struct XLA_FFI_Array {
  XLA_FFI_DataType dtype;
  std::size_t size;  // elements
  void* data;
};

struct XLA_FFI_Args {
  STRATA_XLA_FFI_HEAD
  std::int64_t size;
  XLA_FFI_ArgType* types;
  void** args;
};
struct XLA_FFI_Rets {
  STRATA_XLA_FFI_HEAD
  std::int64_t size;
  XLA_FFI_RetType* types;
  void** rets;
};
/// In the order of their names.
struct XLA_FFI_Attrs {
  STRATA_XLA_FFI_HEAD
  std::int64_t size;
  XLA_FFI_AttrType* types;
  XLA_FFI_ByteSpan** names;
  void** attrs;  // XLA_FFI_Array, Attrs, Scalar or ByteSpan
};

struct XLA_FFI_CallFrame {
  STRATA_XLA_FFI_HEAD
  const XLA_FFI_Api* api;
  XLA_FFI_ExecutionContext* ctx;
  XLA_FFI_ExecutionStage stage;
  XLA_FFI_Args args;
  XLA_FFI_Rets rets;
  XLA_FFI_Attrs attrs;
  XLA_FFI_Future* future;  // out, and not in the struct's size: the call is over when it is done
};
inline constexpr std::size_t kXlaFfiCallFrameSize = 168;

using XLA_FFI_Handler = XLA_FFI_Error*(XLA_FFI_CallFrame*);
/// All but `execute` may be null.
struct XLA_FFI_Handler_Bundle {
  XLA_FFI_Handler *instantiate, *prepare, *initialize, *execute;
};
using XLA_FFI_Handler_Traits = std::uint32_t;

/// 0 is no type.
struct XLA_FFI_TypeId {
  std::int64_t type_id;
};
struct XLA_FFI_TypeInfo {
  STRATA_XLA_FFI_HEAD
  void (*deleter)(void* object);
};

/// Asked of a handler in place of a call: what it was compiled with.
struct XLA_FFI_Metadata {
  std::size_t struct_size;
  XLA_FFI_Api_Version api_version;
  XLA_FFI_Handler_Traits traits;
  XLA_FFI_TypeId state_type_id;
};
struct XLA_FFI_Metadata_Extension {
  XLA_FFI_Extension_Base base;
  XLA_FFI_Metadata* metadata;
};

// ---- what a handler may ask --------------------------------------------------------------------

using XLA_FFI_Task = void(void* data);

struct XLA_FFI_Error_Create_Args {
  STRATA_XLA_FFI_HEAD const char* message;
  XLA_FFI_Error_Code errc;
};
struct XLA_FFI_Error_GetMessage_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_Error* error;
  const char* message;
};
struct XLA_FFI_Error_Destroy_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_Error* error;
};
struct XLA_FFI_Handler_Register_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_ByteSpan name, platform;
  XLA_FFI_Handler_Bundle bundle;
  XLA_FFI_Handler_Traits traits;
};
struct XLA_FFI_Stream_Get_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_ExecutionContext* ctx;
  void* stream;
};
struct XLA_FFI_Type_Register_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_ByteSpan name;
  XLA_FFI_TypeId* type_id;
  const XLA_FFI_TypeInfo* type_info;
};
struct XLA_FFI_ExecutionContext_Get_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_ExecutionContext* ctx;
  XLA_FFI_TypeId* type_id;
  void* data;
};
struct XLA_FFI_State_Set_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_ExecutionContext* ctx;
  XLA_FFI_ExecutionStage stage;
  XLA_FFI_TypeId* type_id;
  void* state;
};
struct XLA_FFI_State_Get_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_ExecutionContext* ctx;
  XLA_FFI_ExecutionStage stage;
  XLA_FFI_TypeId* type_id;
  void* state;
};
struct XLA_FFI_DeviceMemory_Allocate_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_ExecutionContext* ctx;
  std::size_t size, alignment;
  void* data;
};
struct XLA_FFI_DeviceMemory_Free_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_ExecutionContext* ctx;
  std::size_t size;
  void* data;
};
struct XLA_FFI_ThreadPool_Schedule_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_ExecutionContext* ctx;
  XLA_FFI_Task* task;
  void* data;
};
struct XLA_FFI_ThreadPool_NumThreads_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_ExecutionContext* ctx;
  std::int64_t* num_threads;
};
struct XLA_FFI_Future_Create_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_Future* future;
};
struct XLA_FFI_Future_SetAvailable_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_Future* future;
};
struct XLA_FFI_Future_SetError_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_Future* future;
  XLA_FFI_Error* error;
};
struct XLA_FFI_RunId_Get_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_ExecutionContext* ctx;
  std::int64_t run_id;
};
struct XLA_FFI_DeviceOrdinal_Get_Args {
  STRATA_XLA_FFI_HEAD XLA_FFI_ExecutionContext* ctx;
  std::int32_t device_ordinal;
};

/// The functions in the order of the table. X(returned type, name).
#define STRATA_XLA_FFI_FUNCTIONS(X)        \
  X(XLA_FFI_Error*, Error_Create)          \
  X(void, Error_GetMessage)                \
  X(void, Error_Destroy)                   \
  X(XLA_FFI_Error*, Handler_Register)      \
  X(XLA_FFI_Error*, Stream_Get)            \
  X(XLA_FFI_Error*, Type_Register)         \
  X(XLA_FFI_Error*, ExecutionContext_Get)  \
  X(XLA_FFI_Error*, State_Set)             \
  X(XLA_FFI_Error*, State_Get)             \
  X(XLA_FFI_Error*, DeviceMemory_Allocate) \
  X(XLA_FFI_Error*, DeviceMemory_Free)     \
  X(XLA_FFI_Error*, ThreadPool_Schedule)   \
  X(XLA_FFI_Error*, ThreadPool_NumThreads) \
  X(XLA_FFI_Error*, Future_Create)         \
  X(XLA_FFI_Error*, Future_SetAvailable)   \
  X(XLA_FFI_Error*, Future_SetError)       \
  X(XLA_FFI_Error*, RunId_Get)             \
  X(XLA_FFI_Error*, DeviceOrdinal_Get)

struct XLA_FFI_Api {
  STRATA_XLA_FFI_HEAD
  XLA_FFI_Api_Version api_version;
  const XLA_FFI_InternalApi* internal_api;
#define STRATA_FIELD(Returned, name) Returned (*name)(XLA_FFI_##name##_Args*);
  STRATA_XLA_FFI_FUNCTIONS(STRATA_FIELD)
#undef STRATA_FIELD
};

// The layout that the other side was compiled with.
static_assert(sizeof(XLA_FFI_Api_Version) == 24 && sizeof(XLA_FFI_Buffer) == 48);
static_assert(offsetof(XLA_FFI_Buffer, data) == 24 && offsetof(XLA_FFI_CallFrame, args) == 40 &&
              offsetof(XLA_FFI_CallFrame, rets) == 80);
static_assert(offsetof(XLA_FFI_CallFrame, attrs) == 120 &&
              offsetof(XLA_FFI_CallFrame, future) == kXlaFfiCallFrameSize);
static_assert(offsetof(XLA_FFI_Metadata, traits) == 32 &&
              offsetof(XLA_FFI_Metadata, state_type_id) == 40 &&
              offsetof(XLA_FFI_Metadata_Extension, metadata) == 24);
static_assert(offsetof(XLA_FFI_State_Get_Args, type_id) == 32 &&
              offsetof(XLA_FFI_State_Get_Args, state) == 40);
static_assert(sizeof(XLA_FFI_Api) == 16 + 24 + 8 + 18 * 8);

#undef STRATA_XLA_FFI_HEAD
