// Operations between the inputs of a vmap that names its axis.
//
// Such a vmap gives its function one more argument, the place: a scalar i32 that says where along
// the axis an input stands. Each operation has it as an operand, and that is how it finds its axis:
// the place is batched by that vmap and by no other. So batching needs to know no names, other
// vmaps pass by, and regions and nested functions capture the place as they capture any value.
// After batching nothing of these operations is left, only reductions and moves over the dimension
// that stands for the axis.
//
// One name is bound by one vmap. Axes of a mesh of devices may be bound to names in the same way: a
// place that comes from the process's id, and operations between processes (collective.h) where
// batching would have reduced over a dimension.
#pragma once

#include <string>

#include "strata/op/def.h"

namespace strata::op {

struct NamedAxis {
  std::string name;  // for messages
  std::int64_t size = 0;
  Value* place = nullptr;
};

/// x of all inputs combined by add, min or max; the same for each. The transpose of a sum is the
/// sum; of one that is `invarying`, which counts as one value of all, what all made of it is added
/// and given to each.
Value* axis_reduce(Builder& b, Value* x, const NamedAxis& axis, Combiner combiner,
                   bool invarying = false);
/// x. What its transpose gives is the same for all inputs where `like` is: cotangents that differ
/// between inputs are added there.
Value* axis_same_as(Builder& b, Value* x, const NamedAxis& axis, Value* like);
/// x of all inputs in order, along a new first dimension; the same for each, which `known_same`
/// says to who follows what varies along the axis.
Value* axis_gather(Builder& b, Value* x, const NamedAxis& axis, bool known_same = false);
/// x as a value that may differ between inputs. Its transpose is the sum over all.
Value* axis_vary(Builder& b, Value* x, const NamedAxis& axis);
/// Row i of the first dimension, which has the axis's size, goes to input i: row j of the result
/// came from input j.
Value* axis_exchange(Builder& b, Value* x, const NamedAxis& axis);
/// x of the input that is the source of this one among pairs (source, target), zeros where there is
/// none.
Value* axis_permute(Builder& b, Value* x, const NamedAxis& axis,
                    const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs);

}  // namespace strata::op
