// Floats as integers in their total order, in emitted code: numbers::total_order (numbers.h).
#pragma once

#include "strata/loop/loop.h"

namespace strata::op {

/// An i64 of an f64, else an i32. Of narrow floats the bits themselves are taken: as an f32 a
/// signalling NaN of f16 would be a quiet one.
inline loop::Inst* ordered_bits(loop::Builder& b, loop::Inst* x) {
  if (byte_width(x->type.dtype) == 1) x = b.convert(DType::f32, x);
  const std::size_t width = byte_width(x->type.dtype);
  loop::Inst* bits = width == 8   ? b.bitcast(DType::i64, x)
                     : width == 4 ? b.bitcast(DType::i32, x)
                                  : b.convert(DType::i32, b.bitcast(DType::i16, x));
  auto constant = [&](std::int64_t value) { return b.constant_int(bits->type.dtype, value); };
  loop::Inst* flipped = b.binary(loop::Opcode::xor_, bits,
                                 constant(width == 8   ? INT64_MAX
                                          : width == 4 ? INT32_MAX
                                                       : INT16_MAX));
  return b.select(b.compare(loop::Compare::lt, bits, constant(0)), flipped, bits);
}

/// The float of 16 bits or more that `ordered_bits` made one of: what orders them is its own
/// inverse.
inline loop::Inst* from_ordered_bits(loop::Builder& b, DType dtype, loop::Inst* bits) {
  STRATA_CHECK(byte_width(dtype) > 1, "{} is ordered as another type", name(dtype));
  auto constant = [&](std::int64_t value) { return b.constant_int(bits->type.dtype, value); };
  const std::size_t width = byte_width(dtype);
  loop::Inst* flipped = b.binary(loop::Opcode::xor_, bits,
                                 constant(width == 8   ? INT64_MAX
                                          : width == 4 ? INT32_MAX
                                                       : INT16_MAX));
  loop::Inst* own = b.select(b.compare(loop::Compare::lt, bits, constant(0)), flipped, bits);
  return b.bitcast(dtype, width == 2 ? b.convert(DType::i16, own) : own);
}

}  // namespace strata::op
