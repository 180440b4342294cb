// Operations that are said in another way.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::pass {

/// Asks `instead(builder, op)` of each operation of the block and of the regions in it, in order
/// and inner ones first; the builder stands in front of the operation, whose operands are what was
/// made of them before. Gives values in place of its results, or none to keep it. Returns whether
/// anything changed.
///
///   rewrite(block, [](Builder& b, const Op& op) { return op.name() == "chlo.square" ?
///   Values{mul(b, op.operand(0), op.operand(0))} : Values(); });
template <class Instead>
bool rewrite(ir::Block& block, const Instead& instead) {
  bool changed = false;
  ir::ValueMap map;
  std::vector<std::unique_ptr<ir::Op>> ops = std::move(block.ops()),
                                       dead;  // kept until the end: the map knows them by address
  block.ops().clear();
  ir::Builder b(block);
  for (auto& op : ops) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) {
      ir::replace_uses(*region, map);
      changed |= rewrite(*region, instead);
    }
    b.set_location(op->where);
    const ir::Values values = instead(b, static_cast<const ir::Op&>(*op));
    if (values.empty()) {
      block.append(std::move(op));
      continue;
    }
    for (int i = 0; i < op->num_results(); ++i)
      map.set(op->result(i), values[static_cast<std::size_t>(i)]);
    dead.push_back(std::move(op));
    changed = true;
  }
  block.results = map(block.results);
  return changed;
}

}  // namespace strata::pass
