// The binary interface of PJRT, as far as Strata speaks it: tables of functions and the structs
// that go through them.
//
// Our own transcription of openxla/xla, xla/pjrt/c/pjrt_c_api.h (Apache-2.0), names and meanings as
// there, at version 0.112. Every struct begins with its size as the caller knows it and a list of
// extensions; fields that a caller's size does not reach are not touched. Arguments come in the
// first fields and answers go into the last ones. All functions but two return null or an error
// that the caller owns.
#pragma once

#include <cstddef>
#include <cstdint>

struct PJRT_Error;
struct PJRT_Event;
struct PJRT_Client;
struct PJRT_Device;
struct PJRT_DeviceDescription;
struct PJRT_Memory;
struct PJRT_Buffer;
struct PJRT_Executable;
struct PJRT_LoadedExecutable;
struct PJRT_ExecuteContext;
struct PJRT_TopologyDescription;
struct PJRT_Device_Attributes;
struct PJRT_DeviceAssignmentSerialized;
struct PJRT_SerializedExecutable;
struct PJRT_SerializedTopology;
struct PJRT_SerializedCompileOptions;

/// What every object behind a pointer begins with: jaxlib looks there for functions by which it may
/// hang data of its own on devices and memories, and takes null for none (found by running it; the
/// published header does not tell of them).
struct PJRT_Object {
  const void* functions = nullptr;
};

enum PJRT_Error_Code : std::uint32_t {
  PJRT_Error_Code_CANCELLED = 1,
  PJRT_Error_Code_UNKNOWN = 2,
  PJRT_Error_Code_INVALID_ARGUMENT = 3,
  PJRT_Error_Code_DEADLINE_EXCEEDED = 4,
  PJRT_Error_Code_NOT_FOUND = 5,
  PJRT_Error_Code_ALREADY_EXISTS = 6,
  PJRT_Error_Code_PERMISSION_DENIED = 7,
  PJRT_Error_Code_RESOURCE_EXHAUSTED = 8,
  PJRT_Error_Code_FAILED_PRECONDITION = 9,
  PJRT_Error_Code_ABORTED = 10,
  PJRT_Error_Code_OUT_OF_RANGE = 11,
  PJRT_Error_Code_UNIMPLEMENTED = 12,
  PJRT_Error_Code_INTERNAL = 13,
  PJRT_Error_Code_UNAVAILABLE = 14,
  PJRT_Error_Code_DATA_LOSS = 15,
  PJRT_Error_Code_UNAUTHENTICATED = 16,
};

enum PJRT_Buffer_Type : std::uint32_t {
  PJRT_Buffer_Type_INVALID = 0,
  PJRT_Buffer_Type_PRED = 1,
  PJRT_Buffer_Type_S8 = 2,
  PJRT_Buffer_Type_S16 = 3,
  PJRT_Buffer_Type_S32 = 4,
  PJRT_Buffer_Type_S64 = 5,
  PJRT_Buffer_Type_U8 = 6,
  PJRT_Buffer_Type_U16 = 7,
  PJRT_Buffer_Type_U32 = 8,
  PJRT_Buffer_Type_U64 = 9,
  PJRT_Buffer_Type_F16 = 10,
  PJRT_Buffer_Type_F32 = 11,
  PJRT_Buffer_Type_F64 = 12,
  PJRT_Buffer_Type_BF16 = 13,
  PJRT_Buffer_Type_C64 = 14,
  PJRT_Buffer_Type_C128 = 15,
  PJRT_Buffer_Type_F8E5M2 = 16,
  PJRT_Buffer_Type_F8E4M3FN = 17,
  PJRT_Buffer_Type_F8E4M3B11FNUZ = 18,
  PJRT_Buffer_Type_F8E5M2FNUZ = 19,
  PJRT_Buffer_Type_F8E4M3FNUZ = 20,
  PJRT_Buffer_Type_S4 = 21,
  PJRT_Buffer_Type_U4 = 22,
  PJRT_Buffer_Type_TOKEN = 23,
  PJRT_Buffer_Type_S2 = 24,
  PJRT_Buffer_Type_U2 = 25,
  PJRT_Buffer_Type_F8E4M3 = 26,
  PJRT_Buffer_Type_F8E3M4 = 27,
  PJRT_Buffer_Type_F8E8M0FNU = 28,
  PJRT_Buffer_Type_F4E2M1FN = 29,
  PJRT_Buffer_Type_F6E2M3FN = 32,
  PJRT_Buffer_Type_F6E3M2FN = 33,
};

enum PJRT_HostBufferSemantics : std::uint32_t {
  PJRT_HostBufferSemantics_kImmutableOnlyDuringCall = 0,
  PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes = 1,
  PJRT_HostBufferSemantics_kImmutableZeroCopy = 2,
  PJRT_HostBufferSemantics_kMutableZeroCopy = 3,
};

enum PJRT_Extension_Type : std::uint32_t {
  PJRT_Extension_Type_Profiler = 1,
  PJRT_Extension_Type_FFI = 5,
  PJRT_Extension_Type_Shardings = 19,
};

struct PJRT_Extension_Base {
  std::size_t struct_size;
  PJRT_Extension_Type type;
  PJRT_Extension_Base* next;
};

#define STRATA_PJRT_HEAD   \
  std::size_t struct_size; \
  PJRT_Extension_Base* extension_start;

struct PJRT_NamedValue {
  STRATA_PJRT_HEAD
  const char* name;
  std::size_t name_size;
  enum Kind : std::uint32_t { kString = 0, kInt64 = 1, kInt64List = 2, kFloat = 3, kBool = 4 } type;
  union {
    const char* string_value;
    std::int64_t int64_value;
    const std::int64_t* int64_array_value;
    float float_value;
    bool bool_value;
  };
  std::size_t value_size;  // of a string or list; else 1
};
static_assert(sizeof(PJRT_NamedValue) == 56);

struct PJRT_Program {
  STRATA_PJRT_HEAD
  char* code;
  std::size_t code_size;
  const char* format;
  std::size_t format_size;
};
static_assert(sizeof(PJRT_Program) == 48);

struct PJRT_Buffer_MemoryLayout {
  STRATA_PJRT_HEAD
  struct Tiled {
    STRATA_PJRT_HEAD
    const std::int64_t* minor_to_major;
    std::size_t minor_to_major_size;
    const std::int64_t* tile_dims;
    const std::size_t* tile_dim_sizes;
    std::size_t num_tiles;
  };
  struct Strides {
    STRATA_PJRT_HEAD
    const std::int64_t* byte_strides;
    std::size_t num_byte_strides;
  };
  union {
    Tiled tiled;
    Strides strides;
  };
  enum Kind : std::uint32_t { kTiled = 0, kStrides = 1 } type;
};
static_assert(sizeof(PJRT_Buffer_MemoryLayout) == 80 &&
              sizeof(PJRT_Buffer_MemoryLayout::Tiled) == 56);

struct PJRT_ExecuteOptions {
  STRATA_PJRT_HEAD
  void* send_callbacks;
  void* recv_callbacks;
  std::size_t num_send_ops, num_recv_ops;
  int launch_id;
  const std::int64_t* non_donatable_input_indices;
  std::size_t num_non_donatable_input_indices;
  PJRT_ExecuteContext* context;
  const char* call_location;
  std::size_t num_tasks;
  int* task_ids;
  std::int64_t* incarnation_ids;
  void* multi_slice_config;
};
static_assert(sizeof(PJRT_ExecuteOptions) == 120);

struct PJRT_LogicalDeviceIds {
  int replica, partition;
};

struct PJRT_Error_Payload {
  const char* key;
  std::size_t key_size;
  const char* value;
  std::size_t value_size;
};

#define STRATA_PJRT_ARGS(name, size, ...) \
  struct PJRT_##name##_Args {             \
    STRATA_PJRT_HEAD                      \
    __VA_ARGS__                           \
  };                                      \
  static_assert(sizeof(PJRT_##name##_Args) == size);

// clang-format off
STRATA_PJRT_ARGS(Error_Destroy, 24, const PJRT_Error* error;)
STRATA_PJRT_ARGS(Error_Message, 40, const PJRT_Error* error; const char* message; std::size_t message_size;)
STRATA_PJRT_ARGS(Error_GetCode, 32, const PJRT_Error* error; PJRT_Error_Code code;)
STRATA_PJRT_ARGS(Plugin_Initialize, 16, )
STRATA_PJRT_ARGS(Plugin_Attributes, 32, const PJRT_NamedValue* attributes; std::size_t num_attributes;)
STRATA_PJRT_ARGS(Event_Destroy, 24, PJRT_Event* event;)
STRATA_PJRT_ARGS(Event_IsReady, 32, PJRT_Event* event; bool is_ready;)
STRATA_PJRT_ARGS(Event_Error, 24, PJRT_Event* event;)
STRATA_PJRT_ARGS(Event_Await, 24, PJRT_Event* event;)
STRATA_PJRT_ARGS(Event_OnReady, 40, PJRT_Event* event; void (*callback)(PJRT_Error* error, void* user_arg); void* user_arg;)
STRATA_PJRT_ARGS(Client_Create, 88,
    const PJRT_NamedValue* create_options; std::size_t num_options; void* kv_get_callback; void* kv_get_user_arg; void* kv_put_callback; void*
    kv_put_user_arg; PJRT_Client* client; void* kv_try_get_callback; void* kv_try_get_user_arg;)
STRATA_PJRT_ARGS(Client_Destroy, 24, PJRT_Client* client;)
STRATA_PJRT_ARGS(Client_PlatformName, 40, PJRT_Client* client; const char* platform_name; std::size_t platform_name_size;)
STRATA_PJRT_ARGS(Client_ProcessIndex, 32, PJRT_Client* client; int process_index;)
STRATA_PJRT_ARGS(Client_PlatformVersion, 40, PJRT_Client* client; const char* platform_version; std::size_t platform_version_size;)
STRATA_PJRT_ARGS(Client_Devices, 40, PJRT_Client* client; PJRT_Device* const* devices; std::size_t num_devices;)
STRATA_PJRT_ARGS(Client_AddressableDevices, 40, PJRT_Client* client; PJRT_Device* const* addressable_devices; std::size_t num_addressable_devices;)
STRATA_PJRT_ARGS(Client_LookupDevice, 40, PJRT_Client* client; int id; PJRT_Device* device;)
STRATA_PJRT_ARGS(Client_LookupAddressableDevice, 40, PJRT_Client* client; int local_hardware_id; PJRT_Device* addressable_device;)
STRATA_PJRT_ARGS(Client_AddressableMemories, 40, PJRT_Client* client; PJRT_Memory* const* addressable_memories; std::size_t num_addressable_memories;)
STRATA_PJRT_ARGS(Client_Compile, 56,
    PJRT_Client* client; PJRT_Program* program; const char* compile_options; std::size_t compile_options_size; PJRT_LoadedExecutable* executable;)
STRATA_PJRT_ARGS(Client_DefaultDeviceAssignment, 48,
    PJRT_Client* client; int num_replicas, num_partitions; std::size_t default_assignment_size; int* default_assignment;)
STRATA_PJRT_ARGS(Client_BufferFromHostBuffer, 120,
    PJRT_Client* client; const void* data; PJRT_Buffer_Type type; const std::int64_t* dims; std::size_t num_dims; const std::int64_t* byte_strides;
    std::size_t num_byte_strides; PJRT_HostBufferSemantics host_buffer_semantics; PJRT_Device* device; PJRT_Memory* memory; const
    PJRT_Buffer_MemoryLayout* device_layout; PJRT_Event* done_with_host_buffer; PJRT_Buffer* buffer;)
STRATA_PJRT_ARGS(DeviceDescription_Id, 32, PJRT_DeviceDescription* device_description; int id;)
STRATA_PJRT_ARGS(DeviceDescription_ProcessIndex, 32, PJRT_DeviceDescription* device_description; int process_index;)
STRATA_PJRT_ARGS(DeviceDescription_Attributes, 40,
    PJRT_DeviceDescription* device_description; std::size_t num_attributes; const PJRT_NamedValue* attributes;)
STRATA_PJRT_ARGS(DeviceDescription_Kind, 40, PJRT_DeviceDescription* device_description; const char* device_kind; std::size_t device_kind_size;)
STRATA_PJRT_ARGS(DeviceDescription_DebugString, 40,
    PJRT_DeviceDescription* device_description; const char* debug_string; std::size_t debug_string_size;)
STRATA_PJRT_ARGS(DeviceDescription_ToString, 40, PJRT_DeviceDescription* device_description; const char* to_string; std::size_t to_string_size;)
STRATA_PJRT_ARGS(Device_GetDescription, 32, PJRT_Device* device; PJRT_DeviceDescription* device_description;)
STRATA_PJRT_ARGS(Device_IsAddressable, 32, PJRT_Device* device; bool is_addressable;)
STRATA_PJRT_ARGS(Device_LocalHardwareId, 32, PJRT_Device* device; int local_hardware_id;)
STRATA_PJRT_ARGS(Device_AddressableMemories, 40, PJRT_Device* device; PJRT_Memory* const* memories; std::size_t num_memories;)
STRATA_PJRT_ARGS(Device_DefaultMemory, 32, PJRT_Device* device; PJRT_Memory* memory;)
STRATA_PJRT_ARGS(Device_MemoryStats, 208,
    PJRT_Device* device; std::int64_t bytes_in_use, peak_bytes_in_use; bool peak_bytes_in_use_is_set; std::int64_t num_allocs; bool
    num_allocs_is_set; std::int64_t largest_alloc_size; bool largest_alloc_size_is_set; std::int64_t bytes_limit; bool bytes_limit_is_set;
    std::int64_t bytes_reserved; bool bytes_reserved_is_set; std::int64_t peak_bytes_reserved; bool peak_bytes_reserved_is_set; std::int64_t
    bytes_reservable_limit; bool bytes_reservable_limit_is_set; std::int64_t largest_free_block_bytes; bool largest_free_block_bytes_is_set;
    std::int64_t pool_bytes; bool pool_bytes_is_set; std::int64_t peak_pool_bytes; bool peak_pool_bytes_is_set; std::int64_t peak_allocated_bytes;
    bool peak_allocated_bytes_is_set;)
STRATA_PJRT_ARGS(Memory_Id, 32, PJRT_Memory* memory; int id;)
STRATA_PJRT_ARGS(Memory_Kind, 40, PJRT_Memory* memory; const char* kind; std::size_t kind_size;)
STRATA_PJRT_ARGS(Memory_DebugString, 40, PJRT_Memory* memory; const char* debug_string; std::size_t debug_string_size;)
STRATA_PJRT_ARGS(Memory_ToString, 40, PJRT_Memory* memory; const char* to_string; std::size_t to_string_size;)
STRATA_PJRT_ARGS(Memory_AddressableByDevices, 40, PJRT_Memory* memory; PJRT_Device* const* devices; std::size_t num_devices;)
STRATA_PJRT_ARGS(Executable_Destroy, 24, PJRT_Executable* executable;)
STRATA_PJRT_ARGS(Executable_Name, 40, PJRT_Executable* executable; const char* executable_name; std::size_t executable_name_size;)
STRATA_PJRT_ARGS(Executable_NumReplicas, 32, PJRT_Executable* executable; std::size_t num_replicas;)
STRATA_PJRT_ARGS(Executable_NumPartitions, 32, PJRT_Executable* executable; std::size_t num_partitions;)
STRATA_PJRT_ARGS(Executable_NumOutputs, 32, PJRT_Executable* executable; std::size_t num_outputs;)
STRATA_PJRT_ARGS(Executable_SizeOfGeneratedCodeInBytes, 32, PJRT_Executable* executable; std::int64_t size_in_bytes;)
STRATA_PJRT_ARGS(Executable_GetCostAnalysis, 40, PJRT_Executable* executable; std::size_t num_properties; const PJRT_NamedValue* properties;)
STRATA_PJRT_ARGS(Executable_OutputMemoryKinds, 48,
    PJRT_Executable* executable; std::size_t num_outputs; const char* const* memory_kinds; const std::size_t* memory_kind_sizes;)
STRATA_PJRT_ARGS(Executable_OptimizedProgram, 32, PJRT_Executable* executable; PJRT_Program* program;)
STRATA_PJRT_ARGS(Executable_Serialize, 56,
    PJRT_Executable* executable; const char* serialized_bytes; std::size_t serialized_bytes_size; PJRT_SerializedExecutable* serialized_executable;
    void (*serialized_executable_deleter)(PJRT_SerializedExecutable*);)
STRATA_PJRT_ARGS(LoadedExecutable_Destroy, 24, PJRT_LoadedExecutable* executable;)
STRATA_PJRT_ARGS(LoadedExecutable_GetExecutable, 32, PJRT_LoadedExecutable* loaded_executable; PJRT_Executable* executable;)
STRATA_PJRT_ARGS(LoadedExecutable_AddressableDevices, 40,
    PJRT_LoadedExecutable* executable; PJRT_Device* const* addressable_devices; std::size_t num_addressable_devices;)
STRATA_PJRT_ARGS(LoadedExecutable_Delete, 24, PJRT_LoadedExecutable* executable;)
STRATA_PJRT_ARGS(LoadedExecutable_IsDeleted, 32, PJRT_LoadedExecutable* executable; bool is_deleted;)
STRATA_PJRT_ARGS(LoadedExecutable_Execute, 80,
    PJRT_LoadedExecutable* executable; const PJRT_ExecuteOptions* options; PJRT_Buffer* const* const* argument_lists; std::size_t num_devices,
    num_args; PJRT_Buffer** const* output_lists; PJRT_Event** device_complete_events; PJRT_Device* execute_device;)
STRATA_PJRT_ARGS(Executable_DeserializeAndLoad, 72,
    PJRT_Client* client; const char* serialized_executable; std::size_t serialized_executable_size; PJRT_LoadedExecutable* loaded_executable; const
    char* overridden_serialized_compile_options; std::size_t overridden_serialized_compile_options_size; const void* load_options;)
STRATA_PJRT_ARGS(LoadedExecutable_Fingerprint, 40,
    PJRT_LoadedExecutable* executable; const char* executable_fingerprint; std::size_t executable_fingerprint_size;)
STRATA_PJRT_ARGS(Buffer_Destroy, 24, PJRT_Buffer* buffer;)
STRATA_PJRT_ARGS(Buffer_ElementType, 32, PJRT_Buffer* buffer; PJRT_Buffer_Type type;)
STRATA_PJRT_ARGS(Buffer_Dimensions, 40, PJRT_Buffer* buffer; const std::int64_t* dims; std::size_t num_dims;)
STRATA_PJRT_ARGS(Buffer_UnpaddedDimensions, 40, PJRT_Buffer* buffer; const std::int64_t* unpadded_dims; std::size_t num_dims;)
STRATA_PJRT_ARGS(Buffer_DynamicDimensionIndices, 40, PJRT_Buffer* buffer; const std::size_t* dynamic_dim_indices; std::size_t num_dynamic_dims;)
STRATA_PJRT_ARGS(Buffer_GetMemoryLayout, 104, PJRT_Buffer* buffer; PJRT_Buffer_MemoryLayout layout;)
STRATA_PJRT_ARGS(Buffer_OnDeviceSizeInBytes, 32, PJRT_Buffer* buffer; std::size_t on_device_size_in_bytes;)
STRATA_PJRT_ARGS(Buffer_Device, 32, PJRT_Buffer* buffer; PJRT_Device* device;)
STRATA_PJRT_ARGS(Buffer_Memory, 32, PJRT_Buffer* buffer; PJRT_Memory* memory;)
STRATA_PJRT_ARGS(Buffer_Delete, 24, PJRT_Buffer* buffer;)
STRATA_PJRT_ARGS(Buffer_IsDeleted, 32, PJRT_Buffer* buffer; bool is_deleted;)
STRATA_PJRT_ARGS(Buffer_CopyToDevice, 40, PJRT_Buffer* buffer; PJRT_Device* dst_device; PJRT_Buffer* dst_buffer;)
STRATA_PJRT_ARGS(Buffer_ToHostBuffer, 56,
    PJRT_Buffer* src; const PJRT_Buffer_MemoryLayout* host_layout; void* dst; std::size_t dst_size; PJRT_Event* event;)
STRATA_PJRT_ARGS(Buffer_IsOnCpu, 32, PJRT_Buffer* buffer; bool is_on_cpu;)
STRATA_PJRT_ARGS(Buffer_ReadyEvent, 32, PJRT_Buffer* buffer; PJRT_Event* event;)
STRATA_PJRT_ARGS(Buffer_UnsafePointer, 32, PJRT_Buffer* buffer; std::size_t buffer_pointer;)
STRATA_PJRT_ARGS(Buffer_IncreaseExternalReferenceCount, 24, PJRT_Buffer* buffer;)
STRATA_PJRT_ARGS(Buffer_DecreaseExternalReferenceCount, 24, PJRT_Buffer* buffer;)
STRATA_PJRT_ARGS(Buffer_OpaqueDeviceMemoryDataPointer, 32, PJRT_Buffer* buffer; void* device_memory_ptr;)
STRATA_PJRT_ARGS(TopologyDescription_Destroy, 24, PJRT_TopologyDescription* topology;)
STRATA_PJRT_ARGS(TopologyDescription_PlatformName, 40, PJRT_TopologyDescription* topology; const char* platform_name; std::size_t platform_name_size;)
STRATA_PJRT_ARGS(TopologyDescription_PlatformVersion, 40,
    PJRT_TopologyDescription* topology; const char* platform_version; std::size_t platform_version_size;)
STRATA_PJRT_ARGS(TopologyDescription_GetDeviceDescriptions, 40,
    PJRT_TopologyDescription* topology; PJRT_DeviceDescription* const* descriptions; std::size_t num_descriptions;)
STRATA_PJRT_ARGS(TopologyDescription_Serialize, 56,
    PJRT_TopologyDescription* topology; const char* serialized_bytes; std::size_t serialized_bytes_size; PJRT_SerializedTopology*
    serialized_topology; void (*serialized_topology_deleter)(PJRT_SerializedTopology*);)
STRATA_PJRT_ARGS(TopologyDescription_Attributes, 40,
    PJRT_TopologyDescription* topology; const PJRT_NamedValue* attributes; std::size_t num_attributes;)
STRATA_PJRT_ARGS(Executable_OutputElementTypes, 40, PJRT_Executable* executable; const PJRT_Buffer_Type* output_types; std::size_t num_output_types;)
STRATA_PJRT_ARGS(Executable_OutputDimensions, 48,
    PJRT_Executable* executable; std::size_t num_outputs; const std::int64_t* dims; const std::size_t* dim_sizes;)
STRATA_PJRT_ARGS(Buffer_CopyToMemory, 40, PJRT_Buffer* buffer; PJRT_Memory* dst_memory; PJRT_Buffer* dst_buffer;)
STRATA_PJRT_ARGS(Client_CreateViewOfDeviceBuffer, 112,
    PJRT_Client* client; void* device_buffer_ptr; const std::int64_t* dims; std::size_t num_dims; PJRT_Buffer_Type element_type; const
    PJRT_Buffer_MemoryLayout* layout; PJRT_Device* device; void (*on_delete_callback)(void* device_buffer_ptr, void* user_arg); void*
    on_delete_callback_arg; std::int64_t stream; PJRT_Buffer* buffer; PJRT_Memory* memory;)
STRATA_PJRT_ARGS(Executable_Fingerprint, 40,
    PJRT_Executable* executable; const char* executable_fingerprint; std::size_t executable_fingerprint_size;)
STRATA_PJRT_ARGS(Client_TopologyDescription, 32, PJRT_Client* client; PJRT_TopologyDescription* topology;)
STRATA_PJRT_ARGS(Executable_GetCompiledMemoryStats, 144,
    PJRT_Executable* executable; std::int64_t generated_code_size_in_bytes, argument_size_in_bytes, output_size_in_bytes, alias_size_in_bytes,
    temp_size_in_bytes, host_generated_code_size_in_bytes, host_argument_size_in_bytes, host_output_size_in_bytes, host_alias_size_in_bytes,
    host_temp_size_in_bytes, peak_memory_in_bytes, total_size_in_bytes, total_allocation_bytes, indefinite_allocations, peak_unpadded_heap_bytes;)
STRATA_PJRT_ARGS(Memory_Kind_Id, 32, PJRT_Memory* memory; int kind_id;)
STRATA_PJRT_ARGS(ExecuteContext_Create, 24, PJRT_ExecuteContext* context;)
STRATA_PJRT_ARGS(ExecuteContext_Destroy, 24, PJRT_ExecuteContext* context;)
STRATA_PJRT_ARGS(Buffer_CopyRawToHost, 56, PJRT_Buffer* buffer; void* dst; std::int64_t offset, transfer_size; PJRT_Event* event;)
STRATA_PJRT_ARGS(Client_CreateUninitializedBuffer, 80,
    PJRT_Client* client; const std::int64_t* shape_dims; std::size_t shape_num_dims; PJRT_Buffer_Type shape_element_type; const
    PJRT_Buffer_MemoryLayout* shape_layout; PJRT_Device* device; PJRT_Memory* memory; PJRT_Buffer* buffer;)
STRATA_PJRT_ARGS(TopologyDescription_Deserialize, 40,
    const char* serialized_topology; std::size_t serialized_topology_size; PJRT_TopologyDescription* topology;)
STRATA_PJRT_ARGS(LoadedExecutable_GetDeviceAssignment, 56,
    PJRT_LoadedExecutable* executable; const char* serialized_bytes; std::size_t serialized_bytes_size; PJRT_DeviceAssignmentSerialized*
    serialized_device_assignment; void (*serialized_device_assignment_deleter)(PJRT_DeviceAssignmentSerialized*);)
STRATA_PJRT_ARGS(Client_CreateErrorBuffer, 112,
    PJRT_Client* client; PJRT_Error_Code error_code; const char* error_message; std::size_t error_message_size; const std::int64_t* shape_dims;
    std::size_t shape_num_dims; PJRT_Buffer_Type shape_element_type; const PJRT_Buffer_MemoryLayout* shape_layout; PJRT_Memory* memory; PJRT_Buffer*
    buffer; const PJRT_Error_Payload* payload; std::size_t num_payload;)
STRATA_PJRT_ARGS(Executable_GetCompileOptions, 56,
    PJRT_Executable* executable; const char* serialized_bytes; std::size_t serialized_bytes_size; PJRT_SerializedCompileOptions*
    serialized_compile_options; void (*serialized_compile_options_deleter)(PJRT_SerializedCompileOptions*);)
STRATA_PJRT_ARGS(Event_Create, 24, PJRT_Event* event;)
STRATA_PJRT_ARGS(Event_Set, 48, PJRT_Event* event; PJRT_Error_Code error_code; const char* error_message; std::size_t error_message_size;)
STRATA_PJRT_ARGS(Device_GetAttributes, 56,
    PJRT_Device* device; const PJRT_NamedValue* attributes; std::size_t num_attributes; PJRT_Device_Attributes* device_attributes; void
    (*attributes_deleter)(PJRT_Device_Attributes*);)
STRATA_PJRT_ARGS(LoadedExecutable_AddressableDeviceLogicalIds, 40,
    PJRT_LoadedExecutable* executable; const PJRT_LogicalDeviceIds* addressable_device_logical_ids; std::size_t num_addressable_device_logical_ids;)
STRATA_PJRT_ARGS(Error_ForEachPayload, 40,
    const PJRT_Error* error; void (*visitor)(const char* key, std::size_t key_size, const char* value, std::size_t value_size, void* user_arg);
    void* user_arg;)
STRATA_PJRT_ARGS(TopologyDescription_Fingerprint, 32, PJRT_TopologyDescription* topology; std::size_t fingerprint;)
STRATA_PJRT_ARGS(Executable_ParameterMemoryKinds, 48,
    PJRT_Executable* executable; std::size_t num_parameters; const char* const* memory_kinds; const std::size_t* memory_kind_sizes;)
STRATA_PJRT_ARGS(Device_ClearMemoryStats, 24, PJRT_Device* device;)
STRATA_PJRT_ARGS(TopologyDescription_Create, 56,
    const char* topology_name; std::size_t topology_name_size; const PJRT_NamedValue* create_options; std::size_t num_options;
    PJRT_TopologyDescription* topology;)
STRATA_PJRT_ARGS(Compile, 64,
    const PJRT_TopologyDescription* topology; const PJRT_Program* program; const char* compile_options; std::size_t compile_options_size;
    PJRT_Client* client; PJRT_Executable* executable;)

/// The table's functions by slot: X those of Strata's own plugin, U those that it does not have.
#define STRATA_PJRT_SLOTS(X, U) \
  X(0, Error_Destroy) X(1, Error_Message) X(2, Error_GetCode) X(3, Plugin_Initialize) X(4, Plugin_Attributes) X(5, Event_Destroy) \
  X(6, Event_IsReady) X(7, Event_Error) X(8, Event_Await) X(9, Event_OnReady) X(10, Client_Create) X(11, Client_Destroy) X(12, Client_PlatformName) \
  X(13, Client_ProcessIndex) X(14, Client_PlatformVersion) X(15, Client_Devices) X(16, Client_AddressableDevices) X(17, Client_LookupDevice) \
  X(18, Client_LookupAddressableDevice) X(19, Client_AddressableMemories) X(20, Client_Compile) X(21, Client_DefaultDeviceAssignment) \
  X(22, Client_BufferFromHostBuffer) X(23, DeviceDescription_Id) X(24, DeviceDescription_ProcessIndex) X(25, DeviceDescription_Attributes) \
  X(26, DeviceDescription_Kind) X(27, DeviceDescription_DebugString) X(28, DeviceDescription_ToString) X(29, Device_GetDescription) \
  X(30, Device_IsAddressable) X(31, Device_LocalHardwareId) X(32, Device_AddressableMemories) X(33, Device_DefaultMemory) X(34, Device_MemoryStats) \
  X(35, Memory_Id) X(36, Memory_Kind) X(37, Memory_DebugString) X(38, Memory_ToString) X(39, Memory_AddressableByDevices) X(40, Executable_Destroy) \
  X(41, Executable_Name) X(42, Executable_NumReplicas) X(43, Executable_NumPartitions) X(44, Executable_NumOutputs) \
  X(45, Executable_SizeOfGeneratedCodeInBytes) X(46, Executable_GetCostAnalysis) X(47, Executable_OutputMemoryKinds) \
  X(48, Executable_OptimizedProgram) X(49, Executable_Serialize) X(50, LoadedExecutable_Destroy) X(51, LoadedExecutable_GetExecutable) \
  X(52, LoadedExecutable_AddressableDevices) X(53, LoadedExecutable_Delete) X(54, LoadedExecutable_IsDeleted) X(55, LoadedExecutable_Execute) \
  X(56, Executable_DeserializeAndLoad) X(57, LoadedExecutable_Fingerprint) X(58, Buffer_Destroy) X(59, Buffer_ElementType) X(60, Buffer_Dimensions) \
  X(61, Buffer_UnpaddedDimensions) X(62, Buffer_DynamicDimensionIndices) X(63, Buffer_GetMemoryLayout) X(64, Buffer_OnDeviceSizeInBytes) \
  X(65, Buffer_Device) X(66, Buffer_Memory) X(67, Buffer_Delete) X(68, Buffer_IsDeleted) X(69, Buffer_CopyToDevice) X(70, Buffer_ToHostBuffer) \
  X(71, Buffer_IsOnCpu) X(72, Buffer_ReadyEvent) X(73, Buffer_UnsafePointer) X(74, Buffer_IncreaseExternalReferenceCount) \
  X(75, Buffer_DecreaseExternalReferenceCount) X(76, Buffer_OpaqueDeviceMemoryDataPointer) U(77, CopyToDeviceStream_Destroy) \
  U(78, CopyToDeviceStream_AddChunk) U(79, CopyToDeviceStream_TotalBytes) U(80, CopyToDeviceStream_GranuleSize) \
  U(81, CopyToDeviceStream_CurrentBytes) U(82, TopologyDescription_Create) X(83, TopologyDescription_Destroy) \
  X(84, TopologyDescription_PlatformName) X(85, TopologyDescription_PlatformVersion) X(86, TopologyDescription_GetDeviceDescriptions) \
  X(87, TopologyDescription_Serialize) X(88, TopologyDescription_Attributes) U(89, Compile) X(90, Executable_OutputElementTypes) \
  X(91, Executable_OutputDimensions) X(92, Buffer_CopyToMemory) X(93, Client_CreateViewOfDeviceBuffer) X(94, Executable_Fingerprint) \
  X(95, Client_TopologyDescription) X(96, Executable_GetCompiledMemoryStats) X(97, Memory_Kind_Id) X(98, ExecuteContext_Create) \
  X(99, ExecuteContext_Destroy) X(100, Buffer_CopyRawToHost) U(101, AsyncHostToDeviceTransferManager_Destroy) \
  U(102, AsyncHostToDeviceTransferManager_TransferData) U(103, Client_CreateBuffersForAsyncHostToDevice) \
  U(104, AsyncHostToDeviceTransferManager_RetrieveBuffer) U(105, AsyncHostToDeviceTransferManager_Device) \
  U(106, AsyncHostToDeviceTransferManager_BufferCount) U(107, AsyncHostToDeviceTransferManager_BufferSize) \
  U(108, AsyncHostToDeviceTransferManager_SetBufferError) U(109, AsyncHostToDeviceTransferManager_AddMetadata) U(110, Client_DmaMap) \
  U(111, Client_DmaUnmap) X(112, Client_CreateUninitializedBuffer) U(113, Client_UpdateGlobalProcessInfo) X(114, TopologyDescription_Deserialize) \
  U(115, Client_CreateAliasBuffer) U(116, Client_FulfillAliasBuffer) X(117, LoadedExecutable_GetDeviceAssignment) X(118, Client_CreateErrorBuffer) \
  U(119, AsyncHostToDeviceTransferManager_TransferLiteral) U(120, Buffer_CopyRawToHostFuture) U(121, Device_PoisonExecution) \
  U(122, Device_CreateAsyncTrackingEvent) U(123, AsyncTrackingEvent_Destroy) X(124, Executable_GetCompileOptions) \
  U(125, Buffer_DonateWithControlDependency) X(126, Event_Create) X(127, Event_Set) X(128, Device_GetAttributes) U(129, Client_Load) \
  X(130, LoadedExecutable_AddressableDeviceLogicalIds) U(131, Buffer_Bitcast) X(132, Error_ForEachPayload) X(133, TopologyDescription_Fingerprint) \
  X(134, Executable_ParameterMemoryKinds) X(135, Device_ClearMemoryStats) \
  U(136, TopologyDescription_MakeCanonicalShapeForMemorySpace) U(137, TopologyDescription_GetMemorySpaceKindIds)
// clang-format on

struct PJRT_Api_Version {
  STRATA_PJRT_HEAD
  int major_version, minor_version;
};

using PJRT_Function = PJRT_Error* (*)(void* args);

struct PJRT_Api {
  static constexpr int kSlots = 138;
  STRATA_PJRT_HEAD
  PJRT_Api_Version pjrt_api_version;
  PJRT_Function slots[kSlots];  // the first two return nothing
};
static_assert(offsetof(PJRT_Api, slots) == 40);

// ---- extensions --------------------------------------------------------------------------------

STRATA_PJRT_ARGS(Shardings_PJRT_Executable_ParameterShardings, 48, PJRT_Executable* executable;
                 std::size_t num_parameters; const char* const* shardings;
                 const std::size_t* sharding_sizes;)
STRATA_PJRT_ARGS(Shardings_PJRT_Executable_OutputShardings, 48, PJRT_Executable* executable;
                 std::size_t num_outputs; const char* const* shardings;
                 const std::size_t* sharding_sizes;)

struct PJRT_Shardings_Extension {
  PJRT_Extension_Base base;
  PJRT_Error* (*parameter_shardings)(PJRT_Shardings_PJRT_Executable_ParameterShardings_Args*);
  PJRT_Error* (*output_shardings)(PJRT_Shardings_PJRT_Executable_OutputShardings_Args*);
};
static_assert(sizeof(PJRT_Shardings_Extension) == 40);

struct PJRT_FFI_Type_Info {
  void (*deleter)(void* object);
  void* serialize;
  void* deserialize;
};
struct PJRT_FFI_UserData {
  std::int64_t type_id;
  void* data;
};
STRATA_PJRT_ARGS(FFI_Type_Register, 48, const char* type_name; std::size_t type_name_size;
                 std::int64_t type_id; const PJRT_FFI_Type_Info* type_info;)
STRATA_PJRT_ARGS(FFI_UserData_Add, 40, PJRT_ExecuteContext* context; PJRT_FFI_UserData user_data;)
/// Without a list of extensions, unlike the others.
struct PJRT_FFI_Register_Handler_Args {
  std::size_t struct_size;
  const char* target_name;
  std::size_t target_name_size;
  void* handler;
  const char* platform_name;
  std::size_t platform_name_size;
  std::uint32_t traits;
};

struct PJRT_FFI_Extension {
  PJRT_Extension_Base base;
  PJRT_Error* (*type_register)(PJRT_FFI_Type_Register_Args*);
  PJRT_Error* (*user_data_add)(PJRT_FFI_UserData_Add_Args*);
  PJRT_Error* (*register_handler)(PJRT_FFI_Register_Handler_Args*);
};
static_assert(sizeof(PJRT_FFI_Extension) == 48);
