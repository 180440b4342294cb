// NumPy's indexing.
//
//   x[0]   x[{2, slice(1, none, 2), newaxis, ellipsis}]   x[{ellipsis, -1}]   x[ids]   x[{rows,
//   cols}] x[mask]   x[{mask, 0}]                                             // the elements where
//   mask is true x.at({0, slice(1)}).set(y)   x.at(ids).add(updates)   x.at(ids).get({.mode =
//   "fill", .fill_value = 0})
//
// Integers, slices, `newaxis` and `ellipsis` are basic; integer arrays gather (the result has their
// broadcast shape in place of adjacent ones, else in front; numbers beside arrays count as arrays).
// A boolean array stands for the indices of its true elements: how many they are decides the
// result's shape, so that inside of transforms `where` takes its place. Numbers that are known must
// be in range (upstream clamps them); indices in arrays are clamped when read and dropped when
// written out of range, negative ones count from the end.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "strata/api/array.h"

namespace strata {

/// Python's None: a bound of a slice that is left out, an argument that vmap does not map.
inline constexpr std::nullopt_t none = std::nullopt;

/// start:stop:step with Python's defaults. `slice()` is `:`, `slice(3)` is `:3`.
struct Slice {
  std::optional<std::int64_t> start, stop, step;
};
/// `slice()`, `slice(stop)`, `slice(start, stop, step)`: Python's `:`, `:stop`, `start:stop:step`
/// between brackets.
inline Slice slice(std::optional<std::int64_t> stop = none) { return {none, stop, none}; }
inline Slice slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                   std::optional<std::int64_t> step = none) {
  return {start, stop, step};
}
/// The type of `newaxis`.
struct NewAxis {};
/// The type of `ellipsis`.
struct Ellipsis {};
/// An axis of size 1 in an index: `x[{slice(), newaxis}]`.
inline constexpr NewAxis newaxis;
/// All axes that an index does not name: `x[{ellipsis, 0}]`.
inline constexpr Ellipsis ellipsis;

/// One entry of an index.
class Index {
 public:
  template <std::integral T>
  Index(T i) : item(static_cast<std::int64_t>(i)) {}  // NOLINT: implicit by intent
  Index(Slice s) : item(s) {}                         // NOLINT
  Index(NewAxis n) : item(n) {}                       // NOLINT
  Index(Ellipsis dots) : item(dots) {}                // NOLINT
  Index(Array a) : item(std::move(a)) {}              // NOLINT
  std::variant<std::int64_t, Slice, NewAxis, Ellipsis, Array> item;
};

/// What stands between the brackets, and where the user wrote it.
class Indices {
 public:
  Indices(std::initializer_list<Index> entries,
          std::source_location at = std::source_location::current())
      : list(entries), where(at) {}
  Indices(std::vector<Index> entries, std::source_location at = std::source_location::current())
      : list(std::move(entries)), where(at) {}  // NOLINT
  template <class T>
    requires std::convertible_to<const T&, Index> && (!std::same_as<T, Index>)
  Indices(const T& one, std::source_location at = std::source_location::current())
      : list{Index(one)}, where(at) {}  // NOLINT
  std::vector<Index> list;
  std::source_location where;
};

/// What becomes of indices in arrays that are out of range.
struct AtOptions {
  internal::Named named = internal::Named();
  /// "clip": the nearest element. "fill", or "drop", its other name: read as `fill_value`, not
  /// written. "promise_in_bounds": there are none. Without a mode, reading clips and writing drops.
  /// Negative indices count from the end before.
  std::string mode = "";
  /// What "fill" reads; without it NaN, the least number of signed integers, the greatest of
  /// unsigned ones, true.
  std::optional<Array> fill_value = {};
  /// A promise that index arrays name no element twice, and that they go upwards. Products have a
  /// derivative in their values only with the first.
  bool unique_indices = false, indices_are_sorted = false;
};

/// Updates of the elements at an index. The array itself does not change; the result is a copy of
/// its dtype, computed in the dtype to which array and values promote. Values broadcast to the
/// shape of `x[indices]`. Elements that are named more than once: `set` keeps one of the values,
/// the others combine all.
class [[nodiscard]] Update {
 public:
  Update(Array array, Indices indices) : array_(std::move(array)), indices_(std::move(indices)) {}
  /// The copy with `values`, which broadcast to the elements at the index, in their place.
  Array set(const Operand& values, const AtOptions& options = {}) const;
  /// The copy with `values` added; a place that is named twice is added to twice, in order.
  Array add(const Operand& values, const AtOptions& options = {}) const;
  /// The copy with `values` subtracted; a place that is named twice loses both.
  Array subtract(const Operand& values, const AtOptions& options = {}) const;
  /// The copy with the elements times `values`.
  Array multiply(const Operand& values, const AtOptions& options = {}) const;
  /// The copy with the elements divided by `values`.
  Array divide(const Operand& values, const AtOptions& options = {}) const;
  /// The copy with the elements raised to the power `values`.
  Array power(const Operand& values, const AtOptions& options = {}) const;
  /// The copy with the lesser of element and value.
  Array min(const Operand& values, const AtOptions& options = {}) const;
  /// The copy with the greater of element and value.
  Array max(const Operand& values, const AtOptions& options = {}) const;
  /// The elements themselves.
  Array get(const AtOptions& options = {}) const;

 private:
  enum class Kind { set, add, multiply, min, max };
  Array apply(Kind kind, const Array& values, const AtOptions& options) const;
  Array apply_to(const Array& array, Kind kind, const Array& values,
                 const AtOptions& options) const;
  Array array_;
  Indices indices_;
};

}  // namespace strata
