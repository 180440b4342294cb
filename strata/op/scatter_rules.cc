// Scatter: derivative, transpose, batching, sharding.
#include "strata/op/build.h"
#include "strata/op/scatter.h"

namespace strata::op {
namespace {

/// The same scatter (combiner and region too) of other inputs and updates.
Op& scatter_again(Builder& b, const Op& op, Values operands, const IndexDims& dims) {
  Attrs attrs = op.attrs;
  set_scatter_dims(attrs, dims);
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& r : op.regions) regions.push_back(ir::clone(*r));
  return b.create(op.info(), std::move(operands), std::move(attrs), std::move(regions));
}
Op& scatter_again(Builder& b, const Op& op, Values operands) { return scatter_again(b, op, std::move(operands), scatter_dims(op.attrs)); }
bool unique(const Op& op) { return op.attrs.get_or<bool>("unique_indices", false); }

/// Scatter with another combiner at the same places.
Value* scatter_like(Builder& b, const Op& op, Value* operand, Value* indices, Value* updates, const std::string& combiner) {
  return scatter(b, operand, indices, updates, scatter_dims(op.attrs), combiner, unique(op));
}

/// Size of the window in each operand dimension (1 where it has none).
Ints window_sizes(const Op& op, const IndexDims& d) {
  const Shape &operand = op.operand(0)->shape(), &updates = scatter_updates(op)->shape();
  Ints sizes(static_cast<std::size_t>(operand.rank()), 1), windowed = d.windowed(operand.rank());
  for (std::size_t i = 0; i < windowed.size(); ++i) sizes[static_cast<std::size_t>(windowed[i])] = updates[static_cast<int>(d.window[i])];
  return sizes;
}

/// One constant per index component, spread over the indices.
Value* per_component(Builder& b, const IndexDims& d, const Value* indices, const Ints& values) {
  Literal entries(Type(indices->dtype(), Shape{static_cast<std::int64_t>(values.size())}));
  for (std::size_t i = 0; i < values.size(); ++i) entries.set_integer(static_cast<std::int64_t>(i), values[i]);
  Value* row = constant(b, entries);
  if (d.index_vector < indices->rank()) return broadcast_in_dim(b, row, indices->shape(), {d.index_vector});
  return broadcast_in_dim(b, reshape(b, row, Shape{}), indices->shape(), {});
}

/// An index dtype that holds every position and the shifts below.
DType wide_enough(DType dtype, const Ints& high) {
  bool small = std::all_of(high.begin(), high.end(), [](std::int64_t n) { return n < (std::int64_t{1} << 30); });
  bool narrow = bit_width(dtype) < 32 || dtype == DType::i32;
  return small && narrow ? DType::i32 : DType::i64;
}

/// For each element of the updates the element of `array` (of the operand's shape) that it meets; zero where it falls outside. A
/// gather would clamp and so misalign windows that stick out; a margin of zeros as wide as the window prevents it.
Value* read_back(Builder& b, const Op& op, Value* array, Value* indices) {
  IndexDims d = scatter_dims(op.attrs);
  Ints sizes = window_sizes(op, d), margin(sizes.size(), 0), low, high, shift;
  for (std::int64_t dim : d.index_map) {
    std::int64_t w = sizes[static_cast<std::size_t>(dim)], n = array->shape()[static_cast<int>(dim)];
    margin[static_cast<std::size_t>(dim)] = w;
    low.push_back(-w);
    high.push_back(n);
    shift.push_back(w);
  }
  if (!d.index_map.empty()) {
    array = pad(b, array, scalar(b, array->dtype(), 0), margin, margin);
    indices = convert(b, indices, wide_enough(indices->dtype(), high));
    indices = clamp(b, per_component(b, d, indices, low), indices, per_component(b, d, indices, high));
    indices = add(b, indices, per_component(b, d, indices, shift));
  }
  return gather(b, array, indices, d, sizes);
}

/// Which elements of the updates are the last ones written to their place, by writing and reading back their numbers.
Value* winners(Builder& b, const Op& op, Value* indices) {
  const Shape& shape = scatter_updates(op)->shape();
  DType counter = shape.count() < (std::int64_t{1} << 30) ? DType::i32 : DType::i64;
  Value* numbers = reshape(b, iota(b, Type(counter, Shape{shape.count()}), 0), shape);
  numbers = add(b, numbers, full_like(b, numbers, 1));  // 0: nothing was written
  Value* written = scatter_like(b, op, zeros(b, Type(counter, op.operand(0)->shape())), indices, numbers, "assign");
  return compare(b, read_back(b, op, written, indices), numbers, "EQ");
}

/// d(x * u1 * u2 ..) needs products of all but one update where several meet, so that case is refused.
Value* product_tangent(Builder& b, const Op& op, std::span<Value* const> operands, Value* t, Value* t_updates) {
  Value* scaled = t ? scatter_like(b, op, t, operands[1], operands[2], "mul") : nullptr;
  if (t_updates == nullptr) return scaled;
  if (!unique(op)) throw Error("scatter", "a product has a derivative in its updates only with unique_indices");
  Value* terms = mul(b, t_updates, read_back(b, op, operands[0], operands[1]));
  return add_or_null(b, scaled, scatter_like(b, op, zeros_like(b, operands[0]), operands[1], terms, "add"));
}

/// The input's element and all updates that meet it share the tangent equally among those that equal the result.
Value* extremum_tangent(Builder& b, const Op& op, std::span<Value* const> operands, Value* result, Value* t, Value* t_updates) {
  DType dtype = result->dtype();
  Value* mask = convert(b, compare(b, operands[0], result, "EQ"), dtype);
  Value* update_mask = convert(b, compare(b, operands[2], read_back(b, op, result, operands[1]), "EQ"), dtype);
  Value* count = scatter_like(b, op, mask, operands[1], update_mask, "add");
  Value* total = t ? mul(b, t, mask) : zeros_like(b, result);
  if (t_updates) total = scatter_like(b, op, total, operands[1], mul(b, t_updates, update_mask), "add");
  return div(b, total, count);
}

}  // namespace

JvpResult scatter_jvp(Builder& b, const Op& op, std::span<Value* const> operands, std::span<Value* const> tangents) {
  JvpResult out{scatter_again(b, op, Values(operands.begin(), operands.end())).results(),
                Values(static_cast<std::size_t>(op.num_results()), nullptr)};
  if (all_null(tangents)) return out;
  if (!op.regions.empty()) throw Error("scatter", "a scatter by a general region has no derivative");
  Value *t = tangents[0], *t_updates = tangents[2];
  if (assigns(op) || combiner_of(op) == Combiner::add)
    out.tangents[0] = scatter_again(b, op, {or_zeros(b, t, operands[0]), operands[1], or_zeros(b, t_updates, operands[2])}).result();
  else if (combiner_of(op) == Combiner::mul)
    out.tangents[0] = product_tangent(b, op, operands, t, t_updates);
  else
    out.tangents[0] = extremum_tangent(b, op, operands, out.results[0], t, t_updates);
  return out;
}

Values scatter_transpose(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>& linear,
                         std::span<Value* const> cotangents) {
  Values out(operands.size(), nullptr);
  Value *ct = cotangents[0], *indices = operands.size() == 3 ? operands[1] : nullptr;
  if (ct == nullptr) return out;
  if (assigns(op)) {
    Value* zero = zeros(b, scatter_updates(op)->type());
    if (linear[0]) out[0] = scatter_like(b, op, ct, indices, zero, "assign");
    if (linear[2]) out[2] = read_back(b, op, ct, indices);
    if (linear[2] && !unique(op)) out[2] = select(b, winners(b, op, indices), out[2], zero);
  } else if (combiner_of(op) == Combiner::add) {
    if (linear[0]) out[0] = ct;
    if (linear[2]) out[2] = read_back(b, op, ct, indices);
  } else if (combiner_of(op) == Combiner::mul && !linear[2]) {
    out[0] = scatter_like(b, op, ct, indices, operands[2], "mul");
  } else {
    throw Error("scatter", "a scatter by {} is not linear in its updates", name(combiner_of(op)));
  }
  return out;
}

/// Indices per example: a batching dimension. Shared indices: the new dimension is one more of the window.
Batched scatter_batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>& batched, std::int64_t size) {
  std::size_t n = static_cast<std::size_t>(scatter_inputs(op));
  std::vector<bool> flags(n, true);
  if (std::find(batched.begin(), batched.end(), true) == batched.end())
    return {scatter_again(b, op, Values(operands.begin(), operands.end())).results(), std::vector<bool>(n, false)};
  Values full;
  for (std::size_t i = 0; i < operands.size(); ++i)
    full.push_back(i == n ? operands[i] : batched_operand(b, operands[i], batched[i], size));
  return {scatter_again(b, op, std::move(full), with_batch(scatter_dims(op.attrs), true, batched[n])).results(), flags};
}

/// Whole windows and batching dimensions pass through; what is indexed stays together.
Factors scatter_shard(const Op& op) {
  FactorTable t(op);
  IndexDims d = scatter_dims(op.attrs);
  int n = scatter_inputs(op), updates_rank = scatter_updates(op)->rank();
  const Shape &operand = op.operand(0)->shape(), &updates = scatter_updates(op)->shape();
  Ints outer_dims = d.outer(updates_rank), windowed = d.windowed(operand.rank());
  auto inputs = [&](int dim, int f) {
    for (int i = 0; i < n; ++i) {
      t.operand(i, dim, f);
      t.result(i, dim, f);
    }
  };
  auto each_update = [&](int dim, int f) {
    for (int i = 0; i < n; ++i) t.operand(n + 1 + i, dim, f);
  };
  for (int i = 0; i < scatter_indices(op)->rank(); ++i) {
    auto paired = std::find(d.indices_batch.begin(), d.indices_batch.end(), i);
    bool batching = paired != d.indices_batch.end();
    int f = t.factor(batching ? 'p' : 'n', scatter_indices(op)->shape().dim(i).bound());
    t.operand(n, i, f);
    if (i != d.index_vector) each_update(static_cast<int>(outer_dims[static_cast<std::size_t>(d.outer_of(i))]), f);
    if (batching) inputs(static_cast<int>(d.operand_batch[static_cast<std::size_t>(paired - d.indices_batch.begin())]), f);
  }
  for (std::int64_t i : d.dropped) inputs(static_cast<int>(i), t.factor('n', operand.dim(static_cast<int>(i)).bound()));
  for (std::size_t i = 0; i < windowed.size(); ++i) {
    int dim = static_cast<int>(windowed[i]), from = static_cast<int>(d.window[i]);
    share_if_whole(t, operand.dim(dim), updates.dim(from), [&](int f) { inputs(dim, f); }, [&](int f) { each_update(from, f); });
  }
  return t.take();
}

}  // namespace strata::op
