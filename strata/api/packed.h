// Arrays in packed blocks, a few bits an element, and products with them.
//
//   Packed w = pack(weights, BlockFormat::named("Q4_K"));   // (out, in) f32 -> bytes
//   Array y = block_dot(x, w);                              // (..., in) -> (..., out)
//
// or from the packed bytes of a GGUF tensor (checkpoint/gguf.h):
//
//   Packed w{Array(file.bytes_of(tensor)), *tensor.type.block()};
#pragma once

#include "strata/api/array.h"
#include "strata/tree/tree.h"
#include "strata/type/block_format.h"

template <>
inline constexpr bool strata::tree::is_static<strata::BlockFormat> = true;

namespace strata {

/// An array whose rows are packed blocks: `blocks` ui8 (..., bytes). The format is part of the
/// structure, so that jit compiles once for each.
struct Packed {
  Array blocks;
  BlockFormat format;
  STRATA_FIELDS(blocks, format)

  /// The shape of its numbers. Throws Error where the rows are no whole blocks.
  std::vector<std::int64_t> shape() const;
};

/// Packs the numbers of x (..., in), rounded to f32, by ggml's reference encoder. Throws Error for
/// a format without an encoder, rows that are no whole blocks, numbers that are not finite, and
/// traced arrays.
Packed pack(const Operand& x, BlockFormat format);
/// The numbers, f32.
Array unpack(const Packed& packed);
/// x (B..., rows..., in) times the transposes of w (B..., out, in): (B..., rows..., out). Every
/// element is one sum in an order of its own (op/quantized/block_dot.cc), whatever is computed
/// beside it. The numbers of w are made in registers; there is no f32 copy of w. x is computed with
/// in f32; the result has its dtype, f32 where that is no float. Linear in x: derivatives with
/// respect to it exist.
///
/// With `int8`, x is rounded to eight bits, 32 elements with one scale, as llama.cpp does it, and
/// integers are summed: faster, and each element of x within 1/254 of the largest of its 32.
/// Derivatives are those of the product without.
Array block_dot(const Operand& x, const Packed& w, bool int8 = false);

}  // namespace strata
