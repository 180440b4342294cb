// reshape: the same elements in row-major order under another shape.
//
// Contract (spec: reshape): (C1) the result has the operand's element type and (C2) number of
// elements; (C3) an axis of quantisation keeps its size, and what stands before and behind it.
#include <numeric>

#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

void verify(const Op& op) {
  expect_operands("reshape", op.operands, 1);
  const Type &in = op.operand(0)->type(), &out = op.result()->type();
  if (in.dtype() != out.dtype())  // reshape_c1
    throw Error("reshape", "result dtype {} differs from the operand's {} (C1)", name(out.dtype()),
                name(in.dtype()));
  if (in.shape().is_static() && out.shape().is_static() &&
      in.shape().count() != out.shape().count())  // reshape_c2
    throw Error("reshape", "cannot reshape {} with {} elements to {} with {} (C2)", in.to_string(),
                in.shape().count(), out.to_string(), out.shape().count());
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  return {Literal(op.result()->type(), operands[0].storage())};
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>&,
                      std::span<Value* const> ct) {
  return {ct[0] ? reshape(b, ct[0], op.operand(0)->shape()) : nullptr};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>&,
              std::int64_t size) {
  return {{reshape(b, operands[0], with_leading(op.result()->type(), size).shape())}, {true}};
}

/// Cuts both shapes, from the major end, into common factors: [6] -> [2, 3] shares 2 and 3. Where
/// the cuts do not nest, the rest needs replication.
Factors shard(const Op& op) {
  FactorTable t(op);
  std::vector<std::int64_t> in = op.operand(0)->shape().sizes(), out = op.result()->shape().sizes();
  std::size_t i = 0, o = 0;
  auto next = [](const std::vector<std::int64_t>& sizes, std::size_t& at) {
    while (at < sizes.size() && sizes[at] == 1) ++at;
    return at < sizes.size();
  };
  while (next(in, i) && next(out, o)) {
    if (in[i] == 0 || out[o] == 0) break;
    std::int64_t common = std::gcd(in[i], out[o]);
    if (common != in[i] && common != out[o]) break;
    int f = t.factor('p', common);
    t.operand(0, static_cast<int>(i), f);
    t.result(0, static_cast<int>(o), f);
    in[i] /= common;
    out[o] /= common;
  }
  for (; next(in, i); ++i) t.operand(0, static_cast<int>(i), t.factor('n', in[i]));
  for (; next(out, o); ++o) t.result(0, static_cast<int>(o), t.factor('n', out[o]));
  return t.take();
}

/// A run of operand dimensions and a run of result dimensions of equal products. Dimensions of size
/// 1 are in none.
struct Group {
  std::vector<int> in, out;
};

std::vector<Group> groups(const std::vector<std::int64_t>& in,
                          const std::vector<std::int64_t>& out) {
  std::vector<Group> all;
  std::size_t i = 0, o = 0;
  while (true) {
    Group g;
    std::int64_t have = 1, want = 1;
    do {
      bool take_in = have <= want;
      std::size_t& at = take_in ? i : o;
      const std::vector<std::int64_t>& sizes = take_in ? in : out;
      while (at < sizes.size() && sizes[at] == 1) ++at;
      if (at == sizes.size()) return all;  // equal products: both sides end together
      (take_in ? g.in : g.out).push_back(static_cast<int>(at));
      (take_in ? have : want) *= sizes[at++];
    } while (have != want);
    all.push_back(std::move(g));
  }
}

/// Within a group, several result dimensions over one operand dimension need a sum of products;
/// only operand dimensions beyond the first of a group cost divisions.
loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  std::vector<std::int64_t> in = op.operand(0)->shape().sizes(), out = op.result()->shape().sizes();
  std::vector<loop::Index> from(in.size(), loop::Index(0));
  if (op.result()->shape().count() == 0) return c.operand(op, 0, from);
  for (const Group& g : groups(in, out)) {
    loop::Index at = 0;
    for (int d : g.out)
      at = at * out[static_cast<std::size_t>(d)] + index[static_cast<std::size_t>(d)];
    for (std::size_t k = g.in.size(); k-- > 1;) {
      auto d = static_cast<std::size_t>(g.in[k]);
      from[d] = c.b.mod(at, in[d]);
      at = c.b.div(at, in[d]);
    }
    from[static_cast<std::size_t>(g.in[0])] = at;
  }
  return c.operand(op, 0, from);
}

}  // namespace

const OpDef& reshape_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.reshape",
               .text = &ir::formats::functional,
               .verify = verify,
               .quantized = quantized::reshaped},
      .summary = "the same elements in row-major order under another shape (spec: reshape)",
      .traits = {.cheap = true, .moves_only = true},
      .evaluate = evaluate,
      .jvp = linear_jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = move_cost,
      .lowering = Elementwise{element},
  };
  return def;
}

}  // namespace strata::op
