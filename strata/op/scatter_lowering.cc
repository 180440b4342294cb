// Scatter in the loop form. Several updates may meet one element, and they must do so in order, so work is cut where updates
// cannot meet: along batching dimensions and along free window dimensions (is_free). Each grid point runs all other
// indices and window positions one after the other, in the reference's order.
#include "strata/op/scatter.h"

namespace strata::op {
namespace {

/// Elements of the last free dimension that one grid point covers: whole cache lines, and so few that there is work for several threads, each of which
/// reads all indices.
std::int64_t piece_of(std::int64_t size, DType dtype) {
  const std::int64_t line = copy_lanes(dtype), quarter = (size / 4 + line - 1) / line * line;
  return std::clamp(quarter, line, std::max<std::int64_t>(line, 64));
}

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
  bool straight = op.regions.empty() || emission(op.region(0)) == Emission::lanes;
  if (straight && !out.parallel.empty() && out.parallel.back().window) {
    out.lanes = out.parallel.back();
    out.pieces = {out.lanes->size, piece_of(out.lanes->size, op.result()->dtype())};
    out.parallel.pop_back();
  }
  return out;
}

/// Emits the update at one place of the loops.
class Emitter {
 public:
  Emitter(LowerContext& context, const Op& op, std::span<loop::Ref* const> targets)
      : context_(context),
        b_(context.b),
        op_(op),
        n_(scatter_inputs(op)),
        targets_(targets),
        d_(scatter_dims(op.attrs)),
        sizes_(window_sizes(op, d_)),
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

  /// Start plus window position in each indexed dimension, and whether the window lies inside. Neither depends on the lane.
  void update_slice() {
    int rank = op_.operand(0)->rank();
    auto at = window_position<loop::Index>(d_, rank, outer_, window_);
    std::vector<loop::Inst*> conditions;
    for (std::size_t c = 0; c < d_.index_map.size(); ++c) {
      auto dim = static_cast<std::size_t>(d_.index_map[c]);
      std::int64_t high = op_.operand(0)->shape()[static_cast<int>(dim)] - sizes_[dim];
      auto from = index_position<loop::Index>(d_, scatter_indices(op_)->rank(), outer_, static_cast<std::int64_t>(c));
      loop::Inst* start = b_.convert(DType::i64, context_.operand(op_, n_, from));
      loop::Inst *zero = b_.constant_int(DType::i64, 0), *last = b_.constant_int(DType::i64, high);
      conditions.push_back(b_.compare(loop::Compare::ge, start, zero));
      conditions.push_back(b_.compare(loop::Compare::le, start, last));
      start = b_.binary(loop::Opcode::min, b_.binary(loop::Opcode::max, start, zero), last);
      at[dim] = at[dim] + b_.index_of(start, 0, high);
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
    std::vector<loop::Inst*> fresh;
    for (int i = 0; i < n_; ++i) fresh.push_back(context_.operand(op_, n_ + 1 + i, from));
    loop::Index to = linearized(at, op_.operand(0)->shape().sizes());
    std::vector<loop::Inst*> elements = combined(to, fresh);
    for (std::size_t i = 0; i < elements.size(); ++i) b_.store(targets_[i], to, elements[i]);
  }

  std::vector<loop::Inst*> combined(const loop::Index& to, std::vector<loop::Inst*> updates) {
    if (assigns(op_)) return updates;
    std::vector<loop::Inst*> arguments;
    for (loop::Ref* target : targets_) arguments.push_back(b_.load(target, to));
    if (combiner_of(op_) != Combiner::region)
      return {lower_combine(b_, combiner_of(op_), op_.result()->dtype(), arguments[0], updates[0])};
    arguments.insert(arguments.end(), updates.begin(), updates.end());
    return lower_region(context_, op_.region(0), arguments);
  }

  LowerContext& context_;
  loop::Builder& b_;
  const Op& op_;
  int n_;
  std::span<loop::Ref* const> targets_;
  IndexDims d_;
  Ints sizes_;
  Cut cut_;
  std::vector<loop::Index> outer_, window_;
  loop::Index piece_;
};

}  // namespace

std::int64_t scatter_grid(const Op& op) {
  if (op.operand(0)->shape().count() == 0) return 0;
  Cut c = cut(op, scatter_dims(op.attrs));
  std::int64_t points = c.pieces.count();
  for (const Axis& axis : c.parallel) points *= axis.size;
  return points;
}

void scatter_emit(LowerContext& context, const Op& op, std::span<loop::Ref* const> targets, const loop::Index& point) {
  Emitter(context, op, targets).emit(point);
}

}  // namespace strata::op
