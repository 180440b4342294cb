#include "strata/pass/negative_zero.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "strata/op/control/scan.h"
#include "strata/op/kind.h"
#include "strata/op/lowering_kind.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;

constexpr int kMostSteps = 400;              // for one question
constexpr std::int64_t kMostRead = 1 << 16;  // elements of a constant

bool holds_minus_zero(const Literal& literal) {
  const std::int64_t n =
      literal.is_splat() ? std::min<std::int64_t>(1, literal.count()) : literal.count();
  if (n > kMostRead) return true;
  for (std::int64_t i = 0; i < n; ++i)
    if (literal.number(i) == 0 && std::signbit(literal.number(i))) return true;
  return false;
}

}  // namespace

bool NegativeZeroAnalysis::never_in(const Value* v) {
  steps_ = 0;
  Assumed assumed;
  return prove(v, assumed);
}

/// What is under way is assumed: a carry holds none if its first value does not and an iteration
/// makes none of one that does not.
bool NegativeZeroAnalysis::prove(const Value* v, Assumed& assumed) {
  if (!v->type().is_tensor() || is_complex(v->dtype()) || ++steps_ > kMostSteps) return false;
  if (!is_float(v->dtype())) return true;
  if (!assumed.insert(v).second) return true;
  return v->op() ? prove_op(*v->op(), v->index(), assumed) : prove_argument(v, assumed);
}

bool NegativeZeroAnalysis::prove_op(const Op& op, int result, Assumed& assumed) {
  namespace kind = op::kind;
  auto none_in_floats = [&] {
    return std::all_of(op.operands.begin(), op.operands.end(),
                       [&](const Value* v) { return !is_float(v->dtype()) || prove(v, assumed); });
  };
  if (kind::constant(op)) return !holds_minus_zero(op.attr<Literal>("value"));
  if (op::is_any(op, {&kind::iota, &kind::exponential, &kind::abs})) return true;
  if (kind::optimization_barrier(op)) return prove(op.operand(result), assumed);
  if (op::def(op).traits.moves_only && op.num_results() == 1 && !op.operands.empty())
    return none_in_floats();
  if (kind::select(op)) return none_in_floats();  // the predicate is no float
  if (kind::convert(op)) return !is_float(op.operand(0)->dtype());
  if (kind::multiply(op)) return op.operand(0) == op.operand(1);
  if (kind::add(op)) {  // of two zeros only both minus give one
    Assumed before = assumed;
    if (prove(op.operand(1), assumed)) return true;
    assumed = std::move(before);
    return prove(op.operand(0), assumed);
  }
  if (kind::scatter(op) && op.num_results() == 1 && op.regions.empty()) {
    const std::string& combiner = op.attr<std::string>("combiner");
    if (combiner == "add") return prove(op.operand(0), assumed);
    return combiner == "assign" && prove(op.operand(0), assumed) && prove(op.operand(2), assumed);
  }
  return prove_structured(op, result, assumed);
}

bool NegativeZeroAnalysis::prove_structured(const Op& op, int result, Assumed& assumed) {
  const auto* structured = std::get_if<op::Structured>(&op::def(op).lowering);
  if (!structured) return false;
  const auto r = static_cast<std::size_t>(result);
  switch (structured->kind) {
    case op::Structured::Kind::case_:
      return std::all_of(op.regions.begin(), op.regions.end(),
                         [&](const auto& region) { return prove(region->results[r], assumed); });
    case op::Structured::Kind::while_:
      return prove(op.operand(result), assumed) && prove(op.region(1).results[r], assumed);
    case op::Structured::Kind::scan: {
      const op::ScanParts parts(op);
      return prove(parts.body.results[r], assumed) &&
             (r >= parts.carries || prove(op.operands[parts.consts + r], assumed));
    }
    case op::Structured::Kind::call: return false;
  }
  return false;
}

bool NegativeZeroAnalysis::prove_argument(const Value* v, Assumed& assumed) {
  const Op* loop = parent_(v->block());
  if (!loop) return false;
  const Op& op = *loop;
  const auto i = static_cast<std::size_t>(v->index());
  if (op::is_structured(op, op::Structured::Kind::while_))
    return prove(op.operands[i], assumed) && prove(op.region(1).results[i], assumed);
  if (!op::is_structured(op, op::Structured::Kind::scan)) return false;
  const op::ScanParts parts(op);
  const bool is_carry = i >= parts.consts && i < parts.consts + parts.carries;
  return prove(op.operands[i], assumed) &&
         (!is_carry || prove(parts.body.results[i - parts.consts], assumed));
}

}  // namespace strata::pass
