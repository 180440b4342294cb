// Element types, under the names StableHLO prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace strata {

/// Element type. `i1` is the boolean. Order is part of no contract; names are (`name`,
/// `parse_dtype`).
enum class DType : std::uint8_t {
  i1,
  i2,
  i4,
  i8,
  i16,
  i32,
  i64,
  ui2,
  ui4,
  ui8,
  ui16,
  ui32,
  ui64,
  f4E2M1FN,
  f6E2M3FN,
  f6E3M2FN,
  f8E3M4,
  f8E4M3,
  f8E4M3B11FNUZ,
  f8E4M3FN,
  f8E4M3FNUZ,
  f8E5M2,
  f8E5M2FNUZ,
  f8E8M0FNU,
  bf16,
  f16,
  f32,
  f64,
  c64,
  c128,
};
/// How many dtypes there are.
inline constexpr int kDTypeCount = 30;

/// StableHLO's spelling: "f32", "ui8", "i1", "complex<f32>".
std::string_view name(DType);
/// The inverse of `name`; nothing for an unknown spelling.
std::optional<DType> parse_dtype(std::string_view);

/// Bits of one element as a number (i1: 1, i4: 4). Complex: both parts.
int bit_width(DType);
/// Bytes of one element as stored: sub-byte types and i1 take one byte each.
std::size_t byte_width(DType);

/// Whether it is the dtype of booleans, i1.
bool is_bool(DType);
bool is_signed(DType);    // i2 .. i64
bool is_unsigned(DType);  // ui2 .. ui64
bool is_integer(DType);   // signed or unsigned, not i1
bool is_float(DType);     // f4 .. f64
/// Whether it is c64 or c128.
bool is_complex(DType);
/// Floats and complex: the types that carry derivatives.
bool is_inexact(DType);
/// f32 of c64, f64 of c128; others themselves.
DType real_part(DType);
/// The type in which one elementwise operation on this type is computed before it is rounded back:
/// f32 for bf16, f16 and narrower floats; itself otherwise.
DType compute_type(DType);

}  // namespace strata
