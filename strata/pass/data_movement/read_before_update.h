// Reads of an array go before the update of it.
//
//   u = dynamic_update_slice(x, v, i); y = dynamic_slice(x, j)   ->   y, then u
//
// An update changes an array where it is if nobody asks for the old elements afterwards. Which
// operation stands first in a program says nothing of that where none depends on the other; this
// puts them so that no copy is needed. Only the order changes.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "strata/ir/graph.h"

namespace strata::pass {

/// The arrays that operations of a block may change where they are, as far as a copy of them would
/// cost something: what scatter and dynamic_update_slice update, what loops begin with, and what a
/// branch reads and returns the like of.
class ConsumedArrays {
 public:
  explicit ConsumedArrays(const ir::Block& block);

  bool empty() const { return all_.empty(); }
  bool has(const ir::Value* v) const { return all_.count(v) != 0; }
  /// Those of one operation of the block.
  const ir::Values& of(const ir::Op& op) const {
    static const ir::Values none;
    auto found = of_.find(&op);
    return found == of_.end() ? none : found->second;
  }

 private:
  std::unordered_map<const ir::Op*, ir::Values> of_;  // lookup only
  std::unordered_set<const ir::Value*> all_;          // lookup only
};

/// Moves what reads such an array, and what that needs, in front of the operation that takes it,
/// unless it depends on its results or has an effect. For the block and the regions in it. Looks at
/// a bounded number of operations; of a very large block the last ones stay as they are. Returns
/// whether anything moved.
bool order_reads_before_updates(ir::Block& block);

}  // namespace strata::pass
