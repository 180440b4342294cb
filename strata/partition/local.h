// What an operation is on one device: which of its factors may be cut, and the same operation on
// parts.
#pragma once

#include <optional>
#include <vector>

#include "strata/op/def.h"
#include "strata/partition/grid.h"

namespace strata::spmd {

/// An operation with the axes over which each of its factors is cut.
struct Cut {
  op::Factors factors;
  std::vector<Axes> axes;  // one list per factor

  /// The sharding of a value whose dimensions have these factors.
  Layout layout(const std::vector<std::vector<int>>& dims) const;
  bool is_whole() const;
};

/// Whether the operation does the same to each part of its passing factors. False for what depends
/// on where an element stands (random numbers), or has no rule.
bool is_local(const op::Op& op);
/// Whether the order in which it adds depends on which dimensions have more than one element
/// (op/reduce/reduce_order.h): its parts must have more than one wherever the whole has.
bool needs_more_than_one(const op::Op& op);
/// The combiner that puts the parts of a cut reduction factor together; none where it may not be
/// cut, or where `exact` forbids to add in another order.
std::optional<op::Combiner> combiner_of_parts(const op::Op& op, bool exact);
/// The attributes of the operation on parts: sizes among them are those of the parts.
ir::Attrs local_attrs(const op::Op& op, const Grid& grid, const Cut& cut);

}  // namespace strata::spmd
