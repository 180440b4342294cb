// How often values are asked for.
#pragma once

#include <unordered_map>

#include "strata/ir/graph.h"

namespace strata::pass {

/// Operands, and results of regions and of the block itself, among the operations of a block and of
/// the regions in it.
class UseCounts {
 public:
  explicit UseCounts(const ir::Block& block) {
    ir::walk(block, [&](const ir::Op& op) {
      for (const ir::Value* v : op.operands) ++count_[v];
      for (const auto& region : op.regions)
        for (const ir::Value* v : region->results) ++count_[v];
    });
    for (const ir::Value* v : block.results) ++count_[v];
  }
  int operator()(const ir::Value* v) const {
    auto found = count_.find(v);
    return found == count_.end() ? 0 : found->second;
  }

 private:
  std::unordered_map<const ir::Value*, int> count_;  // lookup only
};

}  // namespace strata::pass
