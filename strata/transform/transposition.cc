#include "strata/transform/transposition.h"

#include <algorithm>

namespace strata::transform {

using ir::Ints;

bool is_iota(const Ints& permutation) {
  for (std::size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

Transposed reduction_before(ir::Builder& b, const ir::Op& reduction, ir::Value* x, const Ints& permutation) {
  Ints over, kept, order;  // dimensions of x; which of `kept` each one of the result is
  for (std::int64_t d : reduction.attr<Ints>("dimensions")) over.push_back(permutation[static_cast<std::size_t>(d)]);
  std::sort(over.begin(), over.end());
  std::vector<Dim> shape;
  for (int d = 0; d < x->rank(); ++d)
    if (!std::binary_search(over.begin(), over.end(), d)) kept.push_back(d), shape.push_back(x->shape().dim(d));
  for (std::int64_t d : permutation)
    if (!std::binary_search(over.begin(), over.end(), d)) order.push_back(std::find(kept.begin(), kept.end(), d) - kept.begin());
  ir::Attrs attrs = reduction.attrs;
  attrs.set("dimensions", std::move(over));
  return {b.create(reduction.info(), {x, reduction.operand(1)}, std::move(attrs), {}, {reduction.result()->type().with(Shape(std::move(shape)))}).result(), std::move(order)};
}

}  // namespace strata::transform
