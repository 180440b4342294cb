// What operations on packed blocks share: the attribute that names their format, and builders.
#pragma once

#include "strata/op/def.h"
#include "strata/type/block_format.h"

namespace strata::op {

/// The format that the attribute `format` names. Throws Error with (C3) for another name.
BlockFormat block_format_of(std::string_view op, const Attrs& attrs);
/// Elements of a row of packed blocks. Throws Error with (C1) for what is no array of bytes and
/// (C2) for rows that are no whole blocks.
Dim block_elements(std::string_view op, BlockFormat format, const Type& blocks);

/// blocks ui8 [..., bytes] -> f32 [..., elements].
Value* block_dequantize(Builder& b, Value* blocks, BlockFormat format);
/// x f32 [B..., rows..., in], w ui8 [B..., out, bytes] -> f32 [B..., rows..., out].
Value* block_dot(Builder& b, Value* x, Value* w, BlockFormat format);
/// g f32 [B..., rows..., out], w ui8 [B..., out, bytes] -> f32 [B..., rows..., in]: the cotangent
/// of block_dot's x.
Value* block_dot_transposed(Builder& b, Value* g, Value* w, BlockFormat format);
/// The same as block_dot of x rounded to eight bits.
Value* block_dot_int8(Builder& b, Value* x, Value* w, BlockFormat format);

}  // namespace strata::op
