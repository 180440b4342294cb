#include "strata/compile/kernel/row/masked_row_band.h"

#include <algorithm>

#include "strata/compile/fuse/value_uses.h"
#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/pass/dot/mask_sparsity.h"

namespace strata::compile {

using ir::Op;
using ir::Value;

std::optional<MaskedRowBand> MaskedRowBand::of(const Group& group, const Fusion& fusion,
                                               std::int64_t length) {
  constexpr std::int64_t kShort = 64;  // of such rows few strips are outside
  if (length < kShort) return {};
  MaskedRowBand out(group, fusion);
  out.length_ = length;
  ir::Ints band;
  bool alike = true;
  each_computed(group, fusion, [&](const Op& op) {
    ir::Ints mark = op.attrs.get_or<ir::Ints>(pass::kSelectBand, {});
    const Shape& shape = op.num_results() == 1 ? op.result()->shape() : Shape();
    if (mark.empty() || mark[1] != shape.rank() - 1 || shape[shape.rank() - 1] != length ||
        count(op.result()) != group.total)
      return;
    mark.pop_back();
    alike = alike && (band.empty() || (band == mark && shape == out.first_->shape()));
    band = std::move(mark);
    out.first_ = op.result();
  });
  if (band.empty() || !alike) return {};
  out.row_ = static_cast<int>(band[0]);
  out.low_ = band[2];
  out.high_ = band[3];
  const bool any = std::any_of(group.roots.begin(), group.roots.end(), [&](const Op* op) {
    return count(op->result()) == group.total && out.settles(op->result());
  });
  return any ? std::optional(out) : std::nullopt;
}

const Value* MaskedRowBand::chosen(const Value* v) const {
  if (!v->op() || v->op()->num_results() != 1 || !(v->shape() == first_->shape())) return nullptr;
  const ir::Ints mark = v->op()->attrs.get_or<ir::Ints>(pass::kSelectBand, {});
  return mark.empty() || mark[1] != v->shape().rank() - 1
             ? nullptr
             : v->op()->operand(static_cast<int>(mark[4]));
}

bool MaskedRowBand::is_root(const Op& op) const {
  return std::find(group_->roots.begin(), group_->roots.end(), &op) != group_->roots.end();
}

bool MaskedRowBand::settles(const Value* v) const {
  if (auto known = settled_.find(v); known != settled_.end()) return known->second;
  const bool out = found_to_settle(v);
  settled_.emplace(v, out);
  return out;
}

bool MaskedRowBand::found_to_settle(const Value* v) const {
  if (!v->op()) return false;
  const Op& op = *v->op();
  if (const Literal* literal = constant_literal(op)) return literal->is_splat();
  if (is_root(op) && count(v) == group_->total / length_) return true;
  if (is_reduction(op) || !(is_root(op) || fusion_->inlined.count(v))) return false;
  if (const Value* other = chosen(v)) return settles(other);
  if (!is_elemental(op) || op.operands.empty() || !op.regions.empty() || op.info().has_effect)
    return false;
  const op::Traits& traits = op::def(op).traits;
  const bool from_operands = traits.elementwise || op.name() == "stablehlo.broadcast_in_dim" ||
                             op.name() == "stablehlo.reshape";
  return from_operands && std::all_of(op.operands.begin(), op.operands.end(),
                                      [&](const Value* from) { return settles(from); });
}

Inst* MaskedRowBand::leaves_out(loop::Builder& b, const Index& r, const Index& column,
                                int lanes) const {
  std::vector<Index> index = delinearize(b, first_->shape(), r * length_);
  const Index& row = index[static_cast<std::size_t>(row_)];
  Inst *before = b.less(column + (lanes - 1), row + low_), *behind = b.less(row + high_, column);
  return b.binary(loop::Opcode::or_, before, behind);
}

}  // namespace strata::compile
