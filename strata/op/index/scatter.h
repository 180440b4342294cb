// Scatter: pieces that its rules and its lowering share.
#pragma once

#include "strata/op/index/indexing.h"
#include "strata/op/reduce/combiner.h"

namespace strata::op {

/// Operands are [inputs..., indices, updates...], and in closed form what the region captures.
inline int scatter_inputs(const Op& op) { return op.num_results(); }
inline Value* scatter_indices(const Op& op) { return op.operand(scatter_inputs(op)); }
inline Value* scatter_updates(const Op& op) { return op.operand(scatter_inputs(op) + 1); }
/// Operand dimensions whose position is given by the window alone: two window positions that differ
/// there never meet.
bool is_free(const IndexDims& dims, std::int64_t operand_dim);

/// Size of the window in each operand dimension (1 where it has none).
Ints window_sizes(const Op& op, const IndexDims& dims);

/// The same scatter (combiner and region too) of other operands by other dimension numbers. In
/// closed form, what the region captures stands last among the operands.
Op& scatter_again(Builder& b, const Op& op, Values operands, const IndexDims& dims);

// Rules (scatter_rules.cc) and lowering (scatter_lowering.cc).
JvpResult scatter_jvp(Builder&, const Op&, std::span<Value* const> operands,
                      std::span<Value* const> tangents);
Values scatter_transpose(Builder&, const Op&, std::span<Value* const> operands,
                         const std::vector<bool>& linear, std::span<Value* const> cotangents);
Batched scatter_batch(Builder&, const Op&, std::span<Value* const> operands,
                      const std::vector<bool>& batched, std::int64_t size);
Factors scatter_shard(const Op&);
Values scatter_decompose(Builder&, const Op&, std::span<Value* const> operands);
std::int64_t scatter_grid(const Op&);
void scatter_emit(LowerContext&, const Op&, std::span<loop::Ref* const> targets,
                  const loop::Index& point);

}  // namespace strata::op
