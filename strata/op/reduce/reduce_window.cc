// stablehlo.reduce_window: combines the elements of each window of an array.
//
// Contract (StableHLO, reduce_window): operands [inputs..., inits...]; attributes
// `window_dimensions` and, where stated, `window_strides`, `base_dilations`, `window_dilations`,
// `padding` (low and high of each dimension in turn), `combiner`. Constraints by their numbers in
// the messages below; results have the dtypes of the region, to which inputs are promoted (C13,
// C16).
//
// Defined as the specification defines it: a reduce over windows (op/reduce/windows.h), padded with
// the initial values. Its order (op/reduce/reduce_order.h) runs over the window row-major, one lane
// where there are several results; nothing of the windows is stored. Where a window spans a whole
// dimension and the padding lets it begin at the first element, or end at the last, each result is
// the one beside it and one element more: a cumulative operation (op/reduce/cumulative.h) in an
// order of its own (docs/decision/0015).
#include <numeric>

#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/calculus/closed.h"
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/reduce/combiner.h"
#include "strata/op/reduce/cumulative.h"
#include "strata/op/reduce/reduce_order.h"
#include "strata/op/reduce/windows.h"

namespace strata::op {
namespace {

constexpr const char* kSelf = "reduce_window";

int num_inputs(const Op& op) { return op.num_results(); }

WindowDims dims_of(const Attrs& attrs, int rank) {
  expect_attr<Ints>(kSelf, attrs, "window_dimensions");
  WindowDims d;
  d.size = window_list(kSelf, attrs, {"window_dimensions", "C4", "C5"}, rank);
  d.stride = window_list(kSelf, attrs, {"window_strides", "C6", "C7"}, rank);
  d.base_dilation = window_list(kSelf, attrs, {"base_dilations", "C8", "C9"}, rank);
  d.window_dilation = window_list(kSelf, attrs, {"window_dilations", "C10", "C11"}, rank);
  set_padding(kSelf, attrs, "C12", d);
  return d;
}
WindowDims dims_of(const Op& op) { return dims_of(op.attrs, op.operand(0)->rank()); }

// ---- inference ---------------------------------------------------------------------------------

/// The dtypes that the combination is done in: the region's, to which those of the inputs are
/// promoted, or the inputs' own.
std::vector<DType> combined_dtypes(const std::string& word, std::vector<DType> dtypes,
                                   std::span<const std::unique_ptr<Block>> regions) {
  std::optional<Combiner> combiner = parse_combiner(word);
  if (!combiner) throw Error(kSelf, "unknown combiner '{}'", word);
  if (*combiner != Combiner::region) {
    if (dtypes.size() != 1 || !regions.empty())
      throw Error(kSelf, "combiner {} takes one input and no region, got {} inputs and {} regions",
                  word, dtypes.size(), regions.size());
    ir::under("C13", [&] { expect_combiner(kSelf, *combiner, dtypes[0]); });
    return dtypes;
  }
  for (std::size_t i = 0;
       i < dtypes.size() && regions.size() == 1 && regions[0]->results.size() == dtypes.size();
       ++i) {
    const Type& wanted = regions[0]->results[i]->type();
    if (!wanted.is_tensor()) continue;
    ir::under("C13", [&] { expect_promotable(kSelf, dtypes[i], wanted.dtype()); });
    dtypes[i] = wanted.dtype();
  }
  ir::under("C13", [&] { expect_region(kSelf, regions, dtypes); });
  return dtypes;
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>> regions) {
  std::size_t n = operands.size() / 2;
  if (n == 0 || operands.size() != 2 * n)
    throw Error(kSelf, "expected inputs and as many initial values, got {} operands (C1)",
                operands.size());
  std::vector<DType> dtypes;
  for (std::size_t i = 0; i < n; ++i) {
    const Type &input = operands[i]->type(), &init = operands[n + i]->type();
    if (!input.is_tensor() || !init.is_tensor())
      throw Error(kSelf, "operands must be arrays, got {} and {} ({})", input.to_string(),
                  init.to_string(), input.is_tensor() ? "I2" : "I1");
    if (!may_equal(input.shape(), operands[0]->shape()))
      throw Error(kSelf, "inputs must have one shape, got {} and {} (C2)",
                  operands[0]->type().to_string(), input.to_string());
    if (init.rank() != 0 || init.dtype() != input.dtype())
      throw Error(kSelf, "the initial value of {} must be a scalar of its dtype, got {} (C3)",
                  input.to_string(), init.to_string());
    dtypes.push_back(input.dtype());
  }
  WindowDims d = dims_of(attrs, operands[0]->rank());
  dtypes = combined_dtypes(expect_attr<std::string>(kSelf, attrs, "combiner"), dtypes, regions);
  std::vector<Dim> dims;  // (C15)
  for (int i = 0; i < d.rank(); ++i) {
    Dim size = operands[0]->shape().dim(i);
    for (std::size_t k = 1; k < n; ++k) size = merged(size, operands[k]->shape().dim(i));
    dims.push_back(window_count(d, i, size));
  }
  std::vector<Type> results;
  for (std::size_t i = 0; i < n; ++i)
    results.push_back(operands[i]->type().with(Shape(dims)).with(dtypes[i]));  // (C16)
  return results;
}

// ---- definition --------------------------------------------------------------------------------

Ints leading_dims(int n) {
  Ints out;
  for (int i = 0; i < n; ++i) out.push_back(i);
  return out;
}

/// The dimension that all windows span, padded so that they begin at its first element or (reverse)
/// end at its last.
std::optional<Cumulative> spanned(const Op& op) {
  const Shape& x = op.operand(0)->shape();
  if (is_quantized(op) || !x.is_static() || x.count() == 0) return std::nullopt;
  WindowDims d = dims_of(op);
  std::optional<Cumulative> found;
  for (int i = 0; i < d.rank(); ++i) {
    auto k = static_cast<std::size_t>(i);
    if (d.is_trivial(i)) continue;
    std::int64_t n = x[i], low = d.low[k], high = d.high[k];
    bool spans = d.size[k] == n && d.stride[k] == 1 && d.base_dilation[k] == 1 &&
                 d.window_dilation[k] == 1 && low + high == n - 1;
    if (found || !spans || (low != 0 && high != 0)) return std::nullopt;
    found = Cumulative{.dim = i, .reverse = low == 0, .combiner = combiner_of(op)};
  }
  return found;
}

/// The cumulative operation that it is, by a plain combiner of a dtype of kernels.
std::optional<Cumulative> as_cumulative(const Op& op) {
  if (combiner_of(op) == Combiner::region || !is_legal(op.operand(0)->dtype())) return std::nullopt;
  return spanned(op);
}

/// The scalar that a scalar is, past operations that only move it (a broadcast to no dimension, as
/// programs write them).
const Value* unmoved(const Value* v) {
  while (v->op() && v->op()->operands.size() == 1 && def(*v->op()).traits.moves_only &&
         v->op()->operand(0)->type() == v->type())
    v = v->op()->operand(0);
  return v;
}

/// Whether combining with `v` twice is combining with it once.
bool is_idempotent(Combiner c) {
  return c == Combiner::min || c == Combiner::max || c == Combiner::and_ || c == Combiner::or_;
}

/// The padding is combined too: as often as a window has places outside. With the identity, and
/// where once is often enough, that changes no bit.
Value* with_padding(Builder& b, Value* x, Value* init, const Cumulative& what) {
  std::int64_t n = x->shape()[what.dim];
  DType dtype = x->dtype(), wide = accumulator(dtype);
  Value *none = constant(b, identity(what.combiner, wide)), *first = convert(b, init, wide);
  Value* outside =
      broadcast_in_dim(b, none, Shape{1}, {});  // what the padding of each result makes
  if (n > 1) {
    Value* copies = broadcast_in_dim(b, first, Shape{n - 1}, {});
    Value* sums = cumulative(b, copies, none,
                             {.dim = 0, .reverse = !what.reverse, .combiner = what.combiner});
    outside = concatenate(b, what.reverse ? Values{outside, sums} : Values{sums, outside}, 0);
  }
  Value* start = combined(b, what.combiner, broadcast_in_dim(b, first, Shape{n}, {}), outside);
  Value* y = cumulative(b, convert(b, x, wide), none, what);
  return convert(
      b, combined(b, what.combiner, broadcast_in_dim(b, start, x->shape(), {what.dim}), y), dtype);
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  if (std::optional<Cumulative> what = as_cumulative(op)) {
    bool once = is_idempotent(what->combiner) || is_neutral(unmoved(op.operand(1)), what->combiner);
    return {once ? cumulative(b, operands[0], operands[1], *what)
                 : with_padding(b, operands[0], operands[1], *what)};
  }
  if (combiner_of(op) == Combiner::region)
    if (std::optional<Cumulative> what = spanned(op))
      return cumulative_by_region(b, op, operands, what->dim, what->reverse);
  std::size_t n = static_cast<std::size_t>(num_inputs(op));
  WindowDims d = dims_of(op);
  Values inputs(2 * n, nullptr);
  for (std::size_t i = 0; i < n; ++i) {
    DType dtype = op.result(static_cast<int>(i))->dtype();
    inputs[n + i] = convert(b, operands[n + i], dtype);
    inputs[i] = windows(b, convert(b, operands[i], dtype), inputs[n + i], d);
  }
  Attrs attrs{{"dimensions", leading_dims(d.rank())},
              {"combiner", op.attr<std::string>("combiner")}};
  return b
      .create("stablehlo.reduce", std::move(inputs), std::move(attrs),
              reopened(op, static_cast<int>(2 * n), operands.subspan(2 * n)))
      .results();
}

// ---- reference evaluation ----------------------------------------------------------------------

/// Row-major offset of the element at a place of a window, -1 for padding.
std::int64_t element_at(const WindowDims& d, const Shape& shape,
                        std::span<const std::int64_t> strides, std::span<const std::int64_t> window,
                        std::span<const std::int64_t> output) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    std::int64_t at = output[i] * d.stride[i] + window[i] * d.window_dilation[i] - d.low[i];
    if (at < 0 || at % d.base_dilation[i] != 0 ||
        at / d.base_dilation[i] >= shape[static_cast<int>(i)])
      return -1;
    offset += at / d.base_dilation[i] * strides[i];
  }
  return offset;
}

/// One output after the other: windows of a long array would not fit in memory side by side.
Literals evaluate_plain(const Op& op, const Literal& x, const Literal& init) {
  WindowDims d = dims_of(op);
  Combiner combiner = combiner_of(op);
  std::vector<Dim> sizes;
  for (int i = 0; i < d.rank(); ++i) sizes.push_back(window_count(d, i, x.shape().dim(i)));
  Literal out(x.type().with(Shape(std::move(sizes))));
  std::vector<std::vector<std::int64_t>> window;
  if (out.count() > 0)
    for_each_index(Shape::of(d.size), [&](std::span<const std::int64_t> index, std::int64_t) {
      window.emplace_back(index.begin(), index.end());
    });
  std::vector<Dim> seen = Shape::of(d.size).dims();  // windows stand before outputs
  seen.insert(seen.end(), out.shape().dims().begin(), out.shape().dims().end());
  std::vector<int> of_window(d.size.size());
  std::iota(of_window.begin(), of_window.end(), 0);
  const ReduceOrder order = reduce_order(x.type().with(Shape(std::move(seen))), of_window);
  std::vector<std::int64_t> strides = x.shape().strides();
  dispatch(x.dtype(), [&](auto storage) {
    using S = decltype(storage);
    using T = Accumulator<S>;
    auto from = x.span<S>();
    auto to = out.mutable_span<S>();
    T initial = static_cast<T>(init.span<S>()[0]),
      neutral = identity(combiner, accumulator(x.dtype())).span<T>()[0];
    for_each_index(out.shape(), [&](std::span<const std::int64_t> index, std::int64_t o) {
      auto element = [&](std::int64_t k) {
        std::int64_t at =
            element_at(d, x.shape(), strides, window[static_cast<std::size_t>(k)], index);
        return at < 0 ? initial : static_cast<T>(from[static_cast<std::size_t>(at)]);
      };
      to[static_cast<std::size_t>(o)] =
          static_cast<S>(reduce_in_order<T>(order, combiner, neutral, initial, element));
    });
  });
  return {std::move(out)};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  bool plain = combiner_of(op) != Combiner::region && is_legal(operands[0].dtype()) &&
               !is_quantized(op) && !as_cumulative(op);
  return plain ? evaluate_plain(op, operands[0], operands[1])
               : evaluate_decomposed(op, operands, evaluator);
}

// ---- derivative and transpose ------------------------------------------------------------------

/// The same combination of other operands (in closed form: what the region captures last) in other
/// windows.
Op& again_of(Builder& b, const Op& op, std::span<Value* const> operands, const WindowDims& d) {
  Attrs attrs = op.attrs;
  set_window_attrs(attrs, d);
  std::size_t own = 2 * static_cast<std::size_t>(num_inputs(op));
  Values kept(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(own));
  return b.create(op.info(), std::move(kept), std::move(attrs),
                  reopened(op, static_cast<int>(own), operands.subspan(own)));
}

/// The region of an argument maximum or minimum over (value, position): NaN first, then the better
/// value, then the first.
std::unique_ptr<Block> extremum_region(DType value, DType position, bool maximum) {
  auto block = std::make_unique<Block>();
  Value *v = block->add_argument(Type::scalar(value)),
        *i = block->add_argument(Type::scalar(position)),
        *w = block->add_argument(Type::scalar(value)),
        *j = block->add_argument(Type::scalar(position));
  Builder b(*block);
  Value* first = or_(b, compare(b, v, w, maximum ? "GT" : "LT"), compare(b, v, v, "NE"));
  Value* sooner = and_(b, compare(b, v, w, "EQ"), compare(b, i, j, "LT"));
  block->results = {select(b, first, v, w), select(b, or_(b, first, sooner), i, j)};
  return block;
}

/// The tangent of the first extreme element of each window, as JAX's; of the initial value where no
/// element is better.
Value* extremum_tangent(Builder& b, const Op& op, std::span<Value* const> operands,
                        std::span<Value* const> tangents) {
  WindowDims d = dims_of(op);
  const Shape &in = operands[0]->shape(), &out = op.result()->shape();
  Value* of_init = tangents[1] ? broadcast_in_dim(b, tangents[1], out, {}) : nullptr;
  if (in.count() == 0) return of_init;
  Value* at = positions(b, in);
  Value* none = scalar(b, at->dtype(), static_cast<double>(in.count()));
  Values inputs{windows(b, operands[0], operands[1], d), windows(b, at, none, d), operands[1],
                none};
  std::vector<std::unique_ptr<Block>> region;
  region.push_back(
      extremum_region(operands[0]->dtype(), at->dtype(), combiner_of(op) == Combiner::max));
  Attrs attrs{{"dimensions", leading_dims(d.rank())}, {"combiner", std::string("region")}};
  Value* winner =
      b.create("stablehlo.reduce", inputs, std::move(attrs), std::move(region)).result(1);
  Value* taken =
      take_flat(b, reshape(b, or_zeros(b, tangents[0], operands[0]), Shape{in.count()}), winner);
  Value* element = compare(b, winner, full_like(b, winner, static_cast<double>(in.count())), "LT");
  return select(b, element, taken, of_init ? of_init : zeros_like(b, taken));
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Op& again = again_of(b, op, operands, dims_of(op));
  JvpResult out{again.results(), Values(static_cast<std::size_t>(op.num_results()), nullptr)};
  if (all_null(tangents)) return out;
  switch (combiner_of(op)) {
    case Combiner::add: {
      Values full{or_zeros(b, tangents[0], operands[0]), or_zeros(b, tangents[1], operands[1])};
      out.tangents[0] = again_of(b, op, full, dims_of(op)).result();
      break;
    }
    case Combiner::min:
    case Combiner::max: out.tangents[0] = extremum_tangent(b, op, operands, tangents); break;
    default: return jvp_decomposed(b, op, operands, tangents);
  }
  return out;
}

/// Of a sum: every element's cotangent is the sum over the windows that it is in; strides and
/// base dilations trade places.
Value* sum_cotangent(Builder& b, const Op& op, Value* ct) {
  const Shape& in = op.operand(0)->shape();
  if (in.count() == 0 || ct->shape().count() == 0) return zeros(b, op.operand(0)->type());
  WindowDims d = dims_of(op), t = d;
  std::swap(t.stride, t.base_dilation);
  auto dilated = [](std::int64_t size, std::int64_t by) { return (size - 1) * by + 1; };
  for (std::size_t i = 0; i < d.size.size(); ++i) {
    int k = static_cast<int>(i);
    std::int64_t window = dilated(d.size[i], d.window_dilation[i]);
    t.low[i] = window - d.low[i] - 1;
    t.high[i] = dilated(in[k], d.base_dilation[i]) + window - 1 -
                dilated(ct->shape()[k], d.stride[i]) - t.low[i];
  }
  return again_of(b, op, Values{ct, zeros(b, Type::scalar(ct->dtype()))}, t).result();
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                      const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  if (combiner_of(op) != Combiner::add || linear[1])
    return transpose_decomposed(b, op, operands, linear, cotangents);
  return {cotangents[0] ? sum_cotangent(b, op, cotangents[0]) : nullptr, nullptr};
}

// ---- batching, sharding, cost ------------------------------------------------------------------

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  std::size_t n = static_cast<std::size_t>(num_inputs(op));
  for (std::size_t i = n; i < operands.size(); ++i)
    if (batched[i]) return batch_decomposed(b, op, operands, batched, size);
  Values full(operands.begin(), operands.end());
  for (std::size_t i = 0; i < n; ++i) full[i] = batched_operand(b, operands[i], batched[i], size);
  return {again_of(b, op, full, with_leading(dims_of(op))).results(), std::vector<bool>(n, true)};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  WindowDims d = dims_of(op);
  for (int i = 0; i < d.rank(); ++i) {
    int f = t.factor(d.is_trivial(i) ? 'p' : 'm', op.operand(0)->shape().dim(i).bound());
    for (int k = 0; k < num_inputs(op); ++k) {
      t.operand(k, i, f);
      t.result(k, i, f);
    }
  }
  return t.take();
}

Work cost(const Op& op) {
  double per_element = op.regions.empty() ? 1 : static_cast<double>(op.region(0).ops().size());
  for (std::int64_t size : dims_of(op).size) per_element *= static_cast<double>(size);
  return {elements(op) * per_element, bytes_moved(op)};
}

}  // namespace

const OpDef& reduce_window_def() {
  static const OpDef def{
      .info = ir::inferred_by("C14, C15, C16", {.name = "stablehlo.reduce_window",
                                                .infer = infer,
                                                .text = &ir::formats::reduce_window,
                                                .quantized = quantized::per_tensor}),
      .summary = "combines the elements of each window (StableHLO, reduce_window)",
      .traits = {.takes_complex = true},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = None{"a reduction over windows (decompose)"},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
