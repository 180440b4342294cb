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
//   (C1) lhs has rank 2, rhs rank 3, sizes rank 1, or with a batch in front each one more; (C2) lhs
//   and rhs have one float type of f32, f64, bf16 and f16, sizes i32 or i64; (C3) the dimension
//   `in` of both is equal; (C4) so is `groups` of rhs and sizes. tgmm: operands lhs [rows, in], rhs
//   [rows, out], sizes [groups]. (C1) lhs and rhs have rank 2, sizes rank 1, or with a batch each
//   one more; (C2) as above; (C3) both have the same rows.
// With a batch, a first dimension of all operands and the result, all holds for each of it.
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

/// Whether all has a batch in front, 1 or 0: where sizes have two dimensions.
int batch_dims(const Type& sizes) { return sizes.rank() == 2 ? 1 : 0; }

bool one_batch(std::span<Value* const> v) {
  if (batch_dims(v[2]->type()) == 0) return true;
  const Dim& first = v[0]->type().shape().dim(0);
  return may_equal(first, v[1]->type().shape().dim(0)) &&
         may_equal(first, v[2]->type().shape().dim(0));
}

/// A result's dimensions: the batch, where there is one, and these.
Shape with_batch(const Type& lhs, int batch, std::vector<Dim> dims) {
  if (batch == 1) dims.insert(dims.begin(), lhs.shape().dim(0));
  return Shape(std::move(dims));
}

std::vector<Type> infer_gmm(std::span<Value* const> v, const Attrs& attrs,
                            std::span<const std::unique_ptr<Block>>) {
  expect_operands(kGmm, v, 3);
  const Type &lhs = v[0]->type(), &rhs = v[1]->type(), &sizes = v[2]->type();
  const int batch = batch_dims(sizes);
  if (lhs.rank() != 2 + batch || rhs.rank() != 3 + batch || sizes.rank() != 1 + batch ||
      !one_batch(v))
    throw Error(kGmm,
                "multiplies [rows, in] with [groups, in, out] by sizes [groups], all with a batch "
                "in front or none, got {}, {} and {} (C1)",
                lhs.to_string(), rhs.to_string(), sizes.to_string());
  expect_types(kGmm, v);
  const int in = batch + (turned(attrs) ? 2 : 1), out = 2 * batch + 3 - in;
  if (!may_equal(lhs.shape().dim(batch + 1), rhs.shape().dim(in)))
    throw Error(kGmm, "dimension {} of {} and {} of {}, which meet, differ (C3)", batch + 1,
                lhs.to_string(), in, rhs.to_string());
  if (!may_equal(rhs.shape().dim(batch), sizes.shape().dim(batch)))
    throw Error(kGmm, "{} has another number of groups than {} (C4)", rhs.to_string(),
                sizes.to_string());
  return {lhs.with(with_batch(lhs, batch, {lhs.shape().dim(batch), rhs.shape().dim(out)}))};
}

std::vector<Type> infer_tgmm(std::span<Value* const> v, const Attrs&,
                             std::span<const std::unique_ptr<Block>>) {
  expect_operands(kTgmm, v, 3);
  const Type &lhs = v[0]->type(), &rhs = v[1]->type(), &sizes = v[2]->type();
  const int batch = batch_dims(sizes);
  if (lhs.rank() != 2 + batch || rhs.rank() != 2 + batch || sizes.rank() != 1 + batch ||
      !one_batch(v))
    throw Error(kTgmm,
                "adds products of [rows, in] and [rows, out] by sizes [groups], all with a batch "
                "in front or none, got {}, {} and {} (C1)",
                lhs.to_string(), rhs.to_string(), sizes.to_string());
  expect_types(kTgmm, v);
  if (!may_equal(lhs.shape().dim(batch), rhs.shape().dim(batch)))
    throw Error(kTgmm, "{} and {} have different numbers of rows (C3)", lhs.to_string(),
                rhs.to_string());
  return {lhs.with(with_batch(
      lhs, batch,
      {sizes.shape().dim(batch), lhs.shape().dim(batch + 1), rhs.shape().dim(batch + 1)}))};
}

loop::grouped::GroupedParams params_of(const Op& op) {
  const Shape &lhs = op.operand(0)->shape(), &y = op.result()->shape();
  const int batch = batch_dims(op.operand(2)->type());
  return {.dtype = op.operand(0)->dtype(),
          .sizes = op.operand(2)->dtype(),
          .rows = lhs[batch],
          .in = lhs[batch + 1],
          .out = y[y.rank() - 1],
          .groups = op.operand(2)->shape()[batch],
          .turned = turned(op.attrs),
          .batch = batch == 1 ? lhs[0] : 1};
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

/// f(number, starts of its groups) for each of the batch.
template <class F>
void each_of_batch(const loop::grouped::GroupedParams& p, std::span<const Literal> v, F&& f) {
  const auto* sizes = static_cast<const std::byte*>(static_cast<const void*>(v[2].data()));
  for (std::int64_t number = 0; number < p.batch; ++number)
    f(number, loop::grouped::starts(sizes + number * p.sizes_bytes(), p.sizes, p.groups, p.rows));
}

Literals evaluate_gmm(const Op& op, std::span<const Literal> v, Evaluator&) {
  const loop::grouped::GroupedParams p = params_of(op);
  Literal out = Literal(op.result()->type());
  each_of_batch(p, v, [&](std::int64_t number, const std::vector<std::int64_t>& starts) {
    with_float(p.dtype, [&]<class S, class A>(S, A) {
      const S *lhs = v[0].span<S>().data() + number * p.rows * p.in,
              *rhs = v[1].span<S>().data() + number * p.groups * p.in * p.out;
      S* y = out.mutable_span<S>().data() + number * p.rows * p.out;
      std::fill_n(y, p.rows * p.out, S(0.0f));
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
  });
  return {std::move(out)};
}

Literals evaluate_tgmm(const Op& op, std::span<const Literal> v, Evaluator&) {
  const loop::grouped::GroupedParams p = params_of(op);
  Literal out = Literal(op.result()->type());
  each_of_batch(p, v, [&](std::int64_t number, const std::vector<std::int64_t>& starts) {
    with_float(p.dtype, [&]<class S, class A>(S, A) {
      const S *lhs = v[0].span<S>().data() + number * p.rows * p.in,
              *rhs = v[1].span<S>().data() + number * p.rows * p.out;
      S* y = out.mutable_span<S>().data() + number * p.groups * p.in * p.out;
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

/// [groups, rows], with sizes' batch in front: whether a row is of the group.
Value* membership(Builder& b, Value* sizes, std::int64_t rows) {
  const int batch = batch_dims(sizes->type());
  const std::int64_t groups = sizes->shape()[batch];
  const auto table_of = [&](std::int64_t last) {
    return Type(DType::i64, with_batch(sizes->type(), batch, {Dim(groups), Dim(last)}));
  };
  const Type pairs = table_of(groups), table = table_of(rows);
  const Ints leading = batch == 1 ? Ints{0, 1} : Ints{0};
  Value* each = convert(b, sizes, DType::i64);
  each = max(b, each, zeros_like(b, each));
  Value* all = broadcast_in_dim(b, each, pairs.shape(), leading);
  Value *earlier = iota(b, pairs, batch), *group = iota(b, pairs, batch + 1);
  const auto total = [&](const char* which) {
    Value* sum =
        reduce_sum(b, select(b, compare(b, earlier, group, which), all, zeros(b, pairs)), {batch});
    return broadcast_in_dim(b, sum, table.shape(), leading);
  };
  Value* row = iota(b, table, batch + 1);
  return and_(b, compare(b, total("LT"), row, "LE"), compare(b, row, total("LE"), "LT"));
}

/// x [rows, n] for each group, [groups, rows, n], behind the batch: zero where a row is not of it.
Value* in_groups(Builder& b, Value* x, Value* sizes) {
  const int batch = batch_dims(sizes->type());
  Value* mask = membership(b, sizes, x->shape()[batch]);
  const Shape shape =
      with_batch(sizes->type(), batch,
                 {sizes->shape().dim(batch), x->shape().dim(batch), x->shape().dim(batch + 1)});
  Value* all = broadcast_in_dim(b, x, shape, batch == 1 ? Ints{0, 2, 3} : Ints{1, 2});
  mask = broadcast_in_dim(b, mask, shape, batch == 1 ? Ints{0, 1, 2} : Ints{0, 1});
  return select(b, mask, all, zeros_like(b, all));
}

Values decompose_gmm(Builder& b, const Op& op, std::span<Value* const> v) {
  Value *lhs = v[0], *rhs = v[1], *sizes = v[2];
  const int batch = batch_dims(sizes->type());
  if (op.result()->shape().count() == 0 || lhs->shape().count() == 0 || sizes->shape()[batch] == 0)
    return {zeros(b, op.result()->type())};
  // Every row meets every matrix; its own is chosen. What is in no group is not read.
  const int in = batch + (turned(op.attrs) ? 2 : 1);
  const Ints first = batch == 1 ? Ints{0} : Ints{};
  Value* all = dot_general(b, rhs, lhs, {first, first, {in}, {batch + 1}},
                           op.result()->dtype());  // [g, out, rows]
  Value* mask = membership(b, sizes, lhs->shape()[batch]);
  mask = broadcast_in_dim(b, mask, all->shape(), batch == 1 ? Ints{0, 1, 3} : Ints{0, 2});
  Value* own = reduce_sum(b, select(b, mask, all, zeros_like(b, all)), {batch});
  return {transpose(b, own, batch == 1 ? Ints{0, 2, 1} : Ints{1, 0})};
}

Values decompose_tgmm(Builder& b, const Op& op, std::span<Value* const> v) {
  const int batch = batch_dims(v[2]->type());
  if (op.result()->shape().count() == 0 || v[0]->shape()[batch] == 0)
    return {zeros(b, op.result()->type())};
  const Ints first = batch == 1 ? Ints{0, 1} : Ints{0}, rows = Ints{batch + 1};
  return {dot_general(b, in_groups(b, v[0], v[2]), in_groups(b, v[1], v[2]),
                      {first, first, rows, rows}, op.result()->dtype())};
}

/// A batch more: where there is one already, both become one.
Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  for (Value* v : operands)
    if (!v->shape().is_static()) return batch_decomposed(b, op, operands, batched, size);
  const bool again = batch_dims(op.operand(2)->type()) == 1;
  Values v;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Value* each = batched[i] ? operands[i] : broadcast_leading(b, operands[i], size);
    if (again) {
      std::vector<Dim> dims = each->shape().dims();
      const std::int64_t both = size * each->shape()[1];
      dims.erase(dims.begin());
      dims.front() = Dim(both);
      each = reshape(b, each, Shape(std::move(dims)));
    }
    v.push_back(each);
  }
  Value* y = op.name() == "strata.gmm" ? gmm(b, v[0], v[1], v[2], turned(op.attrs))
                                       : tgmm(b, v[0], v[1], v[2]);
  if (again) {
    std::vector<Dim> dims = op.result()->shape().dims();
    dims.insert(dims.begin(), Dim(size));
    y = reshape(b, y, Shape(std::move(dims)));
  }
  return {{y}, {true}};
}

// ---- sharding, cost, lowering ------------------------------------------------------------------

/// The factor of the batch at the front of all, where there is one.
void shard_batch(FactorTable& t, const Op& op) {
  if (batch_dims(op.operand(2)->type()) == 0) return;
  const int f = t.factor('p', op.operand(0)->shape().dim(0).bound());
  for (int i = 0; i < 3; ++i) t.operand(i, 0, f);
  t.result(0, 0, f);
}

/// Groups cut rows anywhere, so that rows and groups stay whole.
Factors shard_gmm(const Op& op) {
  FactorTable t(op);
  const Shape &lhs = op.operand(0)->shape(), &rhs = op.operand(1)->shape();
  const int batch = batch_dims(op.operand(2)->type());
  const int in_at = batch + (turned(op.attrs) ? 2 : 1), out_at = 2 * batch + 3 - in_at;
  shard_batch(t, op);
  const int rows = t.factor('n', lhs.dim(batch).bound()),
            in = t.factor('r', lhs.dim(batch + 1).bound()),
            groups = t.factor('n', rhs.dim(batch).bound()),
            out = t.factor('p', rhs.dim(out_at).bound());
  t.operand(0, batch, rows), t.operand(0, batch + 1, in);
  t.operand(1, batch, groups), t.operand(1, in_at, in), t.operand(1, out_at, out);
  t.operand(2, batch, groups);
  t.result(0, batch, rows), t.result(0, batch + 1, out);
  return t.take();
}
Factors shard_tgmm(const Op& op) {
  FactorTable t(op);
  const Shape &lhs = op.operand(0)->shape(), &rhs = op.operand(1)->shape();
  const int batch = batch_dims(op.operand(2)->type());
  shard_batch(t, op);
  const int rows = t.factor('n', lhs.dim(batch).bound()),
            in = t.factor('p', lhs.dim(batch + 1).bound()),
            out = t.factor('p', rhs.dim(batch + 1).bound()),
            groups = t.factor('n', op.operand(2)->shape().dim(batch).bound());
  t.operand(0, batch, rows), t.operand(0, batch + 1, in);
  t.operand(1, batch, rows), t.operand(1, batch + 1, out);
  t.operand(2, batch, groups);
  t.result(0, batch, groups), t.result(0, batch + 1, in), t.result(0, batch + 2, out);
  return t.take();
}

/// Each row meets one matrix.
Work cost(const Op& op) {
  const auto size = [](const Dim& d) {
    return static_cast<double>(std::max<std::int64_t>(d.bound(), 1));
  };
  const Shape& y = op.result()->shape();
  double products = size(y.dim(y.rank() - 1));
  for (const Dim& d : op.operand(0)->shape().dims()) products *= size(d);
  return {2 * products, bytes_moved(op)};
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
      .batch = batch,
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
      .batch = batch,
      .shard = shard_tgmm,
      .cost = cost,
      .lowering = Native{tgmm_symbol, tgmm_grid, params},
      .decompose = decompose_tgmm,
  };
  return def;
}

}  // namespace strata::op
