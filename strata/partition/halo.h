// Operations whose result at a place depends on the operand at other places near it (windows,
// convolutions, padding, slices with an offset, joined arrays), computed on parts: each device asks
// its neighbours for the rows that its part of the result needs (halo exchange).
//
//   std::optional<WindowRead> r = window_read(conv, d, m);     // tile t reads rows r->first + t *
//   Value* rows = read_window(b, emit, grid, x, n, d, axes, *r, zero);
//
// Tile t of the result needs the same number of rows of the operand for every t, beginning at
// places that are `step` apart; that is all an exchange has to know. Rows travel by permutes, one
// for each distance between a tile and the tiles that it reads, and of the rows of a tile only
// those that some device needs. Source: halo exchange in
// shardy/dialect/sdy/transforms/export/resolve_permutation_factors.cc.
#pragma once

#include <optional>

#include "strata/partition/emit.h"

namespace strata::spmd {

/// Tile t of a result reads rows [first + t * step, first + t * step + extent) of the operand;
/// those outside of it are padding.
struct WindowRead {
  std::int64_t first = 0, step = 0, extent = 0;
};

/// A factor that is moved along (kind 'm'): where it stands in operand 0 and in the result, and
/// which one of such factors it is.
struct MovedDim {
  int operand = 0, result = 0, index = 0;
};
/// Those of an operation that can be computed on parts along them: slice, pad, reverse,
/// concatenate, reduce_window, convolution. Empty for another one.
std::vector<MovedDim> moved_dims(const op::Op& op, const op::Factors& factors);

/// What tile t of the result, `part` elements long, reads of `operand`. None where tiles do not
/// begin at places an equal distance apart (interior padding and dilation that the part is not a
/// multiple of), or where a part is too small to keep the order of sums.
std::optional<WindowRead> window_read(const op::Op& op, const MovedDim& d, int operand,
                                      std::int64_t part);
/// Sets the attributes of the operation on what window_read gives: no padding at the ends.
void set_local_window(ir::Attrs& attrs, const op::Op& op, const MovedDim& d, std::int64_t part);

/// How many rows a device receives for `read` of an array of `size` rows cut over `tiles` parts.
std::int64_t rows_received(const WindowRead& read, std::int64_t size, std::int64_t tiles);
/// The rows that each device reads of an array with `size` rows along `dim`, of which `x` is the
/// device's tile over `axes`, or with `is_whole` all of it. Rows outside are `padding` (a scalar;
/// null: anything).
op::Value* read_window(op::Builder& b, Emitter& emit, const Grid& grid, op::Value* x,
                       std::int64_t size, int dim, const Axes& axes, bool is_whole,
                       const WindowRead& read, op::Value* padding);

/// The part of a concatenation along `dim` in `layout`: each element from the one of `xs`, which
/// read_window gives of the operands of `op`, that has it.
op::Value* joined_parts(op::Builder& b, Emitter& emit, const Grid& grid, const op::Op& op,
                        const op::Values& xs, int dim, const Layout& layout);

}  // namespace strata::spmd
