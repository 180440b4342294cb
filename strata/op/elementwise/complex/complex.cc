// complex, real, imag: between complex numbers and their parts. In legal graphs (op/legalize.h)
// they are the only operations that see complex values, as they are in memory: parts side by side.
//
// Transposition follows JAX: linear over the reals, under the pairing Re(z w) without conjugation.
#include <cstring>

#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::vector<Type> infer_complex(std::span<Value* const> operands, const Attrs&,
                                std::span<const std::unique_ptr<Block>>) {
  expect_operands("complex", operands, 2);
  const Type &re = operands[0]->type(), &im = operands[1]->type();
  if (re.dtype() != im.dtype() || !may_equal(re.shape(), im.shape()))  // (C1)
    throw Error("complex", "the parts must have equal types, got {} and {} (C1)", re.to_string(),
                im.to_string());
  if (re.dtype() != DType::f32 && re.dtype() != DType::f64)  // (C3)
    throw Error("complex", "the parts must be f32 or f64, got {} (C3)", re.to_string());
  return {re.with(merged(re.shape(), im.shape()))
              .with(re.dtype() == DType::f32 ? DType::c64 : DType::c128)};
}

template <char part>
std::vector<Type> infer_part(std::span<Value* const> operands, const Attrs&,
                             std::span<const std::unique_ptr<Block>>) {
  const char* self = part == 'r' ? "real" : "imag";
  expect_operands(self, operands, 1);
  const Type& type = operands[0]->type();
  if (!is_inexact(type.dtype()))
    throw Error(self, "takes floats and complex numbers, got {} (I1)", type.to_string());
  return {type.with(real_part(type.dtype()))};  // (C1), (C2)
}

Literals evaluate_complex(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal out(op.result()->type().with(operands[0].shape()));
  std::size_t width = byte_width(operands[0].dtype());
  for (std::size_t i = 0; i < static_cast<std::size_t>(out.count()); ++i)
    for (std::size_t p = 0; p < 2; ++p)
      std::memcpy(out.mutable_data() + (2 * i + p) * width, operands[p].data() + i * width, width);
  return {std::move(out)};
}

template <char part>
Literals evaluate_part(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Literal& x = operands[0];
  if (!is_complex(x.dtype())) return {part == 'r' ? x : Literal(x.type())};
  Literal out(op.result()->type().with(x.shape()));
  std::size_t width = byte_width(out.dtype()), p = part == 'r' ? 0 : 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(out.count()); ++i)
    std::memcpy(out.mutable_data() + i * width, x.data() + (2 * i + p) * width, width);
  return {std::move(out)};
}

Values transpose_complex(Builder& b, const Op&, std::span<Value* const>,
                         const std::vector<bool>& linear, std::span<Value* const> ct) {
  if (!ct[0]) return {nullptr, nullptr};
  return {linear[0] ? real(b, ct[0]) : nullptr, linear[1] ? neg(b, imag(b, ct[0])) : nullptr};
}
template <char part>
Values transpose_part(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>&,
                      std::span<Value* const> ct) {
  if (!ct[0]) return {nullptr};
  if (!is_complex(op.operand(0)->dtype())) return {part == 'r' ? ct[0] : nullptr};
  if (part == 'r') return {complex(b, ct[0], zeros_like(b, ct[0]))};
  return {complex(b, zeros_like(b, ct[0]), neg(b, ct[0]))};
}

/// Both parts of an element, stored side by side and in succession, which machine code does without
/// gaps.
void emit_complex(LowerContext& c, const Op& op, std::span<loop::Ref* const>,
                  std::span<loop::Ref* const> results, const loop::Index& point) {
  constexpr std::int64_t kElements = 4096;
  std::int64_t count = op.result()->shape().count();
  std::vector<std::int64_t> sizes = op.result()->shape().sizes();
  auto range = [&](const loop::Index& begin, std::int64_t length) {
    c.b.vector(0, length, 16, [&](loop::Index i) {
      loop::Inst* parts[] = {c.operand_at(op, 0, begin + i), c.operand_at(op, 1, begin + i)};
      for (int p = 0; p < 2; ++p) c.b.store(results[0], (begin + i) * 2 + p, parts[p]);
    });
  };
  std::int64_t last = count / kElements;
  if (last == 0) return range(0, count);
  if (count % kElements == 0) return range(point * kElements, kElements);
  c.b.if_(
      c.b.less(point, last), [&] { range(point * kElements, kElements); },
      [&] { range(last * kElements, count % kElements); });
}
std::int64_t grid_complex(const Op& op) { return (op.result()->shape().count() + 4095) / 4096; }

/// In memory the parts are one more dimension, the last.
template <int part>
loop::Inst* part_element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  if (!is_complex(op.operand(0)->dtype())) {
    loop::Inst* x = c.operand(op, 0, index);
    return part == 0 ? x : c.b.constant(x->type.dtype, 0);
  }
  std::vector<loop::Index> at(index.begin(), index.end());
  at.emplace_back(part);
  return c.operand(op, 0, at);
}

std::vector<Parts> split_complex(Builder&, const Op&, std::span<const Parts> operands) {
  return {{operands[0][0], operands[1][0]}};
}
template <int part>
std::vector<Parts> split_part(Builder& b, const Op& op, std::span<const Parts> operands) {
  if (is_complex(op.operand(0)->dtype())) return {{operands[0][part]}};
  return {{part == 0 ? operands[0][0] : zeros_like(b, operands[0][0])}};
}

Work cost(const Op& op) { return {0, bytes_moved(op)}; }

template <char part>
OpDef part_def(const char* name, const char* summary) {
  return {
      .info = ir::inferred_by(
          "C1, C2", {.name = name, .infer = infer_part<part>, .text = &ir::formats::elementwise}),
      .summary = summary,
      .traits = {.elementwise = true, .cheap = true, .takes_complex = true},
      .evaluate = evaluate_part<part>,
      .jvp = linear_jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_part<part>,
      .batch = elementwise_batch,
      .shard = pointwise_factors,
      .cost = cost,
      .lowering = Elementwise{part_element < part == 'r' ? 0 : 1 > },
      .split = split_part < part == 'r' ? 0 : 1 >,
  };
}

}  // namespace

std::span<const OpDef> complex_defs() {
  static const OpDef rows[] = {
      OpDef{
          .info = ir::inferred_by(
              "C2, C3",
              {.name = "stablehlo.complex", .infer = infer_complex, .text = &ir::formats::complex}),
          .summary = "complex numbers from real and imaginary parts (spec: complex)",
          .traits = {.elementwise = true, .takes_complex = true},
          .evaluate = evaluate_complex,
          .jvp = linear_jvp,
          .linearize = None{"no regions"},
          .transpose = transpose_complex,
          .batch = elementwise_batch,
          .shard = pointwise_factors,
          .cost = cost,
          .lowering = CustomKernel{grid_complex, emit_complex},
          .split = split_complex,
      },
      part_def<'i'>("stablehlo.imag", "the imaginary part, 0 of a real number (spec: imag)"),
      part_def<'r'>("stablehlo.real", "the real part (spec: real)"),
  };
  return rows;
}

Value* complex(Builder& b, Value* re, Value* im) {
  return b.create("stablehlo.complex", {re, im}).result();
}
Value* real(Builder& b, Value* x) { return b.create("stablehlo.real", {x}).result(); }
Value* imag(Builder& b, Value* x) { return b.create("stablehlo.imag", {x}).result(); }

}  // namespace strata::op
