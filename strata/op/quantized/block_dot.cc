// strata.block_dot: products with the numbers of packed blocks, which are made on the way
// (loop/kernel/block/block_dot.h).
//
//   y[B..., i..., o] = sum over k of x[B..., i..., k] * number(w)[B..., o, k]
//
// Contract: operands x f32 [B..., rows..., in], w ui8 [B..., out, bytes]; attribute `format`, a
// name of BlockFormat. w has two dimensions more than B, which x begins with.
//   (C1) w is ui8; (C2) its last dimension is a multiple of the format's bytes; (C3) the format is
//   one that Strata has; (C4) x is f32 and w has rank 2 or more, x at least one dimension less;
//   (C5) the dimensions B of both are equal; (C6) the last of x has as many elements as a row of w.
// The result is f32 [B..., rows..., out]. Every element is the sum of 32 chains of fused
// multiply-adds, chain l over k = l, l + 32, ..., which are added by halves: an order that does not
// depend on rows, threads or processors.
//
// Linear in x: the transpose is block_dot_transposed.
//
// strata.block_dot_int8: the same with x rounded to eight bits, 32 elements with one scale, and
// sums of integers: loop/kernel/block/block_int8.h says how. Its derivative is block_dot's:
// rounding counts as the identity. The reference evaluator is the kernel without vectors.
#include <algorithm>
#include <cmath>

#include "strata/loop/kernel/block/block_int8.h"
#include "strata/op/build.h"
#include "strata/op/quantized/block_format.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr const char* kSelf = "block_dot";

/// Dimensions of B.
int batch_rank(const Op& op) { return op.operand(1)->rank() - 2; }
BlockFormat format_of(const Op& op) { return block_format_of(kSelf, op.attrs); }

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands(kSelf, operands, 2);
  const Type &x = operands[0]->type(), &w = operands[1]->type();
  const Dim in = block_elements(kSelf, block_format_of(kSelf, attrs), w);
  if (!x.is_tensor() || x.dtype() != DType::f32 || w.rank() < 2 || x.rank() < w.rank() - 1)
    throw Error(
        kSelf, "multiplies x f32 [B..., rows..., in] with w [B..., out, bytes], got {} and {} (C4)",
        x.to_string(), w.to_string());
  const Shape &xs = x.shape(), &ws = w.shape();
  std::vector<Dim> dims(xs.dims().begin(), xs.dims().end() - 1);
  for (int d = 0; d < w.rank() - 2; ++d) {
    if (!may_equal(xs.dim(d), ws.dim(d)))
      throw Error(kSelf, "dimension {} of {} and {}, a batch of both, differs (C5)", d,
                  x.to_string(), w.to_string());
    dims[static_cast<std::size_t>(d)] = merged(xs.dim(d), ws.dim(d));
  }
  if (!may_equal(xs.dim(x.rank() - 1), in))
    throw Error(kSelf, "rows of {} have {} elements in {}, those of x {} have not (C6)",
                w.to_string(), in.size(), block_format_of(kSelf, attrs).name(), x.to_string());
  dims.push_back(ws.dim(w.rank() - 2));
  return {Type(DType::f32, Shape(std::move(dims)))};
}

struct Sizes {
  std::int64_t batch = 1, rows = 1, out, in, row_bytes;
};
Sizes sizes_of(const Op& op) {
  const Shape &x = op.operand(0)->shape(), &w = op.operand(1)->shape();
  Sizes s{.out = w[w.rank() - 2], .in = x[x.rank() - 1], .row_bytes = w[w.rank() - 1]};
  for (int d = 0; d < x.rank() - 1; ++d) (d < batch_rank(op) ? s.batch : s.rows) *= x[d];
  return s;
}

// ---- reference ---------------------------------------------------------------------------------

float sum_in_order(const float* x, const float* w, std::int64_t in) {
  float chains[32] = {};
  for (std::int64_t k = 0; k < in; ++k) chains[k % 32] = std::fma(w[k], x[k], chains[k % 32]);
  for (int half = 16; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) chains[l] += chains[l + half];
  return chains[0];
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const BlockFormat format = format_of(op);
  const Sizes s = sizes_of(op);
  Literal out(op.result()->type());
  const float* x = operands[0].span<float>().data();
  const std::uint8_t* w = operands[1].span<std::uint8_t>().data();
  float* y = out.mutable_span<float>().data();
  std::vector<float> numbers(static_cast<std::size_t>(s.in));
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t o = 0; o < s.out; ++o) {
      format.dequantize(w + (b * s.out + o) * s.row_bytes, s.in / format.elements(),
                        numbers.data());
      for (std::int64_t i = b * s.rows; i < (b + 1) * s.rows; ++i)
        y[i * s.out + o] = sum_in_order(x + i * s.in, numbers.data(), s.in);
    }
  return {std::move(out)};
}

// ---- derivative, batching, sharding ------------------------------------------------------------

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  const BlockFormat format = format_of(op);
  return {{block_dot(b, operands[0], operands[1], format)},
          {tangents[0] ? block_dot(b, tangents[0], operands[1], format) : nullptr}};
}

JvpResult jvp_int8(Builder& b, const Op& op, std::span<Value* const> operands,
                   std::span<Value* const> tangents) {
  const BlockFormat format = format_of(op);
  return {{block_dot_int8(b, operands[0], operands[1], format)},
          {tangents[0] ? block_dot(b, tangents[0], operands[1], format) : nullptr}};
}

/// The cotangent of x: that of y times the numbers, which are made a few rows at a time.
Values transpose_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                      const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  STRATA_CHECK(!linear[1], "{} is not linear in bytes", kSelf);
  if (!cotangents[0]) return {nullptr, nullptr};
  return {block_dot_transposed(b, cotangents[0], operands[1], format_of(op)), nullptr};
}

/// A matrix of its own for each: one more dimension of B. One matrix for all: one more of rows,
/// which follow B.
Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  auto product = [&](Value* x) { return b.create(op.info(), {x, operands[1]}, op.attrs).result(); };
  if (batched[1]) return {{product(batched_operand(b, operands[0], batched[0], size))}, {true}};
  const int at = batch_rank(op);
  Value* y = product(move_dim(b, operands[0], 0, at));
  return {{move_dim(b, y, at, 0)}, {true}};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  const Shape &x = op.operand(0)->shape(), &w = op.operand(1)->shape();
  const int last = x.rank() - 1, of_batch = batch_rank(op);
  for (int d = 0; d < last; ++d) {
    const int f = t.factor('p', x.dim(d).bound());
    t.operand(0, d, f), t.result(0, d, f);
    if (d < of_batch) t.operand(1, d, f);
  }
  t.operand(0, last, t.factor('n', x.dim(last).bound()));
  const int out = t.factor('p', w.dim(of_batch).bound());
  t.operand(1, of_batch, out), t.result(0, last, out);
  t.operand(1, of_batch + 1, t.factor('n', w.dim(of_batch + 1).bound()));
  return t.take();
}

Work cost(const Op& op) {
  const Shape& x = op.operand(0)->shape();
  const auto in = std::max<std::int64_t>(x.dim(x.rank() - 1).bound(), 1);
  return {2 * static_cast<double>(in) * elements(op), bytes_moved(op)};
}

// ---- lowering ----------------------------------------------------------------------------------

/// Rows of w in a grid point: about a sixteenth of all, whole tiles.
std::int64_t chunk(const Sizes& s) {
  constexpr std::int64_t kTile = 12;
  return std::clamp<std::int64_t>((s.out / 16 + kTile - 1) / kTile, 1, 8) * kTile;
}
const char* symbol(const Op&) { return "strata_block_dot"; }
std::int64_t grid(const Op& op) {
  const Sizes s = sizes_of(op);
  return s.rows == 0 ? 0 : s.batch * ((s.out + chunk(s) - 1) / chunk(s));
}
std::vector<std::int64_t> params_of(const Op& op, std::int64_t rows_of_point) {
  const Sizes s = sizes_of(op);
  const BlockFormat format = format_of(op);
  return {static_cast<std::int64_t>(format.kind()),
          s.batch,
          s.rows,
          s.out,
          s.in / format.elements(),
          rows_of_point};
}
std::vector<std::int64_t> params(const Op& op) { return params_of(op, chunk(sizes_of(op))); }

/// About an eighth of all: each point rounds x.
std::int64_t chunk_int8(const Sizes& s) {
  constexpr std::int64_t kTile = 16;
  const std::int64_t tiles = (s.out / 8 + kTile - 1) / kTile;
  return std::clamp<std::int64_t>(tiles, 1, s.rows == 1 ? 8 : 32) * kTile;
}
const char* symbol_int8(const Op&) { return "strata_block_dot_int8"; }
std::int64_t grid_int8(const Op& op) {
  const Sizes s = sizes_of(op);
  return s.rows == 0 ? 0 : s.batch * ((s.out + chunk_int8(s) - 1) / chunk_int8(s));
}
std::vector<std::int64_t> params_int8(const Op& op) {
  return params_of(op, chunk_int8(sizes_of(op)));
}

Literals evaluate_int8(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal out(op.result()->type());
  const std::vector<std::int64_t> numbers = params_int8(op);
  void* buffers[] = {const_cast<std::byte*>(operands[0].data()),
                     const_cast<std::byte*>(operands[1].data()), out.mutable_data(),
                     const_cast<std::int64_t*>(numbers.data())};
  loop::block8::run(loop::block8::kPortable, buffers, 0, grid_int8(op));
  return {std::move(out)};
}

}  // namespace

Value* block_dot_int8(Builder& b, Value* x, Value* w, BlockFormat format) {
  return b.create("strata.block_dot_int8", {x, w}, {{"format", std::string(format.name())}})
      .result();
}
Value* block_dot(Builder& b, Value* x, Value* w, BlockFormat format) {
  return b.create("strata.block_dot", {x, w}, {{"format", std::string(format.name())}}).result();
}

const OpDef& block_dot_def() {
  static const OpDef def{
      .info = {.name = "strata.block_dot", .infer = infer},
      .summary = "a product with the numbers of packed blocks, which are made on the way",
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

const OpDef& block_dot_int8_def() {
  static const OpDef def{
      .info = {.name = "strata.block_dot_int8", .infer = infer},
      .summary = "a product with packed blocks by integers, of x rounded to eight bits",
      .traits = {},
      .evaluate = evaluate_int8,
      .jvp = jvp_int8,
      .linearize = None{"no regions"},
      .transpose = None{"not linear: x is rounded"},
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = Native{symbol_int8, grid_int8, params_int8},
  };
  return def;
}

}  // namespace strata::op
