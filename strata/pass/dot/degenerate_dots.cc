#include "strata/pass/dot/degenerate_dots.h"

#include <algorithm>

#include "strata/op/build.h"
#include "strata/op/elementwise/fma.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"
#include "strata/pass/rewrite.h"

namespace strata::pass {
namespace {

using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;

/// An operand without its contracted dimensions, which have one element, over the dimensions of the
/// product: the batch, then those that only it has, which come `before` others there.
Value* spread(Builder& b, Value* v, const std::vector<int>& batch, const std::vector<int>& contract,
              const Type& product, std::int64_t before) {
  auto in = [](const std::vector<int>& list, int d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  };
  std::int64_t free = static_cast<std::int64_t>(batch.size()) + before;
  Ints dims;
  std::vector<Dim> kept;
  for (int d = 0; d < v->rank(); ++d) {
    if (in(contract, d)) continue;
    kept.push_back(v->shape().dim(d));
    const auto at = std::find(batch.begin(), batch.end(), d);
    dims.push_back(at != batch.end() ? at - batch.begin() : free++);
  }
  v = op::convert(b, op::reshape(b, v, Shape(kept)), product.dtype());
  return op::broadcast_in_dim(b, v, product.shape(), dims);
}

ir::Values as_map(Builder& b, const Op& op) {
  if (!op::is_contraction(op) || op.operands.size() != 2 || !op.result()->shape().is_static())
    return {};
  for (const Value* v : op.operands)
    if (!v->shape().is_static() || is_complex(v->dtype())) return {};
  const op::Contraction c = op::contraction_of(op);
  for (int d : c.lhs_contract)
    if (op.operand(0)->shape()[d] != 1) return {};
  const Type product(op::product_accumulator(op), op.result()->shape());
  const auto rows = static_cast<std::int64_t>(op.operand(0)->rank()) -
                    static_cast<std::int64_t>(c.lhs_batch.size() + c.lhs_contract.size());
  Value *l = spread(b, op.operand(0), c.lhs_batch, c.lhs_contract, product, 0),
        *r = spread(b, op.operand(1), c.rhs_batch, c.rhs_contract, product, rows);
  Value* y =
      is_float(product.dtype()) ? op::fma(b, l, r, op::full_like(b, l, 0.0)) : op::mul(b, l, r);
  return {op::convert(b, y, op.result()->dtype())};
}

}  // namespace

bool convert_degenerate_dots(ir::Block& block) { return rewrite(block, as_map); }

}  // namespace strata::pass
