// DLPack's arrays, by which libraries hand each other memory: our own transcription of its ABI,
// version 1.0 (dlpack.h, Apache-2.0).
//
// The structures have the layout of the originals, which programs that include those convert by
// reinterpret_cast.
#pragma once

#include <cstdint>

namespace strata::dlpack {

struct Version {
  std::uint32_t major, minor;
};
inline constexpr Version kVersion{1, 0};

/// Of DLDeviceType those in memory of this machine's CPU.
enum class DeviceType : std::int32_t { cpu = 1, cuda_host = 3, rocm_host = 11 };
struct Device {
  DeviceType device_type;
  std::int32_t device_id;
};

enum class TypeCode : std::uint8_t {
  integer = 0,
  unsigned_integer = 1,
  floating = 2,
  opaque = 3,
  bfloat = 4,
  complex = 5,
  boolean = 6
};
struct DataType {
  TypeCode code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};

inline constexpr std::uint64_t kReadOnly = 1, kIsCopied = 2;
/// DLManagedTensorVersioned: who takes one calls its deleter once, when done with the memory.
struct ManagedTensor {
  Version version;
  void* manager_ctx;
  void (*deleter)(ManagedTensor* self);
  std::uint64_t flags;
  Tensor dl_tensor;
};

}  // namespace strata::dlpack
