// The numbers by which GGUF files name types (private to gguf.cc and gguf_write.cc).
#pragma once

#include "strata/checkpoint/gguf_contents.h"

namespace strata::checkpoint::gguf {

inline constexpr std::uint32_t kArray = 9;
inline constexpr std::uint64_t kMostKey = 1024, kMostText = 16u << 20, kMostKeys = 1u << 16,
                               kMostTensors = 1u << 17, kMostElements = 1u << 22,
                               kMostTokens = 1u << 21, kMostName = 64;
inline constexpr int kMostRank = 4, kMostParts = 1000;

/// The number of a metadata type; vectors are arrays of it.
template <class T>
inline constexpr std::uint32_t kTypeOf = kArray;
#define STRATA_GGUF_TYPE(T, number) \
  template <>                       \
  inline constexpr std::uint32_t kTypeOf<T> = number;
STRATA_GGUF_TYPE(std::uint8_t, 0)
STRATA_GGUF_TYPE(std::int8_t, 1)
STRATA_GGUF_TYPE(std::uint16_t, 2)
STRATA_GGUF_TYPE(std::int16_t, 3)
STRATA_GGUF_TYPE(std::uint32_t, 4)
STRATA_GGUF_TYPE(std::int32_t, 5)
STRATA_GGUF_TYPE(float, 6)
STRATA_GGUF_TYPE(bool, 7)
STRATA_GGUF_TYPE(std::string, 8)
STRATA_GGUF_TYPE(std::uint64_t, 10)
STRATA_GGUF_TYPE(std::int64_t, 11)
STRATA_GGUF_TYPE(double, 12)
#undef STRATA_GGUF_TYPE

template <class T>
inline constexpr bool is_array = false;
template <class T>
inline constexpr bool is_array<std::vector<T>> = true;

/// Calls f with a value of the scalar type of a number; returns false for other numbers.
template <class F>
bool with_type(std::uint32_t number, F&& f) {
  switch (number) {
    case 0: return f(std::uint8_t{}), true;
    case 1: return f(std::int8_t{}), true;
    case 2: return f(std::uint16_t{}), true;
    case 3: return f(std::int16_t{}), true;
    case 4: return f(std::uint32_t{}), true;
    case 5: return f(std::int32_t{}), true;
    case 6: return f(float{}), true;
    case 7: return f(bool{}), true;
    case 8: return f(std::string{}), true;
    case 10: return f(std::uint64_t{}), true;
    case 11: return f(std::int64_t{}), true;
    case 12: return f(double{}), true;
    default: return false;
  }
}

/// A tensor type of ggml by its number; `type` is absent for those that Strata does not have.
struct TensorType {
  std::uint32_t number;
  const char* name;
  std::optional<GgufType> type;
};
/// Null for a number that ggml does not have.
const TensorType* tensor_type(std::uint32_t number);
/// The number of a type.
std::uint32_t number_of(const GgufType& type);

/// The bytes up to the next multiple of the alignment.
inline std::uint64_t padding(std::uint64_t at, std::uint64_t alignment) {
  return (alignment - at % alignment) % alignment;
}

}  // namespace strata::checkpoint::gguf
