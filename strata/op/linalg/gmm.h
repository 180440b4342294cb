// Builders of products of groups, which layers of experts and ragged_dot are made of.
#pragma once

#include "strata/op/def.h"

namespace strata::op {

/// lhs [rows, in], rhs [groups, in, out] (turned: [groups, out, in]), sizes i32 or i64 [groups] ->
/// [rows, out]: the rows of each group, which follow each other, times the group's matrix; zero for
/// rows of no group. All may have one dimension more in front, a batch.
Value* gmm(Builder& b, Value* lhs, Value* rhs, Value* sizes, bool transpose_rhs);
/// lhs [rows, in], rhs [rows, out], sizes [groups] -> [groups, in, out]: for each group the sum
/// over its rows of lhs's times rhs's. All may have a batch in front.
Value* tgmm(Builder& b, Value* lhs, Value* rhs, Value* sizes);
/// Whether kernels take these types.
bool gmm_takes(DType dtype, DType sizes);

}  // namespace strata::op
