// stablehlo.while: carries = body(carries) as long as cond(carries) holds.
//
// Contract (StableHLO, while): one condition and one body, each with one argument per operand, of
// its type; (C1) the condition returns one scalar i1; (C2) the body returns the types of the
// operands, (C3) which the results have. Regions may use values from outside.
//
// Forward derivatives carry tangents along. The number of steps is not known, so there is nowhere
// to keep what a reverse sweep needs: that throws, as in JAX. Rules see the closed form
// (calculus/closed.h): operands and region arguments are the carries and then what the regions
// capture.
#include "strata/base/error.h"
#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {

const OpDef& while_def();
namespace {

using Flags = std::vector<bool>;

void check_arguments(const char* constraint, const char* which, const Block& region,
                     std::span<Value* const> operands) {
  if (static_cast<std::size_t>(region.num_arguments()) != operands.size())
    throw Error("while", "the {} has {} arguments for {} operands ({})", which,
                region.num_arguments(), operands.size(), constraint);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (region.argument(static_cast<int>(i))->type() != operands[i]->type())
      throw Error("while", "argument {} of the {} is {}, the operand {} ({})", i, which,
                  region.argument(static_cast<int>(i))->type().to_string(),
                  operands[i]->type().to_string(), constraint);
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>> regions) {
  if (regions.size() != 2)
    throw Error("while", "needs a condition and a body, got {} regions", regions.size());
  const Block &cond = *regions[0], &body = *regions[1];
  check_arguments("C1", "condition", cond, operands);
  check_arguments("C2", "body", body, operands);
  if (cond.results.size() != 1 || cond.results[0]->type() != Type::scalar(DType::i1))
    throw Error("while", "the condition must return one scalar i1, got {} (C1)",
                cond.results.size() == 1 ? cond.results[0]->type().to_string()
                                         : fmt::format("{} results", cond.results.size()));
  if (body.results.size() != operands.size())
    throw Error("while", "the body returns {} values for {} operands (C2)", body.results.size(),
                operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (body.results[i]->type() != operands[i]->type())
      throw Error("while", "value {} enters the body as {} and leaves it as {} (C2)", i,
                  operands[i]->type().to_string(), body.results[i]->type().to_string());
  return body.result_types();
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  Literals carries(operands.begin(), operands.end());
  while (evaluator.run(op.region(0), carries)[0].integer(0) != 0)
    carries = evaluator.run(op.region(1), carries);
  return carries;
}

// The closed form taken apart.
struct Parts {
  Parts(const Op& op, std::span<Value* const> operands)
      : n(static_cast<std::size_t>(op.num_results())),
        carries(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(n)),
        captured(operands.begin() + static_cast<std::ptrdiff_t>(n), operands.end()),
        cond(op.region(0)),
        body(op.region(1)) {}
  std::size_t n;
  Values carries, captured;
  const Block &cond, &body;
};

Values add_arguments(Block& block, const Values& like) {
  Values out;
  for (Value* v : like) out.push_back(block.add_argument(v->type()));
  return out;
}

template <class Step>
Flags fixpoint(Flags carries, Step&& step) {
  for (;;) {
    Flags next = either(carries, step(carries));
    if (next == carries) return carries;
    carries = std::move(next);
  }
}

JvpResult while_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                    std::span<Value* const> tangents) {
  Parts w(op, operands);
  Values ts(tangents.begin(), tangents.end()), captured_ts = part(ts, w.n, ts.size() - w.n);
  JvpBlock body;
  Flags active = fixpoint(present(part(ts, 0, w.n)), [&](const Flags& flags) {
    body = jvp(w.body, joined(flags, present(captured_ts)), flags);
    return body.active;
  });
  Values carry_ts;
  for (std::size_t i = 0; i < w.n; ++i)
    if (active[i]) carry_ts.push_back(or_zeros(b, ts[i], w.carries[i]->type()));

  auto cond = std::make_unique<Block>(), step = std::make_unique<Block>();
  Values in_cond = add_arguments(*cond, w.carries), in_step = add_arguments(*step, w.carries);
  add_arguments(*cond, carry_ts);
  Values in_step_ts = add_arguments(*step, carry_ts);
  Builder cb(*cond), sb(*step);
  cond->results = ir::inline_block(cb, w.cond, joined(in_cond, w.captured));
  Values arguments = joined(joined(in_step, w.captured),
                            joined(in_step_ts, filter(captured_ts, present(captured_ts))));
  step->results = ir::inline_block(sb, *body.block, arguments);
  Values out = while_(b, std::move(cond), std::move(step), joined(w.carries, carry_ts));
  return {part(out, 0, w.n), spread(part(out, w.n, carry_ts.size()), active)};
}

Values no_transpose(Builder&, const Op&, std::span<Value* const>, const Flags&,
                    std::span<Value* const>) {
  throw Error("while_loop",
              "reverse-mode differentiation does not work for while_loop with a dynamic trip "
              "count; use scan or fori_loop with static bounds");
}

// With a condition that differs between the inputs, the loop goes on while any of them does, and
// finished ones keep their values.
void batch_regions(Block& cond, Block& step, const Parts& w, const Flags& flags, std::int64_t size,
                   bool cond_batched) {
  Flags carries = part(flags, 0, w.n);
  Values in_cond = cond.argument_values(), in_step = step.argument_values();
  Builder cb(cond), sb(step);
  Batched c = batch(cb, w.cond, joined(in_cond, w.captured), flags, size);
  cond.results = {cond_batched ? reduce(cb, c.results[0], {0}, Combiner::or_) : c.results[0]};
  Batched s = batch(sb, w.body, joined(in_step, w.captured), flags, size);
  for (std::size_t i = 0; i < w.n; ++i)
    if (carries[i]) s.results[i] = batched_operand(sb, s.results[i], s.batched[i], size);
  if (cond_batched) {
    Value* going = batch(sb, w.cond, joined(in_step, w.captured), flags, size).results[0];
    for (std::size_t i = 0; i < w.n; ++i)
      s.results[i] = select(sb, broadcast_in_dim(sb, going, s.results[i]->shape(), {0}),
                            s.results[i], in_step[i]);
  }
  step.results = s.results;
}

Batched while_batch(Builder& b, const Op& op, std::span<Value* const> operands,
                    const Flags& batched, std::int64_t size) {
  Parts w(op, operands);
  Flags captured = part(batched, w.n, batched.size() - w.n);
  bool cond_batched = false;
  Flags carries = fixpoint(part(batched, 0, w.n), [&](const Flags& flags) {
    cond_batched = batch(w.cond, joined(flags, captured), size).batched[0];
    return cond_batched ? Flags(w.n, true) : batch(w.body, joined(flags, captured), size).batched;
  });
  for (std::size_t i = 0; i < w.n; ++i)
    if (carries[i]) w.carries[i] = batched_operand(b, w.carries[i], batched[i], size);
  auto cond = std::make_unique<Block>(), step = std::make_unique<Block>();
  add_arguments(*cond, w.carries);
  add_arguments(*step, w.carries);
  batch_regions(*cond, *step, w, joined(carries, captured), size, cond_batched);
  return {while_(b, std::move(cond), std::move(step), w.carries), carries};
}

// One step: how many there are is not known.
Work cost(const Op& op) {
  Work c = cost_of(op.region(0)), s = cost_of(op.region(1));
  return {c.flops + s.flops, c.bytes + s.bytes};
}

}  // namespace

Values while_(Builder& b, BlockPtr cond, BlockPtr body, Values carries) {
  std::vector<BlockPtr> regions;
  regions.push_back(std::move(cond));
  regions.push_back(std::move(body));
  return b.create(while_def().info, std::move(carries), {}, std::move(regions)).results();
}

const OpDef& while_def() {
  static const OpDef def{
      .info = ir::inferred_by("C3", {.name = "stablehlo.while",
                                     .infer = infer,
                                     .text = &ir::formats::while_,
                                     .quantized = quantized::as_stated}),
      .summary = "a loop until a condition fails (spec: while)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = while_jvp,
      .linearize = None{"its tangents are carried by the loop itself"},
      .transpose = no_transpose,
      .batch = while_batch,
      .shard = None{"sharding passes along the edges of the regions, not through factors"},
      .cost = cost,
      .lowering = Structured{Structured::Kind::while_},
  };
  return def;
}

}  // namespace strata::op
