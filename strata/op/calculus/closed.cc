#include "strata/op/calculus/closed.h"

#include <unordered_set>

namespace strata::op {
namespace {

// Captured by any region, in the order of first use.
Values captured_values(const Op& op) {
  Values all;
  std::unordered_set<const Value*> seen;
  for (const auto& region : op.regions)
    for (Value* v : ir::captures(*region))
      if (seen.insert(v).second) all.push_back(v);
  return all;
}

std::unique_ptr<Block> close_region(const Block& region, const Values& captured) {
  auto closed = std::make_unique<Block>();
  ir::ValueMap map;
  Values arguments;
  for (const auto& a : region.arguments()) arguments.push_back(closed->add_argument(a->type(), a->hint()));
  for (Value* v : captured) map.set(v, closed->add_argument(v->type(), v->hint()));
  Builder b(*closed);
  closed->results = ir::inline_block(b, region, arguments, map);
  return closed;
}

}  // namespace

Closed::Closed(const Op& op) : original_(&op) {
  if (op.regions.empty() || op.info().isolated) return;
  Values captured = captured_values(op);
  if (captured.empty()) return;
  Values operands = op.operands;
  operands.insert(operands.end(), captured.begin(), captured.end());
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& region : op.regions) regions.push_back(close_region(*region, captured));
  std::vector<Type> types;
  for (Value* v : op.results()) types.push_back(v->type());
  owned_ = std::make_unique<Op>(op.info(), std::move(operands), op.attrs, std::move(regions), std::move(types), op.where);
}

}  // namespace strata::op
