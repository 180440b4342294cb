// stablehlo.scatter: an array with slices, at positions given by an array of indices, combined with
// updates.
//
// Contract (StableHLO, scatter): operands [inputs..., scatter_indices, updates...]; attributes
// `update_window_dims`, `inserted_window_dims`, `input_batching_dims`,
// `scatter_indices_batching_dims`, `scatter_dims_to_operand_dims`, `index_vector_dim`,
// `indices_are_sorted`, `unique_indices`, `combiner` (a plain one, "assign", or "region").
//   (C1) inputs have one shape; (C3) updates have one shape; (C4) the window sizes fit the inputs,
//   the other dimensions of the updates are the indices' shape without the index vector; (C6)
//   dtypes of inputs and updates agree pairwise; the rest as for gather (indexing.h); a region maps
//   (current..., update...) to current scalars.
// A window that is not inside whole is dropped (docs/decision/0010-windows-outside.md).
// Updates of one element are applied in order: row-major over the indices, then row-major over the
// window; every application rounds in the element's dtype.
#include "strata/op/index/scatter.h"

#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/quantized/quantized.h"

namespace strata::op {
namespace {

// ---- inference ---------------------------------------------------------------------------------

void expect_updates(const IndexDims& d, const Type& input, const Type& indices,
                    const Type& updates) {
  std::vector<Dim> outer = outer_sizes(d, indices);
  if (updates.rank() != static_cast<int>(outer.size() + d.window.size()))
    throw Error("scatter", "updates must have rank {}, got {} (C4)", outer.size() + d.window.size(),
                updates.to_string());
  expect_index_dims("scatter", d, input, indices, updates.rank(), kScatterConstraints);
  Ints windowed = d.windowed(input.rank()), outer_dims = d.outer(updates.rank());
  for (std::size_t i = 0; i < windowed.size(); ++i) {
    const Dim &whole = input.shape().dim(static_cast<int>(windowed[i])),
              &part = updates.shape().dim(static_cast<int>(d.window[i]));
    if (whole.is_static() && part.is_static() && part.size() > whole.size())
      throw Error("scatter", "window dimension {} of {} does not fit dimension {} of {} (C4)",
                  d.window[i], updates.to_string(), windowed[i], input.to_string());
  }
  for (std::size_t i = 0; i < outer.size(); ++i)
    if (!may_equal(updates.shape().dim(static_cast<int>(outer_dims[i])), outer[i]))
      throw Error("scatter", "dimension {} of {} does not match the indices {} (C4)", outer_dims[i],
                  updates.to_string(), indices.to_string());
}

void expect_combination(const std::string& word, const std::vector<DType>& dtypes,
                        std::span<const std::unique_ptr<Block>> regions) {
  if (word == "region") return ir::under("C23", [&] { expect_region("scatter", regions, dtypes); });
  std::optional<Combiner> combiner = parse_combiner(word);
  if (!combiner && word != "assign") throw Error("scatter", "unknown combiner '{}'", word);
  if (dtypes.size() != 1 || !regions.empty())
    throw Error("scatter",
                "combiner {} takes one input and no region, got {} inputs and {} regions", word,
                dtypes.size(), regions.size());
  if (combiner) ir::under("C23", [&] { expect_combiner("scatter", *combiner, dtypes[0]); });
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>> regions) {
  if (operands.size() < 3 || operands.size() % 2 == 0)
    throw Error("scatter",
                "expected inputs, indices and as many updates as inputs, got {} operands (C5)",
                operands.size());
  std::size_t n = (operands.size() - 1) / 2;
  IndexDims d = scatter_dims(attrs);
  const Type& indices = operands[n]->type();
  if (indices.is_tensor() && (d.index_vector < 0 || d.index_vector > indices.rank()))
    throw Error("scatter", "index_vector_dim {} is out of range for {} (C22)", d.index_vector,
                indices.to_string());
  std::vector<DType> dtypes;
  std::vector<Type> results;
  for (std::size_t i = 0; i < n; ++i) {
    const Type &input = operands[i]->type(), &updates = operands[n + 1 + i]->type();
    if (!input.is_tensor() || !indices.is_tensor() || !updates.is_tensor())
      throw Error("scatter", "operands must be arrays, got {}, {} and {} ({})", input.to_string(),
                  indices.to_string(), updates.to_string(),
                  !input.is_tensor()     ? "I1"
                  : !indices.is_tensor() ? "I2"
                                         : "I3");
    if (input.dtype() != updates.dtype())
      throw Error("scatter", "inputs and updates must have one dtype, got {} and {} (C6)",
                  input.to_string(), updates.to_string());
    if (!may_equal(input.shape(), operands[0]->shape()))
      throw Error("scatter", "inputs must have one shape, got {} and {} (C1)",
                  operands[0]->type().to_string(), input.to_string());
    if (!may_equal(updates.shape(), operands[n + 1]->type().shape()))
      throw Error("scatter", "updates must have one shape, got {} and {} (C3)",
                  operands[n + 1]->type().to_string(), updates.to_string());
    expect_updates(d, input, indices, updates);
    dtypes.push_back(input.dtype());
    results.push_back(input);
  }
  expect_combination(expect_attr<std::string>("scatter", attrs, "combiner"), dtypes, regions);
  return results;
}

// ---- reference evaluation ----------------------------------------------------------------------

/// Calls f(from, to) with the positions of an update element and of the input element it meets, in
/// order.
template <class F>
void for_each_update(const Op& op, const Literal& indices, F&& f) {
  IndexDims d = scatter_dims(op.attrs);
  const Shape &input = op.operand(0)->shape(), &updates = scatter_updates(op)->shape();
  Ints window_size = window_sizes(op, d);
  std::vector<std::int64_t> strides = input.strides(), update_strides = updates.strides(),
                            index_strides = indices.shape().strides();
  Ints outer_dims = d.outer(updates.rank());
  std::vector<std::int64_t> update_sizes = updates.sizes();
  Shape outer_shape = Shape::of(picked<std::int64_t>(update_sizes, outer_dims)),
        window_shape = Shape::of(picked<std::int64_t>(update_sizes, d.window));
  for_each_index(outer_shape, [&](std::span<const std::int64_t> outer, std::int64_t) {
    std::vector<std::int64_t> start(static_cast<std::size_t>(input.rank()), 0);
    for (std::size_t c = 0; c < d.index_map.size(); ++c) {
      auto at = index_position<std::int64_t>(d, indices.type().rank(), outer,
                                             static_cast<std::int64_t>(c));
      std::int64_t first = indices.integer(linear_index(at, index_strides)), dim = d.index_map[c];
      if (first < 0 ||
          first > input[static_cast<int>(dim)] - window_size[static_cast<std::size_t>(dim)])
        return;
      start[static_cast<std::size_t>(dim)] = first;
    }
    for_each_index(window_shape, [&](std::span<const std::int64_t> window, std::int64_t) {
      auto to = window_position<std::int64_t>(d, input.rank(), outer, window);
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += start[i];
      std::int64_t from = 0;
      for (std::size_t i = 0; i < outer.size(); ++i)
        from += outer[i] * update_strides[static_cast<std::size_t>(outer_dims[i])];
      for (std::size_t i = 0; i < window.size(); ++i)
        from += window[i] * update_strides[static_cast<std::size_t>(d.window[i])];
      f(from, linear_index(to, strides));
    });
  });
}

void apply_plain(const Op& op, const Literal& indices, const Literal& updates, Literal& out) {
  Combiner combiner = combiner_of(op);
  dispatch(out.dtype(), [&](auto storage) {
    using S = decltype(storage);
    using T = Accumulator<S>;
    auto from = updates.span<S>();
    auto to = out.mutable_span<S>();
    for_each_update(op, indices, [&](std::int64_t i, std::int64_t o) {
      S& into = to[static_cast<std::size_t>(o)];
      into = static_cast<S>(combine<T>(combiner, static_cast<T>(into),
                                       static_cast<T>(from[static_cast<std::size_t>(i)])));
    });
  });
}

void apply_region(const Op& op, std::span<const Literal> operands, Literals& out,
                  Evaluator& evaluator) {
  std::size_t n = out.size();
  for_each_update(op, operands[n], [&](std::int64_t i, std::int64_t o) {
    Literals arguments;
    for (std::size_t k = 0; k < 2 * n; ++k) {
      const Literal& source = k < n ? out[k] : operands[k + 1];
      Literal element(Type::scalar(source.dtype()));
      copy_element(source, k < n ? o : i, element, 0);
      arguments.push_back(std::move(element));
    }
    Literals combined = evaluator.run(op.region(0), arguments);
    for (std::size_t k = 0; k < n; ++k) copy_element(combined[k], 0, out[k], o);
  });
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  std::size_t n = static_cast<std::size_t>(scatter_inputs(op));
  Literals out;
  for (std::size_t i = 0; i < n; ++i) {
    out.emplace_back(operands[i].type());
    if (out[i].bytes() > 0) std::memcpy(out[i].mutable_data(), operands[i].data(), out[i].bytes());
  }
  if (assigns(op))
    for_each_update(op, operands[1], [&](std::int64_t i, std::int64_t o) {
      copy_element(operands[2], i, out[0], o);
    });
  else if (combiner_of(op) == Combiner::region)
    apply_region(op, operands, out, evaluator);
  else
    apply_plain(op, operands[1], operands[2], out[0]);
  return out;
}

std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts> operands) {
  return split_combined(b, op, operands, true);
}

Work cost(const Op& op) {
  const Value* updates = scatter_updates(op);
  double bytes = 3.0 * static_cast<double>(updates->type().bytes()) +
                 static_cast<double>(scatter_indices(op)->type().bytes());
  return {assigns(op) ? 0.0 : static_cast<double>(updates->shape().count()), bytes};
}

}  // namespace

bool is_free(const IndexDims& d, std::int64_t operand_dim) {
  auto in = [&](const Ints& list) {
    return std::find(list.begin(), list.end(), operand_dim) != list.end();
  };
  return !in(d.dropped) && !in(d.operand_batch) && !in(d.index_map);
}

Ints window_sizes(const Op& op, const IndexDims& d) {
  const Shape &operand = op.operand(0)->shape(), &updates = scatter_updates(op)->shape();
  Ints sizes(static_cast<std::size_t>(operand.rank()), 1), windowed = d.windowed(operand.rank());
  for (std::size_t i = 0; i < windowed.size(); ++i)
    sizes[static_cast<std::size_t>(windowed[i])] = updates[static_cast<int>(d.window[i])];
  return sizes;
}

const OpDef& scatter_def() {
  static const OpDef d{
      .info = ir::inferred_by("C24, C25", {.name = "stablehlo.scatter",
                                           .infer = infer,
                                           .text = &ir::formats::scatter,
                                           .quantized = quantized::per_tensor}),
      .summary =
          "slices at positions given by an array of indices combined with updates (StableHLO, "
          "scatter)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = scatter_jvp,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = scatter_transpose,
      .batch = scatter_batch,
      .shard = scatter_shard,
      .cost = cost,
      .lowering = Update{scatter_grid, scatter_emit},
      .decompose = scatter_decompose,
      .split = split,
  };
  return d;
}

Value* scatter(Builder& b, Value* operand, Value* indices, Value* updates, const IndexDims& dims,
               const std::string& combiner, bool unique_indices) {
  Attrs attrs;
  set_scatter_dims(attrs, dims);
  attrs.set("indices_are_sorted", false)
      .set("unique_indices", unique_indices)
      .set("combiner", combiner);
  return b.create(scatter_def().info, {operand, indices, updates}, std::move(attrs)).result();
}

}  // namespace strata::op
