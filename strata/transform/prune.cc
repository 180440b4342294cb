#include "strata/transform/prune.h"

#include <algorithm>
#include <unordered_set>

#include "strata/op/control/narrow.h"

namespace strata::transform {
namespace {

using Live = std::unordered_set<const ir::Value*>;
using Ops = std::vector<std::unique_ptr<ir::Op>>;

void mark(const ir::Op& op, Live& live) {
  live.insert(op.operands.begin(), op.operands.end());
  for (const auto& region : op.regions)
    for (ir::Value* v : ir::captures(*region)) live.insert(v);
}

// The operation with fewer results in its place, if some are not used. `map` learns where the
// others are.
void narrow(Ops& ops, std::size_t at, const Live& live, ir::ValueMap& map, Ops& dead) {
  const ir::Op& op = *ops[at];
  std::vector<bool> used;
  for (int i = 0; i < op.num_results(); ++i) used.push_back(live.count(op.result(i)) != 0);
  if (!op::can_narrow(op) || std::find(used.begin(), used.end(), false) == used.end()) return;
  ir::Block scratch;
  ir::Builder b(scratch);
  b.set_location(op.where);
  ir::Values results = op::narrow(b, op, used);
  if (std::find(results.begin(), results.end(), nullptr) == results.end())
    return;  // all are needed after all
  for (int i = 0; i < op.num_results(); ++i)
    if (ir::Value* v = results[static_cast<std::size_t>(i)]) map.set(op.result(i), v);
  STRATA_CHECK(scratch.ops().size() == 1, "one operation became {}", scratch.ops().size());
  dead.push_back(std::move(ops[at]));
  ops[at] = std::move(scratch.ops()[0]);
  scratch.ops().clear();
}

}  // namespace

void prune(ir::Block& block) {
  ir::remove_dead(block);
  Live live(block.results.begin(), block.results.end());
  ir::ValueMap map;
  Ops ops = std::move(block.ops()), dead;
  block.ops().clear();
  for (std::size_t i = ops.size(); i-- > 0;) {
    narrow(ops, i, live, map, dead);
    for (auto& region : ops[i]->regions) prune(*region);
    mark(*ops[i], live);
  }
  for (auto& op : ops) block.append(std::move(op));
  ir::replace_uses(block, map);
  ir::remove_dead(block);
}

}  // namespace strata::transform
