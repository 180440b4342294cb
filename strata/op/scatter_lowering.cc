// Scatter in the loop form. Several updates may meet one element, and they must do so in order, so work is cut where updates
// cannot meet: along batching dimensions and along free window dimensions (is_free). Each grid point runs all other
// indices and window positions one after the other, in the reference's order.
#include "strata/op/scatter.h"

namespace strata::op {
namespace {

constexpr std::int64_t kPiece = 64;  // elements of the last free dimension that one grid point covers

/// One loop: over an outer dimension of the updates, or a window dimension (position in `IndexDims::window`).
struct Axis {
  bool window;
  std::size_t position;  // which outer, or which window dimension
  std::int64_t size;
};

/// How the updates' dimensions are run.
struct Cut {
  std::vector<Axis> parallel;    // grid points, major first
  std::vector<Axis> sequential;  // outer dimensions, then window dimensions, ascending
  std::optional<Axis> lanes;     // the last free window dimension, cut into pieces
  Pieces pieces{1, 1};
};

Cut cut(const Op& op, const IndexDims& d) {
  const Shape& updates = scatter_updates(op)->shape();
  Ints outer_dims = d.outer(updates.rank()), windowed = d.windowed(op.operand(0)->rank());
  Cut out;
  for (std::size_t i = 0; i < outer_dims.size(); ++i) {
    Axis axis{false, i, updates[static_cast<int>(outer_dims[i])]};
    bool batching = std::any_of(d.indices_batch.begin(), d.indices_batch.end(),
                                [&](std::int64_t dim) { return d.outer_of(dim) == static_cast<int>(i); });
    (batching ? out.parallel : out.sequential).push_back(axis);
  }
  for (std::size_t i = 0; i < windowed.size(); ++i) {
    Axis axis{true, i, updates[static_cast<int>(d.window[i])]};
    (is_free(d, windowed[i]) ? out.parallel : out.sequential).push_back(axis);
  }
  if (!out.parallel.empty() && out.parallel.back().window) {
    out.lanes = out.parallel.back();
    out.pieces = {out.lanes->size, kPiece};
    out.parallel.pop_back();
  }
  return out;
}

/// Emits the update at one place of the loops.
class Emitter {
 public:
  Emitter(LowerContext& context, const Op& op, loop::Ref* target)
      : context_(context),
        b_(context.b),
        op_(op),
        target_(target),
        d_(scatter_dims(op.attrs)),
        cut_(cut(op, d_)),
        outer_(d_.outer(scatter_updates(op)->rank()).size()),
        window_(d_.window.size()) {}

  void emit(const loop::Index& point) {
    loop::Index rest = b_.div(point, std::max<std::int64_t>(cut_.pieces.count(), 1));
    piece_ = b_.mod(point, std::max<std::int64_t>(cut_.pieces.count(), 1));
    for (std::size_t i = cut_.parallel.size(); i-- > 0;) {
      const Axis& axis = cut_.parallel[i];
      place(axis) = b_.mod(rest, axis.size);
      rest = b_.div(rest, axis.size);
    }
    run(0);
  }

 private:
  loop::Index& place(const Axis& axis) { return axis.window ? window_[axis.position] : outer_[axis.position]; }

  void run(std::size_t depth) {
    if (depth == cut_.sequential.size()) return update_slice();
    const Axis& axis = cut_.sequential[depth];
    b_.for_(0, axis.size, 1, [&](loop::Index i) {
      place(axis) = i;
      run(depth + 1);
    });
  }

  /// Start plus window position in each indexed dimension, and whether all lie inside. They do not depend on the lane.
  void update_slice() {
    int rank = op_.operand(0)->rank();
    auto at = window_position<loop::Index>(d_, rank, outer_, window_);
    std::vector<loop::Inst*> conditions;
    for (std::size_t c = 0; c < d_.index_map.size(); ++c) {
      std::int64_t size = op_.operand(0)->shape()[static_cast<int>(d_.index_map[c])];
      auto from = index_position<loop::Index>(d_, scatter_indices(op_)->rank(), outer_, static_cast<std::int64_t>(c));
      loop::Index& position = at[static_cast<std::size_t>(d_.index_map[c])];
      loop::Inst* start = b_.convert(DType::i64, context_.operand(op_, 1, from));
      loop::Inst* value = b_.binary(loop::Opcode::add, start, b_.value(position));
      loop::Inst *zero = b_.constant_int(DType::i64, 0), *last = b_.constant_int(DType::i64, size - 1);
      conditions.push_back(b_.compare(loop::Compare::ge, value, zero));
      conditions.push_back(b_.compare(loop::Compare::le, value, last));
      value = b_.binary(loop::Opcode::min, b_.binary(loop::Opcode::max, value, zero), last);
      position = b_.index_of(value, 0, std::max<std::int64_t>(size - 1, 0));
    }
    auto body = [&] { update_lanes(at); };
    if (conditions.empty()) return body();
    b_.if_(all_of(b_, conditions), body);
  }

  void update_lanes(std::vector<loop::Index> at) {
    if (!cut_.lanes) return update_element(at);
    std::size_t dim = static_cast<std::size_t>(d_.windowed(op_.operand(0)->rank())[cut_.lanes->position]);
    cut_.pieces.vector(b_, piece_, copy_lanes(op_.result()->dtype()), [&](loop::Index i) {
      place(*cut_.lanes) = i;
      at[dim] = i;
      update_element(at);
    });
  }

  void update_element(std::span<const loop::Index> at) {
    const Value* updates = scatter_updates(op_);
    std::vector<loop::Index> from(static_cast<std::size_t>(updates->rank()));
    Ints outer_dims = d_.outer(updates->rank());
    for (std::size_t i = 0; i < outer_.size(); ++i) from[static_cast<std::size_t>(outer_dims[i])] = outer_[i];
    for (std::size_t i = 0; i < window_.size(); ++i) from[static_cast<std::size_t>(d_.window[i])] = window_[i];
    loop::Inst* update = context_.operand(op_, 2, from);
    loop::Index to = linearized(at, op_.operand(0)->shape().sizes());
    b_.store(target_, to, assigns(op_) ? update : combined(b_.load(target_, to), update));
  }

  loop::Inst* combined(loop::Inst* current, loop::Inst* update) {
    if (combiner_of(op_) != Combiner::region) return lower_combine(b_, combiner_of(op_), op_.result()->dtype(), current, update);
    loop::Inst* arguments[] = {current, update};
    return lower_region(context_, op_.region(0), arguments)[0];
  }

  LowerContext& context_;
  loop::Builder& b_;
  const Op& op_;
  loop::Ref* target_;
  IndexDims d_;
  Cut cut_;
  std::vector<loop::Index> outer_, window_;
  loop::Index piece_;
};

void expect_one_input(const Op& op) {
  if (scatter_inputs(op) != 1) throw Error("scatter", "a compiled scatter takes one input, got {}", scatter_inputs(op));
}

}  // namespace

std::int64_t scatter_grid(const Op& op) {
  expect_one_input(op);
  Cut c = cut(op, scatter_dims(op.attrs));
  std::int64_t points = c.pieces.count();
  for (const Axis& axis : c.parallel) points *= axis.size;
  return points;
}

void scatter_emit(LowerContext& context, const Op& op, std::span<loop::Ref* const> targets, const loop::Index& point) {
  expect_one_input(op);
  Emitter(context, op, targets[0]).emit(point);
}

}  // namespace strata::op
