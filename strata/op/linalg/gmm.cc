// strata.gmm, strata.tgmm: products of groups of rows with a matrix for each group, and the sums
// over the rows of each group that are their derivatives (loop/kernel/grouped_product.h). The names
// are those of MegaBlocks and Tokamax.
//
//   gmm:  y[r, o] = sum over k of lhs[r, k] * rhs[group of r, k, o]; zero for rows of no group
//   tgmm: y[i, k, o] = sum over the rows r of group i of lhs[r, k] * rhs[r, o]
//
// Contract: the sizes say how many rows each group has, one after the other from row 0 on; those
// below zero count as zero, and what is beyond the last row counts for nothing.
//   gmm: operands lhs [rows, in], rhs [groups, in, out], or [groups, out, in] with the attribute
//   `transpose_rhs`, sizes [groups].
//   (C1) lhs has rank 2, rhs rank 3, sizes rank 1; (C2) lhs and rhs have one float type of f32,
//   f64, bf16 and f16, sizes i32 or i64; (C3) the dimension `in` of both is equal; (C4) so is
//   `groups` of rhs and sizes.
//   tgmm: operands lhs [rows, in], rhs [rows, out], sizes [groups].
//   (C1) lhs and rhs have rank 2, sizes rank 1; (C2) as above; (C3) both have the same rows.
// Every element is one chain of fused multiply-adds from zero on, in f32 (f64 of f64), rounded
// once.
//
// Bilinear: gmm's cotangents are gmm with rhs turned, and tgmm; those of tgmm are gmm.
#include "strata/op/linalg/gmm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "strata/loop/kernel/grouped_product.h"
#include "strata/op/build.h"
#include "strata/op/decomposed.h"
#include "strata/op/rules.h"
#include "strata/type/float.h"

namespace strata::op {
namespace {

constexpr const char *kGmm = "gmm", *kTgmm = "tgmm";

bool turned(const Attrs& attrs) {
  return attrs.has("transpose_rhs") && expect_attr<bool>(kGmm, attrs, "transpose_rhs");
}

void expect_types(const char* self, std::span<Value* const> v) {
  const Type &lhs = v[0]->type(), &rhs = v[1]->type(), &sizes = v[2]->type();
  if (lhs.dtype() != rhs.dtype() || !loop::grouped::takes(lhs.dtype(), sizes.dtype()))
    throw Error(self,
                "multiplies two arrays of f32, f64, bf16 or f16 in groups of i32 or i64 sizes, got "
                "{}, {} and {} (C2)",
                lhs.to_string(), rhs.to_string(), sizes.to_string());
}

std::vector<Type> infer_gmm(std::span<Value* const> v, const Attrs& attrs,
                            std::span<const std::unique_ptr<Block>>) {
  expect_operands(kGmm, v, 3);
  const Type &lhs = v[0]->type(), &rhs = v[1]->type(), &sizes = v[2]->type();
  if (lhs.rank() != 2 || rhs.rank() != 3 || sizes.rank() != 1)
    throw Error(kGmm,
                "multiplies [rows, in] with [groups, in, out] by sizes [groups], got {}, {} "
                "and {} (C1)",
                lhs.to_string(), rhs.to_string(), sizes.to_string());
  expect_types(kGmm, v);
  const int in = turned(attrs) ? 2 : 1;
  if (!may_equal(lhs.shape().dim(1), rhs.shape().dim(in)))
    throw Error(kGmm, "dimension 1 of {} and {} of {}, which meet, differ (C3)", lhs.to_string(),
                in, rhs.to_string());
  if (!may_equal(rhs.shape().dim(0), sizes.shape().dim(0)))
    throw Error(kGmm, "{} has another number of groups than {} (C4)", rhs.to_string(),
                sizes.to_string());
  return {lhs.with(Shape({lhs.shape().dim(0), rhs.shape().dim(3 - in)}))};
}

std::vector<Type> infer_tgmm(std::span<Value* const> v, const Attrs&,
                             std::span<const std::unique_ptr<Block>>) {
  expect_operands(kTgmm, v, 3);
  const Type &lhs = v[0]->type(), &rhs = v[1]->type(), &sizes = v[2]->type();
  if (lhs.rank() != 2 || rhs.rank() != 2 || sizes.rank() != 1)
    throw Error(kTgmm,
                "adds products of [rows, in] and [rows, out] by sizes [groups], got {}, {} and {} "
                "(C1)",
                lhs.to_string(), rhs.to_string(), sizes.to_string());
  expect_types(kTgmm, v);
  if (!may_equal(lhs.shape().dim(0), rhs.shape().dim(0)))
    throw Error(kTgmm, "{} and {} have different numbers of rows (C3)", lhs.to_string(),
                rhs.to_string());
  return {lhs.with(Shape({sizes.shape().dim(0), lhs.shape().dim(1), rhs.shape().dim(1)}))};
}

loop::grouped::GroupedParams params_of(const Op& op) {
  const Shape &lhs = op.operand(0)->shape(), &y = op.result()->shape();
  return {.dtype = op.operand(0)->dtype(),
          .sizes = op.operand(2)->dtype(),
          .rows = lhs[0],
          .in = lhs[1],
          .out = y[y.rank() - 1],
          .groups = op.operand(2)->shape()[0],
          .turned = turned(op.attrs)};
}

// ---- evaluation: the sums as they are written --------------------------------------------------

/// f(element, accumulator) with the C++ types of both.
template <class F>
void with_float(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return f(float{}, float{});
    case DType::f64: return f(double{}, double{});
    case DType::bf16: return f(BFloat16{}, float{});
    case DType::f16: return f(Float16{}, float{});
    default: STRATA_UNREACHABLE("groups of {}", name(dtype));
  }
}

Literals evaluate_gmm(const Op& op, std::span<const Literal> v, Evaluator&) {
  const loop::grouped::GroupedParams p = params_of(op);
  const auto starts = loop::grouped::starts(v[2].data(), p.sizes, p.groups, p.rows);
  Literal out = Literal(op.result()->type());
  with_float(p.dtype, [&]<class S, class A>(S, A) {
    const S *lhs = v[0].span<S>().data(), *rhs = v[1].span<S>().data();
    S* y = out.mutable_span<S>().data();
    std::fill_n(y, out.count(), S(0.0f));
    for (std::int64_t g = 0; g < p.groups; ++g)
      for (std::int64_t r = starts[static_cast<std::size_t>(g)];
           r < starts[static_cast<std::size_t>(g) + 1]; ++r)
        for (std::int64_t o = 0; o < p.out; ++o) {
          A sum = 0;
          for (std::int64_t k = 0; k < p.in; ++k) {
            const std::int64_t at = p.turned ? o * p.in + k : k * p.out + o;
            sum = std::fma(static_cast<A>(lhs[r * p.in + k]),
                           static_cast<A>(rhs[g * p.in * p.out + at]), sum);
          }
          y[r * p.out + o] = S(sum);
        }
  });
  return {std::move(out)};
}

Literals evaluate_tgmm(const Op& op, std::span<const Literal> v, Evaluator&) {
  const loop::grouped::GroupedParams p = params_of(op);
  const auto starts = loop::grouped::starts(v[2].data(), p.sizes, p.groups, p.rows);
  Literal out = Literal(op.result()->type());
  with_float(p.dtype, [&]<class S, class A>(S, A) {
    const S *lhs = v[0].span<S>().data(), *rhs = v[1].span<S>().data();
    S* y = out.mutable_span<S>().data();
    for (std::int64_t g = 0; g < p.groups; ++g)
      for (std::int64_t k = 0; k < p.in; ++k)
        for (std::int64_t o = 0; o < p.out; ++o, ++y) {
          A sum = 0;
          for (std::int64_t r = starts[static_cast<std::size_t>(g)];
               r < starts[static_cast<std::size_t>(g) + 1]; ++r)
            sum = std::fma(static_cast<A>(lhs[r * p.in + k]), static_cast<A>(rhs[r * p.out + o]),
                           sum);
          *y = S(sum);
        }
  });
  return {std::move(out)};
}

// ---- derivatives -------------------------------------------------------------------------------

/// product(a, b) is linear in each.
template <class Product>
JvpResult jvp_of(Builder& b, std::span<Value* const> v, std::span<Value* const> t,
                 Product&& product) {
  Value *by_lhs = t[0] ? product(t[0], v[1]) : nullptr,
        *by_rhs = t[1] ? product(v[0], t[1]) : nullptr;
  return {{product(v[0], v[1])},
          {by_lhs && by_rhs ? add(b, by_lhs, by_rhs)
           : by_lhs         ? by_lhs
                            : by_rhs}};
}

JvpResult jvp_gmm(Builder& b, const Op& op, std::span<Value* const> v,
                  std::span<Value* const> tangents) {
  return jvp_of(b, v, tangents,
                [&](Value* l, Value* r) { return gmm(b, l, r, v[2], turned(op.attrs)); });
}
JvpResult jvp_tgmm(Builder& b, const Op&, std::span<Value* const> v,
                   std::span<Value* const> tangents) {
  return jvp_of(b, v, tangents, [&](Value* l, Value* r) { return tgmm(b, l, r, v[2]); });
}

Values transpose_gmm(Builder& b, const Op& op, std::span<Value* const> v,
                     const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  Value* c = cotangents[0];
  if (!c) return {nullptr, nullptr, nullptr};
  const bool t = turned(op.attrs);
  if (linear[0]) return {gmm(b, c, v[1], v[2], !t), nullptr, nullptr};
  return {nullptr, t ? tgmm(b, c, v[0], v[2]) : tgmm(b, v[0], c, v[2]), nullptr};
}
Values transpose_tgmm(Builder& b, const Op&, std::span<Value* const> v,
                      const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  Value* c = cotangents[0];  // [groups, in, out]
  if (!c) return {nullptr, nullptr, nullptr};
  if (linear[0]) return {gmm(b, v[1], c, v[2], true), nullptr, nullptr};
  return {nullptr, gmm(b, v[0], c, v[2], false), nullptr};
}

// ---- said by others ----------------------------------------------------------------------------

/// [groups, rows]: whether a row is of the group.
Value* membership(Builder& b, Value* sizes, std::int64_t rows) {
  const std::int64_t groups = sizes->shape()[0];
  const Type pairs(DType::i64, Shape({Dim(groups), Dim(groups)})),
      table(DType::i64, Shape({Dim(groups), Dim(rows)}));
  Value* each = convert(b, sizes, DType::i64);
  each = max(b, each, zeros_like(b, each));
  Value* all = broadcast_in_dim(b, each, pairs.shape(), {0});
  Value *earlier = iota(b, pairs, 0), *group = iota(b, pairs, 1);
  const auto total = [&](const char* which) {
    Value* sum =
        reduce_sum(b, select(b, compare(b, earlier, group, which), all, zeros(b, pairs)), {0});
    return broadcast_in_dim(b, sum, table.shape(), {0});
  };
  Value* row = iota(b, table, 1);
  return and_(b, compare(b, total("LT"), row, "LE"), compare(b, row, total("LE"), "LT"));
}

/// x [rows, n] for each group: zero where a row is not of it.
Value* in_groups(Builder& b, Value* x, Value* sizes) {
  Value* mask = membership(b, sizes, x->shape()[0]);
  Value* all = broadcast_leading(b, x, sizes->shape()[0]);
  return select(b, broadcast_in_dim(b, mask, all->shape(), {0, 1}), all, zeros_like(b, all));
}

Values decompose_gmm(Builder& b, const Op& op, std::span<Value* const> v) {
  Value *lhs = v[0], *rhs = v[1], *sizes = v[2];
  if (op.result()->shape().count() == 0 || lhs->shape().count() == 0 || sizes->shape()[0] == 0)
    return {zeros(b, op.result()->type())};
  // Every row meets every matrix; its own is chosen. What is in no group is not read.
  const int in = turned(op.attrs) ? 2 : 1;
  Value* all =
      dot_general(b, rhs, lhs, {{}, {}, {in}, {1}}, op.result()->dtype());  // [g, out, rows]
  Value* mask = membership(b, sizes, lhs->shape()[0]);
  Value* own = select(b, broadcast_in_dim(b, mask, all->shape(), {0, 2}), all, zeros_like(b, all));
  return {transpose(b, reduce_sum(b, own, {0}), {1, 0})};
}

Values decompose_tgmm(Builder& b, const Op& op, std::span<Value* const> v) {
  if (op.result()->shape().count() == 0 || v[0]->shape()[0] == 0)
    return {zeros(b, op.result()->type())};
  return {dot_general(b, in_groups(b, v[0], v[2]), in_groups(b, v[1], v[2]), {{0}, {0}, {1}, {1}},
                      op.result()->dtype())};
}

// ---- sharding, cost, lowering ------------------------------------------------------------------

/// Groups cut rows anywhere, so that rows and groups stay whole.
Factors shard_gmm(const Op& op) {
  FactorTable t(op);
  const Shape &lhs = op.operand(0)->shape(), &rhs = op.operand(1)->shape();
  const int in_at = turned(op.attrs) ? 2 : 1;
  const int rows = t.factor('n', lhs.dim(0).bound()), in = t.factor('r', lhs.dim(1).bound()),
            groups = t.factor('n', rhs.dim(0).bound()),
            out = t.factor('p', rhs.dim(3 - in_at).bound());
  t.operand(0, 0, rows), t.operand(0, 1, in);
  t.operand(1, 0, groups), t.operand(1, in_at, in), t.operand(1, 3 - in_at, out);
  t.operand(2, 0, groups);
  t.result(0, 0, rows), t.result(0, 1, out);
  return t.take();
}
Factors shard_tgmm(const Op& op) {
  FactorTable t(op);
  const Shape &lhs = op.operand(0)->shape(), &rhs = op.operand(1)->shape();
  const int rows = t.factor('n', lhs.dim(0).bound()), in = t.factor('p', lhs.dim(1).bound()),
            out = t.factor('p', rhs.dim(1).bound()),
            groups = t.factor('n', op.operand(2)->shape().dim(0).bound());
  t.operand(0, 0, rows), t.operand(0, 1, in);
  t.operand(1, 0, rows), t.operand(1, 1, out);
  t.operand(2, 0, groups);
  t.result(0, 0, groups), t.result(0, 1, in), t.result(0, 2, out);
  return t.take();
}

/// Each row meets one matrix.
Work cost(const Op& op) {
  const auto bound = [&](int d) {
    return static_cast<double>(std::max<std::int64_t>(op.operand(0)->shape().dim(d).bound(), 1));
  };
  const Shape& y = op.result()->shape();
  const auto out = static_cast<double>(std::max<std::int64_t>(y.dim(y.rank() - 1).bound(), 1));
  return {2 * bound(0) * bound(1) * out, bytes_moved(op)};
}

const char* gmm_symbol(const Op&) { return "strata_gmm"; }
const char* tgmm_symbol(const Op&) { return "strata_tgmm"; }
std::int64_t gmm_grid(const Op& op) { return params_of(op).gmm_grid(); }
std::int64_t tgmm_grid(const Op& op) { return params_of(op).tgmm_grid(); }
std::vector<std::int64_t> params(const Op& op) { return params_of(op).numbers(); }

}  // namespace

Value* gmm(Builder& b, Value* lhs, Value* rhs, Value* sizes, bool transpose_rhs) {
  Attrs attrs;
  if (transpose_rhs) attrs = {{"transpose_rhs", true}};
  return b.create("strata.gmm", {lhs, rhs, sizes}, attrs).result();
}
Value* tgmm(Builder& b, Value* lhs, Value* rhs, Value* sizes) {
  return b.create("strata.tgmm", {lhs, rhs, sizes}, {}).result();
}
bool gmm_takes(DType dtype, DType sizes) { return loop::grouped::takes(dtype, sizes); }

const OpDef& gmm_def() {
  static const OpDef def{
      .info = {.name = "strata.gmm", .infer = infer_gmm},
      .summary = "products of groups of rows with a matrix for each group",
      .traits = {},
      .evaluate = evaluate_gmm,
      .jvp = jvp_gmm,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_gmm,
      .batch = batch_decomposed,
      .shard = shard_gmm,
      .cost = cost,
      .lowering = Native{gmm_symbol, gmm_grid, params},
      .decompose = decompose_gmm,
  };
  return def;
}

const OpDef& tgmm_def() {
  static const OpDef def{
      .info = {.name = "strata.tgmm", .infer = infer_tgmm},
      .summary = "for each group of rows, the sum of their products",
      .traits = {},
      .evaluate = evaluate_tgmm,
      .jvp = jvp_tgmm,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_tgmm,
      .batch = batch_decomposed,
      .shard = shard_tgmm,
      .cost = cost,
      .lowering = Native{tgmm_symbol, tgmm_grid, params},
      .decompose = decompose_tgmm,
  };
  return def;
}

}  // namespace strata::op
