// stablehlo.sort: arrays sorted together along a dimension by a comparator.
//
// Contract (StableHLO, sort): operands `inputs`; attributes `dimension` (from the end where
// negative; default -1), `is_stable`.
//   (C1) at least one input; (C2), (C3) the results have the inputs' types, and all one shape; (C4)
//   -R <= dimension < R; (C5) the comparator maps pairs of scalars (left0, right0, left1, right1,
//   ...) to i1: whether the left ones go first.
// Always stable, in the order that sort.h fixes.
//
// The derivative sorts the elements' numbers along and gathers tangents by them.
#include "strata/op/sort/sort.h"

#include <bit>

#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/closed.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control.h"
#include "strata/op/decomposed.h"
#include "strata/op/index/indexing.h"
#include "strata/op/legalize.h"
#include "strata/op/lower_region.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/sort/sort_key.h"

namespace strata::op {
namespace {

std::size_t inputs(const Op& op) { return static_cast<std::size_t>(op.num_results()); }
int dimension_of(const Attrs& attrs, int rank) {
  std::int64_t d = attrs.get_or<std::int64_t>("dimension", -1);
  return static_cast<int>(d < 0 ? d + rank : d);
}
int dimension_of(const Op& op) { return dimension_of(op.attrs, op.operand(0)->rank()); }

// ---- inference ---------------------------------------------------------------------------------

void expect_comparator(std::span<const std::unique_ptr<Block>> regions,
                       std::span<Value* const> operands) {  // C5
  if (regions.size() != 1)
    throw Error("sort", "expected a comparator, got {} regions", regions.size());
  const Block& region = *regions[0];
  if (region.arguments().size() != 2 * operands.size())
    throw Error("sort", "the comparator takes {} arguments, expected {} (C5)",
                region.num_arguments(), 2 * operands.size());
  for (const auto& a : region.arguments()) {
    Type expected = Type::scalar(operands[static_cast<std::size_t>(a->index() / 2)]->dtype());
    if (a->type() != expected)
      throw Error("sort", "argument {} of the comparator is {}, expected {} (C5)", a->index(),
                  a->type().to_string(), expected.to_string());
  }
  if (region.results.size() != 1 || region.results[0]->type() != Type::scalar(DType::i1))
    throw Error("sort", "the comparator must return one {}, got {} (C5)",
                Type::scalar(DType::i1).to_string(),
                region.results.size() == 1 ? region.results[0]->type().to_string()
                                           : fmt::format("{} values", region.results.size()));
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>> regions) {
  if (operands.empty())
    throw Error("sort", "expected at least one input, got {} (C1)", operands.size());
  std::vector<Type> results;
  Shape shape;
  for (Value* v : operands) {
    if (!v->type().is_tensor())
      throw Error("sort", "inputs must be arrays, got {} (I1)", v->type().to_string());
    if (!may_equal(v->shape(), operands[0]->shape()))
      throw Error("sort", "inputs must have one shape, got {} and {} (C3)",
                  operands[0]->type().to_string(), v->type().to_string());
    shape = results.empty() ? v->shape() : merged(shape, v->shape());
    results.push_back(v->type());
  }
  for (Type& t : results) t = t.with(shape);
  std::int64_t dimension = attrs.get_or<std::int64_t>("dimension", -1);
  int rank = operands[0]->rank();
  if (dimension < -rank || dimension >= rank)
    throw Error("sort", "dimension {} is out of range for {} (C4)", dimension,
                operands[0]->type().to_string());
  expect_comparator(regions, operands);
  return results;
}

// ---- rows --------------------------------------------------------------------------------------

/// Sizes around the sorted dimension: element e of row r is at (r / inner * n + e) * inner + r %
/// inner.
struct Rows {
  explicit Rows(const Op& op) {
    const Shape& shape = op.operand(0)->shape();
    int d = dimension_of(op);
    for (int i = 0; i < shape.rank(); ++i) (i < d ? outer : i == d ? n : inner) *= shape[i];
  }
  std::int64_t outer = 1, n = 1, inner = 1;
  std::int64_t count() const { return outer * inner; }
};

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  Rows rows(op);
  Literals out;
  for (const Literal& x : operands) out.emplace_back(x.type());
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    auto place = [&](std::int64_t e) {
      return (r / rows.inner * rows.n + e) * rows.inner + r % rows.inner;
    };
    auto before = [&](std::int64_t left, std::int64_t right) {
      Literals arguments;
      for (const Literal& x : operands)
        for (std::int64_t e : {left, right}) {
          arguments.emplace_back(Type::scalar(x.dtype()));
          copy_element(x, place(e), arguments.back(), 0);
        }
      return evaluator.run(op.region(0), arguments)[0].integer(0) != 0;
    };
    std::vector<std::int64_t> order = merge_sorted(rows.n, before);
    for (std::size_t i = 0; i < operands.size(); ++i)
      for (std::int64_t e = 0; e < rows.n; ++e)
        copy_element(operands[i], place(order[static_cast<std::size_t>(e)]), out[i], place(e));
  }
  return out;
}

// ---- derivative --------------------------------------------------------------------------------

/// The sort of further operands, at which the comparator does not look.
Values sort_with(Builder& b, const Op& op, std::span<Value* const> operands, const Values& more,
                 int dimension) {
  std::size_t n = inputs(op);
  auto region = std::make_unique<Block>();
  Values arguments;
  for (std::size_t i = 0; i < 2 * n; ++i)
    arguments.push_back(region->add_argument(op.region(0).argument(static_cast<int>(i))->type()));
  for (Value* v : more)
    for (int side = 0; side < 2; ++side) region->add_argument(Type::scalar(v->dtype()));
  arguments.insert(arguments.end(), operands.begin() + static_cast<std::ptrdiff_t>(n),
                   operands.end());
  Builder rb(*region);
  region->results = ir::inline_block(rb, op.region(0), arguments);
  Values all(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(n));
  return sort(b, joined(all, more), dimension, std::move(region));
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  std::size_t n = inputs(op);
  int d = dimension_of(op);
  if (all_null(tangents)) return {sort_with(b, op, operands, {}, d), Values(n, nullptr)};
  Value* numbers = iota(b, Type(DType::i32, operands[0]->shape()), d);
  Values sorted = sort_with(b, op, operands, {numbers}, d);
  Value* order = sorted.back();
  sorted.pop_back();
  Values out;
  for (std::size_t i = 0; i < n; ++i)
    out.push_back(tangents[i] ? take_along(b, tangents[i], order, d) : nullptr);
  return {sorted, out};
}

// ---- batching, sharding, cost ------------------------------------------------------------------

Batched batch_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                   const std::vector<bool>& batched, std::int64_t size) {
  std::size_t n = inputs(op);
  for (std::size_t i = n; i < operands.size(); ++i)
    if (batched[i]) return batch_decomposed(b, op, operands, batched, size);
  Values full;
  for (std::size_t i = 0; i < n; ++i)
    full.push_back(batched_operand(b, operands[i], batched[i], size));
  full.insert(full.end(), operands.begin() + static_cast<std::ptrdiff_t>(n), operands.end());
  return {sort_with(b, op, full, {}, dimension_of(op) + 1), std::vector<bool>(n, true)};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  for (int d = 0; d < op.operand(0)->rank(); ++d) {
    int f = t.factor(d == dimension_of(op) ? 'n' : 'p', op.operand(0)->shape().dim(d).bound());
    for (int i = 0; i < op.num_results(); ++i) t.operand(i, d, f), t.result(i, d, f);
  }
  return t.take();
}

Work cost(const Op& op) {
  double rounds = std::bit_width(static_cast<std::uint64_t>(
      std::max<std::int64_t>(op.operand(0)->shape().dim(dimension_of(op)).bound(), 1)));
  return {elements(op) * rounds * static_cast<double>(op.region(0).ops().size() + 4),
          bytes_moved(op) * (1 + rounds)};
}

// ---- lowering ----------------------------------------------------------------------------------

std::int64_t grid(const Op& op) {
  return op.operand(0)->shape().count() == 0 ? 0 : Rows(op).count();
}

void emit_rows(LowerContext& context, const Op& op, std::span<loop::Ref* const>,
               std::span<loop::Ref* const> results, const loop::Index& row) {
  loop::Builder& b = context.b;
  Rows rows(op);
  loop::Index outer = b.div(row, rows.inner), inner = b.mod(row, rows.inner);
  auto place = [&](const loop::Index& e) {
    return outer * (rows.n * rows.inner) + e * rows.inner + inner;
  };
  MergeSort sort{.n = rows.n,
                 .dtypes = {},
                 .load = nullptr,
                 .before = nullptr,
                 .kept = rows.n,
                 .store = nullptr};
  for (Value* v : op.operands) sort.dtypes.push_back(v->dtype());
  sort.load = [&](const loop::Index& e) {
    Tuple out;
    for (int i = 0; i < op.num_results(); ++i) out.push_back(context.operand_at(op, i, place(e)));
    return out;
  };
  sort.before = [&](const Tuple& left, const Tuple& right) {
    Tuple arguments;
    for (std::size_t i = 0; i < left.size(); ++i)
      arguments.push_back(left[i]), arguments.push_back(right[i]);
    return lower_region(context, op.region(0), arguments)[0];
  };
  sort.store = [&](const loop::Index& e, const Tuple& x) {
    for (std::size_t i = 0; i < x.size(); ++i) b.store(results[i], place(e), x[i]);
  };
  emit(b, sort);
}

/// Parts are sorted together; the comparator's arguments come in pairs of parts.
std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts> operands) {
  if (std::all_of(operands.begin(), operands.end(), [](const Parts& p) { return p.size() == 1; }))
    return {};
  if (!ir::captures(op.region(0)).empty())
    throw Error("sort", "a comparator of complex numbers may use nothing from outside")
        .at(op.where.text())
        .unsupported();
  std::unique_ptr<Block> region = legalize_region(op.region(0));
  Values flat;
  std::vector<Type> types;
  std::vector<int> order;
  int first = 0;
  for (const Parts& parts : operands) {
    int count = static_cast<int>(parts.size());
    for (int p = 0; p < count; ++p) {
      flat.push_back(parts[static_cast<std::size_t>(p)]);
      types.push_back(flat.back()->type());
      order.push_back(first + p), order.push_back(first + count + p);
    }
    first += 2 * count;
  }
  reorder_arguments(*region, order);
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(region));
  const Op& made = b.create(op.info(), flat, op.attrs, std::move(regions), types);
  std::vector<Parts> out;
  int at = 0;
  for (const Parts& parts : operands) {
    out.emplace_back();
    for (std::size_t p = 0; p < parts.size(); ++p) out.back().push_back(made.result(at++));
  }
  return out;
}

// ---- decomposition -----------------------------------------------------------------------------

/// For comparators that no kernel can hold: n rounds of exchanging neighbours, even pairs and odd
/// ones in turn, all rows at once. Stable as well, so of the same result for every comparator that
/// is an order.
Values exchange_neighbours(Builder& b, const Op& op, std::span<Value* const> operands) {
  std::size_t n = inputs(op);
  int d = dimension_of(op), rank = op.operand(0)->rank();
  Rows rows(op);
  if (rows.n < 2 || rows.count() == 0)
    return {operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(n)};
  OpenRegion region(op.region(0), 2 * static_cast<int>(n), operands.subspan(n));
  Values carries, consts = region.captured();
  for (std::size_t i = 0; i < n; ++i)
    carries.push_back(
        reshape(b, move_dim(b, operands[i], d, rank - 1), Shape{rows.count(), rows.n}));

  auto compare_rows =
      std::make_unique<Block>();  // the comparator on arguments of its own, for batching
  Values pair, given;
  for (std::size_t i = 0; i < 2 * n; ++i)
    pair.push_back(compare_rows->add_argument(Type::scalar(operands[i / 2]->dtype())));
  for (Value* v : consts) given.push_back(compare_rows->add_argument(v->type()));
  Builder cb(*compare_rows);
  compare_rows->results = region.inlined(cb, pair, given);

  auto round = std::make_unique<Block>();  // (captured..., rows..., number of the round) -> rows...
  Values captured, xs, arguments;
  for (Value* v : consts) captured.push_back(round->add_argument(v->type()));
  for (Value* v : carries) xs.push_back(round->add_argument(v->type()));
  Value* number = round->add_argument(Type::scalar(DType::i32));
  Builder rb(*round);
  std::int64_t pairs = rows.count() * (rows.n - 1);
  std::vector<bool> batched(2 * n + consts.size(), false);
  std::fill(batched.begin(), batched.begin() + static_cast<std::ptrdiff_t>(2 * n), true);
  for (Value* x : xs) {
    arguments.push_back(reshape(rb, slice_dim(rb, x, 1, 1, rows.n), Shape{pairs}));
    arguments.push_back(reshape(rb, slice_dim(rb, x, 1, 0, rows.n - 1), Shape{pairs}));
  }
  Batched less = batch(rb, *compare_rows, joined(arguments, captured), batched, pairs);
  Value* wrong = reshape(rb, batched_operand(rb, less.results[0], less.batched[0], pairs),
                         Shape{rows.count(), rows.n - 1});
  Value* place = iota(rb, Type(DType::i32, wrong->shape()), 1);
  Value* turn = and_(rb, add(rb, place, broadcast_in_dim(rb, number, place->shape(), {})),
                     full_like(rb, place, 1));
  Value* swap = and_(rb, wrong, compare(rb, turn, zeros_like(rb, turn), "EQ"));
  Value* no = scalar(rb, DType::i1, 0);
  Value *with_next = pad(rb, swap, no, {0, 0}, {0, 1}),
        *with_last = pad(rb, swap, no, {0, 1}, {0, 0});
  for (Value* x : xs) {
    Value* zero = scalar(rb, x->dtype(), 0);
    Value* next = pad(rb, slice_dim(rb, x, 1, 1, rows.n), zero, {0, 0}, {0, 1});
    Value* last = pad(rb, slice_dim(rb, x, 1, 0, rows.n - 1), zero, {0, 1}, {0, 0});
    round->results.push_back(select(rb, with_next, next, select(rb, with_last, last, x)));
  }
  Values out = scan(b, std::move(round), consts, carries,
                    {iota(b, Type(DType::i32, Shape{rows.n}), 0)}, {rows.n, false});
  std::vector<Dim> moved = op.operand(0)->shape().dims();
  std::rotate(moved.begin() + d, moved.begin() + d + 1, moved.end());
  for (std::size_t i = 0; i < n; ++i)
    out[i] = move_dim(b, reshape(b, out[i], Shape(moved)), rank - 1, d);
  return out;
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  if (sorts_single_elements(op)) return {operands.begin(), operands.end()};
  return sorts_by_keys(op) ? sort_by_keys(b, op, operands, sort_keys(op.region(0)))
                           : exchange_neighbours(b, op, operands);
}

}  // namespace

bool sorts_single_elements(const Op& op) {
  const Dim& n = op.operand(0)->shape().dim(dimension_of(op));
  return n.is_static() && n.size() <= 1;
}

void emit(loop::Builder& b, const MergeSort& sort) {
  std::int64_t n = sort.n;
  if (n == 1) return sort.store(0, sort.load(0));
  std::vector<loop::Ref*> space;  // two halves of n: runs are merged from one into the other
  for (DType dtype : sort.dtypes) space.push_back(b.scratch(dtype, 2 * n));
  auto get = [&](const loop::Index& at) {
    Tuple out;
    for (loop::Ref* ref : space) out.push_back(b.load(ref, at));
    return out;
  };
  auto put = [&](const loop::Index& at, const Tuple& x) {
    for (std::size_t i = 0; i < x.size(); ++i) b.store(space[i], at, x[i]);
  };
  auto i64 = [&](std::int64_t x) { return b.constant_int(DType::i64, x); };
  auto least = [&](loop::Inst* x, loop::Inst* y) { return b.binary(loop::Opcode::min, x, y); };
  auto plus = [&](loop::Inst* x, loop::Inst* y) { return b.binary(loop::Opcode::add, x, y); };
  b.for_(0, n, 1, [&](loop::Index e) { put(e, sort.load(e)); });
  int passes = std::bit_width(static_cast<std::uint64_t>(n - 1));
  b.for_(0, passes, 1, [&](loop::Index pass) {
    loop::Inst* width = b.binary(loop::Opcode::shl, i64(1), b.value(pass));
    loop::Index from = b.mod(pass, 2) * n, to = loop::Index(n) - from;
    loop::Inst* low = b.local(i64(0));
    loop::Inst* turns =
        b.binary(loop::Opcode::div, plus(i64(n - 1), plus(width, width)), plus(width, width));
    b.for_(0, b.index_of(turns, 0, n), 1, [&](loop::Index) {
      loop::Inst *start = b.get(low), *mid = least(plus(start, width), i64(n)),
                 *high = least(plus(mid, width), i64(n));
      loop::Inst *i = b.local(start), *j = b.local(mid);
      b.for_(b.index_of(start, 0, n), b.index_of(high, 0, n), 1, [&](loop::Index k) {
        loop::Inst *at_i = b.get(i), *at_j = b.get(j);
        Tuple left = get(from + b.index_of(least(at_i, i64(n - 1)), 0, n - 1)),
              right = get(from + b.index_of(least(at_j, i64(n - 1)), 0, n - 1));
        loop::Inst* over = b.compare(loop::Compare::ge, at_i, mid);
        loop::Inst* take = b.binary(loop::Opcode::and_, b.compare(loop::Compare::lt, at_j, high),
                                    b.binary(loop::Opcode::or_, over, sort.before(right, left)));
        for (std::size_t t = 0; t < left.size(); ++t) left[t] = b.select(take, right[t], left[t]);
        put(to + k, left);
        b.set(i, b.select(take, at_i, plus(at_i, i64(1))));
        b.set(j, b.select(take, plus(at_j, i64(1)), at_j));
      });
      b.set(low, plus(start, plus(width, width)));
    });
  });
  std::int64_t sorted = passes % 2 * n;
  b.for_(0, sort.kept, 1, [&](loop::Index e) { sort.store(e, get(e + sorted)); });
}

const OpDef& sort_def() {
  static const OpDef d{
      .info = ir::inferred_by("C2", {.name = "stablehlo.sort",
                                     .infer = infer,
                                     .text = &ir::formats::sort,
                                     .quantized = quantized::per_tensor}),
      .summary = "arrays sorted together along a dimension (spec: sort)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = None{"the order depends on the elements; its tangent is a gather"},
      .batch = batch_rule,
      .shard = shard,
      .cost = cost,
      .lowering = CustomKernel{grid, emit_rows},
      .decompose = decompose,
      .split = split,
  };
  return d;
}

Values sort(Builder& b, const Values& operands, std::int64_t dimension,
            std::unique_ptr<Block> comparator) {
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(comparator));
  return b
      .create(sort_def().info, operands, {{"dimension", dimension}, {"is_stable", true}},
              std::move(regions))
      .results();
}

}  // namespace strata::op
