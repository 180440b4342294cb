// strata.dot_add: a product whose sums go on from where others stopped.
//
//   result[i] = fma(lhs[K-1], rhs[K-1], ... fma(lhs[0], rhs[0], sums[i]))
//
// So a product over k in [0, K) is one over [0, c) and then another over [c, K) that begins with
// its sums, bit for bit: who has the operands part by part adds them up in the order of the whole
// (pass/dot/dot_chunking.h). On processors whose products of bf16 have an order of their own
// (docs/exceptions.md) the parts must be multiples of 32.
//
// No operations of StableHLO say it bit for bit; programs that leave the compiler do not contain
// it.
//
// Contract: operands lhs, rhs, sums; attributes and the constraints of the first two are
// dot_general's.
//   (C1) sums have the shape of the product; (C2) their dtype, the result's too, is the product's
//   accumulator.
#include "strata/op/linalg/dot_general.h"
#include "strata/op/rules.h"

namespace strata::op {

const OpDef& dot_general_def();
namespace {

DType accumulator_of(DType lhs, DType rhs, DType sums) {
  if (!is_float(lhs) && !is_float(rhs)) return sums;
  return lhs == DType::f64 || rhs == DType::f64 ? DType::f64 : DType::f32;
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>> regions) {
  expect_operands("dot_add", operands, 3);
  Type product = dot_general_def().info.infer(operands.first(2), attrs, regions)[0];
  const Type& sums = operands[2]->type();
  if (!may_equal(product.shape(), sums.shape()))
    throw Error("dot_add", "the product is {}, but the sums are {} (C1)", product.to_string(),
                sums.to_string());
  DType lhs = operands[0]->dtype(), rhs = operands[1]->dtype();
  bool strange =
      is_complex(lhs) || is_complex(rhs) || is_complex(sums.dtype()) || is_bool(sums.dtype());
  if (strange || sums.dtype() != accumulator_of(lhs, rhs, sums.dtype()) ||
      (!is_float(lhs) && !is_float(rhs) && is_float(sums.dtype())))
    throw Error("dot_add", "products of {} and {} do not add up in {} (C2)",
                operands[0]->type().to_string(), operands[1]->type().to_string(), sums.to_string());
  return {sums};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  return {add_products(op, operands[0], operands[1], &operands[2])};
}

/// Those of the product; sums are laid out as the result is.
Factors shard(const Op& op) {
  Factors t = (*dot_general_def().shard)(op);
  t.operands[2] = t.results[0];
  return t;
}

Work cost(const Op& op) { return {dot_general_def().cost(op).flops, bytes_moved(op)}; }

}  // namespace

const OpDef& dot_add_def() {
  constexpr None kBehind{"made by the compiler, behind all transforms"};
  static const OpDef d{
      .info = {.name = "strata.dot_add", .infer = infer},
      .summary = "a product whose sums go on from given ones",
      .traits = {},
      .evaluate = evaluate,
      .jvp = kBehind,
      .linearize = kBehind,
      .transpose = kBehind,
      .batch = kBehind,
      .shard = shard,
      .cost = cost,
      .lowering = dot_general_def().lowering,
  };
  return d;
}

Value* dot_add(Builder& b, Value* lhs, Value* rhs, Value* sums, const DotDims& d) {
  Attrs attrs;
  attrs.set("lhs_batching_dimensions", d.lhs_batch).set("rhs_batching_dimensions", d.rhs_batch);
  attrs.set("lhs_contracting_dimensions", d.lhs_contract)
      .set("rhs_contracting_dimensions", d.rhs_contract);
  return b.create(dot_add_def().info, {lhs, rhs, sums}, std::move(attrs)).result();
}

}  // namespace strata::op
