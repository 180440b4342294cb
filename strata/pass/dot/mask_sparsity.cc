#include "strata/pass/dot/mask_sparsity.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "strata/ir/uses.h"
#include "strata/op/control/scan.h"
#include "strata/op/kind.h"
#include "strata/op/lowering_kind.h"
#include "strata/pass/affine.h"
#include "strata/pass/dot/chunk_region.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Ints;
using ir::Op;
using ir::Value;

/// How many operations are looked through for one product, on all ways together.
constexpr int kMostSteps = 500;

/// Elements with low <= index[column] - index[row] <= high.
struct Band {
  int row, column;
  std::int64_t low, high;
};

constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();

/// x >= 0 as a band of two dimensions.
std::optional<Band> band_of(const Affine& x) {
  int row = -1, column = -1;
  for (std::size_t d = 0; d < x.factors.size(); ++d) {
    if (x.factors[d] == 0) continue;
    int& place = x.factors[d] == 1 ? row : column;
    if (std::abs(x.factors[d]) != 1 || place >= 0) return {};
    place = static_cast<int>(d);
  }
  if (row < 0 || column < 0) return {};
  return Band{row, column, -kFar, x.constant};  // row - column + constant >= 0
}
std::optional<Band> compared(const Op& op, bool wanted, int& steps) {
  auto a = affine(op.operand(0), steps), b = affine(op.operand(1), steps);
  if (!a || !b) return {};
  std::string direction = op.attr<std::string>("comparison_direction");
  if (direction == "LT" || direction == "LE") {
    std::swap(a, b);
    direction = direction == "LT" ? "GT" : "GE";
  }
  if (direction != "GT" && direction != "GE") return {};
  if (!wanted) {  // not a >= b: b > a
    std::swap(a, b);
    direction = direction == "GT" ? "GE" : "GT";
  }
  for (std::size_t d = 0; d < a->factors.size(); ++d) a->factors[d] -= b->factors[d];
  a->constant -= b->constant + (direction == "GT");
  return band_of(*a);
}

/// A band by the order of its dimensions, so that equal ones compare equal.
Band ordered(const Band& b) {
  return b.row < b.column ? b : Band{b.column, b.row, -b.high, -b.low};
}

/// What stands outside of loops for arguments of their bodies that stay the same: a mask is
/// computed before a loop over layers.
using Outside = std::unordered_map<const Value*, const Value*>;  // lookup only

/// The band outside of which a mask is not `wanted`; nothing where none is known.
std::optional<Band> band(const Value* mask, const Outside& outside, bool wanted, int& steps) {
  if (auto found = outside.find(mask); found != outside.end())
    return band(found->second, outside, wanted, steps);
  const Op* op = mask->op();
  if (!op || --steps < 0 || !is_bool(mask->dtype()) || !mask->shape().is_static()) return {};
  if (op::kind::compare(op)) {
    auto found = compared(*op, wanted, steps);
    return found ? std::optional(ordered(*found)) : std::nullopt;
  }
  if (op::kind::not_(op)) return band(op->operand(0), outside, !wanted, steps);
  if (wanted ? op::kind::and_(op) : op::kind::or_(op)) {
    auto a = band(op->operand(0), outside, wanted, steps),
         b = band(op->operand(1), outside, wanted, steps);
    if (!a || !b) return a ? a : b;
    if (a->row != b->row || a->column != b->column) return a;
    return Band{a->row, a->column, std::max(a->low, b->low), std::min(a->high, b->high)};
  }
  if (!only_moves(*op)) return {};
  auto from = band(op->operand(0), outside, wanted, steps);
  if (!from) return {};
  const op::Factors factors = (*op::def(*op).shard)(*op);
  const int row = moved_dim(factors, from->row), column = moved_dim(factors, from->column);
  if (row < 0 || column < 0) return {};
  return ordered({row, column, from->low, from->high});
}

/// What all readers of a value, element by element, see of it.
class Need {
 public:
  Need(const ir::Uses& uses, const Outside& outside) : uses_(uses), outside_(outside) {}

  /// Nothing where all of it is needed, or more is not known.
  std::optional<Band> of(const Value* v, int& steps) const {
    const auto uses = uses_.of(v);
    if (uses_.is_result(v) || uses.empty() || --steps < 0) return {};
    std::optional<Band> all;
    for (const ir::Uses::Use& use : uses) {
      auto one = by(*use.op, v, steps);
      if (!one || (all && (all->row != one->row || all->column != one->column))) return {};
      all = all ? Band{one->row, one->column, std::min(all->low, one->low),
                       std::max(all->high, one->high)}
                : *one;
    }
    return all;
  }

 private:
  std::optional<Band> by(const Op& op, const Value* v, int& steps) const {
    if (!op::is_elemental(op) || op.num_results() != 1 || !op.regions.empty() ||
        op.info().has_effect || op::def(op).traits.barrier)
      return {};
    if (std::count(op.operands.begin(), op.operands.end(), v) != 1) return {};
    if (op::kind::select(op) && op.operand(0) != v && op.operand(0)->rank() == v->rank()) {
      auto chosen = band(op.operand(0), outside_, op.operand(1) == v, steps);
      if (chosen) return chosen;
    }
    auto after = of(op.result(), steps);
    if (!after || op::def(op).traits.elementwise)
      return after && v->rank() == op.result()->rank() ? after : std::nullopt;
    return only_moves(op) && op.result()->shape().count() == v->shape().count() ? before(op, *after)
                                                                                : std::nullopt;
  }
  /// A band of what the operation gives as one of what it moves.
  static std::optional<Band> before(const Op& op, const Band& after) {
    const op::Factors factors = (*op::def(op).shard)(op);
    int row = -1, column = -1;
    for (int d = 0; d < op.operand(0)->rank(); ++d) {
      if (op.operand(0)->shape()[d] == 1) continue;
      const int to = moved_dim(factors, d);
      if (to == after.row) row = d;
      if (to == after.column) column = d;
    }
    if (row < 0 || column < 0) return {};
    return ordered({row, column, after.low, after.high});
  }

  const ir::Uses& uses_;
  const Outside& outside_;
};

void mark_choice(Op& op, const Outside& outside) {
  if (!op::kind::select(op) || op.operand(0)->rank() != op.result()->rank() ||
      !op.result()->shape().is_static())
    return;
  for (const std::int64_t shown : {1, 2}) {
    int steps = kMostSteps;
    if (auto found = band(op.operand(0), outside, shown == 1, steps))
      return void(op.attrs.set(
          kSelectBand, Ints{found->row, found->column, found->low, found->high, 3 - shown}));
  }
}

void mark(Block& block, Outside& outside) {
  const ir::Uses uses(block);
  const Need need(uses, outside);
  for (const auto& op : block.ops()) {
    if (op::is_structured(*op, op::Structured::Kind::scan)) {
      const op::ScanParts parts(*op);
      for (std::size_t i = 0; i < parts.consts; ++i)
        outside.emplace(parts.body.argument(static_cast<int>(i)), op->operands[i]);
    }
    for (const auto& region : op->regions) mark(*region, outside);
    mark_choice(*op, outside);
    if (!op::is_contraction(*op) || op->operands.size() != 2 || !op->result()->shape().is_static())
      continue;
    int steps = kMostSteps;
    if (auto found = need.of(op->result(), steps))
      op->attrs.set(kMaskBand, Ints{found->row, found->column, found->low, found->high});
  }
}

}  // namespace

void mark_mask_sparsity(Block& block) {
  Outside outside;
  mark(block, outside);
}

}  // namespace strata::pass
