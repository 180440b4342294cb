#include "strata/pass/loop/loop_unrolling.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "strata/op/def.h"
#include "strata/op/legalize.h"
#include "strata/op/lowered.h"
#include "strata/op/shape/refine.h"
#include "strata/pass/rewrite.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;
using ir::Values;

constexpr std::size_t kMostTurns = 8;
constexpr std::size_t kMostOps = 512;   // of all iterations
constexpr std::size_t kMostDepth = 64;  // of operations between a constant and what is known by it

bool is_elemental(const Op& op) {
  return std::holds_alternative<op::Elementwise>(op::def(op).lowering) && op.regions.empty() &&
         !op.info().has_effect;
}

bool is_while(const Op& op) {
  const auto* structured = std::get_if<op::Structured>(&op::def(op).lowering);
  return structured != nullptr && structured->kind == op::Structured::Kind::while_;
}

const Literal* literal_of(const Op& op) {
  const ir::Attr* value =
      op.operands.empty() && op.num_results() == 1 ? op.attrs.find("value") : nullptr;
  return value ? std::get_if<Literal>(value) : nullptr;
}

/// Small integers that follow from constants, computed as compiled code would: no evaluator takes
/// part in compiling.
class Known {
 public:
  void set(const Value* v, std::optional<Literal> value) {
    values_.insert_or_assign(v, std::move(value));
  }

  std::optional<Literal> operator()(const Value* v, std::size_t depth = 0) {
    if (auto it = values_.find(v); it != values_.end()) return it->second;
    std::optional<Literal> out =
        depth < kMostDepth && v->op() ? computed(*v->op(), v->index(), depth) : std::nullopt;
    values_.emplace(v, out);
    return out;
  }

 private:
  std::optional<Literal> computed(const Op& op, int result, std::size_t depth) {
    if (!op::may_be_shape(op.result(result)->type())) return std::nullopt;
    if (const Literal* literal = literal_of(op)) return *literal;
    if (!is_elemental(op) || op::needs_legalizing(op)) return std::nullopt;
    for (const Value* v : op.operands)
      if (!op::may_be_shape(v->type())) return std::nullopt;
    op::Literals operands;
    for (const Value* v : op.operands) {
      std::optional<Literal> known = (*this)(v, depth + 1);
      if (!known) return std::nullopt;
      operands.push_back(*std::move(known));
    }
    return op::lowered(op, operands)[static_cast<std::size_t>(result)];
  }

  std::unordered_map<const Value*, std::optional<Literal>> values_;  // lookup only
};

/// How many iterations the loop takes, if that is known and at most `most`.
std::optional<std::size_t> turns_of(const Op& loop, std::size_t most) {
  const Block &condition = loop.region(0), &body = loop.region(1);
  Known outside;
  std::vector<std::optional<Literal>> carries;
  for (const Value* v : loop.operands) carries.push_back(outside(v));
  for (std::size_t turn = 0; turn <= most; ++turn) {
    Known asked = outside, made = outside;
    for (std::size_t i = 0; i < carries.size(); ++i) {
      asked.set(condition.argument(static_cast<int>(i)), carries[i]);
      made.set(body.argument(static_cast<int>(i)), carries[i]);
    }
    std::optional<Literal> goes_on = asked(condition.results[0]);
    if (!goes_on) return std::nullopt;
    if (goes_on->integer(0) == 0) return turn;
    for (std::size_t i = 0; i < carries.size(); ++i) carries[i] = made(body.results[i]);
  }
  return std::nullopt;
}

/// Turns to write out; nothing for a loop that stays.
std::optional<std::size_t> short_turns(const Op& op) {
  if (!is_while(op)) return std::nullopt;
  const Block& body = op.region(1);
  bool arrays = std::any_of(op.operands.begin(), op.operands.end(),
                            [](const Value* v) { return v->rank() > 0; });
  auto simple = [](const auto& inner) { return is_elemental(*inner) || literal_of(*inner); };
  if (!arrays || body.ops().size() > kMostOps ||
      !std::all_of(body.ops().begin(), body.ops().end(), simple))
    return std::nullopt;
  return turns_of(op, std::min(kMostTurns, kMostOps / std::max<std::size_t>(1, body.ops().size())));
}

}  // namespace

void unroll_loops(Block& block) {
  rewrite(block, [](ir::Builder& b, const Op& op) -> Values {
    std::optional<std::size_t> turns = short_turns(op);
    if (!turns) return {};
    Values carries = op.operands;
    for (std::size_t turn = 0; turn < *turns; ++turn)
      carries = ir::inline_block(b, op.region(1), carries);
    return carries;
  });
}

}  // namespace strata::pass
