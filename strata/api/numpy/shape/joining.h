// Arrays put together and taken apart.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "strata/api/array.h"

namespace strata::numpy {

/// Joined along an axis; flattened first where it is none.
Array concatenate(const std::vector<Array>& arrays, std::optional<std::int64_t> axis = 0,
                  Where where = Where::current());
inline Array concat(const std::vector<Array>& arrays, std::optional<std::int64_t> axis = 0,
                    Where where = Where::current()) {
  return concatenate(arrays, axis, where);
}
/// Joins along a new axis.
Array stack(const std::vector<Array>& arrays, std::int64_t axis = 0,
            Where where = Where::current());
/// As rows; side by side; in depth; as columns.
Array vstack(const std::vector<Array>& arrays, Where where = Where::current());
/// Arrays one beside the other: along the second axis, vectors along the first.
Array hstack(const std::vector<Array>& arrays, Where where = Where::current());
/// Arrays one behind the other: along the third axis.
Array dstack(const std::vector<Array>& arrays, Where where = Where::current());
/// Vectors as columns of a matrix, matrices beside them.
Array column_stack(const std::vector<Array>& arrays, Where where = Where::current());
/// `values` behind x: both flattened, or along an axis.
Array append(const Operand& x, const Operand& values, std::optional<std::int64_t> axis = {});

/// A nest of arrays for `block`: an array, or a list of nests of one depth.
class Block {
 public:
  template <Scalar T>
  Block(T value) : array_(Array(value)) {}          // NOLINT: implicit by intent
  Block(Array array) : array_(std::move(array)) {}  // NOLINT
  Block(std::initializer_list<Block> list) : list_(list), is_list_(true) {}
  /// Whether it is a list and no array.
  bool is_list() const { return is_list_; }
  /// The array; no value for a list.
  const Array& array() const { return array_; }
  /// The list; empty for an array.
  const std::vector<Block>& list() const { return list_; }

 private:
  Array array_;
  std::vector<Block> list_;
  bool is_list_ = false;
};
/// The innermost lists joined along the last axis, those around them along the one before:
/// `block({{a, b}, {c, d}})`.
Array block(const Block& blocks, Where where = Where::current());

/// `sections` equal parts along an axis, or parts cut at the given indices. Throws Error where the
/// size is no multiple of `sections`.
[[nodiscard]] std::vector<Array> split(const Operand& x, std::int64_t sections,
                                       std::int64_t axis = 0);
[[nodiscard]] std::vector<Array> split(const Operand& x, const std::vector<std::int64_t>& indices,
                                       std::int64_t axis = 0);
/// Parts along an axis as nearly equal as can be, the first ones one element longer; or cut at the
/// given indices.
[[nodiscard]] std::vector<Array> array_split(const Operand& x, std::int64_t sections,
                                             std::int64_t axis = 0);
[[nodiscard]] inline std::vector<Array> array_split(const Operand& x,
                                                    const std::vector<std::int64_t>& indices,
                                                    std::int64_t axis = 0) {
  return split(x, indices, axis);
}
/// Parts along the second axis (the only one of a vector): `sections` equal ones, or cut at
/// indices.
[[nodiscard]] std::vector<Array> hsplit(const Operand& x, std::int64_t sections);
[[nodiscard]] std::vector<Array> hsplit(const Operand& x, const std::vector<std::int64_t>& indices);
/// Parts along the first axis: `sections` equal ones, or cut at indices.
[[nodiscard]] std::vector<Array> vsplit(const Operand& x, std::int64_t sections);
[[nodiscard]] std::vector<Array> vsplit(const Operand& x, const std::vector<std::int64_t>& indices);
/// Parts along the third axis: `sections` equal ones, or cut at indices.
[[nodiscard]] std::vector<Array> dsplit(const Operand& x, std::int64_t sections);
[[nodiscard]] std::vector<Array> dsplit(const Operand& x, const std::vector<std::int64_t>& indices);
/// The slices along an axis, without it.
[[nodiscard]] std::vector<Array> unstack(const Operand& x, std::int64_t axis = 0);

/// x without the elements at these places along an axis; of the flattened array without one.
Array delete_(const Operand& x, const std::vector<std::int64_t>& places,
              std::optional<std::int64_t> axis = {});
/// x with values before these places along an axis; one place takes all values.
Array insert(const Operand& x, const std::vector<std::int64_t>& places, const Operand& values,
             std::optional<std::int64_t> axis = {});
Array insert(const Operand& x, std::int64_t place, const Operand& values,
             std::optional<std::int64_t> axis = {});

}  // namespace strata::numpy

namespace strata {

using numpy::append;
using numpy::array_split;
using numpy::block;
using numpy::column_stack;
using numpy::concat;
using numpy::concatenate;
using numpy::delete_;
using numpy::dsplit;
using numpy::dstack;
using numpy::hsplit;
using numpy::hstack;
using numpy::insert;
using numpy::split;
using numpy::stack;
using numpy::unstack;
using numpy::vsplit;
using numpy::vstack;

}  // namespace strata
