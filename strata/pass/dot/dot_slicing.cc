#include "strata/pass/dot/dot_slicing.h"

#include "strata/ir/uses.h"
#include "strata/op/build.h"
#include "strata/op/kind.h"
#include "strata/op/lowering_kind.h"
#include "strata/pass/rewrite.h"

namespace strata::pass {
namespace {

using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;

/// What is read of one operand.
struct Part {
  Value* value;
  Ints from, to, by;

  explicit Part(Value* v)
      : value(v),
        from(static_cast<std::size_t>(v->rank()), 0),
        by(static_cast<std::size_t>(v->rank()), 1) {
    for (int d = 0; d < v->rank(); ++d) to.push_back(v->shape()[d]);
  }

  void take(int dim, std::int64_t first, std::int64_t last, std::int64_t stride) {
    const auto d = static_cast<std::size_t>(dim);
    from[d] = first, to[d] = last, by[d] = stride;
  }
  Value* slice(Builder& b) const {
    const Part whole(value);
    return from == whole.from && to == whole.to && by == whole.by
               ? value
               : op::slice(b, value, from, to, by);
  }
};

ir::Values sliced(Builder& b, const Op& slice, const ir::Uses& uses) {
  const Op* product = slice.operand(0)->op();
  if (!product || !op::is_contraction(*product) || product->operands.size() != 2 ||
      uses.count(product->result()) != 1)
    return {};
  for (const Value* v : {product->operand(0), product->operand(1), slice.result()})
    if (!v->shape().is_static() || v->shape().count() == 0) return {};
  const op::Contraction dims = op::contraction_of(*product);
  const Ints &from = slice.attr<Ints>("start_indices"), &to = slice.attr<Ints>("limit_indices"),
             &by = slice.attr<Ints>("strides");
  Part left(product->operand(0)), right(product->operand(1));
  std::size_t at = 0;  // dimension of the result: batch, free ones of the left side, of the right
  auto take = [&](Part& part, int d) { part.take(d, from[at], to[at], by[at]); };
  for (std::size_t i = 0; i < dims.lhs_batch.size(); ++i, ++at)
    take(left, dims.lhs_batch[i]), take(right, dims.rhs_batch[i]);
  for (int d : op::free_dims(left.value->rank(), dims.lhs_batch, dims.lhs_contract))
    take(left, d), ++at;
  for (int d : op::free_dims(right.value->rank(), dims.rhs_batch, dims.rhs_contract))
    take(right, d), ++at;
  return {b.create(product->info(), {left.slice(b), right.slice(b)}, product->attrs, {},
                   {slice.result()->type()})
              .result()};
}

}  // namespace

bool slice_dots(ir::Block& block) {
  const ir::Uses uses(block);
  return rewrite(block, [&](Builder& b, const Op& op) {
    return op::kind::slice(op) ? sliced(b, op, uses) : ir::Values();
  });
}

}  // namespace strata::pass
