// strata.remat and strata.name: computing again instead of keeping (jax.checkpoint).
//
// remat evaluates its body. Under reverse-mode differentiation only the results of operations that
// the policy names are kept between the two sweeps, besides operands; everything else is computed
// again when cotangents arrive:
//   "nothing"            keep operands only
//   "everything"         keep all residuals, as without remat
//   "dots"               keep results of products
//   "dots_no_batch"      keep results of products without batch dimensions
//   "names:a,b"          keep what strata.name calls a or b, also within an operation's body where
//                        it is a result of that (of a scan's or a shard_map's)
// Linearization gives a known remat (results and kept values) and a linear one that recomputes.
// Transposing that puts an optimization_barrier over what it reads, cotangents included: nothing is
// computed again before it is needed, nor merged with the first time.
#include <algorithm>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/linearize.h"
#include "strata/op/calculus/support.h"
#include "strata/op/calculus/transpose.h"
#include "strata/op/control.h"
#include "strata/op/rules.h"

namespace strata::op {

const OpDef& name_def();
const OpDef& remat_def();
namespace {

using Flags = std::vector<bool>;

// ---- policies ----------------------------------------------------------------------------------

const ir::OpInfo& name_info() { return name_def().info; }

bool is_product(const Op& op, bool batched_too) {
  const auto* contraction = std::get_if<Contraction (*)(const Op&)>(&def(op).lowering);
  return contraction && (batched_too || (*contraction)(op).lhs_batch.empty());
}

ir::Strings split_names(const std::string& list) {
  ir::Strings out;
  for (std::size_t at = 0; at <= list.size();) {
    std::size_t end = std::min(list.find(',', at), list.size());
    out.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// What a policy keeps.
class Policy {
 public:
  explicit Policy(const std::string& text) {
    const std::string prefix = "names:";
    if (text.rfind(prefix, 0) == 0) {
      kind_ = Kind::names;
      names_ = split_names(text.substr(prefix.size()));
      return;
    }
    if (text == "nothing")
      kind_ = Kind::nothing;
    else if (text == "everything")
      kind_ = Kind::everything;
    else if (text == "dots")
      kind_ = Kind::dots;
    else if (text == "dots_no_batch")
      kind_ = Kind::dots_no_batch;
    else
      throw Error(
          "remat",
          "no policy '{}'; there are nothing, everything, dots, dots_no_batch and names:a,b", text);
  }
  bool keeps(const Op& op) const {
    switch (kind_) {
      case Kind::nothing: return false;
      case Kind::everything: return true;
      case Kind::dots: return is_product(op, true);
      case Kind::dots_no_batch: return is_product(op, false);
      case Kind::names:
        return &op.info() == &name_info() &&
               std::count(names_.begin(), names_.end(), op.attr<std::string>("name")) > 0;
    }
    STRATA_UNREACHABLE();
  }
  bool by_name() const { return kind_ == Kind::names; }
  // Which results of an operation are values of its body that have a kept name.
  Flags named_within(const Op& op) const {
    Flags out(static_cast<std::size_t>(op.num_results()));
    if (!by_name() || op.regions.size() != 1 || op.region(0).results.size() != out.size())
      return out;
    std::vector<const Value*> named;
    for (const auto& inner : op.region(0).ops()) {
      if (keeps(*inner)) {
        named.push_back(inner->result());
        named.push_back(inner->operand(0));
        continue;
      }
      const Flags deeper = named_within(*inner);
      for (std::size_t i = 0; i < deeper.size(); ++i)
        if (deeper[i]) named.push_back(inner->result(static_cast<int>(i)));
    }
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = std::count(named.begin(), named.end(), op.region(0).results[i]) > 0;
    return out;
  }

 private:
  enum class Kind { nothing, everything, dots, dots_no_batch, names } kind_ = Kind::nothing;
  ir::Strings names_;
};

// ---- remat -------------------------------------------------------------------------------------

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const BlockPtr> regions) {
  if (regions.size() != 1) throw Error("remat", "needs one region, got {}", regions.size());
  Policy(expect_attr<std::string>("remat", attrs, "policy"));
  const Block& body = *regions[0];
  if (static_cast<std::size_t>(body.num_arguments()) != operands.size())
    throw Error("remat", "the body has {} arguments for {} operands", body.num_arguments(),
                operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (body.argument(static_cast<int>(i))->type() != operands[i]->type())
      throw Error("remat", "argument {} is {}, the operand {}", i,
                  body.argument(static_cast<int>(i))->type().to_string(),
                  operands[i]->type().to_string());
  return body.result_types();
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  return evaluator.run(op.region(0), operands);
}

const std::string& policy_of(const Op& op) { return op.attr<std::string>("policy"); }

JvpResult remat_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                    std::span<Value* const> tangents) {
  JvpBlock body = jvp(op.region(0), present(tangents));
  Values ts(tangents.begin(), tangents.end()), all(operands.begin(), operands.end());
  append(all, filter(ts, present(ts)));
  Values out = remat(b, std::move(body.block), all, policy_of(op));
  std::size_t n = static_cast<std::size_t>(op.num_results());
  return {part(out, 0, n), spread(part(out, n, out.size() - n), body.active)};
}

// A block that computes residuals again from operands and kept values, and then the linear part.
struct Recompute {
  std::shared_ptr<Block> block =
      std::make_shared<Block>();  // (operands in `used`..., `kept`..., tangents...)
  Flags used;
  Values kept;  // values of the known block
};

// Values that the policy keeps, in order. A named value may be read under its unnamed name too.
Values candidates(const Block& known, const Policy& policy, ir::ValueMap& same_as) {
  Values out;
  for (const auto& op : known.ops()) {
    append(out, filter(op->results(), policy.named_within(*op)));
    if (!policy.keeps(*op)) continue;
    append(out, op->results());
    if (policy.by_name() && op->operand(0)->op()) same_as.set(op->operand(0), op->result());
  }
  return out;
}

void copy_ops(Builder& b, const Block& known, ir::ValueMap& map) {
  for (const auto& op : known.ops()) {
    Values results = op->results(), before;
    for (Value* v : results) before.push_back(map.find(v));
    if (op->info().has_effect || std::count(before.begin(), before.end(), nullptr) == 0) continue;
    ir::clone(b, *op, map);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (before[i]) map.set(results[i], before[i]);
  }
}

Recompute recompute(const Block& known, const Block& linear, const Policy& policy) {
  Recompute out;
  Block& block = *out.block;
  ir::ValueMap map, same_as;
  for (const auto& a : known.arguments()) map.set(a.get(), block.add_argument(a->type()));
  Values kept = candidates(known, policy, same_as);
  for (Value* v : kept) map.set(v, block.add_argument(v->type()));
  for (const auto& op : known.ops())
    for (Value* v : op->results())
      if (Value* named = same_as.find(v)) map.set(v, map(named));
  Values tangents;
  for (const auto& a : linear.arguments()) tangents.push_back(block.add_argument(a->type()));
  Builder b(block);
  copy_ops(b, known, map);
  block.results = ir::inline_block(b, linear, tangents, map);
  ir::remove_dead(block);
  Flags keep = used_arguments(block);
  std::size_t n = static_cast<std::size_t>(known.num_arguments());
  out.used = part(keep, 0, n);
  out.kept = filter(kept, part(keep, n, kept.size()));
  for (std::size_t i = 0; i < tangents.size(); ++i) keep[n + kept.size() + i] = true;
  block.filter_arguments(keep);
  return out;
}

Linearized remat_linearize(Builder& b, const Op& op, std::span<Value* const> operands,
                           const Flags& active) {
  auto known = std::make_unique<Block>();
  Values arguments, all(operands.begin(), operands.end());
  for (const auto& a : op.region(0).arguments())
    arguments.push_back(known->add_argument(a->type(), a->hint()));
  Builder kb(*known);
  LinearBlock l = linearize(kb, op.region(0), arguments, active);
  Recompute again = recompute(*known, *l.linear, Policy(policy_of(op)));
  known->results = joined(l.results, again.kept);
  ir::remove_dead(*known);
  Values results = remat(b, std::move(known), all, policy_of(op));
  std::size_t n = l.results.size();
  Values residuals = joined(filter(all, again.used), part(results, n, results.size() - n));
  auto emit = [body = again.block, residuals, active, out = l.active, policy = policy_of(op)](
                  Builder& lb, std::span<Value* const> tangents) {
    Values from = residuals;
    for (std::size_t i = 0; i < active.size(); ++i)
      if (active[i])
        from.push_back(
            or_zeros(lb, tangents[i], body->argument(static_cast<int>(from.size()))->type()));
    return spread(remat(lb, ir::clone(*body), from, policy), out);
  };
  return {part(results, 0, n), l.active, emit};
}

Values remat_transpose(Builder& b, const Op& op, std::span<Value* const> operands,
                       const Flags& linear, std::span<Value* const> cotangents) {
  auto body = std::make_unique<Block>();
  Values inner_operands, inner_cts, known, cts;
  for (std::size_t i = 0; i < linear.size(); ++i) {
    inner_operands.push_back(linear[i] ? nullptr : body->add_argument(operands[i]->type()));
    if (!linear[i]) known.push_back(operands[i]);
  }
  for (Value* ct : cotangents) {
    inner_cts.push_back(ct ? body->add_argument(ct->type()) : nullptr);
    if (ct) cts.push_back(ct);
  }
  Builder tb(*body);
  Values out = transpose(tb, op.region(0), inner_operands, linear, inner_cts);
  Flags found = present(out);
  body->results = filter(out, found);
  Values from = joined(known, cts);
  if (!known.empty()) from = optimization_barrier(b, from);
  return spread(remat(b, std::move(body), from, policy_of(op)), found);
}

Batched remat_batch(Builder& b, const Op& op, std::span<Value* const> operands,
                    const Flags& batched, std::int64_t size) {
  BatchedBlock body = batch(op.region(0), batched, size);
  return {remat(b, std::move(body.block), {operands.begin(), operands.end()}, policy_of(op)),
          body.batched};
}

Work cost(const Op& op) { return cost_of(op.region(0)); }

// ---- name --------------------------------------------------------------------------------------

std::vector<Type> infer_name(std::span<Value* const> operands, const Attrs& attrs,
                             std::span<const BlockPtr>) {
  expect_operands("name", operands, 1);
  expect_attr<std::string>("name", attrs, "name");
  return {operands[0]->type()};
}

Literals evaluate_name(const Op&, std::span<const Literal> operands, Evaluator&) {
  return {operands[0]};
}

// The tangent keeps no name: a policy that saves by name means the value.
JvpResult name_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                   std::span<Value* const> tangents) {
  return {{name(b, operands[0], op.attr<std::string>("name"))}, {tangents[0]}};
}

Values name_transpose(Builder&, const Op&, std::span<Value* const>, const Flags&,
                      std::span<Value* const> cotangents) {
  return {cotangents[0]};
}

Batched name_batch(Builder& b, const Op& op, std::span<Value* const> operands, const Flags& batched,
                   std::int64_t) {
  return {{name(b, operands[0], op.attr<std::string>("name"))}, {batched[0]}};
}

loop::Inst* name_element(LowerContext& context, const Op& op, int,
                         std::span<const loop::Index> index) {
  return context.operand(op, 0, index);
}

}  // namespace

Values remat(Builder& b, BlockPtr body, Values operands, std::string policy) {
  ir::remove_dead(*body);
  if (static_cast<std::size_t>(body->num_arguments()) == operands.size()) {
    Flags keep = used_arguments(*body);
    operands = filter(operands, keep);
    body->filter_arguments(keep);
  }
  std::vector<BlockPtr> regions;
  regions.push_back(std::move(body));
  return b
      .create(remat_def().info, std::move(operands), {{"policy", std::move(policy)}},
              std::move(regions))
      .results();
}

Value* name(Builder& b, Value* x, std::string text) {
  return b.create(name_info(), {x}, {{"name", std::move(text)}}).result();
}

Values call_first_region(Builder& b, const Op& op, std::span<Value* const> operands) {
  return ir::inline_block(b, op.region(0), operands);
}
Values give_on(Builder&, const Op&, std::span<Value* const> operands) {
  return {operands.begin(), operands.end()};
}

const OpDef& remat_def() {
  static const OpDef def{
      .info = {.name = "strata.remat", .infer = infer, .isolated = true},
      .summary =
          "a body that reverse-mode differentiation computes again instead of keeping its values "
          "(jax.checkpoint)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = remat_jvp,
      .linearize = remat_linearize,
      .transpose = remat_transpose,
      .batch = remat_batch,
      .shard = None{"sharding passes along the edges of the body, not through factors"},
      .cost = cost,
      .lowering = Structured{Structured::Kind::call},
      .decompose = call_first_region,
  };
  return def;
}

const OpDef& name_def() {
  static const OpDef def{
      .info = {.name = "strata.name", .infer = infer_name},
      .summary = "the operand under a name that policies of strata.remat know (checkpoint_name)",
      .traits = {.elementwise = true, .cheap = true, .moves_only = true},
      .evaluate = evaluate_name,
      .jvp = name_jvp,
      .linearize = None{"sorted from its jvp"},
      .transpose = name_transpose,
      .batch = name_batch,
      .shard = pointwise_factors,
      .cost = move_cost,
      .lowering = Elementwise{name_element},
      .decompose = give_on,
  };
  return def;
}

}  // namespace strata::op
