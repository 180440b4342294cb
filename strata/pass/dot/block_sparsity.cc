#include "strata/pass/dot/block_sparsity.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "strata/op/def.h"
#include "strata/op/kind.h"
#include "strata/op/lowering_kind.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Ints;
using ir::Op;
using ir::Value;

/// What a mask puts where it chooses nothing of the other side.
enum class Chosen { nothing, zero, low };

/// Of which an exponential is zero: stand-ins for minus infinity begin here (-1e4 in f16).
constexpr double kLow = -1e3;

/// Of one number everywhere.
Chosen splat(const Value* v) {
  const Op* op = v->op();
  if (!op || !is_float(v->dtype())) return Chosen::nothing;
  if (op::kind::broadcast_in_dim(op)) return splat(op->operand(0));
  const Literal* value = op::kind::constant(op) ? &op->attr<Literal>("value") : nullptr;
  if (!value || value->count() == 0 || !value->is_splat()) return Chosen::nothing;
  const double x = value->number(0);
  return x == 0 ? Chosen::zero : x <= kLow ? Chosen::low : Chosen::nothing;
}

/// What the values of a block are made of, element by element.
class Origins {
 public:
  /// Notes what the operation's result is made of; operations come in order.
  void note(const Op& op) {
    if (!op::is_elemental(op) || op.num_results() != 1) return;
    const Value* v = op.result();
    if (is_float(v->dtype())) chosen_.emplace(v, chosen(op));
    auto tells_floats = [&](const Value* from) {
      return is_float(from->dtype()) || from_floats_.count(from);
    };
    if (std::any_of(op.operands.begin(), op.operands.end(), tells_floats)) from_floats_.insert(v);
  }
  /// Whether it is zero where a mask chose nothing, through operations with as many elements.
  bool has_zeros(const Value* v) const { return of(v) == Chosen::zero; }

 private:
  Chosen of(const Value* v) const {
    auto found = chosen_.find(v);
    return found == chosen_.end() ? Chosen::nothing : found->second;
  }

  Chosen chosen(const Op& op) const {
    if (op::kind::select(op) && !from_floats_.count(op.operand(0)))
      for (int side : {1, 2})
        if (Chosen other = splat(op.operand(side)); other != Chosen::nothing) return other;
    std::size_t zeros = 0, lows = 0;
    for (const Value* from : op.operands) {
      if (from->shape().count() != op.result()->shape().count()) continue;
      zeros += of(from) == Chosen::zero;
      lows += of(from) == Chosen::low;
    }
    if (zeros + lows == 0) return Chosen::nothing;
    if (op::kind::exponential(op)) return lows ? Chosen::zero : Chosen::nothing;
    if (!op::kind::add(op) && !op::kind::subtract(op)) return zeros ? Chosen::zero : Chosen::low;
    return lows                          ? Chosen::low
           : zeros == op.operands.size() ? Chosen::zero
                                         : Chosen::nothing;  // what is added to zeros is none
  }

  std::unordered_map<const Value*, Chosen> chosen_;  // lookup only
  std::unordered_set<const Value*> from_floats_;     // lookup only
};

}  // namespace

void mark_block_sparsity(Block& block) {
  Origins origins;
  for (const auto& op : block.ops()) {
    for (const auto& region : op->regions) mark_block_sparsity(*region);
    if (op->num_results() != 1 || !op->result()->type().is_tensor() ||
        !op->result()->shape().is_static())
      continue;
    origins.note(*op);
    if (!op::is_contraction(*op)) continue;
    Ints sides;
    for (int side : {0, 1})
      if (is_float(op->operand(side)->dtype()) && origins.has_zeros(op->operand(side)))
        sides.push_back(side);
    if (!sides.empty()) op->attrs.set(kZeroBlockSides, sides);
  }
}

}  // namespace strata::pass
