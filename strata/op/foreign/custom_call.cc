// stablehlo.custom_call: a computation that the program names and somebody else defines.
//
// Contract (StableHLO, custom_call): attribute `call_target_name`; operands, result types and the
// other attributes are the target's business, so that none is checked here. Targets that Strata
// knows: `check.*` (op/control/check.h), by which test programs check themselves; what JAX states
// for any platform (op/foreign/target.h); and `shape_assertion`, by which JAX's programs of open
// dimensions say what sizes they take: where refinement (op/shape/refine.h) knows that it holds it
// is gone, and where it does not, its message is the caller's mistake. Results of open shapes are
// refined by the operands that hold their shapes (op/shape/shape_operands.h). Others run by
// handlers from outside (op/foreign/foreign.h). A target without one is carried through text and
// refused when it is to be run.
//
// Every call counts as an effect: it is made as often as the program says and in the program's
// order.
#include "strata/ir/text/format.h"
#include "strata/op/control/check.h"
#include "strata/op/foreign/foreign.h"
#include "strata/op/foreign/target.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"
#include "strata/op/shape/dynamic.h"
#include "strata/op/shape/shape_operands.h"

namespace strata::op {
namespace {

constexpr None kUnknown{"what the target computes is not known here"};

void verify(const Op& op) { expect_attr<std::string>("custom_call", op.attrs, "call_target_name"); }

/// "{0}", "{1}", ... of an assertion's message are the operands behind its condition.
[[noreturn]] void fail_assertion(const Op& op, std::span<const Literal* const> operands) {
  const ir::Attr* attr = op.attrs.find("error_message");
  const std::string* stated = attr ? std::get_if<std::string>(attr) : nullptr;
  std::string message = stated ? *stated : "an assertion of the program does not hold";
  for (std::size_t i = 1; i < operands.size(); ++i) {
    if (operands[i] == nullptr || operands[i]->count() != 1 || !is_integer(operands[i]->dtype()))
      continue;
    const std::string name = fmt::format("{{{}}}", i - 1),
                      number = std::to_string(operands[i]->integer(0));
    for (std::size_t at = message.find(name); at != std::string::npos;
         at = message.find(name, at + number.size()))
      message.replace(at, name.size(), number);
  }
  throw Error("shape_assertion", message);
}

bool is_assertion(const Op& op) {
  if (op.attr<std::string>("call_target_name") != "shape_assertion") return false;
  if (op.operands.empty() || op.num_results() > 0 ||
      op.operands[0]->type() != Type::scalar(DType::i1))
    throw Error("custom_call", "@shape_assertion needs a condition of type i1 and has no result");
  return true;
}

bool holds(const Op& op, std::span<const Literal* const> known) {
  if (!is_assertion(op) || known[0] == nullptr) return false;
  if (known[0]->integer(0) == 0) fail_assertion(op, known);
  return true;
}

/// The target of a call that refinement composes; null for others, and for those of a handler.
const Target* composed_target(const Op& op) {
  const std::string& name = op.attr<std::string>("call_target_name");
  const Target* target = find_target(name);
  const bool composes = target != nullptr && target->needs != nullptr;
  return composes && !foreign::has_handler(name) ? target : nullptr;
}

std::vector<int> needs(const Op& op) {
  if (op.attr<std::string>("call_target_name") == "shape_assertion") return {0};
  if (const Target* target = composed_target(op)) return target->needs(op);
  return shape_operands(op);
}

std::optional<Values> refine_call(Builder& b, const Op& op, std::span<Value* const> operands) {
  if (const Target* target = composed_target(op)) return target->compose(b, op, operands);
  if (shape_operands(op).empty()) return std::nullopt;
  return without_shape_operands(b, op, operands).results();
}

/// The call by itself, as it runs.
std::unique_ptr<Block> resolved(const Op& op) {
  auto block = std::make_unique<Block>();
  ir::ValueMap map;
  Values arguments;
  for (Value* v : op.operands) arguments.push_back(block->add_argument(v->type()));
  Builder b(*block);
  b.set_location(op.where);
  Op& copy = ir::clone(b, op, map);
  copy.operands = arguments;
  block->results = copy.results();
  foreign::resolve(*block);
  return block;
}

/// `check.eq` has a result: that it held.
Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  if (foreign::is_resolved(op)) return foreign::evaluate_resolved(op, operands);
  if (foreign::is_resolvable(op)) return evaluator.run(*resolved(op), operands);
  const std::string& target = op.attr<std::string>("call_target_name");
  std::vector<const Literal*> all;
  for (const Literal& l : operands) all.push_back(&l);
  if (is_assertion(op)) return (void)holds(op, all), Literals();
  auto demand = demand_of(op);
  if (!demand)
    throw Error("custom_call", "target @{} is not supported", target)
        .unsupported()
        .at(op.where.text());
  if (auto difference = compare(*demand, operands[0], operands[1]))
    throw Error(target, "{}", to_string(*difference)).at(op.where.text());
  Literals out;
  for (Value* result : op.results()) out.push_back(Literal::full(result->type(), 1));
  return out;
}

}  // namespace

const OpDef& custom_call_def() {
  static const OpDef d = [] {
    refined_by("stablehlo.custom_call", needs, refine_call);
    return OpDef{
        .info = {.name = "stablehlo.custom_call",
                 .infer = nullptr,
                 .has_effect = true,
                 .text = &ir::formats::custom_call,
                 .verify = verify,
                 .quantized = quantized::as_stated},
        .summary = "a computation defined elsewhere under a name (StableHLO, custom_call)",
        .traits = {.takes_complex = true},
        .evaluate = evaluate,
        .jvp = kUnknown,
        .linearize = None{"no regions"},
        .transpose = kUnknown,
        .batch = kUnknown,
        .shard = kUnknown,
        .cost = move_cost,
        .lowering = Native{foreign::symbol, foreign::grid, foreign::params},
        .holds = holds,
    };
  }();
  return d;
}

}  // namespace strata::op
