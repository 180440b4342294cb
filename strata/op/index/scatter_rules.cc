// Scatter: derivative, transpose, batching, sharding.
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/closed.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/control.h"
#include "strata/op/index/scatter.h"
#include "strata/op/legalize.h"

namespace strata::op {
namespace {

Op& scatter_again(Builder& b, const Op& op, Values operands) {
  return scatter_again(b, op, std::move(operands), scatter_dims(op.attrs));
}
bool unique(const Op& op) { return op.attrs.get_or<bool>("unique_indices", false); }

/// Scatter with another combiner at the same places.
Value* scatter_like(Builder& b, const Op& op, Value* operand, Value* indices, Value* updates,
                    const std::string& combiner) {
  return scatter(b, operand, indices, updates, scatter_dims(op.attrs), combiner, unique(op));
}

/// One constant per index component, spread over the indices.
Value* per_component(Builder& b, const IndexDims& d, const Value* indices, const Ints& values) {
  Literal entries(Type(indices->dtype(), Shape{static_cast<std::int64_t>(values.size())}));
  for (std::size_t i = 0; i < values.size(); ++i)
    entries.set_integer(static_cast<std::int64_t>(i), values[i]);
  Value* row = constant(b, entries);
  if (d.index_vector < indices->rank())
    return broadcast_in_dim(b, row, indices->shape(), {d.index_vector});
  return broadcast_in_dim(b, reshape(b, row, Shape{}), indices->shape(), {});
}

/// Which windows are inside whole, for each element of the updates; null when all do.
Value* inside(Builder& b, const Op& op, Value* indices) {
  IndexDims d = scatter_dims(op.attrs);
  if (d.index_map.empty()) return nullptr;
  const Value* updates = scatter_updates(op);
  Ints sizes = window_sizes(op, d), high;
  for (std::int64_t dim : d.index_map)
    high.push_back(op.operand(0)->shape()[static_cast<int>(dim)] -
                   sizes[static_cast<std::size_t>(dim)]);
  // Unsigned 64-bit numbers beyond what i64 holds become negative, which is outside too.
  Value* position = convert(b, indices, DType::i64);
  Value* fits = and_(b, compare(b, position, zeros_like(b, position), "GE"),
                     compare(b, position, per_component(b, d, position, high), "LE"));
  if (d.index_vector < indices->rank()) fits = reduce(b, fits, {d.index_vector}, Combiner::and_);
  return broadcast_in_dim(b, fits, updates->shape(), d.outer(updates->rank()));
}

/// For each element of the updates the element of `array` (of the operand's shape) that it meets;
/// zero where it is dropped.
Value* read_back(Builder& b, const Op& op, Value* array, Value* indices) {
  if (array->shape().count() == 0)
    return zeros(b, Type(array->dtype(), scatter_updates(op)->shape()));
  IndexDims d = scatter_dims(op.attrs);
  Value* elements = gather(b, array, indices, d, window_sizes(op, d));
  Value* fits = inside(b, op, indices);
  return fits ? select(b, fits, elements, zeros_like(b, elements)) : elements;
}

/// Which elements of the updates are the last ones written to their place, by writing and reading
/// back their numbers.
Value* winners(Builder& b, const Op& op, Value* indices) {
  const Shape& shape = scatter_updates(op)->shape();
  DType counter = shape.count() < (std::int64_t{1} << 30) ? DType::i32 : DType::i64;
  Value* numbers = reshape(b, iota(b, Type(counter, Shape{shape.count()}), 0), shape);
  numbers = add(b, numbers, full_like(b, numbers, 1));  // 0: nothing was written
  Value* written = scatter_like(b, op, zeros(b, Type(counter, op.operand(0)->shape())), indices,
                                numbers, "assign");
  return compare(b, read_back(b, op, written, indices), numbers, "EQ");
}

/// d(x * u1 * u2 ..) needs products of all but one update where several meet, so that case is
/// refused.
Value* product_tangent(Builder& b, const Op& op, std::span<Value* const> operands, Value* t,
                       Value* t_updates) {
  Value* scaled = t ? scatter_like(b, op, t, operands[1], operands[2], "mul") : nullptr;
  if (t_updates == nullptr) return scaled;
  if (!unique(op))
    throw Error("scatter", "a product has a derivative in its updates only with unique_indices");
  Value* terms = mul(b, t_updates, read_back(b, op, operands[0], operands[1]));
  return add_or_null(b, scaled,
                     scatter_like(b, op, zeros_like(b, operands[0]), operands[1], terms, "add"));
}

/// The input's element and all updates that meet it share the tangent equally among those that
/// equal the result.
Value* extremum_tangent(Builder& b, const Op& op, std::span<Value* const> operands, Value* result,
                        Value* t, Value* t_updates) {
  DType dtype = result->dtype();
  Value* mask = convert(b, compare(b, operands[0], result, "EQ"), dtype);
  Value* update_mask =
      convert(b, compare(b, operands[2], read_back(b, op, result, operands[1]), "EQ"), dtype);
  Value* count = scatter_like(b, op, mask, operands[1], update_mask, "add");
  Value* total = t ? mul(b, t, mask) : zeros_like(b, result);
  if (t_updates)
    total = scatter_like(b, op, total, operands[1], mul(b, t_updates, update_mask), "add");
  return div(b, total, count);
}

}  // namespace

Op& scatter_again(Builder& b, const Op& op, Values operands, const IndexDims& dims) {
  Attrs attrs = op.attrs;
  set_scatter_dims(attrs, dims);
  std::size_t own = 2 * static_cast<std::size_t>(scatter_inputs(op));
  Values captured(operands.begin() + static_cast<std::ptrdiff_t>(own + 1), operands.end());
  operands.resize(own + 1);
  return b.create(op.info(), std::move(operands), std::move(attrs),
                  reopened(op, static_cast<int>(own), captured));
}

JvpResult scatter_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                      std::span<Value* const> tangents) {
  if (!op.regions.empty() && !all_null(tangents))
    return jvp(b, *decomposition(op), operands, tangents);
  JvpResult out{scatter_again(b, op, Values(operands.begin(), operands.end())).results(),
                Values(static_cast<std::size_t>(op.num_results()), nullptr)};
  if (all_null(tangents)) return out;
  Value *t = tangents[0], *t_updates = tangents[2];
  if (assigns(op) || combiner_of(op) == Combiner::add)
    out.tangents[0] =
        scatter_again(
            b, op, {or_zeros(b, t, operands[0]), operands[1], or_zeros(b, t_updates, operands[2])})
            .result();
  else if (combiner_of(op) == Combiner::mul)
    out.tangents[0] = product_tangent(b, op, operands, t, t_updates);
  else
    out.tangents[0] = extremum_tangent(b, op, operands, out.results[0], t, t_updates);
  return out;
}

Values scatter_transpose(Builder& b, const Op& op, std::span<Value* const> operands,
                         const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  Values out(operands.size(), nullptr);
  if (all_null(cotangents)) return out;
  Value *ct = cotangents[0], *indices = operands.size() == 3 ? operands[1] : nullptr;
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

/// Indices per example: a batching dimension. Shared indices: the new dimension is one more of the
/// window.
Batched scatter_batch(Builder& b, const Op& op, std::span<Value* const> operands,
                      const std::vector<bool>& batched, std::int64_t size) {
  std::size_t n = static_cast<std::size_t>(scatter_inputs(op));
  std::vector<bool> flags(n, true);
  for (std::size_t i = 2 * n + 1; i < operands.size(); ++i)
    if (batched[i]) return batch(b, *decomposition(op), operands, batched, size);
  if (std::find(batched.begin(), batched.end(), true) == batched.end())
    return {scatter_again(b, op, Values(operands.begin(), operands.end())).results(),
            std::vector<bool>(n, false)};
  Values full;
  for (std::size_t i = 0; i < operands.size(); ++i)
    full.push_back(i == n || i > 2 * n ? operands[i]
                                       : batched_operand(b, operands[i], batched[i], size));
  return {
      scatter_again(b, op, std::move(full), with_batch(scatter_dims(op.attrs), true, batched[n]))
          .results(),
      flags};
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
    if (i != d.index_vector)
      each_update(static_cast<int>(outer_dims[static_cast<std::size_t>(d.outer_of(i))]), f);
    if (batching)
      inputs(static_cast<int>(
                 d.operand_batch[static_cast<std::size_t>(paired - d.indices_batch.begin())]),
             f);
  }
  for (std::int64_t i : d.dropped)
    inputs(static_cast<int>(i), t.factor('n', operand.dim(static_cast<int>(i)).bound()));
  for (std::size_t i = 0; i < windowed.size(); ++i) {
    int dim = static_cast<int>(windowed[i]), from = static_cast<int>(d.window[i]);
    share_if_whole(
        t, operand.dim(dim), updates.dim(from), [&](int f) { inputs(dim, f); },
        [&](int f) { each_update(from, f); });
  }
  return t.take();
}

// ---- decomposition -----------------------------------------------------------------------------

namespace {

/// Places of the updates' elements in the order in which they are applied: row-major offsets in the
/// operand, and which exist.
struct Targets {
  Value *offsets, *exist;  // exist: null when all do
};

Value* in_order(Builder& b, const IndexDims& d, Value* of_updates) {
  Ints order = d.outer(of_updates->rank());
  order.insert(order.end(), d.window.begin(), d.window.end());
  return reshape(b, transpose(b, of_updates, order), Shape{of_updates->shape().count()});
}

Targets targets(Builder& b, const Op& op, Value* indices) {
  IndexDims d = scatter_dims(op.attrs);
  const Shape& updates = scatter_updates(op)->shape();
  Type places(DType::i64, updates);
  std::vector<std::int64_t> strides = op.operand(0)->shape().strides();
  Ints outer = d.outer(updates.rank()), windowed = d.windowed(op.operand(0)->rank());
  Value* offset = zeros(b, places);
  auto step = [&](Value* at, std::int64_t dim) {
    offset = add(
        b, offset,
        mul(b, at, full_like(b, at, static_cast<double>(strides[static_cast<std::size_t>(dim)]))));
  };
  for (std::size_t i = 0; i < windowed.size(); ++i)
    step(iota(b, places, static_cast<int>(d.window[i])), windowed[i]);
  for (std::size_t i = 0; i < d.operand_batch.size(); ++i)
    step(iota(b, places,
              static_cast<int>(outer[static_cast<std::size_t>(d.outer_of(d.indices_batch[i]))])),
         d.operand_batch[i]);
  Value* fits = inside(b, op, indices);
  for (std::size_t c = 0; c < d.index_map.size(); ++c) {
    Value* start = convert(b, indices, DType::i64);
    if (d.index_vector < indices->rank()) {
      int vector = static_cast<int>(d.index_vector);
      start = slice_dim(b, start, vector, static_cast<std::int64_t>(c),
                        static_cast<std::int64_t>(c) + 1);
      std::vector<Dim> rest = start->shape().dims();
      rest.erase(rest.begin() + vector);
      start = reshape(b, start, Shape(rest));
    }
    start = broadcast_in_dim(b, start, updates, outer);
    step(select(b, fits, start, zeros_like(b, start)), d.index_map[c]);
  }
  return {in_order(b, d, offset), fits ? in_order(b, d, fits) : nullptr};
}

}  // namespace

/// A loop over the updates' elements: for regions that no kernel can hold, and for derivatives.
Values scatter_decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  if (op.regions.empty())
    return scatter_again(b, op, Values(operands.begin(), operands.end())).results();
  std::size_t n = static_cast<std::size_t>(scatter_inputs(op));
  OpenRegion region(op.region(0), 2 * static_cast<int>(n), operands.subspan(2 * n + 1));
  std::int64_t size = op.operand(0)->shape().count(), count = scatter_updates(op)->shape().count();
  if (size == 0 || count == 0)
    return {operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(n)};
  IndexDims d = scatter_dims(op.attrs);
  Targets to = targets(b, op, operands[n]);
  Values consts = region.captured(), carries, xs{to.offsets};
  if (to.exist) xs.push_back(to.exist);
  for (std::size_t i = 0; i < n; ++i) carries.push_back(reshape(b, operands[i], Shape{size}));
  for (std::size_t i = 0; i < n; ++i) xs.push_back(in_order(b, d, operands[n + 1 + i]));

  auto body = std::make_unique<Block>();
  Values captured, arrays, current, both;
  for (Value* v : consts) captured.push_back(body->add_argument(v->type()));
  for (Value* v : carries) arrays.push_back(body->add_argument(v->type()));
  Value* offset = body->add_argument(Type::scalar(DType::i64));
  Value* exists = to.exist ? body->add_argument(Type::scalar(DType::i1)) : nullptr;
  Builder bb(*body);
  for (Value* v : arrays) both.push_back(reshape(bb, dynamic_slice(bb, v, {offset}, {1}), Shape{}));
  current = both;
  for (Value* v : carries) both.push_back(body->add_argument(Type::scalar(v->dtype())));
  Values combined = region.inlined(bb, both, captured);
  for (std::size_t i = 0; i < n; ++i) {
    Value* element = exists ? select(bb, exists, combined[i], current[i]) : combined[i];
    body->results.push_back(
        dynamic_update_slice(bb, arrays[i], reshape(bb, element, Shape{1}), {offset}));
  }
  Values out = scan(b, std::move(body), consts, carries, xs, {count, false});
  for (std::size_t i = 0; i < n; ++i)
    out[i] = reshape(b, out[i], op.operand(static_cast<int>(i))->shape());
  return out;
}

}  // namespace strata::op
