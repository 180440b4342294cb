// Sums (products, extremes ...) of all elements up to each: strata.cumulative, and what
// reduce_window stands for by it.
#pragma once

#include "strata/op/reduce/combiner.h"

namespace strata::op {

struct Cumulative {
  int dim = 0;
  bool reverse = false;  // from the last element down
  Combiner combiner = Combiner::add;
};

/// start op x[0] op ... op x[k] along a dimension, in the order of op/reduce/cumulative_order.h;
/// `start` is a scalar. Lines of more than a block are combined by blocks.
Value* cumulative(Builder& b, Value* x, Value* start, const Cumulative& what);

/// The reduce_window `op` by a region, whose windows span dimension `dim` and are padded before it
/// or (reverse) behind it: what the windows give where the region is associative, in one
/// application for each element.
Values cumulative_by_region(Builder& b, const Op& op, std::span<Value* const> operands, int dim,
                            bool reverse);

}  // namespace strata::op
