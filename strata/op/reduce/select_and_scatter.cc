// stablehlo.select_and_scatter: each window of an array selects an element; values are combined
// where the selected elements stand.
//
// Contract (StableHLO, select_and_scatter): operands operand, source, init_value; attributes
// `window_dimensions` and, where stated, `window_strides`, `padding` (low and high of each
// dimension in turn); `select`, a direction of compare, and `combiner`, a plain one, or both
// "region" with two regions. Constraints by their numbers in the messages below.
//
// Each window is searched row-major; padding is no candidate, and a window of padding alone selects
// nothing. The source's elements are combined in row-major order, beginning with the initial value:
// a plain combiner in f32 for bf16 and f16, rounded once, a region rounding each time. Defined by a
// reduction over windows (op/reduce/windows.h) and a scatter.
#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/calculus/closed.h"
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/reduce/combiner.h"
#include "strata/op/reduce/windows.h"

namespace strata::op {
namespace {

constexpr const char* kSelf = "select_and_scatter";
constexpr int kOperands = 3;

WindowDims dims_of(const Attrs& attrs, int rank) {
  expect_attr<Ints>(kSelf, attrs, "window_dimensions");
  WindowDims d = WindowDims::trivial(rank);
  d.size = window_list(kSelf, attrs, {"window_dimensions", "C4", "C5"}, rank);
  d.stride = window_list(kSelf, attrs, {"window_strides", "C6", "C7"}, rank);
  set_padding(kSelf, attrs, "C8", d);
  return d;
}
WindowDims dims_of(const Op& op) { return dims_of(op.attrs, op.operand(0)->rank()); }
const std::string& select_word(const Attrs& attrs) {
  return expect_attr<std::string>(kSelf, attrs, "select");
}
const std::string& combiner_word(const Attrs& attrs) {
  return expect_attr<std::string>(kSelf, attrs, "combiner");
}

// ---- inference ---------------------------------------------------------------------------------

void expect_select(const Block& region, DType dtype) {
  auto is = [](const Value* v, DType wanted) { return v->type() == Type::scalar(wanted); };
  if (region.arguments().size() != 2 || region.results.size() != 1)
    throw Error(kSelf, "the region that selects takes 2 scalars and gives 1, got {} and {} (C9)",
                region.arguments().size(), region.results.size());
  if (!is(region.argument(0), dtype) || !is(region.argument(1), dtype) ||
      !is(region.results[0], DType::i1))
    throw Error(kSelf,
                "the region that selects must map two {} to tensor<i1>, got {} and {} to {} (C9)",
                Type::scalar(dtype).to_string(), region.argument(0)->type().to_string(),
                region.argument(1)->type().to_string(), region.results[0]->type().to_string());
}

/// The dtype that values are combined in.
DType expect_regions(const Attrs& attrs, DType dtype,
                     std::span<const std::unique_ptr<Block>> regions) {
  if (select_word(attrs) != "region" && combiner_word(attrs) != "region") {
    for (const char* direction : {"EQ", "NE", "GE", "GT", "LE", "LT"})
      if (select_word(attrs) == direction && regions.empty()) {
        std::optional<Combiner> combiner = parse_combiner(combiner_word(attrs));
        if (!combiner) throw Error(kSelf, "unknown combiner '{}' (C10)", combiner_word(attrs));
        ir::under("C10", [&] { expect_combiner(kSelf, *combiner, dtype); });
        return dtype;
      }
    throw Error(kSelf, "unknown selection '{}' with {} regions (C9)", select_word(attrs),
                regions.size());
  }
  if (regions.size() != 2) throw Error(kSelf, "expected two regions, got {}", regions.size());
  expect_select(*regions[0], dtype);
  if (regions[1]->results.size() == 1 && regions[1]->results[0]->type().is_tensor()) {
    ir::under("C10", [&] { expect_promotable(kSelf, dtype, regions[1]->results[0]->dtype()); });
    dtype = regions[1]->results[0]->dtype();
  }
  ir::under("C10", [&] { expect_region(kSelf, regions.subspan(1), {dtype}); });
  return dtype;
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>> regions) {
  expect_operands(kSelf, operands, kOperands);
  const Type &operand = operands[0]->type(), &source = operands[1]->type(),
             &init = operands[2]->type();
  if (source.dtype() != operand.dtype())
    throw Error(kSelf, "operand and source must have one dtype, got {} and {} (C1)",
                operand.to_string(), source.to_string());
  if (init.rank() != 0 || init.dtype() != operand.dtype())
    throw Error(kSelf, "the initial value of {} must be a scalar of its dtype, got {} (C3)",
                operand.to_string(), init.to_string());
  WindowDims d = dims_of(attrs, operand.rank());
  std::vector<Dim> dims;
  for (int i = 0; i < d.rank(); ++i) dims.push_back(window_count(d, i, operand.shape().dim(i)));
  Shape windows(std::move(dims));
  if (!may_equal(windows, source.shape()))
    throw Error(kSelf, "the source must have one element for each of the {} windows, got {} (C2)",
                windows.to_string(), source.to_string());
  return {operand.with(expect_regions(attrs, operand.dtype(), regions))};  // (C11), (C12)
}

// ---- definition --------------------------------------------------------------------------------

/// What the regions captured, in closed form: the same further operands for both.
std::span<Value* const> captured(std::span<Value* const> operands) {
  return operands.subspan(kOperands);
}

/// (value, position, value, position): keeps the first while it is selected; `count` is the
/// position of padding.
std::unique_ptr<Block> selecting_region(const Op& op, std::span<Value* const> operands,
                                        DType position, std::int64_t count) {
  DType dtype = op.operand(0)->dtype();
  auto block = std::make_unique<Block>();
  Value *v = block->add_argument(Type::scalar(dtype)),
        *i = block->add_argument(Type::scalar(position)),
        *w = block->add_argument(Type::scalar(dtype)),
        *j = block->add_argument(Type::scalar(position));
  Builder b(*block);
  Value* selected;
  if (op.regions.empty()) {
    selected = compare(b, v, w, select_word(op.attrs));
  } else {
    auto regions = reopened(op, 2, captured(operands));
    selected = ir::inline_block(b, *regions[0], Values{v, w})[0];
  }
  Value* padding = scalar(b, position, static_cast<double>(count));
  Value* keep =
      and_(b, compare(b, i, padding, "NE"), or_(b, compare(b, j, padding, "EQ"), selected));
  block->results = {select(b, keep, v, w), select(b, keep, i, j)};
  return block;
}

/// The position in the (flat) operand that each window selects; the operand's count where it
/// selects nothing.
Value* selected_positions(Builder& b, const Op& op, std::span<Value* const> operands) {
  Value* x = operands[0];
  WindowDims d = dims_of(op);
  std::int64_t count = x->shape().count();
  Value* at = positions(b, x->shape());
  Value *none = scalar(b, at->dtype(), static_cast<double>(count)),
        *zero = zeros(b, Type::scalar(x->dtype()));
  std::vector<std::unique_ptr<Block>> region;
  region.push_back(selecting_region(op, operands, at->dtype(), count));
  Ints dims;
  for (int i = 0; i < d.rank(); ++i) dims.push_back(i);
  Attrs attrs{{"dimensions", dims}, {"combiner", std::string("region")}};
  return b
      .create("stablehlo.reduce", {windows(b, x, zero, d), windows(b, at, none, d), zero, none},
              std::move(attrs), std::move(region))
      .result(1);
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Shape shape = operands[0]->shape();
  DType dtype = op.result()->dtype();
  const std::string& word = combiner_word(op.attrs);
  DType wide = word == "region" ? dtype : accumulator(dtype);
  Value* start = broadcast_in_dim(b, convert(b, operands[2], wide), Shape{shape.count()}, {});
  Value* at = selected_positions(b, op, operands);
  std::vector<std::unique_ptr<Block>> region;
  if (word == "region") region.push_back(std::move(reopened(op, 2, captured(operands))[1]));
  Value* sums = scatter_flat(b, start, at, convert(b, operands[1], wide), word, std::move(region));
  return {reshape(b, convert(b, sums, dtype), shape)};
}

// ---- derivative, transpose, batching -----------------------------------------------------------

Op& again_of(Builder& b, const Op& op, std::span<Value* const> operands, const WindowDims& d) {
  Attrs attrs = op.attrs;
  attrs.set("window_dimensions", d.size)
      .set("window_strides", d.stride)
      .set("padding", flat_padding(d));
  return b.create(op.info(), Values(operands.begin(), operands.begin() + kOperands),
                  std::move(attrs), reopened(op, 2, captured(operands)));
}

/// What is selected does not change with the operand's elements, but where it jumps; a sum is
/// linear in the rest.
JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  if (combiner_word(op.attrs) != "add") {
    Values rest(tangents.begin(), tangents.end());
    rest[0] = nullptr;
    return jvp_decomposed(b, op, operands, rest);
  }
  Value* result = again_of(b, op, operands, dims_of(op)).result();
  if (!tangents[1] && !tangents[2]) return {{result}, {nullptr}};
  Values moved{operands[0], or_zeros(b, tangents[1], operands[1]),
               or_zeros(b, tangents[2], operands[2])};
  return {{result}, {again_of(b, op, moved, dims_of(op)).result()}};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  for (std::size_t i = 2; i < operands.size(); ++i)
    if (batched[i]) return batch_decomposed(b, op, operands, batched, size);
  Values full(operands.begin(), operands.end());
  for (std::size_t i = 0; i < 2; ++i) full[i] = batched_operand(b, operands[i], batched[i], size);
  return {{again_of(b, op, full, with_leading(dims_of(op))).result()}, {true}};
}

// ---- sharding, cost ----------------------------------------------------------------------------

Factors shard(const Op& op) {
  FactorTable t(op);
  WindowDims d = dims_of(op);
  for (int i = 0; i < d.rank(); ++i) {
    int f = t.factor(d.is_trivial(i) ? 'p' : 'm', op.operand(0)->shape().dim(i).bound());
    t.operand(0, i, f);
    t.operand(1, i, f);
    t.result(0, i, f);
  }
  return t.take();
}

Work cost(const Op& op) {
  double window = 1;
  for (std::int64_t size : dims_of(op).size) window *= static_cast<double>(size);
  double sources = 1;
  for (const Dim& dim : op.operand(1)->shape().dims())
    sources *= static_cast<double>(std::max<std::int64_t>(dim.bound(), 1));
  return {sources * (window + 1), bytes_moved(op)};
}

}  // namespace

const OpDef& select_and_scatter_def() {
  static const OpDef def{
      .info = ir::inferred_by("C11, C12", {.name = "stablehlo.select_and_scatter",
                                           .infer = infer,
                                           .text = &ir::formats::select_and_scatter,
                                           .quantized = quantized::per_tensor}),
      .summary =
          "combines values at the elements that windows select (StableHLO, select_and_scatter)",
      .traits = {.takes_complex = true},
      .evaluate = evaluate_decomposed,
      .jvp = jvp,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_decomposed,
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = None{"a reduction over windows and a scatter (decompose)"},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
