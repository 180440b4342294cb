// What rules that precondition each axis of a leaf by a matrix share.
#pragma once

#include <vector>

#include "strata/api/numpy.h"
#include "strata/optim/math/trees.h"

namespace strata::optim::detail {

/// The axes of a leaf that have a matrix: those of 2 to max_dim elements; none where the leaf has
/// fewer than two axes.
std::vector<int> matrix_axes(const Array& leaf, std::int64_t max_dim);
/// Sums over all other axes of products of elements along an axis: G G^T of an axis-first G.
Array gram(const Array& x, int axis);
/// x with a matrix along an axis: y[.., j, ..] = sum over i of x[.., i, ..] m[i, j].
Array along(const Array& x, int axis, const Array& m);
/// A matrix for each axis of each leaf that has one, at "PATH/AXIS". `make` says which, given the
/// leaf's place in `like` and the axis.
Tree of_axes(const Tree& like, std::int64_t max_dim,
             const std::function<Array(const tree::Entry& leaf, const Array& value, int axis,
                                       const std::string& place)>& make);
/// "PATH/AXIS", as of_axes has it.
std::string axis_place(const tree::Entry& leaf, int axis);

}  // namespace strata::optim::detail
