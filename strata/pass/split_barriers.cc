#include "strata/pass/split_barriers.h"

#include "strata/op/def.h"

namespace strata::pass {

bool split_barriers(ir::Block& block) {
  bool changed = false;
  ir::ValueMap map;
  std::vector<std::unique_ptr<ir::Op>> old = std::move(block.ops());
  block.ops().clear();
  ir::Builder b(block);
  for (auto& op : old) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) {
      ir::replace_uses(*region, map);
      changed |= split_barriers(*region);
    }
    if (op->num_results() < 2 || !op::def(*op).traits.barrier) {
      block.append(std::move(op));
      continue;
    }
    for (int i = 0; i < op->num_results(); ++i)
      map.set(op->result(i), b.create(op->info(), {op->operand(i)}).result());
    changed = true;
  }
  block.results = map(block.results);
  return changed;
}

}  // namespace strata::pass
