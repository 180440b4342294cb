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
  for (const auto& a : region.arguments())
    arguments.push_back(closed->add_argument(a->type(), a->hint()));
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
  owned_ = std::make_unique<Op>(op.info(), std::move(operands), op.attrs, std::move(regions),
                                std::move(types), op.where);
}

std::vector<std::unique_ptr<Block>> reopened(const Op& op, int own, std::span<Value* const> given) {
  std::vector<std::unique_ptr<Block>> out;
  for (const auto& region : op.regions) {
    auto open = std::make_unique<Block>();
    Values arguments;
    for (const auto& a : region->arguments())
      arguments.push_back(a->index() < own ? open->add_argument(a->type(), a->hint())
                                           : given[static_cast<std::size_t>(a->index() - own)]);
    Builder b(*open);
    open->results = ir::inline_block(b, *region, arguments);
    out.push_back(std::move(open));
  }
  return out;
}

OpenRegion::OpenRegion(const Block& region, int own, std::span<Value* const> given)
    : region_(region), given_(given.size()), captured_(given.begin(), given.end()) {
  STRATA_CHECK(region.num_arguments() == own + static_cast<int>(given_),
               "a region of {} arguments, {} its own and {} given", region.num_arguments(), own,
               given_);
  Values free = ir::captures(region);
  captured_.insert(captured_.end(), free.begin(), free.end());
}

Values OpenRegion::inlined(Builder& b, const Values& own, const Values& captured) const {
  Values arguments = own;
  arguments.insert(arguments.end(), captured.begin(),
                   captured.begin() + static_cast<std::ptrdiff_t>(given_));
  ir::ValueMap map;
  for (std::size_t i = given_; i < captured_.size(); ++i) map.set(captured_[i], captured[i]);
  return ir::inline_block(b, region_, arguments, map);
}

}  // namespace strata::op
