// Which dtype the operands of one operation meet in: JAX's promotion lattice.
//
//   bool -> i* -> the integers by width and sign -> f* -> bf16, f16 -> f32 -> f64 -> complex
//
// C++ scalars are weakly typed: they are i*, f*, c* and take on the other operand's dtype of the
// same kind or a higher one. Narrow floats (f8, f6, f4) meet only weak types and themselves.
// Source: "Type promotion semantics" in JAX's documentation; the table is compared with JAX 0.10.2
// in the test.
#pragma once

#include <span>

#include "strata/type/dtype.h"

namespace strata {

struct WeakDType {
  DType dtype;
  bool weak = false;
  bool operator==(const WeakDType&) const = default;
};

/// The least upper bound of the operands' types. Without `x64` u32 and i32 meet in i32 instead of
/// i64, and the caller has no 64-bit operands. Throws Error when there is none (f8 with another
/// float); the list must not be empty.
WeakDType promote(std::span<const WeakDType> operands, bool x64);
inline WeakDType promote(WeakDType a, WeakDType b, bool x64) {
  const WeakDType both[] = {a, b};
  return promote(both, x64);
}

/// f64, i64, ui64, c128 become their 32-bit (c64) counterparts unless `x64`.
DType canonical(DType dtype, bool x64);

}  // namespace strata
