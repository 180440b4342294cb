#include "strata/pass/splat_constants.h"

#include "strata/op/build.h"
#include "strata/pass/rewrite.h"

namespace strata::pass {
namespace {

constexpr std::int64_t kFew = 256;  // elements that may as well be looked at each time

const Literal* large_splat(const ir::Op& op) {
  if (!op.operands.empty() || op.num_results() != 1) return nullptr;
  const Type& type = op.result()->type();
  if (!type.is_tensor() || type.is_quantized() || !type.shape().is_static() ||
      type.shape().count() <= kFew)
    return nullptr;
  const ir::Attr* attr = op.attrs.find("value");
  const Literal* literal = attr ? std::get_if<Literal>(attr) : nullptr;
  return literal && literal->type() == type && !is_complex(type.dtype()) && literal->is_splat()
             ? literal
             : nullptr;
}

}  // namespace

void shrink_splat_constants(ir::Block& block) {
  rewrite(block, [](ir::Builder& b, const ir::Op& op) -> ir::Values {
    const Literal* literal = large_splat(op);
    if (!literal) return {};
    Literal one = Literal::splat(Type::scalar(literal->dtype()), literal->element(0));
    return {op::broadcast_in_dim(b, op::constant(b, one), literal->shape(), {})};
  });
}

}  // namespace strata::pass
