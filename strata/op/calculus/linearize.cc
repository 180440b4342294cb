#include "strata/op/calculus/linearize.h"

#include "strata/op/build.h"
#include "strata/op/calculus/closed.h"
#include "strata/op/calculus/support.h"

namespace strata::op {
namespace {

// What a jvp rule emitted into `scratch`, sorted by dependence on the scratch block's arguments.
// Known operations move to `b`, the others stay.
std::vector<std::unique_ptr<Op>> take_dependent(Builder& b, Block& scratch,
                                                std::unordered_set<const Value*>& dependent) {
  std::vector<std::unique_ptr<Op>> rest;
  for (const auto& a : scratch.arguments()) dependent.insert(a.get());
  for (auto& op : scratch.ops()) {
    if (!uses_any(*op, dependent)) {
      b.block().append(std::move(op));
      continue;
    }
    for (Value* v : op->results()) dependent.insert(v);
    rest.push_back(std::move(op));
  }
  return rest;
}

Linearized sort_by_dependence(Builder& b, const Op& op, std::span<Value* const> operands,
                              const std::vector<bool>& active) {
  auto scratch = std::make_shared<Block>();
  Values tangents;
  for (std::size_t i = 0; i < active.size(); ++i)
    tangents.push_back(active[i] ? scratch->add_argument(operands[i]->type()) : nullptr);
  Builder sb(*scratch);
  sb.set_location(b.location());
  JvpResult r = apply_jvp(sb, op, operands, tangents);
  std::unordered_set<const Value*> dependent;
  scratch->ops() = take_dependent(b, *scratch, dependent);
  Linearized out{r.results, present(r.tangents), {}};
  for (Value* v : r.results) {
    if (!dependent.count(v)) continue;
    out.results.clear();  // the rule computes primal and tangent in one operation (a loop): the
                          // caller computes the primal apart
    break;
  }
  scratch->results = filter(r.tangents, out.active);
  out.linear = [scratch, active, out_active = out.active](Builder& lb, std::span<Value* const> ts) {
    Values arguments;
    for (std::size_t i = 0; i < active.size(); ++i)
      if (active[i])
        arguments.push_back(
            or_zeros(lb, ts[i], scratch->argument(static_cast<int>(arguments.size()))->type()));
    return spread(ir::inline_block(lb, *scratch, arguments), out_active);
  };
  return out;
}

// Emits the linear part of one operation and notes the tangents of its results.
void note(const Op& op, const Linearized& l, Builder& lb, std::span<Value* const> tangents,
          ir::ValueMap& tangent_of) {
  if (!any(l.active)) return;
  Values out = l.linear(lb, tangents);
  STRATA_CHECK(static_cast<int>(out.size()) == op.num_results(),
               "linear part of {} gave {} tangents", op.name(), out.size());
  for (int i = 0; i < op.num_results(); ++i)
    if (Value* t = out[static_cast<std::size_t>(i)]) tangent_of.set(op.result(i), t);
}

// `results` empty: the primal is still to be computed.
Linearized linearize_closed(Builder& b, const Op& op, std::span<Value* const> operands,
                            const std::vector<bool>& active) {
  At at(b, op);
  const OpDef& d = def(op);
  return d.linearize ? (*d.linearize)(b, op, operands, active)
                     : sort_by_dependence(b, op, operands, active);
}

void linearize_op(Builder& b, Builder& lb, const Op& op, ir::ValueMap& primals,
                  ir::ValueMap& tangent_of) {
  Closed closed(op);
  Values tangents;
  for (Value* v : closed.op().operands) tangents.push_back(tangent_of.find(v));
  if (!any(present(tangents)) || !may_have_tangents(op)) {
    ir::clone(b, op, primals);
    return;
  }
  Linearized l = linearize_closed(b, closed.op(), primals(closed.op().operands), present(tangents));
  if (l.results.empty()) {
    ir::clone(b, op, primals);
  } else {
    for (int i = 0; i < op.num_results(); ++i)
      primals.set(op.result(i), l.results[static_cast<std::size_t>(i)]);
  }
  At at(lb, op);
  note(op, l, lb, tangents, tangent_of);
}

bool is_static(const Value* v) { return v->type().is_tensor() && v->shape().is_static(); }
// A constant or an iota.
bool is_leaf(const Value* v) {
  return v->op() && v->op()->operands.empty() && v->op()->regions.empty() &&
         def(*v->op()).traits.cheap;
}

// Whether the block is better off with the operation than with its result: a constant, or a cheap
// operation whose operands are smaller together than its result (a broadcast, a conversion to a
// wider type).
bool worth_repeating(const Value* v) {
  const Op* op = v->op();
  if (!op || op->info().has_effect || !op->regions.empty() || op->num_results() != 1 ||
      !is_static(v))
    return false;
  const Traits& traits = def(*op).traits;
  if (!traits.cheap) return false;
  std::size_t bytes = 0;
  for (const Value* x : op->operands) {
    if (!is_static(x)) return false;
    bytes += is_leaf(x) ? 0 : x->type().bytes();
  }
  return bytes < v->type().bytes();
}

Value* repeat(Builder& b, Value* v, ir::ValueMap& copies) {
  if (Value* known = copies.find(v)) return known;
  for (Value* x : v->op()->operands)
    if (worth_repeating(x)) repeat(b, x, copies);
  ir::clone(b, *v->op(), copies);
  return copies.find(v);
}

}  // namespace

void shrink_residuals(Block& block) {
  Values repeated;
  for (Value* v : ir::captures(block))
    if (worth_repeating(v)) repeated.push_back(v);
  if (repeated.empty()) return;
  Block scratch;
  Builder b(scratch);
  ir::ValueMap copies;
  for (Value* v : repeated) repeat(b, v, copies);
  ir::replace_uses(block, copies);
  auto ops = std::move(block.ops());
  block.ops().clear();
  for (auto& op : scratch.ops()) block.append(std::move(op));
  for (auto& op : ops) block.append(std::move(op));
  scratch.ops().clear();
}

LinearBlock linearize(Builder& b, const Block& f, std::span<Value* const> operands,
                      const std::vector<bool>& active, ir::ValueMap outer) {
  STRATA_CHECK(
      static_cast<int>(operands.size()) == f.num_arguments() && operands.size() == active.size(),
      "{} operands and {} flags for a block of {} arguments", operands.size(), active.size(),
      f.num_arguments());
  LinearBlock out;
  out.linear = std::make_unique<Block>();
  Builder lb(*out.linear);
  ir::ValueMap tangent_of;
  for (int i = 0; i < f.num_arguments(); ++i) {
    outer.set(f.argument(i), operands[static_cast<std::size_t>(i)]);
    if (!active[static_cast<std::size_t>(i)]) continue;
    Value* t = out.linear->add_argument(f.argument(i)->type());
    if (is_differentiable(t->type())) tangent_of.set(f.argument(i), t);
  }
  for (const auto& op : f.ops()) linearize_op(b, lb, *op, outer, tangent_of);
  out.results = outer(f.results);
  for (Value* v : f.results) {
    Value* t = tangent_of.find(v);
    out.active.push_back(t != nullptr);
    if (t) out.linear->results.push_back(t);
  }
  ir::remove_dead(*out.linear);
  shrink_residuals(*out.linear);
  return out;
}

}  // namespace strata::op
