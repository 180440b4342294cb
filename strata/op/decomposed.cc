#include "strata/op/decomposed.h"

#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/transpose.h"
#include "strata/op/legalize.h"

namespace strata::op {

JvpResult jvp_decomposed(Builder& b, const Op& op, std::span<Value* const> operands,
                         std::span<Value* const> tangents) {
  return jvp(b, *decomposition(op), operands, tangents);
}

Values transpose_decomposed(Builder& b, const Op& op, std::span<Value* const> operands,
                            const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  return transpose(b, *decomposition(op), operands, linear, cotangents);
}

Batched batch_decomposed(Builder& b, const Op& op, std::span<Value* const> operands,
                         const std::vector<bool>& batched, std::int64_t size) {
  return batch(b, *decomposition(op), operands, batched, size);
}

}  // namespace strata::op
