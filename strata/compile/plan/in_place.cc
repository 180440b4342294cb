#include "strata/compile/plan/in_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "strata/compile/fuse/fusion_access.h"
#include "strata/compile/kernel/gemm/gemm_kernel.h"
#include "strata/compile/kernel/gemm/gemm_operand.h"
#include "strata/op/control/scan.h"
#include "strata/op/lowering_kind.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;

bool reads_slice_of(const Group& g, const Value* old, const Fusion& fusion) {
  return std::any_of(g.roots.begin(), g.roots.end(), [&](const Op* op) {
    const std::vector<const Value*> all = reads(*op, fusion);
    return std::any_of(all.begin(), all.end(),
                       [&](const Value* v) { return sliced_by(v, fusion) == old; });
  });
}

/// Whether each element of `made` is made of the one in the same place of `old`, which is read by
/// nothing else.
bool maps_alone(const Group& g, const Value* made, const Value* old) {
  return made->type() == old->type() &&
         std::find(g.own_reads.begin(), g.own_reads.end(),
                   std::pair(old, static_cast<const Op*>(made->op()))) != g.own_reads.end();
}

/// Whether a kernel that reads `v` reads `old`.
bool computed_from(const Value* v, const Value* old, const Fusion& fusion) {
  if (v == old) return true;
  if (!fusion.inlined.count(v)) return false;
  return std::any_of(v->op()->operands.begin(), v->op()->operands.end(),
                     [&](const Value* from) { return computed_from(from, old, fusion); });
}
bool reads_as_operand(const Op& product, const Value* old, const Fusion& fusion) {
  return computed_from(product.operand(0), old, fusion) ||
         computed_from(product.operand(1), old, fusion);
}

/// Whether a product goes on from the sums `old`, element by element where its results are, and
/// reads `old` in no other way.
bool adds_alone(const Group& g, const Value* old, const Fusion& fusion) {
  const Op& product = *g.roots.front();
  return given_sums(product) == old && g.roots.size() == 1 &&
         !reads_as_operand(product, old, fusion);
}
/// Whether a product's epilogue, at most, reads `old`, and each element of it only for the one in
/// the same place.
bool follows_alone(const Group& g, const Value* old, const Fusion& fusion) {
  const Op& product = *g.roots.front();
  return g.epilogue > 0 && g.flat && given_sums(product) != old &&
         !reads_as_operand(product, old, fusion);
}

/// Whether an update's new elements or places are computed from the old array, which must then
/// stay whole meanwhile.
bool updates_read(const Op& op, const Value* old, const Fusion& fusion) {
  auto reads_old = [&](const Value* v) { return computed_from(v, old, fusion); };
  for (const auto& region : op.regions)
    for (const Value* v : ir::captures(*region))
      if (reads_old(v)) return true;
  return std::any_of(op.operands.begin() + op.num_results(), op.operands.end(), reads_old);
}
/// Whether result r of an update is operand r, `old`, changed, and nothing else that the update
/// reads is computed from `old`.
bool updates_alone(const Op& op, int r, const Value* old, const Fusion& fusion) {
  return op.operand(r) == old && std::count(op.operands.begin(), op.operands.end(), old) == 1 &&
         !updates_read(op, old, fusion);
}

/// The initial value of a loop's carry `result`; null where the result is none.
const Value* initial_of(const Value* result) {
  const Op& op = *result->op();
  if (op::is_structured(op, op::Structured::Kind::while_)) return op.operand(result->index());
  if (!op::is_structured(op, op::Structured::Kind::scan)) return nullptr;
  op::ScanParts parts(op);
  const auto r = static_cast<std::size_t>(result->index());
  return r < parts.carries ? op.operands[parts.consts + r] : nullptr;
}

}  // namespace

bool is_shared_operand(const Op& op, const Value* v) {
  auto n = std::count(op.operands.begin(), op.operands.end(), v);
  for (const auto& region : op.regions) {
    ir::Values captured = ir::captures(*region);
    n += std::count(captured.begin(), captured.end(), v);
  }
  return n > 1;
}

const GroupedBlock& InPlace::branch(const Block& region) {
  auto& kept = branches_[&region];
  if (!kept) kept = std::make_unique<GroupedBlock>(region, limits_);
  return *kept;
}

bool InPlace::may_replace(const GroupedBlock& in, const Value* made, const Value* old) {
  const int at = in.made(made), last = in.last(old);
  if (at == GroupedBlock::kNever || last == GroupedBlock::kForever) return false;
  if (last < at) return true;
  const Group& g = in.fusion.groups[static_cast<std::size_t>(at)];
  if (last != at || reads_slice_of(g, old, in.fusion)) return false;
  switch (g.kind) {
    case GroupKind::loops: return (g.flat && g.rows == 0) || maps_alone(g, made, old);
    case GroupKind::gemm: return adds_alone(g, old, in.fusion) || follows_alone(g, old, in.fusion);
    case GroupKind::update: return updates_alone(*g.roots.front(), made->index(), old, in.fusion);
    case GroupKind::custom: return structured_replaces(made, old);
  }
  return false;
}

std::string InPlace::why_not(const GroupedBlock& in, const Value* made, const Value* old) {
  const int at = in.made(made), last = in.last(old);
  if (at == GroupedBlock::kNever) return "the new value is not made in this block";
  if (last == GroupedBlock::kForever) return "the old value is a result, too";
  if (may_replace(in, made, old)) return {};
  const Op& reader = *in.fusion.groups[static_cast<std::size_t>(last)].roots.back();
  if (last != at)
    return fmt::format("{} reads the old value after {} has made the new one", reader.name(),
                       made->op()->name());
  return fmt::format("{} reads other places of the old value while it makes the new one",
                     reader.name());
}

/// A branch's result, or what a loop makes of a carry, in the memory of what it began as.
bool InPlace::structured_replaces(const Value* made, const Value* old) {
  const Op& op = *made->op();
  if (!(made->type() == old->type())) return false;
  if (op::is_structured(op, op::Structured::Kind::case_))
    return std::count(op.operands.begin(), op.operands.end(), old) == 0 &&
           std::all_of(op.regions.begin(), op.regions.end(), [&](const auto& region) {
             return branch_replaces(*region, static_cast<std::size_t>(made->index()), old);
           });
  return initial_of(made) == old && !is_shared_operand(op, old);
}

bool InPlace::branch_replaces(const Block& region, std::size_t result, const Value* old) {
  const Value* v = region.results[result];
  if (v == old) return true;
  if (v->op() && v->block() == &region) return may_replace(branch(region), v, old);
  // Something from outside is copied over it when all groups have run.
  return std::count(region.results.begin(), region.results.end(), old) == 0;
}

}  // namespace strata::compile
