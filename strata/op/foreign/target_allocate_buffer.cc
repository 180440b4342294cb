// @AllocateBuffer: memory of which nothing is promised, as jax.lax.empty asks for it; here zeros,
// so that the same program gives the same bits.
#include "strata/op/build.h"
#include "strata/op/foreign/target.h"

namespace strata::op {

Values compose_allocate_buffer(Builder& b, const Op& op, std::span<Value* const> operands) {
  if (!operands.empty() || op.num_results() != 1 || !op.result()->type().is_tensor())
    throw Error("custom_call",
                "@AllocateBuffer takes nothing for one array, got {} operands and {} "
                "results",
                operands.size(), op.num_results())
        .at(op.where.text());
  return {zeros(b, op.result()->type())};
}

}  // namespace strata::op
