// Operations on packed blocks (op/quantized/block_format.h) in StableHLO's own words, for other
// compilers.
#pragma once

#include "strata/op/quantized/block_format.h"

namespace strata::transform {

/// The numbers of packed blocks by shifts and masks: blocks ui8 [..., bytes] of static sizes ->
/// f32 [..., elements], the bits of strata.block_dequantize. Throws strata::Error (unsupported) for
/// sizes that are not known.
ir::Value* packed_numbers(ir::Builder& b, ir::Value* blocks, BlockFormat format);

/// Whether `op` is one on packed blocks: strata.block_dequantize, block_dot, block_dot_transposed,
/// block_dot_int8.
bool is_on_packed_blocks(const ir::Op& op);
/// What such an operation stands for. A product is a dot_general with the numbers, so its sums are
/// in whatever order the other compiler adds; x of block_dot_int8 is rounded to eight bits first.
ir::Values in_stablehlo(ir::Builder& b, const ir::Op& op, const ir::Values& operands);

}  // namespace strata::transform
