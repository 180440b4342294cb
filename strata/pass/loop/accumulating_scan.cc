#include "strata/pass/loop/accumulating_scan.h"

#include <algorithm>

#include "strata/op/control/scan.h"
#include "strata/op/kind.h"
#include "strata/op/lowering_kind.h"

namespace strata::pass {
namespace {

using ir::Op;
using ir::Value;

constexpr std::int64_t kFewestColumns = 8;  // they run along lanes

}  // namespace

bool AccumulatingScan::takes(const Op& product) {
  if (!op::is_contraction(product) || product.operands.size() != 2) return false;
  const Value *left = product.operand(0), *right = product.operand(1), *result = product.result();
  if (left->rank() != 2 || right->rank() != 2 || result->rank() != 2) return false;
  const op::Contraction dims = op::contraction_of(product);
  if (dims.lhs_contract.size() != 1 || dims.rhs_contract != std::vector<int>{0}) return false;
  const DType t = result->dtype();
  const bool plain =
      (t == DType::f32 || t == DType::f64) && left->dtype() == t && right->dtype() == t;
  return plain && result->shape().is_static() && result->shape()[1] >= kFewestColumns &&
         result->shape()[0] > 0 && right->shape()[0] > 0;
}

std::optional<AccumulatingScan> AccumulatingScan::of(const Op& op) {
  if (!op::is_structured(op, op::Structured::Kind::scan)) return std::nullopt;
  const op::ScanParts parts(op);
  const ir::Block& body = parts.body;
  if (parts.carries != 1 || parts.ys != 0 || parts.consts != 0 || body.ops().size() != 2)
    return std::nullopt;
  const Op* add = op::made_by(body.results[0], op::kind::add);
  const Value* carry = body.argument(0);
  if (!add || (add->operand(0) == carry) == (add->operand(1) == carry)) return std::nullopt;
  const bool carry_first = add->operand(0) == carry;
  const Op* product = add->operand(carry_first ? 1 : 0)->op();
  if (!product || !takes(*product)) return std::nullopt;
  auto stacked = [&](const Value* slice) -> const Value* {
    return slice->op() || slice == carry ? nullptr : op.operand(slice->index());
  };
  const Value *left = stacked(product->operand(0)), *right = stacked(product->operand(1));
  if (!left || !right) return std::nullopt;
  return AccumulatingScan{
      op.operand(0), left,         right,        op::contraction_of(*product).lhs_contract[0] == 0,
      carry_first,   parts.length, parts.reverse};
}

}  // namespace strata::pass
