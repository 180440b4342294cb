#include "strata/pass/dot/chunked_reduction.h"

#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/reduce/combiner.h"
#include "strata/op/reduce/reduce.h"

namespace strata::pass {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;
using op::Combiner;

/// Chunks that a reduction along the outermost dimension combines one after the other.
constexpr std::int64_t kInOrder = 256;

/// Whether the reduced dimensions are neighbours and nothing but units is before them.
bool is_outermost_run(const Shape& shape, const std::vector<int>& dims) {
  for (std::size_t i = 1; i < dims.size(); ++i)
    if (dims[i] != dims[i - 1] + 1) return false;
  for (int d = 0; d < dims.front(); ++d)
    if (shape[d] != 1) return false;
  return true;
}

/// Leading dimensions, and those of x behind the reduced ones.
Shape before_rest(std::vector<std::int64_t> leading, const Shape& shape,
                  const std::vector<int>& dims) {
  std::vector<Dim> all(leading.begin(), leading.end());
  for (int d = dims.back() + 1; d < shape.rank(); ++d) all.push_back(shape.dim(d));
  return Shape(std::move(all));
}

/// The chunks one after the other, from the identity.
Value* in_order(Builder& b, Combiner combiner, Value* chunks) {
  std::vector<Dim> dims(chunks->shape().dims().begin() + 1, chunks->shape().dims().end());
  const Type one = chunks->type().with(Shape(std::move(dims)));
  Value* identity = op::broadcast_in_dim(
      b, op::constant(b, op::identity(combiner, chunks->dtype())), one.shape(), {});
  auto body = std::make_unique<ir::Block>();
  Value *sum = body->add_argument(one), *next = body->add_argument(one);
  Builder in(*body);
  body->results = {op::combined(in, combiner, sum, next)};
  return op::scan(b, std::move(body), {}, {identity}, {chunks}, {.length = chunks->shape()[0]})[0];
}

}  // namespace

std::int64_t reduction_parts(const Op& op, int d) {
  if (!op::is_reduction(op) || op.operands.size() != 2 ||
      op.result()->dtype() != op.operand(0)->dtype())
    return 0;
  const Shape& shape = op.operand(0)->shape();
  if (!shape.is_static() || shape.count() == 0 || op::combiner_of(op) == Combiner::region) return 0;
  const std::vector<int> dims = op::reduced_dims(op);
  if (dims.empty() || !is_outermost_run(shape, dims)) return 0;
  for (int first : dims) {
    if (first == d) break;
    if (shape[first] != 1) return 0;
  }
  const op::ReduceOrder order = op::reduce_order(op);
  return order.count % order.chunk == 0 ? order.chunks() : 0;
}

Value* partial_reduction(Builder& b, const Op& op, Value* rows) {
  const std::vector<int> dims = op::reduced_dims(op);
  const Combiner combiner = op::combiner_of(op);
  const std::int64_t chunk = op::reduce_order(op).chunk;
  std::int64_t count = 1;
  for (int d : dims) count *= rows->shape()[d];
  const op::ReduceOrder order = op::reduce_order(op);
  auto neutral = [&](const Value* v) {
    return op::constant(b, op::identity(combiner, v->dtype()));
  };
  auto by_pieces = [&](std::int64_t n, std::int64_t length) {
    Value* x = op::reshape(b, rows, before_rest({n, length}, rows->shape(), dims));
    x = op::convert(b, x, op::accumulator(x->dtype()));
    return op::reduce(b, x, neutral(x), {1}, combiner);
  };
  if (!order.is_long()) return by_pieces(count / chunk, chunk);
  Value* pieces = op::convert(b, by_pieces(count / order.piece, order.piece), DType::f64);
  std::int64_t beside = 1;
  for (int d = 1; d < pieces->rank(); ++d) beside *= pieces->shape()[d];
  const std::int64_t n = count / chunk, each = chunk / order.piece;
  Value* x = op::transpose(b, op::reshape(b, pieces, Shape{n, each, beside}), {1, 0, 2});
  x = op::reduce_in_sequence(b, op::reshape(b, x, Shape{each, n * beside}), neutral(x), combiner);
  return op::reshape(b, x, before_rest({n}, rows->shape(), dims));
}

Value* combine_partial_reductions(Builder& b, const Op& op, Value* chunks, Value* init) {
  const Combiner combiner = op::combiner_of(op);
  const Shape& shape = op.result()->shape();
  Value* total = nullptr;
  const DType dtype = op::accumulator(op.operand(0)->dtype());
  init = op::convert(b, init, dtype);
  if (chunks->shape()[0] <= kInOrder) {
    Value* columns = op::reshape(b, chunks, Shape{chunks->shape()[0], shape.count()});
    Value* neutral = op::constant(b, op::identity(combiner, chunks->dtype()));
    total = op::reduce_in_sequence(b, columns, neutral, combiner);
  } else {
    total = in_order(b, combiner, chunks);
  }
  total = op::convert(b, op::reshape(b, total, shape), dtype);
  total = op::combined(b, combiner, op::broadcast_in_dim(b, init, shape, {}), total);
  return op::convert(b, total, op.result()->dtype());
}

}  // namespace strata::pass
