// Sorting, and searching in what is sorted. NaN is above every number, and the zeros are equal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/api/array.h"

namespace strata::numpy {

struct Sort {
  internal::Named named = internal::Named();
  /// None: of the flattened array.
  std::optional<std::int64_t> axis = -1;
  bool descending = false;
};
/// In order along an axis. Complex numbers by their real parts, equal ones by their imaginary
/// parts.
Array sort(const Operand& x, const Sort& options = {});
/// Where the elements of the sorted array stand (i32, under x64 i64); of equal ones the first comes
/// first.
Array argsort(const Operand& x, const Sort& options = {});
inline Array sort(const Operand& x, std::int64_t axis) { return sort(x, Sort{.axis = axis}); }
inline Array argsort(const Operand& x, std::int64_t axis) { return argsort(x, Sort{.axis = axis}); }
/// By several keys, the last one first in rank.
Array lexsort(const std::vector<Array>& keys, std::int64_t axis = -1,
              Where where = Where::current());

/// Element `kth` along the axis as it is in order; none before it is greater, none behind it
/// smaller. As upstream, those up to it rise and those behind it fall. Real numbers.
Array partition(const Operand& x, std::int64_t kth, std::int64_t axis = -1);
/// Where such elements stand in x (i32); those behind the kth in x's order.
Array argpartition(const Operand& x, std::int64_t kth, std::int64_t axis = -1);
/// As complex numbers, by their real parts first, along the last axis.
Array sort_complex(const Operand& x);

/// Where v would be put into the sorted vector a: before its equals ("left") or behind ("right").
Array searchsorted(const Operand& a, const Operand& v, const std::string& side = "left",
                   const std::optional<Operand>& sorter = {});
/// The number of the bin for each element, by bins whose edges rise or fall.
Array digitize(const Operand& x, const Operand& bins, bool right = false);

}  // namespace strata::numpy

namespace strata {

using numpy::argpartition;
using numpy::argsort;
using numpy::digitize;
using numpy::lexsort;
using numpy::partition;
using numpy::searchsorted;
using numpy::sort;
using numpy::sort_complex;

}  // namespace strata
