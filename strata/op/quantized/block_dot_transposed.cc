// strata.block_dot_transposed: the cotangent of block_dot's x, products with the numbers of packed
// blocks over their rows, which are made on the way (loop/kernel/block/block_dot.h).
//
//   y[B..., i..., k] = sum over o of g[B..., i..., o] * number(w)[B..., o, k]
//
// Contract: operands g f32 [B..., rows..., out], w ui8 [B..., out, bytes]; attribute `format`, a
// name of BlockFormat. w has two dimensions more than B, which g begins with.
//   (C1) w is ui8; (C2) its last dimension is a multiple of the format's bytes; (C3) the format is
//   one that Strata has; (C4) g is f32 and w has rank 2 or more, g at least one dimension less;
//   (C5) the dimensions B of both are equal; (C6) the last of g is as long as w has rows.
// The result is f32 [B..., rows..., in]. Every element is one chain of fused multiply-adds over o
// from zero on: an order that does not depend on rows, threads or processors.
//
// Linear in g: the transpose is block_dot.
#include <algorithm>
#include <cmath>

#include "strata/loop/kernel/block/block_dot.h"
#include "strata/op/build.h"
#include "strata/op/quantized/block_format.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr const char* kSelf = "block_dot_transposed";

/// Dimensions of B.
int batch_rank(const Op& op) { return op.operand(1)->rank() - 2; }
BlockFormat format_of(const Op& op) { return block_format_of(kSelf, op.attrs); }

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands(kSelf, operands, 2);
  const Type &g = operands[0]->type(), &w = operands[1]->type();
  const Dim in = block_elements(kSelf, block_format_of(kSelf, attrs), w);
  if (!g.is_tensor() || g.dtype() != DType::f32 || w.rank() < 2 || g.rank() < w.rank() - 1)
    throw Error(kSelf,
                "multiplies g f32 [B..., rows..., out] with w [B..., out, bytes], got {} and {} "
                "(C4)",
                g.to_string(), w.to_string());
  const Shape &gs = g.shape(), &ws = w.shape();
  std::vector<Dim> dims(gs.dims().begin(), gs.dims().end() - 1);
  for (int d = 0; d < w.rank() - 2; ++d) {
    if (!may_equal(gs.dim(d), ws.dim(d)))
      throw Error(kSelf, "dimension {} of {} and {}, a batch of both, differs (C5)", d,
                  g.to_string(), w.to_string());
    dims[static_cast<std::size_t>(d)] = merged(gs.dim(d), ws.dim(d));
  }
  if (!may_equal(gs.dim(g.rank() - 1), ws.dim(w.rank() - 2)))
    throw Error(kSelf, "the last dimension of {} is not the number of rows of {} (C6)",
                g.to_string(), w.to_string());
  dims.push_back(in);
  return {Type(DType::f32, Shape(std::move(dims)))};
}

struct Sizes {
  std::int64_t batch = 1, rows = 1, out, in, row_bytes;
};
Sizes sizes_of(const Op& op) {
  const Shape &g = op.operand(0)->shape(), &w = op.operand(1)->shape();
  const Shape& y = op.result()->shape();
  Sizes s{.out = w[w.rank() - 2], .in = y[y.rank() - 1], .row_bytes = w[w.rank() - 1]};
  for (int d = 0; d < g.rank() - 1; ++d) (d < batch_rank(op) ? s.batch : s.rows) *= g[d];
  return s;
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const BlockFormat format = format_of(op);
  const Sizes s = sizes_of(op);
  Literal out(op.result()->type());
  const float* g = operands[0].span<float>().data();
  const std::uint8_t* w = operands[1].span<std::uint8_t>().data();
  float* y = out.mutable_span<float>().data();
  std::fill_n(y, out.count(), 0.0f);
  std::vector<float> numbers(static_cast<std::size_t>(s.in));
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t o = 0; o < s.out; ++o) {
      format.dequantize(w + (b * s.out + o) * s.row_bytes, s.in / format.elements(),
                        numbers.data());
      for (std::int64_t i = b * s.rows; i < (b + 1) * s.rows; ++i)
        for (std::int64_t k = 0; k < s.in; ++k)
          y[i * s.in + k] =
              std::fma(numbers[static_cast<std::size_t>(k)], g[i * s.out + o], y[i * s.in + k]);
    }
  return {std::move(out)};
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  const BlockFormat format = format_of(op);
  return {{block_dot_transposed(b, operands[0], operands[1], format)},
          {tangents[0] ? block_dot_transposed(b, tangents[0], operands[1], format) : nullptr}};
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                      const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  STRATA_CHECK(!linear[1], "{} is not linear in bytes", kSelf);
  if (!cotangents[0]) return {nullptr, nullptr};
  return {block_dot(b, cotangents[0], operands[1], format_of(op)), nullptr};
}

/// A matrix of its own for each: one more dimension of B. One matrix for all: one more of rows,
/// which follow B.
Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  auto product = [&](Value* g) { return b.create(op.info(), {g, operands[1]}, op.attrs).result(); };
  if (batched[1]) return {{product(batched_operand(b, operands[0], batched[0], size))}, {true}};
  const int at = batch_rank(op);
  Value* y = product(move_dim(b, operands[0], 0, at));
  return {{move_dim(b, y, at, 0)}, {true}};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  const Shape &g = op.operand(0)->shape(), &y = op.result()->shape();
  const int last = g.rank() - 1, of_batch = batch_rank(op);
  for (int d = 0; d < last; ++d) {
    const int f = t.factor('p', g.dim(d).bound());
    t.operand(0, d, f), t.result(0, d, f);
    if (d < of_batch) t.operand(1, d, f);
  }
  const int out = t.factor('n', g.dim(last).bound());
  t.operand(0, last, out), t.operand(1, of_batch, out);
  t.operand(1, of_batch + 1, t.factor('n', op.operand(1)->shape().dim(of_batch + 1).bound()));
  t.result(0, last, t.factor('n', y.dim(last).bound()));
  return t.take();
}

Work cost(const Op& op) {
  const Shape& g = op.operand(0)->shape();
  const auto out = std::max<std::int64_t>(g.dim(g.rank() - 1).bound(), 1);
  return {2 * static_cast<double>(out) * elements(op), bytes_moved(op)};
}

/// Blocks of a row in a grid point: 128 columns, a block at least.
std::int64_t chunk(const Op& op) {
  return std::max<std::int64_t>(128 / format_of(op).elements(), 1);
}
const char* symbol(const Op&) { return "strata_block_dot_transposed"; }
std::int64_t grid(const Op& op) {
  const Sizes s = sizes_of(op);
  const std::int64_t blocks = s.in / format_of(op).elements(), rows = loop::block::kTransposedRows;
  return s.batch * ((s.rows + rows - 1) / rows) * ((blocks + chunk(op) - 1) / chunk(op));
}
std::vector<std::int64_t> params(const Op& op) {
  const Sizes s = sizes_of(op);
  const BlockFormat format = format_of(op);
  return {static_cast<std::int64_t>(format.kind()),
          s.batch,
          s.rows,
          s.out,
          s.in / format.elements(),
          chunk(op)};
}

}  // namespace

Value* block_dot_transposed(Builder& b, Value* g, Value* w, BlockFormat format) {
  return b.create("strata.block_dot_transposed", {g, w}, {{"format", std::string(format.name())}})
      .result();
}

const OpDef& block_dot_transposed_def() {
  static const OpDef def{
      .info = {.name = "strata.block_dot_transposed", .infer = infer},
      .summary = "a product over the rows of packed blocks, whose numbers are made on the way",
      .traits = {},
      .evaluate = evaluate,
      .jvp = jvp,
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
