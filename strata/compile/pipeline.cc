#include "strata/compile/pipeline.h"

#include "strata/op/def.h"

namespace strata::compile {
namespace {

bool is_call(const ir::Op& op) {
  const auto* structured = std::get_if<op::Structured>(&op::def(op).lowering);
  return structured && structured->kind == op::Structured::Kind::call;
}

}  // namespace

void inline_regions(ir::Block& block) {
  bool any = false;
  for (const auto& op : block.ops()) {
    for (const auto& region : op->regions) inline_regions(*region);
    any |= is_call(*op);
  }
  if (!any) return;
  ir::ValueMap map;
  std::vector<std::unique_ptr<ir::Op>> old = std::move(block.ops());
  block.ops().clear();
  ir::Builder b(block);
  for (auto& op : old) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) ir::replace_uses(*region, map);
    if (!is_call(*op)) {
      block.append(std::move(op));
      continue;
    }
    STRATA_CHECK(!op->regions.empty(), "{} has no region to inline", op->name());
    ir::Values results = ir::inline_block(b, op->region(0), op->operands);
    for (std::size_t i = 0; i < results.size(); ++i) map.set(op->result(static_cast<int>(i)), results[i]);
  }
  block.results = map(block.results);
}

std::unique_ptr<ir::Block> prepare(const ir::Block& block) {
  std::unique_ptr<ir::Block> out = ir::clone(block);
  inline_regions(*out);
  ir::remove_dead(*out);
  return out;
}

}  // namespace strata::compile
