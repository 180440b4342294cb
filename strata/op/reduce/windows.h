// Windows of an array: what convolution, reduce_window and select_and_scatter share.
//
// In dimension d the array, dilated by `base_dilation` and padded by `low` and `high`, is read at
//
//   position(w, o) = o * stride + w * window_dilation - low      (in the dilated array)
//
// for w in [0, size) and o in [0, window_count). Where the position is outside or between
// elements, the padding is read.
#pragma once

#include "strata/op/rules.h"

namespace strata::op {

/// One entry per dimension. Padding may be negative: it cuts.
struct WindowDims {
  Ints size, stride, base_dilation, window_dilation, low, high;
  int rank() const { return static_cast<int>(size.size()); }
  /// Windows of one element at every place: dimension d of the array as it is.
  static WindowDims trivial(int rank);
  /// Whether dimension d is as it is.
  bool is_trivial(int d) const;
};

/// An attribute that a program may leave out; throws where it has another kind.
template <class T>
T attr_or(std::string_view op, const Attrs& attrs, const std::string& name, T otherwise) {
  return attrs.has(name) ? expect_attr<T>(op, attrs, name) : otherwise;
}
/// An attribute, the constraint on its length and the one on its values, as messages name them:
/// {"window_strides", "C6", "C7"}.
struct WindowAttr {
  const char *name, *length, *positive;
};
/// `attrs.name` with `rank` positive entries; all 1 where the program leaves it out.
Ints window_list(std::string_view op, const Attrs& attrs, const WindowAttr& attr, int rank);
/// Sets low and high from the attribute `padding` (low and high of each dimension in turn); 0 where
/// it is left out.
void set_padding(std::string_view op, const Attrs& attrs, const char* constraint, WindowDims& dims);
Ints flat_padding(const WindowDims& dims);

/// Number of windows along dimension d of an array whose size there is `size`.
Dim window_count(const WindowDims& dims, int d, const Dim& size);
/// The dimensions of the array after a leading one that windows leave alone.
WindowDims with_leading(const WindowDims& dims);
void set_window_attrs(Attrs& attrs, const WindowDims& dims);

/// The windows that `op` makes where it is strata.windows; nothing for another operation.
std::optional<WindowDims> window_dims(const Op& op);
/// The element at `position` of the dilated array that strata.windows reads, which is padding
/// outside of it and in the gaps. No position is before -low.
loop::Inst* element_seen(LowerContext& c, const Op& windows, std::span<const loop::Index> position);

/// strata.windows: result[w..., o...] = array[position(w, o)], or `padding` (a scalar).
Value* windows(Builder& b, Value* array, Value* padding, const WindowDims& dims);
/// Row-major position of every element, as a number: i32 where that holds it.
Value* positions(Builder& b, const Shape& shape);
/// `array` (flat) at `positions` (any shape); positions outside read something of the array, which
/// must not be empty.
Value* take_flat(Builder& b, Value* array, Value* positions);
/// `array` (flat) combined with updates at positions, one after the other; those outside are
/// skipped. `combiner` as scatter's.
Value* scatter_flat(Builder& b, Value* array, Value* positions, Value* updates,
                    const std::string& combiner, std::vector<std::unique_ptr<Block>> regions = {});

}  // namespace strata::op
