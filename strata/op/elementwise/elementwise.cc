#include "strata/op/elementwise/elementwise.h"

#include "strata/ir/constraint.h"

namespace strata::op {

Kinds kind_of(DType dtype) {
  if (is_bool(dtype)) return kBool;
  if (is_signed(dtype)) return kSigned;
  if (is_unsigned(dtype)) return kUnsigned;
  return is_float(dtype) ? kFloat : kComplex;
}

void expect_kind(std::string_view op, DType dtype, unsigned kinds) {
  expect_storage(op, dtype);
  if ((kind_of(dtype) & kinds) != 0) return;
  std::string admitted;
  auto list = [&](unsigned kind, const char* what) {
    if (kinds & kind) admitted += (admitted.empty() ? "" : ", ") + std::string(what);
  };
  list(kBool, "booleans");
  list(kSigned, "signed integers");
  list(kUnsigned, "unsigned integers");
  list(kFloat, "floats");
  list(kComplex, "complex numbers");
  throw Error(std::string(op), "dtype {} is not admitted; it takes {} (I1)", name(dtype), admitted);
}

namespace {

/// (C1) the types are equal; where the result has the type of real parts, (C1) its shape and (C2)
/// that type are given.
const char* inferred_by(const Row& row) { return row.real_result ? "C1, C2" : "C1"; }

/// Operands of one admitted dtype and one shape; the result has them too, or is i1, or the type of
/// the real part.
std::vector<Type> infer(const std::string& op, unsigned kinds, int count, const Row& row,
                        std::span<Value* const> operands) {
  expect_operands(op, operands, count);
  Type type = operands[0]->type();
  expect_kind(op, type.dtype(), kinds);
  for (Value* v : operands.subspan(1)) {
    if (v->dtype() != type.dtype() || !may_equal(v->shape(), type.shape()))
      throw Error(op, "operands must have equal types, got {} and {} ({})", type.to_string(),
                  v->type().to_string(), inferred_by(row));
    type = type.with(merged(type.shape(), v->shape()));
  }
  return {row.predicate     ? type.with(DType::i1)
          : row.real_result ? type.with(real_part(type.dtype()))
                            : type};
}

template <int flops>
Work cost(const Op& op) {
  return {flops * elements(op), bytes_moved(op)};
}

/// Costs are function pointers, so the few weights in use are spelled out.
Cost cost_of(double flops) {
  if (flops <= 1) return cost<1>;
  if (flops <= 4) return cost<4>;
  if (flops <= 12) return cost<12>;
  return cost<30>;
}

}  // namespace

OpDef elementwise(const Row& row, unsigned kinds, int operands, Evaluate evaluate,
                  Elementwise lowering) {
  std::string op(short_name(row.name));
  ir::OpInfo info{
      .name = row.name,
      .infer = [op, kinds, operands, row](std::span<Value* const> values, const Attrs&,
                                          auto) { return infer(op, kinds, operands, row, values); },
      .text = row.text,
      .quantized = (kinds & kFloat) != 0 ? row.quantized : nullptr};
  return OpDef{
      .info = ir::inferred_by(inferred_by(row), std::move(info)),
      .summary = row.summary,
      .traits = {.elementwise = true, .commutative = row.commutative, .cheap = row.flops <= 4},
      .evaluate = evaluate,
      .jvp = row.jvp,
      .linearize = None{"no regions"},
      .transpose = row.transpose,
      .batch = elementwise_batch,
      .shard = pointwise_factors,
      .cost = cost_of(row.flops),
      .lowering = lowering,
      .split = row.split,
  };
}

loop::Inst* widened(loop::Builder& b, loop::Inst* x) {
  return b.convert(compute_type(x->type.dtype), x);
}

}  // namespace strata::op
