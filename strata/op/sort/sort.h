// Sorting: the one algorithm that the reference evaluator and compiled code share.
//
// Bottom-up merging: runs of 1, 2, 4 .. elements are merged two by two; of two elements the right
// one goes first only where `before(right, left)` says so. That is stable, and fixed even where
// `before` is no order.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "strata/op/def.h"
#include "strata/op/sort/comparator.h"

namespace strata::op {

/// The order in which elements 0 .. n-1 stand once sorted. `before(i, j)`: whether element i goes
/// before element j.
template <class Before>
std::vector<std::int64_t> merge_sorted(std::int64_t n, Before&& before) {
  std::vector<std::int64_t> from, to(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) from.push_back(i);
  for (std::int64_t width = 1; width < n; width *= 2) {
    for (std::int64_t low = 0; low < n; low += 2 * width) {
      std::int64_t mid = std::min(low + width, n), high = std::min(low + 2 * width, n), i = low,
                   j = mid;
      for (std::int64_t k = low; k < high; ++k) {
        auto at = [&](std::int64_t p) { return from[static_cast<std::size_t>(p)]; };
        bool right = j < high && (i >= mid || before(at(j), at(i)));
        to[static_cast<std::size_t>(k)] = right ? at(j++) : at(i++);
      }
    }
    from.swap(to);
  }
  return from;
}

/// Elements of several arrays that are sorted together, as instructions.
using Tuple = std::vector<loop::Inst*>;
/// Emits the same on n tuples: `load` and `store` say where they come from and (the first `kept`)
/// go to. Uniform, outside vector loops.
struct MergeSort {
  std::int64_t n;
  std::vector<DType> dtypes;
  std::function<Tuple(const loop::Index&)> load;
  std::function<loop::Inst*(const Tuple& left, const Tuple& right)> before;
  std::int64_t kept;
  std::function<void(const loop::Index&, const Tuple&)> store;
};
void emit(loop::Builder& b, const MergeSort& sort);

/// Whether a sort's lines are known to have one element or none: its results are its operands.
bool sorts_single_elements(const Op& op);

/// The operands (of one shape) sorted along `dimension` by the comparator: a region (l0, r0, l1,
/// r1, ...) -> whether the left ones go first.
Values sort(Builder& b, const Values& operands, std::int64_t dimension,
            std::unique_ptr<Block> comparator);

}  // namespace strata::op
