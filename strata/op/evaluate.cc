#include "strata/op/evaluate.h"

#include <unordered_map>

#include "strata/base/error.h"
#include "strata/op/collective/world.h"
#include "strata/op/legalize.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/shape/refine.h"
#include "strata/op/shape/refine_rules.h"
#include "strata/op/shape/tuple.h"

namespace strata::op {
namespace {

/// Runs blocks in one environment, so that nested blocks see the values around them.
class Reference : public Evaluator {
 public:
  explicit Reference(Process& process) : process_(process) {}
  Process& process() override { return process_; }
  Literals run(const Block& block, std::span<const Literal> arguments) override {
    STRATA_CHECK(static_cast<int>(arguments.size()) == block.num_arguments(),
                 "{} arguments for a block of {}", arguments.size(), block.num_arguments());
    for (int i = 0; i < block.num_arguments(); ++i)
      values_.insert_or_assign(block.argument(i), arguments[static_cast<std::size_t>(i)]);
    for (const auto& op : block.ops()) step(*op);
    Literals results = look_up(block.results);
    forget(block);
    return results;
  }

 private:
  void step(const Op& op) {
    Literals results = evaluate_one(op, look_up(op.operands));
    STRATA_CHECK(static_cast<int>(results.size()) == op.num_results(), "{} evaluated to {} results",
                 op.name(), results.size());
    for (int i = 0; i < op.num_results(); ++i)
      values_.insert_or_assign(op.result(i), std::move(results[static_cast<std::size_t>(i)]));
  }

  /// Dynamic shapes become those of the operands. Types that kernels do not know go the way that
  /// the compiler goes; what only moves elements, what runs regions, and what takes complex memory
  /// knows them itself.
  Literals evaluate_one(const Op& op, std::span<const Literal> operands) {
    const OpDef& d = def(op);
    if (depends_on_values(op, d)) return evaluate_refined(op, operands, *this);
    if (is_quantized(op) && !takes_stored(op)) return run(*legalize(op), operands);
    bool itself = d.traits.moves_only || takes_memory(op) || is_quantized(op) ||
                  keeps_regions(op) || !needs_legalizing(op);
    if (itself) return d.evaluate(op, operands, *this);
    return run(*legalize(op), operands);
  }
  /// Whether the operation is another one for each choice of operands. Loops and branches run their
  /// regions as they are: each operation there sees its own operands.
  static bool depends_on_values(const Op& op, const OpDef& d) {
    const auto* structured = std::get_if<Structured>(&d.lowering);
    using Kind = Structured::Kind;
    if (structured && (structured->kind == Kind::while_ || structured->kind == Kind::case_))
      return false;
    return is_dynamic(op) || (refine_of(op) != nullptr && needs_values(op));
  }
  /// Regions run as they are, unless a rule says otherwise and they use nothing from around them.
  static bool keeps_regions(const Op& op) {
    if (op.regions.empty()) return false;
    if (def(op).split == nullptr) return true;
    for (const auto& region : op.regions)
      if (!ir::captures(*region).empty()) return true;
    return false;
  }

  Literals look_up(const Values& wanted) const {
    Literals out;
    for (Value* v : wanted) {
      auto it = values_.find(v);
      STRATA_CHECK(it != values_.end(), "a value of type {} is used before it was computed",
                   v->type().to_string());
      out.push_back(it->second);
    }
    return out;
  }

  /// A loop's body runs often; what it computed is not kept.
  void forget(const Block& block) {
    for (const auto& op : block.ops())
      for (Value* v : op->results()) values_.erase(v);
  }

  Process& process_;
  std::unordered_map<const Value*, Literal> values_;  // lookup only
};

}  // namespace

Literals evaluate(const Block& block, std::span<const Literal> arguments, Process& process) {
  if (has_tuples(block)) return evaluate(*without_tuples(block), arguments, process);
  if (static_cast<int>(arguments.size()) != block.num_arguments())
    throw Error("evaluate", "expected {} arguments, got {}", block.num_arguments(),
                arguments.size());
  for (int i = 0; i < block.num_arguments(); ++i) {
    const Type &want = block.argument(i)->type(),
               &got = arguments[static_cast<std::size_t>(i)].type();
    if (want.is_tensor() && (want.dtype() != got.dtype() ||
                             (want.shape().is_static() && !(want.shape() == got.shape()))))
      throw Error("evaluate", "argument {} has type {}, expected {}", i, got.to_string(),
                  want.to_string());
  }
  return Reference(process).run(block, arguments);
}

Literals evaluate(const Block& block, std::span<const Literal> arguments, World& world) {
  Literals results;
  run_grid(world, 1, 1, [&](Process& process) { results = evaluate(block, arguments, process); });
  return results;
}

Literals evaluate(const Block& block, std::span<const Literal> arguments) {
  World world;
  return evaluate(block, arguments, world);
}

}  // namespace strata::op
