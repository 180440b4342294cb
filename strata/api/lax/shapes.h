// Shapes and places of elements under the names of jax.lax: sizes are written out, nothing is
// promoted. Results are weakly typed where their operands are. All throw Error, with the shapes,
// where sizes or dimensions do not fit.
#pragma once

#include <optional>
#include <vector>

#include "strata/api/array.h"

namespace strata::lax {

/// The elements of x, after a permutation of its dimensions where one is given, in the order of the
/// new sizes. No size is worked out: -1 is an error.
Array reshape(const Operand& x, const Sizes& new_sizes, const Sizes& dimensions = {});
/// Result dimension i is dimension permutation[i] of x.
Array transpose(const Operand& x, const Sizes& permutation);
/// New dimensions of size 1 at these places of the result; these dimensions, of size 1, dropped.
Array expand_dims(const Operand& x, const Sizes& dimensions);
/// x without dimensions of size 1. Throws Error for another size.
Array squeeze(const Operand& x, const Sizes& dimensions);
/// Dimensions [start, stop) as one; bounds as in Python's slices (negative ones count from the end,
/// all are clipped).
Array collapse(const Operand& x, std::int64_t start_dimension,
               std::optional<std::int64_t> stop_dimension = {});
/// x again and again along each dimension; one number for each.
Array tile(const Operand& x, const Sizes& reps);

/// Arrays of one dtype and rank joined along a dimension; arrays of one type joined along a new
/// one.
Array concatenate(const std::vector<Array>& operands, std::int64_t dimension,
                  Where where = Where::current());
/// Arrays of one shape and dtype along a new axis.
Array stack(const std::vector<Array>& operands, std::int64_t axis = 0,
            Where where = Where::current());
/// Consecutive parts of these sizes, which fill the axis.
[[nodiscard]] std::vector<Array> split(const Operand& x, const Sizes& sizes, std::int64_t axis = 0);
/// The slices along an axis, without it.
[[nodiscard]] std::vector<Array> unstack(const Operand& x, std::int64_t axis = 0);

/// x repeated along new leading dimensions of these sizes.
Array broadcast(const Operand& x, const Sizes& sizes);
/// x broadcast by NumPy's rule to the shape of another array.
Array broadcast_like(const Operand& x, const Operand& like);
/// The shape to which all broadcast, by NumPy's rule.
std::vector<std::int64_t> broadcast_shapes(const std::vector<Sizes>& shapes,
                                           Where where = Where::current());
/// Leading dimensions of size 1 until there are so many.
Array broadcast_to_rank(const Operand& x, std::int64_t rank);

/// A scalar everywhere; the dtype (and weakness) is the scalar's unless given.
Array full(const Sizes& shape, const Operand& fill_value, std::optional<DType> dtype = {});
/// A scalar everywhere, in the dtype and shape of x where none are given.
Array full_like(const Operand& x, const Operand& fill_value, std::optional<DType> dtype = {},
                const OptionalSizes& shape = {});
/// Zeros: what an empty array holds is not left to chance.
Array empty(const Sizes& shape, DType dtype, Where where = Where::current());
/// A shape as integers, i32.
Array shape_as_value(const Sizes& shape, Where where = Where::current());
/// The dtype of x; of a C++ scalar that which it has by itself.
inline DType dtype(const Operand& x) { return x->dtype(); }

/// cases[which], element by element: `which` is boolean for two cases, or i32 (clamped to the
/// cases), a scalar or of their shape.
Array select_n(const Operand& which, const std::vector<Array>& cases);

}  // namespace strata::lax
