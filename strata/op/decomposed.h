// Rules of operations that are defined by simpler ones (`OpDef::decompose`): the rules of those,
// one after the other.
#pragma once

#include "strata/op/def.h"

namespace strata::op {

JvpResult jvp_decomposed(Builder& b, const Op& op, std::span<Value* const> operands,
                         std::span<Value* const> tangents);
Values transpose_decomposed(Builder& b, const Op& op, std::span<Value* const> operands,
                            const std::vector<bool>& linear, std::span<Value* const> cotangents);
Batched batch_decomposed(Builder& b, const Op& op, std::span<Value* const> operands,
                         const std::vector<bool>& batched, std::int64_t size);

}  // namespace strata::op
