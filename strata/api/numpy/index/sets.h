// Arrays as sets of their elements, sorted. -0 and 0 are equal; NaN is the last.
//
// How long a set is depends on values: `size` and `fill_value` as in numpy/nonzero.h, with the
// least element where nothing else fills.
#pragma once

#include <optional>
#include <string>

#include "strata/api/array.h"

namespace strata::numpy {

struct Unique {
  internal::Named named = internal::Named();
  /// Of slices along an axis; of all elements without one.
  std::optional<std::int64_t> axis = std::nullopt;
  /// Whether all NaN are one. Unless given they are for `unique`, and are not for `unique_all` and
  /// its like.
  std::optional<bool> equal_nan = std::nullopt;
  std::optional<std::int64_t> size = std::nullopt;
  std::optional<Array> fill_value = std::nullopt;
};
/// The different elements. Upstream's return_index, return_inverse and return_counts: `unique_all`,
/// which takes the same options.
Array unique(const Operand& x, const Unique& options = {});
/// The elements without repetition, in increasing order.
inline Array unique_values(const Operand& x, Unique options = {}) {
  options.equal_nan = options.equal_nan.value_or(false);
  return unique(x, options);
}

struct UniqueAll {
  /// The elements; where each stands first in x; of each element of x the number of its equal; how
  /// often each occurs.
  Array values, indices, inverse_indices, counts;
};
/// The elements without repetition, where each stands first, which each element is, how often each
/// stands.
UniqueAll unique_all(const Operand& x, const Unique& options = {});
struct UniqueCounts {
  Array values, counts;
};
/// The elements without repetition, and how often each stands.
UniqueCounts unique_counts(const Operand& x, const Unique& options = {});
struct UniqueInverse {
  Array values, inverse_indices;
};
/// The elements without repetition, and which of them each element of x is.
UniqueInverse unique_inverse(const Operand& x, const Unique& options = {});

struct IsIn {
  internal::Named named = internal::Named();
  bool assume_unique = false, invert = false;
  /// "auto" "compare_all" "binary_search" "sort": upstream's ways to the same result; here real
  /// elements are always searched for.
  std::string method = "auto";
};
/// Whether each element is among others. NaN is in no set.
Array isin(const Operand& element, const Operand& test_elements, const IsIn& options = {});

struct SetOptions {
  internal::Named named = internal::Named();
  /// Whether neither array has an element twice.
  bool assume_unique = false;
  std::optional<std::int64_t> size = std::nullopt;
  std::optional<Array> fill_value = std::nullopt;
};
/// In both; in either; in the first alone (filled by 0); in exactly one.
Array intersect1d(const Operand& x, const Operand& y, const SetOptions& options = {});
/// What is in one or both, in increasing order.
Array union1d(const Operand& x, const Operand& y, const SetOptions& options = {});
/// What is in x and not in y, in increasing order.
Array setdiff1d(const Operand& x, const Operand& y, const SetOptions& options = {});
/// What is in just one of them, in increasing order.
Array setxor1d(const Operand& x, const Operand& y, const SetOptions& options = {});

struct Intersection {
  /// What is in both, and where it stands first in either (flattened); the sizes of these where
  /// nothing fills.
  Array values, indices1, indices2;
};
/// Upstream's `return_indices`.
Intersection intersect1d_indices(const Operand& x, const Operand& y,
                                 const SetOptions& options = {});

}  // namespace strata::numpy

namespace strata {

using numpy::intersect1d;
using numpy::isin;
using numpy::setdiff1d;
using numpy::setxor1d;
using numpy::union1d;
using numpy::unique;
using numpy::unique_all;
using numpy::unique_counts;
using numpy::unique_inverse;
using numpy::unique_values;

}  // namespace strata
