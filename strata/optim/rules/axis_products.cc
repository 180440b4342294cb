#include "strata/optim/rules/axis_products.h"

#include "strata/tree/key_path.h"

namespace strata::optim::detail {

std::vector<int> matrix_axes(const Array& leaf, std::int64_t max_dim) {
  std::vector<int> out;
  if (leaf.ndim() < 2) return out;
  for (int axis = 0; axis < leaf.ndim(); ++axis)
    if (leaf.shape(axis) > 1 && leaf.shape(axis) <= max_dim) out.push_back(axis);
  return out;
}
Array gram(const Array& x, int axis) {
  const Array rows = numpy::reshape(numpy::moveaxis(x, axis, 0), {x.shape(axis), -1});
  return numpy::matmul(rows, rows.T());
}
Array along(const Array& x, int axis, const Array& m) {
  return numpy::moveaxis(numpy::matmul(numpy::moveaxis(x, axis, -1), m), -1, axis);
}
std::string axis_place(const tree::Entry& leaf, int axis) {
  return leaf.name + (leaf.name.empty() ? "" : "/") + std::to_string(axis);
}
Tree of_axes(
    const Tree& like, std::int64_t max_dim,
    const std::function<Array(const tree::Entry&, const Array&, int, const std::string&)>& make) {
  std::vector<tree::Entry> entries;
  std::vector<Array> values;
  for (std::size_t i = 0; i < like.size(); ++i)
    for (int axis : matrix_axes(like.value(i), max_dim)) {
      tree::KeyPath path = like.entry(i).path;
      path.push_back(tree::parse_path(std::to_string(axis)).front());
      entries.emplace_back(std::move(path), tree::kinds::variable);
      values.push_back(make(like.entry(i), like.value(i), axis, axis_place(like.entry(i), axis)));
    }
  return Tree(std::move(entries), std::move(values));
}

}  // namespace strata::optim::detail
