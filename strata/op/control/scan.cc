// strata.scan: a loop of known length that carries values, reads slices of arrays and stacks
// results.
//
//   carry_0 = carries
//   (carry_{t+1}, y_t) = body(consts, carry_t, x_t)     for t = 0 .. length-1 (downwards where
//   `reverse`) results: (carry_length, stack of y_t)
//
// (C1) there are num_consts + num_carry operands and then xs; (C2) each x has a leading dimension
// of `length`; (C3) the body has one argument per operand: of the same type, without the leading
// dimension for xs; (C4) the body's first num_carry results have the types of the carries. The
// results after them are the ys' slices.
#include "strata/op/control/scan.h"

#include <cstring>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control.h"
#include "strata/op/rules.h"

namespace strata::op {

const OpDef& scan_def();
namespace {

std::size_t count_attr(const Attrs& attrs, const char* attr) {
  std::int64_t n = expect_attr<std::int64_t>("scan", attrs, attr);
  if (n < 0) throw Error("scan", "{} is negative: {}", attr, n);
  return static_cast<std::size_t>(n);
}

void check_argument(const Value* operand, const Value* argument, std::int64_t length, bool is_xs,
                    std::size_t i) {
  Type expected = operand->type();
  if (is_xs) {
    if (expected.rank() == 0 || !may_equal(expected.shape().dim(0), Dim(length)))
      throw Error("scan",
                  "operand {} is scanned over and needs a leading dimension of {}, got {} (C2)", i,
                  length, expected.to_string());
    expected = without_leading(expected);
  }
  if (argument->type() != expected)
    throw Error("scan", "the body's argument {} is {}, the operand needs {} (C3)", i,
                argument->type().to_string(), expected.to_string());
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>> regions) {
  std::size_t consts = count_attr(attrs, "num_consts"), carries = count_attr(attrs, "num_carry");
  std::int64_t length = static_cast<std::int64_t>(count_attr(attrs, "length"));
  expect_attr<bool>("scan", attrs, "reverse");
  if (regions.size() != 1) throw Error("scan", "needs one region, got {}", regions.size());
  const Block& body = *regions[0];
  if (operands.size() < consts + carries)
    throw Error("scan", "{} operands for {} consts and {} carries (C1)", operands.size(), consts,
                carries);
  if (static_cast<std::size_t>(body.num_arguments()) != operands.size())
    throw Error("scan", "the body has {} arguments for {} operands (C3)", body.num_arguments(),
                operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i)
    check_argument(operands[i], body.argument(static_cast<int>(i)), length, i >= consts + carries,
                   i);
  if (body.results.size() < carries)
    throw Error("scan", "the body has {} results for {} carries (C4)", body.results.size(),
                carries);
  std::vector<Type> types;
  for (std::size_t i = 0; i < body.results.size(); ++i) {
    const Type& type = body.results[i]->type();
    if (i < carries && type != operands[consts + i]->type())
      throw Error("scan", "carry {} enters the body as {} and leaves it as {} (C4)", i,
                  operands[consts + i]->type().to_string(), type.to_string());
    types.push_back(i < carries ? type : with_leading(type, length));
  }
  return types;
}

Literal slice_at(const Literal& x, std::int64_t t) {
  Literal out(without_leading(x.type()));
  std::memcpy(out.mutable_data(), x.data() + static_cast<std::size_t>(t) * out.bytes(),
              out.bytes());
  return out;
}

void store_at(Literal& stack, std::int64_t t, const Literal& y) {
  std::memcpy(stack.mutable_data() + static_cast<std::size_t>(t) * y.bytes(), y.data(), y.bytes());
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  ScanParts s(op);
  Literals all(operands.begin(), operands.end()), consts = s.const_part(all),
                                                  carry = s.carry_part(all), xs = s.xs_part(all);
  Literals ys;
  for (std::size_t i = 0; i < s.ys; ++i)
    ys.emplace_back(op.result(static_cast<int>(s.carries + i))->type());
  for (std::int64_t step = 0; step < s.length; ++step) {
    std::int64_t t = s.reverse ? s.length - 1 - step : step;
    Literals arguments = joined(consts, carry);
    for (const Literal& x : xs) arguments.push_back(slice_at(x, t));
    Literals results = evaluator.run(s.body, arguments);
    for (std::size_t i = 0; i < s.ys; ++i) store_at(ys[i], t, results[s.carries + i]);
    results.resize(s.carries);
    carry = std::move(results);
  }
  append(carry, ys);
  return carry;
}

Work cost(const Op& op) {
  Work w = cost_of(op.region(0));
  double n = static_cast<double>(op.attr<std::int64_t>("length"));
  return {w.flops * n, w.bytes * n};
}

// A while loop over a counter: slices are read at it, results written at it.
Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  ScanParts s(op);
  Values all(operands.begin(), operands.end()),
      consts = s.const_part(all), carries = s.carry_part(all), xs = s.xs_part(all), ys;
  for (std::size_t i = 0; i < s.ys; ++i)
    ys.push_back(zeros(b, op.result(static_cast<int>(s.carries + i))->type()));
  if (s.length == 0) return joined(carries, ys);
  DType counter = s.length < (std::int64_t{1} << 31) ? DType::i32 : DType::i64;
  Values state = joined(joined({scalar(b, counter, 0)}, carries), ys);
  auto cond = std::make_unique<Block>(), body = std::make_unique<Block>();
  for (Value* v : state) cond->add_argument(v->type()), body->add_argument(v->type());
  Builder cb(*cond), bb(*body);
  cond->results = {
      compare(cb, cond->argument(0), scalar(cb, counter, static_cast<double>(s.length)), "LT")};

  Values inside = body->argument_values(), arguments = joined(consts, part(inside, 1, s.carries));
  Value *t = inside[0],
        *at = s.reverse ? sub(bb, scalar(bb, counter, static_cast<double>(s.length - 1)), t) : t;
  auto place = [&](int rank) {
    Values starts(static_cast<std::size_t>(rank), rank > 1 ? scalar(bb, counter, 0) : nullptr);
    starts[0] = at;
    return starts;
  };
  for (Value* x : xs) {
    Ints sizes = x->shape().sizes();
    sizes[0] = 1;
    arguments.push_back(reshape(bb, dynamic_slice(bb, x, place(x->rank()), sizes),
                                without_leading(x->type()).shape()));
  }
  Values results = ir::inline_block(bb, s.body, arguments);
  body->results = joined({add(bb, t, scalar(bb, counter, 1))}, part(results, 0, s.carries));
  for (std::size_t i = 0; i < s.ys; ++i) {
    Value *y = results[s.carries + i], *stack = inside[1 + s.carries + i];
    body->results.push_back(dynamic_update_slice(
        bb, stack, reshape(bb, y, with_leading(y->type(), 1).shape()), place(stack->rank())));
  }
  Values out = while_(b, std::move(cond), std::move(body), state);
  return part(out, 1, s.carries + s.ys);
}

// Drops consts and xs that the body does not use; carries stay.
void drop_unused(Block& body, Values& consts, std::size_t carries, Values& xs) {
  std::vector<bool> keep = used_arguments(body);
  for (std::size_t i = 0; i < carries; ++i) keep[consts.size() + i] = true;
  std::size_t first_x = consts.size() + carries;
  consts = filter(consts, part(keep, 0, consts.size()));
  xs = filter(xs, part(keep, first_x, xs.size()));
  body.filter_arguments(keep);
}

}  // namespace

ScanParts::ScanParts(const Block& block, std::size_t num_consts, std::size_t num_carry,
                     std::int64_t steps, bool backwards)
    : consts(num_consts),
      carries(num_carry),
      xs(static_cast<std::size_t>(block.num_arguments()) - num_consts - num_carry),
      ys(block.results.size() - num_carry),
      length(steps),
      reverse(backwards),
      body(block) {}

ScanParts::ScanParts(const Op& op)
    : ScanParts(op.region(0), static_cast<std::size_t>(op.attr<std::int64_t>("num_consts")),
                static_cast<std::size_t>(op.attr<std::int64_t>("num_carry")),
                op.attr<std::int64_t>("length"), op.attr<bool>("reverse")) {}

Values scan(Builder& b, BlockPtr body, Values consts, Values carries, Values xs,
            ScanOptions options) {
  if (static_cast<std::size_t>(body->num_arguments()) == consts.size() + carries.size() + xs.size())
    drop_unused(*body, consts, carries.size(), xs);
  Attrs attrs{{"num_consts", static_cast<std::int64_t>(consts.size())},
              {"num_carry", static_cast<std::int64_t>(carries.size())},
              {"length", options.length},
              {"reverse", options.reverse}};
  std::vector<BlockPtr> regions;
  regions.push_back(std::move(body));
  return b
      .create(scan_def().info, joined(joined(std::move(consts), carries), xs), std::move(attrs),
              std::move(regions))
      .results();
}

const OpDef& scan_def() {
  static const OpDef def{
      .info = {.name = "strata.scan", .infer = infer, .isolated = true},
      .summary =
          "loop of known length over slices, with carries and stacked results (jax.lax.scan)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = scan_jvp,
      .linearize = scan_linearize,
      .transpose = scan_transpose,
      .batch = scan_batch,
      .shard = None{"sharding passes along the edges of the body, not through factors"},
      .cost = cost,
      .lowering = Structured{Structured::Kind::scan},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
