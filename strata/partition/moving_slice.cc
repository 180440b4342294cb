#include "strata/partition/moving_slice.h"

#include <algorithm>

namespace strata::spmd {
namespace {

using ir::Ints;
using op::Builder;
using op::Value;
using op::Values;

/// Where the `window` rows that begin at a start index, clamped as dynamic_slice does, fall
/// relative to the device's shard.
struct Place {
  Value* offset;       // of the window's first row from the shard's first; may be outside
  Value* within;       // offset clamped so that `taken` rows fit into the shard
  std::int64_t taken;  // min(window, rows of a shard)
  Value* zero;
};
Place place_of(Builder& b, Emitter& emit, const OwnedPart& part, Value* start,
               std::int64_t window) {
  DType dtype = start->dtype() == DType::i64 ? DType::i64 : DType::i32;
  auto number = [&](std::int64_t x) { return op::scalar(b, dtype, static_cast<double>(x)); };
  std::int64_t rows = part.x->shape()[part.dim];
  Value* at = op::clamp(b, number(0), op::convert(b, start, dtype), number(part.size - window));
  Place out{nullptr, nullptr, std::min(window, rows), number(0)};
  out.offset = op::sub(b, at, op::convert(b, emit.tile_begin(b, part.axes, rows), dtype));
  out.within = op::clamp(b, out.zero, out.offset, number(rows - out.taken));
  return out;
}

/// `x` with `rows` rows of `filler` on both sides of `dim`, from row `start` + rows on.
Value* shifted(Builder& b, Value* x, int dim, std::int64_t rows, std::int64_t taken, Value* start,
               Value* filler) {
  auto rank = static_cast<std::size_t>(x->rank());
  Ints around(rank, 0), sizes = x->shape().sizes();
  around[static_cast<std::size_t>(dim)] = rows;
  sizes[static_cast<std::size_t>(dim)] = taken;
  Values starts(rank, op::scalar(b, start->dtype(), 0));
  starts[static_cast<std::size_t>(dim)] =
      op::add(b, start, op::scalar(b, start->dtype(), static_cast<double>(rows)));
  return op::dynamic_slice(b, op::pad(b, x, filler, around, around), starts, sizes);
}

Values of_dtype(Builder& b, Values starts, DType dtype) {
  for (Value*& s : starts) s = op::convert(b, s, dtype);
  return starts;
}

}  // namespace

std::vector<int> moving_dims(const op::Op& op) {
  bool is_slice = op.name() == "stablehlo.dynamic_slice";
  if (!is_slice && op.name() != "stablehlo.dynamic_update_slice") return {};
  const Shape& window = is_slice ? op.result()->shape() : op.operand(1)->shape();
  std::vector<int> out;
  for (int d = 0; d < window.rank(); ++d)
    if (window[d] != op.operand(0)->shape()[d]) out.push_back(d);
  return out;
}

Value* slice_of_parts(Builder& b, Emitter& emit, const OwnedPart& part, Values starts,
                      const std::vector<std::int64_t>& sizes) {
  auto dim = static_cast<std::size_t>(part.dim);
  Place at = place_of(b, emit, part, starts[dim], sizes[dim]);
  starts = of_dtype(b, std::move(starts), at.within->dtype());
  starts[dim] = at.within;
  Ints taken = sizes;
  taken[dim] = at.taken;
  Value* rows = op::dynamic_slice(b, part.x, starts, taken);
  Value* nothing = op::constant(b, Literal::full(Type::scalar(rows->dtype()), -0.0));
  Value* here =
      shifted(b, rows, part.dim, sizes[dim], sizes[dim], op::sub(b, at.offset, at.within), nothing);
  bool is_bool = rows->dtype() == DType::i1;
  return emit.all_reduce(b, here, part.axes, is_bool ? op::Combiner::or_ : op::Combiner::add);
}

Value* updated_part(Builder& b, Emitter& emit, const OwnedPart& part, Value* update,
                    Values starts) {
  auto dim = static_cast<std::size_t>(part.dim);
  std::int64_t window = update->shape()[part.dim];
  Place at = place_of(b, emit, part, starts[dim], window);
  DType dtype = at.within->dtype();
  starts = of_dtype(b, std::move(starts), dtype);
  starts[dim] = at.within;
  Ints taken = update->shape().sizes();
  taken[dim] = at.taken;
  Value* old = op::dynamic_slice(b, part.x, starts, taken);
  // Row i of what is written is row i + ahead of the update, where there is one.
  Value* ahead = op::sub(b, at.within, at.offset);
  Value* filler = op::constant(b, Literal(Type::scalar(update->dtype())));
  Value* rows = shifted(b, update, part.dim, at.taken, at.taken, ahead, filler);
  Type places(dtype, rows->shape());
  Value* from =
      op::add(b, op::iota(b, places, part.dim), op::broadcast_in_dim(b, ahead, rows->shape(), {}));
  Value* inside =
      op::and_(b, op::compare(b, from, op::constant(b, places, 0), "GE"),
               op::compare(b, from, op::constant(b, places, static_cast<double>(window)), "LT"));
  return op::dynamic_update_slice(b, part.x, op::select(b, inside, rows, old), starts);
}

}  // namespace strata::spmd
