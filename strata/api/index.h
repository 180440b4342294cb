// NumPy's indexing.
//
//   x[0]   x[{2, slice(1, none, 2), newaxis, ellipsis}]   x[{ellipsis, -1}]   x[ids]   x[{rows, cols}]
//   x.at({0, slice(1)}).set(y)   x.at(ids).add(updates)
//
// Integers, slices, `newaxis` and `ellipsis` are basic; integer arrays gather (the result has their broadcast shape in
// place of adjacent ones, else in front). Numbers that are known must be in range; indices in arrays are clamped when
// read and dropped when written out of range, negative ones count from the end.
#pragma once

#include <initializer_list>
#include <optional>
#include <variant>
#include <vector>

#include "strata/api/array.h"

namespace strata {

inline constexpr std::nullopt_t none = std::nullopt;

/// start:stop:step with Python's defaults. `slice()` is `:`, `slice(3)` is `:3`.
struct Slice {
  std::optional<std::int64_t> start, stop, step;
};
inline Slice slice(std::optional<std::int64_t> stop = none) { return {none, stop, none}; }
inline Slice slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop, std::optional<std::int64_t> step = none) {
  return {start, stop, step};
}
struct NewAxis {};
struct Ellipsis {};
inline constexpr NewAxis newaxis;
inline constexpr Ellipsis ellipsis;

/// One entry of an index.
class Index {
 public:
  template <std::integral T> Index(T i) : item(static_cast<std::int64_t>(i)) {}  // NOLINT: implicit by intent
  Index(Slice s) : item(s) {}                                                    // NOLINT
  Index(NewAxis n) : item(n) {}                                                  // NOLINT
  Index(Ellipsis e) : item(e) {}                                                 // NOLINT
  Index(Array a) : item(std::move(a)) {}                                         // NOLINT
  std::variant<std::int64_t, Slice, NewAxis, Ellipsis, Array> item;
};

/// What stands between the brackets, and where the user wrote it.
class Indices {
 public:
  Indices(std::initializer_list<Index> list, std::source_location where = std::source_location::current()) : list(list), where(where) {}
  Indices(std::vector<Index> list, std::source_location where = std::source_location::current()) : list(std::move(list)), where(where) {}  // NOLINT
  template <class T> requires std::convertible_to<const T&, Index> && (!std::same_as<T, Index>)
  Indices(const T& one, std::source_location where = std::source_location::current()) : list{Index(one)}, where(where) {}  // NOLINT
  std::vector<Index> list;
  std::source_location where;
};

/// Updates of the elements at an index. The array itself does not change; the result is a copy.
class Update {
 public:
  Update(Array array, Indices indices) : array_(std::move(array)), indices_(std::move(indices)) {}
  Array set(const Operand& values) const;
  Array add(const Operand& values) const;
  Array multiply(const Operand& values) const;
  Array min(const Operand& values) const;
  Array max(const Operand& values) const;
  /// The elements themselves: `x[indices]`.
  Array get() const { return array_[indices_]; }

 private:
  enum class Kind { set, add, multiply, min, max };
  Array apply(Kind kind, const Operand& values) const;
  Array array_;
  Indices indices_;
};

}  // namespace strata
