// chlo.top_k: the k greatest elements of each row, and where they stood.
//
// Operand [operand]; attribute `k`, and `largest` where it is said, which is true. (C1) rank at least 1; (C2) 0 <= k <= the last dimension. Results: values and their positions (i32),
// greatest first, of equal ones the first; floats in total order (a positive NaN is greatest, -0 is below +0).
//
// Few elements are kept in order while the row is read; many are sorted.
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/lower_region.h"
#include "strata/op/rules.h"
#include "strata/op/sort.h"
#include "strata/op/sort_key.h"

namespace strata::op {
namespace {

constexpr int kBlock = 32;

std::int64_t k_of(const Op& op) { return op.attr<std::int64_t>("k"); }
int last(const Op& op) { return op.operand(0)->rank() - 1; }

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs, std::span<const std::unique_ptr<Block>>) {
  expect_operands("top_k", operands, 1);
  const Type& x = operands[0]->type();
  if (!attrs.get_or<bool>("largest", true)) throw Error("top_k", "the least elements are not had by it (attribute `largest`)").unsupported();
  std::int64_t k = expect_attr<std::int64_t>("top_k", attrs, "k");
  if (!x.is_tensor() || x.rank() == 0) throw Error("top_k", "(C1) the operand must have a dimension, got {}", x.to_string());
  if (is_complex(x.dtype())) throw Error("top_k", "complex numbers have no order, got {}", x.to_string());
  std::vector<Dim> dims = x.shape().dims();
  if (k < 0 || (dims.back().is_static() && k > dims.back().size()))
    throw Error("top_k", "(C2) k must be between 0 and the last dimension of {}, got {}", x.to_string(), k);
  dims.back() = Dim(k);
  return {x.with(Shape(dims)), x.with(DType::i32).with(Shape(dims))};
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Value* x = operands[0];
  Value* numbers = iota(b, Type(DType::i32, x->shape()), last(op));
  Values out = sort(b, {x, numbers}, last(op), comparator({x->dtype(), DType::i32}, "GT"));
  for (Value*& v : out) v = slice_dim(b, v, last(op), 0, k_of(op));
  return out;
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands, std::span<Value* const> tangents) {
  Values out = again(b, op, operands).results();
  return {out, {tangents[0] ? take_along(b, tangents[0], out[1], last(op)) : nullptr, nullptr}};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>& batched, std::int64_t) {
  return {b.create(op.info(), {operands[0]}, op.attrs).results(), {batched[0], batched[0]}};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  for (int d = 0; d <= last(op); ++d) {
    int f = t.factor(d == last(op) ? 'n' : 'p', op.operand(0)->shape().dim(d).bound());
    t.operand(0, d, f);
    for (int r = 0; r < 2; ++r) t.result(r, d, d == last(op) ? t.factor('n', k_of(op)) : f);
  }
  return t.take();
}

Work cost(const Op& op) { return {4 * static_cast<double>(op.operand(0)->shape().dim(last(op)).bound()), bytes_moved(op)}; }

// ---- lowering -------------------------------------------------------------------------------------------------

std::int64_t grid(const Op& op) {
  std::int64_t rows = k_of(op) == 0 ? 0 : 1;
  for (int d = 0; d < last(op); ++d) rows *= op.operand(0)->shape()[d];
  return rows;
}

void emit_row(LowerContext& context, const Op& op, std::span<loop::Ref* const>, std::span<loop::Ref* const> results, const loop::Index& row) {
  loop::Builder& b = context.b;
  std::int64_t n = op.operand(0)->shape()[last(op)], k = k_of(op);
  auto greater = comparator({op.operand(0)->dtype()}, "GT");
  auto before = [&](loop::Inst* x, loop::Inst* y) {
    loop::Inst* pair[] = {x, y};
    return lower_region(context, *greater, pair)[0];
  };
  auto load = [&](const loop::Index& e) { return Tuple{context.operand_at(op, 0, row * n + e), b.convert(DType::i32, b.value(e))}; };
  auto store = [&](const loop::Index& e, const Tuple& x) {
    for (std::size_t r = 0; r < 2; ++r) b.store(results[r], row * k + e, x[r]);
  };
  if (k > kFewKept || k == n)
    return emit(b, MergeSort{.n = n,
                             .dtypes = {op.operand(0)->dtype(), DType::i32},
                             .load = load,
                             .before = [&](const Tuple& x, const Tuple& y) { return before(x[0], y[0]); },
                             .kept = k,
                             .store = store});
  auto kept = [&](loop::Inst* place) { return row * k + b.index_of(place, 0, k - 1); };
  auto i64 = [&](std::int64_t x) { return b.constant_int(DType::i64, x); };
  auto insert = [&](const loop::Index& e, loop::Inst* last_place) {  // at `last_place`, or before those that it is greater than
    Tuple x = load(e);
    loop::Inst* at = b.local(last_place);
    auto previous = [&] { return kept(b.binary(loop::Opcode::max, b.binary(loop::Opcode::sub, b.get(at), i64(1)), i64(0))); };
    b.while_(
        [&] {
          loop::Inst* goes_on = before(x[0], b.load(results[0], previous()));
          return b.binary(loop::Opcode::and_, b.compare(loop::Compare::gt, b.get(at), i64(0)), goes_on);
        },
        [&] {
          loop::Index from = previous();
          for (loop::Ref* result : results) b.store(result, kept(b.get(at)), b.load(result, from));
          b.set(at, b.binary(loop::Opcode::sub, b.get(at), i64(1)));
        });
    for (std::size_t r = 0; r < 2; ++r) b.store(results[r], kept(b.get(at)), x[r]);
  };
  auto worst = [&] { return b.load(results[0], row * k + (k - 1)); };
  auto read = [&](const loop::Index& begin, const loop::Index& end) {
    b.for_(begin, end, 1, [&](loop::Index e) { b.if_(before(load(e)[0], worst()), [&] { insert(e, i64(k - 1)); }); });
  };
  b.for_(0, k, 1, [&](loop::Index e) { insert(e, b.value(e)); });
  // Most blocks hold nothing that is greater than what is kept.
  std::int64_t blocks = (n - k) / kBlock;
  b.for_(0, blocks, 1, [&](loop::Index block) {
    loop::Index begin = block * kBlock + k;
    loop::Inst *least = worst(), *found = b.local(b.constant_int(DType::i1, 0), kBlock);
    b.vector(begin, begin + kBlock, kBlock, [&](loop::Index e) { b.set(found, before(load(e)[0], least)); });
    b.if_(b.reduce(loop::Opcode::or_, b.get(found)), [&] { read(begin, begin + kBlock); });
  });
  read(k + blocks * kBlock, n);
}

}  // namespace

const OpDef& top_k_def() {
  static const OpDef d{
      .info = {.name = "chlo.top_k", .infer = infer, .text = &ir::formats::top_k},
      .summary = "the k greatest elements of each row and where they stood (CHLO, top_k)",
      .traits = {},
      .evaluate = evaluate_decomposed,
      .jvp = jvp,
      .linearize = None{"no regions"},
      .transpose = None{"which elements are kept depends on them; its tangent is a gather"},
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = Whole{grid, emit_row},
      .decompose = decompose,
  };
  return d;
}

}  // namespace strata::op
