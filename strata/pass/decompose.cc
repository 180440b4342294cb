#include "strata/pass/decompose.h"

#include "strata/op/def.h"
#include "strata/op/legalize.h"
#include "strata/op/lower_region.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/sort/sort_key.h"

namespace strata::pass {
namespace {

bool has_lowering(const ir::Op& op) {
  return !std::holds_alternative<op::None>(op::def(op).lowering);
}
bool has_lowering_or_scales(const ir::Op& op) {
  return has_lowering(op) || (op::is_quantized(op) && !op::takes_stored(op));
}

/// Replaces operations that are not `kept` by their decompositions.
bool decompose(ir::Block& block, bool (*kept)(const ir::Op&)) {
  bool changed = false;
  ir::ValueMap map;
  std::vector<std::unique_ptr<ir::Op>> old = std::move(block.ops());
  block.ops().clear();
  ir::Builder b(block);
  for (auto& op : old) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) ir::replace_uses(*region, map);
    if (!op::def(*op).decompose || kept(*op)) {
      for (auto& region : op->regions) changed |= decompose(*region, kept);
      block.append(std::move(op));
      continue;
    }
    auto body = op::decomposition(*op);
    decompose(*body, kept);
    ir::Values results = ir::inline_block(b, *body, op->operands);
    for (int i = 0; i < op->num_results(); ++i)
      map.set(op->result(i), results[static_cast<std::size_t>(i)]);
    changed = true;
  }
  block.results = map(block.results);
  return changed;
}

}  // namespace

// Sorts by keys have a kernel, but their decomposition has better ones.
bool has_kernel(const ir::Op& op) {
  return has_lowering(op) && op::regions_fit_kernels(op) && !op::sorts_by_keys(op);
}

bool decompose_unlowered(ir::Block& block) { return decompose(block, has_lowering_or_scales); }
bool decompose_without_kernel(ir::Block& block) { return decompose(block, has_kernel); }

}  // namespace strata::pass
