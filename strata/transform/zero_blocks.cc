#include "strata/transform/zero_blocks.h"

#include <algorithm>
#include <unordered_set>

#include "strata/op/def.h"
#include "strata/op/lowering_kind.h"

namespace strata::transform {
namespace {

using ir::Block;
using ir::Ints;
using ir::Op;
using ir::Value;

/// What the values of a block are made of, element by element.
class Origins {
 public:
  /// Notes what the operation's result is made of; operations come in order.
  void note(const Op& op) {
    if (!op::is_elemental(op) || op.num_results() != 1) return;
    const Value* v = op.result();
    auto as_many = [&](const Value* from) { return from->shape().count() == v->shape().count(); };
    const bool chosen = op.name() == "stablehlo.select" && !from_floats_.count(op.operand(0));
    if (chosen || std::any_of(op.operands.begin(), op.operands.end(), [&](const Value* from) { return as_many(from) && is_masked(from); })) masked_.insert(v);
    auto tells_floats = [&](const Value* from) { return is_float(from->dtype()) || from_floats_.count(from); };
    if (std::any_of(op.operands.begin(), op.operands.end(), tells_floats)) from_floats_.insert(v);
  }
  /// Whether it is made of a choice by a mask, through operations with as many elements.
  bool is_masked(const Value* v) const { return masked_.count(v) > 0; }

 private:
  std::unordered_set<const Value*> masked_, from_floats_;  // lookup only
};

}  // namespace

void mark_zero_blocks(Block& block) {
  Origins origins;
  for (const auto& op : block.ops()) {
    for (const auto& region : op->regions) mark_zero_blocks(*region);
    if (op->num_results() != 1 || !op->result()->type().is_tensor() || !op->result()->shape().is_static()) continue;
    origins.note(*op);
    if (!op::is_contraction(*op)) continue;
    Ints sides;
    for (int side : {0, 1})
      if (is_float(op->operand(side)->dtype()) && origins.is_masked(op->operand(side))) sides.push_back(side);
    if (!sides.empty()) op->attrs.set(kZeroSides, sides);
  }
}

}  // namespace strata::transform
