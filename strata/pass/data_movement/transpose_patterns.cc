#include "strata/pass/data_movement/transpose_patterns.h"

#include <algorithm>

#include "strata/op/build.h"
#include "strata/op/kind.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"

namespace strata::pass {

using ir::Ints;

bool is_iota(const Ints& permutation) {
  for (std::size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

int last_dim(const Shape& shape) {
  for (int d = shape.rank() - 1; d >= 0; --d)
    if (shape[d] > 1) return d;
  return -1;
}

int along_memory(const ir::Value* v, const std::function<bool(const ir::Op&)>& reads_through) {
  const ir::Op* transpose = op::made_by(v, op::kind::transpose);
  if (!transpose || (reads_through && !reads_through(*transpose))) return last_dim(v->shape());
  const Ints& permutation = transpose->attr<Ints>("permutation");
  const auto found = std::find(permutation.begin(), permutation.end(),
                               along_memory(transpose->operand(0), reads_through));
  return found == permutation.end() ? -1 : static_cast<int>(found - permutation.begin());
}

DotOperand::DotOperand(ir::Value* v, std::vector<int> batch_dims, std::vector<int> contract_dims)
    : value(v), batch(std::move(batch_dims)), contract(std::move(contract_dims)) {
  const ir::Op* transpose = op::made_by(value, op::kind::transpose);
  if (!transpose) return;
  const Ints& permutation = transpose->attr<Ints>("permutation");
  std::int64_t last = -1;
  for (int d : op::free_dims(value->rank(), batch, contract)) {
    if (permutation[static_cast<std::size_t>(d)] < last) return;
    last = permutation[static_cast<std::size_t>(d)];
  }
  for (std::vector<int>* dims : {&batch, &contract})
    for (int& d : *dims) d = static_cast<int>(permutation[static_cast<std::size_t>(d)]);
  value = transpose->operand(0);
}

ir::Value* make_dot(ir::Builder& b, const DotOperand& left, const DotOperand& right,
                    const ir::Op& like) {
  auto ints = [](const std::vector<int>& dims) { return Ints(dims.begin(), dims.end()); };
  return op::product_like(
      b, like, left.value, right.value,
      {ints(left.batch), ints(right.batch), ints(left.contract), ints(right.contract)});
}

Transposed reduction_of_untransposed(ir::Builder& b, const ir::Op& reduction, ir::Value* x,
                                     const Ints& permutation) {
  Ints over, kept, order;  // dimensions of x; which of `kept` each one of the result is
  for (std::int64_t d : reduction.attr<Ints>("dimensions"))
    over.push_back(permutation[static_cast<std::size_t>(d)]);
  std::sort(over.begin(), over.end());
  std::vector<Dim> shape;
  for (int d = 0; d < x->rank(); ++d)
    if (!std::binary_search(over.begin(), over.end(), d))
      kept.push_back(d), shape.push_back(x->shape().dim(d));
  for (std::int64_t d : permutation)
    if (!std::binary_search(over.begin(), over.end(), d))
      order.push_back(std::find(kept.begin(), kept.end(), d) - kept.begin());
  ir::Attrs attrs = reduction.attrs;
  attrs.set("dimensions", std::move(over));
  return {b.create(reduction.info(), {x, reduction.operand(1)}, std::move(attrs), {},
                   {reduction.result()->type().with(Shape(std::move(shape)))})
              .result(),
          std::move(order)};
}

}  // namespace strata::pass
