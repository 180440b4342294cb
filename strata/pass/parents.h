// Which operation holds a block.
#pragma once

#include <unordered_map>

#include "strata/ir/graph.h"

namespace strata::pass {

/// Of the regions in a block, at any depth.
class Parents {
 public:
  explicit Parents(const ir::Block& block) {
    ir::walk(block, [&](const ir::Op& op) {
      for (const auto& region : op.regions) of_[region.get()] = &op;
    });
  }
  /// The operation whose region it is; null for the outermost block and for others.
  const ir::Op* operator()(const ir::Block* region) const {
    auto found = of_.find(region);
    return found == of_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<const ir::Block*, const ir::Op*> of_;  // lookup only
};

}  // namespace strata::pass
