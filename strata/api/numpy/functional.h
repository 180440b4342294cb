// Functions of the user's called on parts of arrays.
#pragma once

#include <array>
#include <vector>

#include "strata/api/index.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/transform/vmap.h"

namespace strata::numpy {

/// f of each vector along an axis; the axes of what it returns stand in the axis' place.
template <class F>
Array apply_along_axis(F f, std::int64_t axis, const Operand& x) {
  internal::Site site(x);
  const int rank = x->ndim();
  if (axis < -rank || axis >= rank)
    internal::fail("apply_along_axis", "axis {} is out of range for {}", axis,
                   internal::describe(x->type()));
  const int dim = static_cast<int>(axis < 0 ? axis + rank : axis);
  const Array last = moveaxis(x, dim, -1);
  std::vector<std::int64_t> lead = last.shape().sizes();
  const std::int64_t length = lead.back();
  lead.pop_back();
  std::int64_t count = 1;
  for (std::int64_t n : lead) count *= n;
  const Array rows =
      vmap([&](const Array& v) { return Array(f(v)); })(last.reshape({count, length}));
  std::vector<std::int64_t> sizes = lead, from, to;
  for (int d = 1; d < rows.ndim(); ++d) {
    sizes.push_back(rows.shape(d));
    from.push_back(rank - 2 + d);
    to.push_back(dim + d - 1);
  }
  const Array out = rows.reshape(sizes);
  return from.empty() ? out : moveaxis(out, from, to);
}

/// f(x, axis) for one axis after the other; an axis that f drops comes back with size 1.
template <class F>
Array apply_over_axes(F f, const Operand& x, const std::vector<std::int64_t>& axes) {
  internal::Site site(x);
  Array out = x;
  for (std::int64_t axis : axes) {
    const Array next = f(out, axis);
    if (next.ndim() != out.ndim() && next.ndim() != out.ndim() - 1)
      internal::fail("apply_over_axes",
                     "the function makes {} of {}: neither as many axes nor one less",
                     internal::describe(next.type()), internal::describe(out.type()));
    out = next.ndim() == out.ndim() ? next : expand_dims(next, axis);
  }
  return out;
}

/// f(i, j, ...) for the indices of each element of an array of this shape: scalars of a dtype. Axes
/// of what f returns come behind.
template <std::size_t N, class F>
Array fromfunction(F f, const std::int64_t (&shape)[N], DType dtype = default_float,
                   Where where = Where::current()) {
  internal::Site site(where);
  const Sizes sizes(std::vector<std::int64_t>(shape, shape + N));
  const Array grid = indices(sizes, dtype);
  std::array<Array, N> each;
  for (std::size_t i = 0; i < N; ++i) each[i] = grid[static_cast<std::int64_t>(i)].reshape({-1});
  const Array all = std::apply(
      [&](const auto&... v) {
        return vmap([&](const decltype(v)&... one) { return Array(f(one...)); })(v...);
      },
      each);
  std::vector<std::int64_t> out(shape, shape + N);
  for (int d = 1; d < all.ndim(); ++d) out.push_back(all.shape(d));
  return all.reshape(out);
}

}  // namespace strata::numpy

namespace strata {

using numpy::apply_along_axis;
using numpy::apply_over_axes;
using numpy::fromfunction;

}  // namespace strata
