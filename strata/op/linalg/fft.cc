// fft: the discrete Fourier transform over the last 1 to 3 dimensions; those before them are a
// batch.
//
// Contract (spec: fft): attributes `fft_type` (FFT, IFFT, RFFT, IRFFT) and `fft_length`.
//   (C1) fft_length has no more entries than the operand has dimensions; (C2) FFT and IFFT are
//   complex on both sides, RFFT takes floats, IRFFT gives floats, the complex side of one precision
//   with the real one; (C3) 1 to 3 lengths; (C4) the real side, if there is one, ends with
//   fft_length; (C5) the shapes are equal but for the last dimension of the complex side of RFFT
//   and IRFFT, which is n / 2 + 1 where the real side's is n > 0.
//
// Computed in the type of the result (loop/kernel/fft/fft.cc). IFFT and IRFFT divide by the number
// of elements of a transform. IRFFT reads the first half of the last dimension; imaginary parts
// that a real signal cannot have are not seen.
//
// Derivatives follow JAX: all four are linear; transposes pair Re(z w) without conjugation.
#include <algorithm>
#include <cmath>

#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/loop/kernel/native.h"
#include "strata/op/build.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

const Ints& lengths_of(const Op& op) { return op.attr<Ints>("fft_length"); }
const std::string& type_of(const Op& op) { return op.attr<std::string>("fft_type"); }

DType complex_of(DType real) { return real == DType::f64 ? DType::c128 : DType::c64; }

Dim halved(const Dim& n) {
  return n.is_static() ? Dim(n.size() == 0 ? 0 : n.size() / 2 + 1) : Dim::unknown();
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  const char* self = "fft";
  expect_operands(self, operands, 1);
  const Type& in = operands[0]->type();
  const auto& type = expect_attr<std::string>(self, attrs, "fft_type");
  const Ints& lengths = expect_attr<Ints>(self, attrs, "fft_length");
  int rank = static_cast<int>(lengths.size()), lead = in.rank() - rank;
  if (lead < 0) throw Error(self, "fft_length has {} entries for {} (C1)", rank, in.to_string());
  if (rank < 1 || rank > 3)
    throw Error(self, "fft_length must have 1 to 3 entries, got {} (C3)", rank);
  for (std::int64_t n : lengths)
    if (n < 0) throw Error(self, "a length of {} (C4)", n);
  if (!is_inexact(in.dtype()))
    throw Error(self, "takes floats and complex numbers, got {} (I1)", in.to_string());
  bool real_in = type == "RFFT", real_out = type == "IRFFT";
  if (!real_in && !real_out && type != "FFT" && type != "IFFT")
    throw Error(self, "there is no fft_type {} (I2)", type);
  bool fits =
      real_in ? in.dtype() == DType::f32 || in.dtype() == DType::f64 : is_complex(in.dtype());
  if (!fits)
    throw Error(self, "{} takes {}, got {} (C2)", type, real_in ? "f32 or f64" : "complex numbers",
                in.to_string());
  std::vector<Dim> out = in.shape().dims();
  for (int d = 0; d < rank; ++d) {
    std::int64_t n = lengths[static_cast<std::size_t>(d)];
    const Dim& have = in.shape().dim(lead + d);
    bool last = d == rank - 1;
    if (real_out && last) {
      if (!may_equal(have, halved(Dim(n))))
        throw Error(self, "IRFFT of length {} takes {} in the last dimension, got {} (C5)", n,
                    halved(Dim(n)).size(), in.to_string());
      out.back() = Dim(n);
      continue;
    }
    // Of FFT and IFFT the specification demands it nowhere, but upstream checks it, as C4.
    if (!may_equal(have, Dim(n)))
      throw Error(self, "dimension {} of {} must be fft_length's {} (C4)", lead + d, in.to_string(),
                  n);
  }
  if (real_in) out.back() = halved(Dim(lengths.back()));
  DType dtype = real_in ? complex_of(in.dtype()) : real_out ? real_part(in.dtype()) : in.dtype();
  return {in.with(Shape(std::move(out))).with(dtype)};
}

std::int64_t transforms(const Op& op) {
  std::int64_t out = 1;
  const Shape& shape = op.result()->shape();
  if (shape.count() == 0) return 0;
  for (int d = 0; d < shape.rank() - static_cast<int>(lengths_of(op).size()); ++d) out *= shape[d];
  return out;
}

/// Transforms of a grid point: short lines share lanes, by eights or sixteens, and a call should
/// have some work.
std::int64_t together(const Op& op) {
  constexpr std::int64_t kElements = 1 << 15;
  std::int64_t size = 1;
  for (std::int64_t n : lengths_of(op)) size *= std::max<std::int64_t>(n, 1);
  std::int64_t count = std::max<std::int64_t>(kElements / size, 1);
  return count < 16 ? count : count / 16 * 16;
}

std::int64_t grid(const Op& op) { return (transforms(op) + together(op) - 1) / together(op); }

const char* symbol(const Op&) { return "strata_fft"; }

std::vector<std::int64_t> params(const Op& op) {
  const std::string& type = type_of(op);
  Ints lengths(3 - lengths_of(op).size(), 1);
  lengths.insert(lengths.end(), lengths_of(op).begin(), lengths_of(op).end());
  std::int64_t kind = type == "FFT" ? 0 : type == "IFFT" ? 1 : type == "RFFT" ? 2 : 3;
  bool wide = real_part(op.operand(0)->dtype()) == DType::f64;
  return {kind,           wide,        static_cast<std::int64_t>(lengths_of(op).size()),
          lengths[0],     lengths[1],  lengths[2],
          transforms(op), together(op)};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal out(op.result()->type());
  loop::run_native(symbol(op), {const_cast<std::byte*>(operands[0].data()), out.mutable_data()},
                   params(op), grid(op));
  return {std::move(out)};
}

// ---- transpose ---------------------------------------------------------------------------------

Value* fft(Builder& b, Value* x, const std::string& type, const Ints& lengths) {
  return b.create(def("stablehlo.fft").info, {x}, {{"fft_type", type}, {"fft_length", lengths}})
      .result();
}

/// RFFT is a forward transform of which the second half is dropped.
Value* transpose_of_real(Builder& b, Value* ct, const Ints& lengths) {
  std::int64_t missing = lengths.back() - ct->shape()[ct->rank() - 1];
  Ints low(static_cast<std::size_t>(ct->rank()), 0), high = low;
  high.back() = missing;
  Value* full = pad(b, ct, zeros(b, Type::scalar(ct->dtype())), low, high);
  return real(b, fft(b, full, "FFT", lengths));
}

/// Frequencies that stand for two, themselves and their mirror image, count twice.
Value* transpose_of_real_inverse(Builder& b, Value* ct, const Ints& lengths) {
  Value* x = fft(b, ct, "RFFT", lengths);
  std::int64_t n = lengths.back(), half = x->shape()[x->rank() - 1];
  double count = 1;
  for (std::int64_t l : lengths) count *= static_cast<double>(l);
  Literal weights(Type(real_part(x->dtype()), {half}));
  for (std::int64_t k = 0; k < half; ++k)
    weights.set_number(k, (k == 0 || 2 * k == n ? 1 : 2) / count);
  Value* scale = broadcast_in_dim(b, constant(b, weights), x->shape(), {x->rank() - 1});
  return complex(b, mul(b, real(b, x), scale), neg(b, mul(b, imag(b, x), scale)));
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>&,
                      std::span<Value* const> ct) {
  if (!ct[0]) return {nullptr};
  const std::string& type = type_of(op);
  if (op.result()->shape().is_static() && op.result()->shape().count() == 0)
    return {zeros(b, op.operand(0)->type())};
  if (type == "RFFT") return {transpose_of_real(b, ct[0], lengths_of(op))};
  if (type == "IRFFT") return {transpose_of_real_inverse(b, ct[0], lengths_of(op))};
  return {fft(b, ct[0], type, lengths_of(op))};
}

// ---- batching, sharding, cost ------------------------------------------------------------------

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>&,
              std::int64_t) {
  return {{b.create(op.info(), {operands[0]}, op.attrs).result()}, {true}};
}

/// Dimensions of the batch pass through; those of the transform need all their elements.
Factors shard(const Op& op) {
  FactorTable t(op);
  int lead = op.result()->rank() - static_cast<int>(lengths_of(op).size());
  for (int d = 0; d < op.result()->rank(); ++d) {
    int f = t.factor(d < lead ? 'p' : 'n', op.result()->shape().dim(d).bound());
    t.result(0, d, f);
    t.operand(0, d, d < lead ? f : t.factor('n', op.operand(0)->shape().dim(d).bound()));
  }
  return t.take();
}

Work cost(const Op& op) {
  double n = 1;
  for (std::int64_t l : lengths_of(op)) n *= static_cast<double>(std::max<std::int64_t>(l, 1));
  return {5 * elements(op) * std::log2(n + 1), bytes_moved(op)};
}

}  // namespace

const OpDef& fft_def() {
  static const OpDef def{
      .info = ir::inferred_by("C2, C4, C5",
                              {.name = "stablehlo.fft", .infer = infer, .text = &ir::formats::fft}),
      .summary = "the discrete Fourier transform over the last dimensions (spec: fft)",
      .traits = {.takes_complex = true},
      .evaluate = evaluate,
      .jvp = linear_jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = Native{symbol, grid, params},
  };
  return def;
}

}  // namespace strata::op
