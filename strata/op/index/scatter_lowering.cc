// Scatter in the loop form. Several updates may meet one element, and they must do so in order, so
// work is cut where updates cannot meet: along batching dimensions and along free window dimensions
// (is_free), all of them where there is one index. Each grid point runs all other indices and
// window positions one after the other, in the reference's order.
//
// Many updates of single elements use blocks: where each goes and what it is is computed in
// lanes, then the block is applied in order. Of very many, and of many slices that are not cut, two
// grid points go through all indices, and each applies what is in its half of the array: which
// those are is found in lanes and brought together (loop/compress.h).
//
// Indices that are said to be sorted are cut between two that differ, for several grid points. Each
// looks first whether they are, and where they are not the first point does it all: no bit depends
// on what is stated.
#include "strata/loop/compress.h"
#include "strata/op/index/scatter.h"
#include "strata/op/lower_region.h"

namespace strata::op {
namespace {

/// Elements of the last free dimension that one grid point covers: whole cache lines, and as much
/// of a slice as leaves work for several threads, for each of them reads all indices, and memory
/// likes to be read on and on (8 x 16 x 24 f32, set 10416 times: 0.63 ms by six pieces, 0.3 by
/// four). Of short slices that are no whole lines neighbours would write the same lines at the same
/// time, which costs more than one thread alone. Slices of a few lines are cut in two, but where an
/// array of so many `bytes` has quarters that stay in a core's second cache (32768 rows of 128 into
/// 16384: 1.05 ms by four, 0.75 by two; of 256 2.4, 2.1; 2^18 of 64 into 8192: 2.0, 3.6).
std::int64_t piece_of(std::int64_t size, DType dtype, std::size_t bytes) {
  constexpr std::int64_t kManyLines = 256, kSomeLines = 32, kFewLines = 8;
  constexpr std::size_t kOfCache = std::size_t{3} << 20;
  const std::int64_t line = copy_lanes(dtype), lines = (size + line - 1) / line;
  if (size % line != 0 && lines <= kFewLines) return size;
  const bool four =
      lines > kSomeLines || ((lines > kFewLines || lines % 4 == 0) && bytes <= kOfCache);
  const std::int64_t pieces = lines >= kManyLines                   ? 8
                              : four                                ? 4
                              : lines > kFewLines || lines % 2 == 0 ? 2
                                                                    : lines;
  return (lines + pieces - 1) / pieces * line;
}

/// One loop: over an outer dimension of the updates, or a window dimension (position in
/// `IndexDims::window`).
struct Axis {
  bool window;
  std::size_t position;  // which outer, or which window dimension
  std::int64_t size;
};

/// How the updates' dimensions are run, those of one place left out.
struct Cut {
  std::vector<Axis> parallel;    // grid points, major first
  std::vector<Axis> sequential;  // outer dimensions, then window dimensions, ascending
  std::vector<Axis> lanes;  // the last free window dimensions that are behind each other in inputs
                            // and updates: read as one, which is cut into pieces
  Pieces pieces{1, 1};
  std::int64_t owners =
      1;  // grid points that each own a part of the inputs; then nothing else is cut
  std::int64_t sorted =
      1;  // grid points among which indices in order are cut; then nothing else is
};

constexpr std::int64_t kSortedPoints = 4, kManySorted = 1 << 14;

/// Whether indices that are said to be in order are many, of one component, and nothing else makes
/// grid points.
bool cuts_sorted(const Op& op, const IndexDims& d, const Cut& cut) {
  if (!op.attrs.get_or<bool>("indices_are_sorted", false) || d.index_map.size() != 1 ||
      cut.pieces.count() > 1 || !cut.parallel.empty())
    return false;
  return cut.sequential.size() == 1 && !cut.sequential.back().window &&
         cut.sequential.back().size >= kManySorted;
}

constexpr std::int64_t kBlock = 512;  // updates that are looked at together
constexpr int kBlockLanes = 16;
constexpr std::int64_t kTurn = 4;     // of them whose code is written out
constexpr std::int64_t kFewest = 64;  // that are worth a block

/// Whether the innermost loop runs over many indices, each of one element.
bool goes_by_blocks(const Op& op, const IndexDims& d, const Cut& cut) {
  for (int i = 0; i < scatter_inputs(op); ++i)
    if (op.operand(i)->dtype() == DType::i1) return false;
  return cut.lanes.empty() && !cut.sequential.empty() && !cut.sequential.back().window &&
         cut.sequential.back().size >= kFewest && !d.index_map.empty();
}

/// Whether slices go to places of one dimension of which each takes one: what two slices of
/// different places change is never the same.
bool go_to_places(const IndexDims& d) {
  return d.index_map.size() == 1 &&
         std::find(d.dropped.begin(), d.dropped.end(), d.index_map[0]) != d.dropped.end();
}

/// Whether there are so many updates that what is lost by looking at all indices twice is less than
/// what applying them takes one thread (2^20 f32 into 2^16, 2^20, 2^22: 0.50, 1.05, 2.9 ms by one,
/// 0.36, 0.60, 1.9 by two; 2^17 slices of 5 into 2^16: 0.35, 0.18; 2^15 of 100 into 4096: 0.56,
/// 0.30).
bool has_owners(const Op& op, const IndexDims& d, const Cut& cut) {
  constexpr std::int64_t kMany = 1 << 15;  // elements
  if (!cut.parallel.empty() || cut.pieces.count() > 1 || cut.sorted > 1 || cut.sequential.empty() ||
      scatter_updates(op)->shape().count() < kMany)
    return false;
  if (goes_by_blocks(op, d, cut)) return true;
  const bool of_indices = std::none_of(cut.sequential.begin(), cut.sequential.end(),
                                       [](const Axis& a) { return a.window; });
  return !cut.lanes.empty() && of_indices && cut.sequential.back().size >= kBlock &&
         go_to_places(d);
}

/// Whether no index's dimension is behind window dimension `last` in the updates. Where one does,
/// neighbours of a slice are apart, and those of neighbouring indices beside each other: then each
/// place of the slices goes through the indices (33 x 197 f32, 121212 times added to along the
/// second: 8.7 ms by slices, 2.3; 4 x 32 x 4096, 2000 times: 1.4, 0.27).
bool slices_lie_together(const IndexDims& d, const Shape& updates, std::size_t last) {
  const Ints outer = d.outer(updates.rank());
  return std::none_of(outer.begin(), outer.end(), [&](std::int64_t i) {
    return i > d.window[last] && updates[static_cast<int>(i)] > 1;
  });
}

Cut cut(const Op& op, const IndexDims& d) {
  const Shape& updates = scatter_updates(op)->shape();
  Ints outer_dims = d.outer(updates.rank()), windowed = d.windowed(op.operand(0)->rank());
  Cut out;
  for (std::size_t i = 0; i < outer_dims.size(); ++i) {
    Axis axis{false, i, updates[static_cast<int>(outer_dims[i])]};
    bool batching =
        std::any_of(d.indices_batch.begin(), d.indices_batch.end(),
                    [&](std::int64_t dim) { return d.outer_of(dim) == static_cast<int>(i); });
    if (axis.size != 1) (batching ? out.parallel : out.sequential).push_back(axis);
  }
  const bool once = out.sequential.empty();  // of one window no two places meet
  for (std::size_t i = 0; i < windowed.size(); ++i) {
    Axis axis{true, i, updates[static_cast<int>(d.window[i])]};
    if (axis.size != 1)
      (once || is_free(d, windowed[i]) ? out.parallel : out.sequential).push_back(axis);
  }
  bool straight = op.regions.empty() || emission(op.region(0)) == Emission::lanes;
  if (straight && !out.parallel.empty() && out.parallel.back().window &&
      slices_lie_together(d, updates, out.parallel.back().position)) {
    auto goes_on = [&](const Axis& outer, const Axis& inner) {
      return outer.window && outer.position + 1 == inner.position &&
             windowed[outer.position] + 1 == windowed[inner.position] &&
             d.window[outer.position] + 1 == d.window[inner.position] &&
             inner.size == op.operand(0)->shape()[static_cast<int>(windowed[inner.position])];
    };
    std::int64_t size = 1;
    do {
      out.lanes.insert(out.lanes.begin(), out.parallel.back());
      size *= out.parallel.back().size;
      out.parallel.pop_back();
    } while (!out.parallel.empty() && goes_on(out.parallel.back(), out.lanes.front()));
    out.pieces = {size, piece_of(size, op.result()->dtype(), op.result()->type().bytes())};
  }
  if (cuts_sorted(op, d, out)) out.sorted = kSortedPoints;
  if (has_owners(op, d, out)) out.owners = 2;
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
    owner_ = b_.mod(rest, cut_.owners);
    if (cut_.sorted > 1) return run_sorted(b_.mod(rest, cut_.sorted));
    run(0);
  }

 private:
  static constexpr std::size_t kFetched = std::size_t{4} << 20;  // bytes of updates
  static constexpr std::int64_t kAhead = 4096;                   // elements

  loop::Index& place(const Axis& axis) {
    return axis.window ? window_[axis.position] : outer_[axis.position];
  }

  void run(std::size_t depth) {
    if (depth == cut_.sequential.size()) return update_slice();
    if (depth + 1 == cut_.sequential.size() && goes_by_blocks(op_, d_, cut_))
      return run_blocks(cut_.sequential.back());
    if (depth + 1 == cut_.sequential.size() && cut_.owners > 1)
      return run_own_slices(cut_.sequential.back());
    const Axis& axis = cut_.sequential[depth];
    b_.for_(0, axis.size, 1, [&](loop::Index i) {
      place(axis) = i;
      run(depth + 1);
    });
  }

  // ---- indices in order
  /// The updates of one point, where the indices are in order.
  void run_sorted(const loop::Index& point) {
    const Axis& axis = cut_.sequential.back();
    loop::Inst* unordered = b_.local(b_.constant_int(DType::i1, 0));
    auto look = [&](const loop::Index& i, bool wide) {
      loop::Inst* falls = b_.compare(loop::Compare::gt, index_at(axis, i), index_at(axis, i + 1));
      b_.set(unordered, b_.binary(loop::Opcode::or_, b_.get(unordered),
                                  wide ? b_.reduce(loop::Opcode::or_, falls) : falls));
    };
    const std::int64_t pairs = axis.size - 1, whole = pairs / kBlockLanes * kBlockLanes;
    b_.vector(0, whole, kBlockLanes, [&](loop::Index i) { look(i, true); });
    b_.for_(whole, pairs, 1, [&](loop::Index i) { look(i, false); });
    auto run = [&](const loop::Index& first, const loop::Index& last) {
      b_.for_(first, last, 1, [&](loop::Index i) {
        place(axis) = i;
        update_slice();
      });
    };
    b_.if_(
        b_.get(unordered), [&] { b_.if_(b_.less(point, 1), [&] { run(0, axis.size); }); },
        [&] { run(first_of_run(axis, point), first_of_run(axis, point + 1)); });
  }
  /// Where the updates of a point begin: the first of them whose index is another than the one's
  /// before.
  loop::Index first_of_run(const Axis& axis, const loop::Index& point) {
    auto number = [&](std::int64_t x) { return b_.constant_int(DType::i64, x); };
    auto index = [&](loop::Inst* at, std::int64_t low) {
      return b_.index_of(b_.binary(loop::Opcode::min, b_.binary(loop::Opcode::max, at, number(low)),
                                   number(axis.size - 1)),
                         low, axis.size - 1);
    };
    loop::Inst* first = b_.local(b_.binary(
        loop::Opcode::min, b_.value(point * ((axis.size + kSortedPoints - 1) / kSortedPoints)),
        number(axis.size)));
    b_.while_(
        [&] {
          loop::Inst *at = b_.get(first),
                     *goes_on = b_.compare(loop::Compare::eq, index_at(axis, index(at, 1) - 1),
                                           index_at(axis, index(at, 1)));
          loop::Inst* inside[] = {b_.compare(loop::Compare::gt, at, number(0)),
                                  b_.compare(loop::Compare::lt, at, number(axis.size)), goes_on};
          return all_of(b_, inside);
        },
        [&] { b_.set(first, b_.binary(loop::Opcode::add, b_.get(first), number(1))); });
    return b_.index_of(b_.get(first), 0, axis.size);
  }
  loop::Inst* index_at(const Axis& axis, const loop::Index& i) {
    place(axis) = i;
    return context_.operand(
        op_, n_, index_position<loop::Index>(d_, scatter_indices(op_)->rank(), outer_, 0));
  }

  // ---- blocks of updates
  void run_blocks(const Axis& axis) {
    places_ = b_.scratch(
        op_.operand(0)->shape().count() < (std::int64_t{1} << 31) ? DType::i32 : DType::i64,
        kBlock);
    if (cut_.owners == 1) inside_ = b_.scratch(DType::i32, kBlock);
    for (int i = 0; i < n_; ++i) fresh_.push_back(b_.scratch(op_.operand(i)->dtype(), kBlock));
    each_block(axis.size, [&](const loop::Index& first, std::int64_t count) {
      cut_.owners > 1 ? run_own(axis, first, count) : run_block(axis, first, count);
    });
  }
  void each_block(std::int64_t size,
                  const std::function<void(const loop::Index& first, std::int64_t count)>& body) {
    const std::int64_t whole = size / kBlock;
    b_.for_(0, whole, 1, [&](loop::Index block) { body(block * kBlock, kBlock); });
    if (size % kBlock) body(whole * kBlock, size % kBlock);
  }

  /// Where update i (or a strip of them) goes, and whether that is inside.
  std::pair<loop::Inst*, loop::Inst*> place_of(const Axis& axis, const loop::Index& i) {
    place(axis) = i;
    const std::size_t begin = b_.kernel().arena.size();
    auto [at, inside] = target();
    fetch_early(begin);
    return {b_.convert(places_->dtype, b_.value(linearized(at, op_.operand(0)->shape().sizes()))),
            inside};
  }

  /// What vectors read of large arrays from instruction `begin` on is asked for some lines before:
  /// updates are applied between one block and the next, and what else fetches begins anew each
  /// time.
  void fetch_early(std::size_t begin) {
    for (std::size_t i = begin; i < b_.kernel().arena.size(); ++i) {
      loop::Inst& x = b_.kernel().arena[i];
      if (x.code != loop::Opcode::load || x.type.lanes == 1 || x.ref->mode != loop::Ref::Mode::in)
        continue;
      if (x.ref->size * static_cast<std::int64_t>(byte_width(x.ref->dtype)) >=
          static_cast<std::int64_t>(kFetched))
        x.ahead = std::min(kAhead, x.ref->size);
    }
  }

  void run_block(const Axis& axis, const loop::Index& first, std::int64_t count) {
    const bool whole = count % kBlockLanes == 0;
    loop::Inst* some_outside = b_.local(b_.constant_int(DType::i1, whole ? 0 : 1));
    b_.vector(0, count, kBlockLanes, [&](loop::Index i) {
      auto [to, inside] = place_of(axis, first + i);
      b_.store(places_, i, to);
      b_.store(inside_, i,
               b_.select(inside, b_.constant_int(DType::i32, 1), b_.constant_int(DType::i32, 0)));
      if (whole)
        b_.set(some_outside,
               b_.binary(loop::Opcode::or_, b_.get(some_outside),
                         b_.reduce(loop::Opcode::or_, b_.unary(loop::Opcode::not_, inside))));
      std::vector<loop::Inst*> updates = fresh(window_);
      for (std::size_t k = 0; k < updates.size(); ++k) b_.store(fresh_[k], i, updates[k]);
    });
    auto if_inside = [&](const loop::Index& i) {
      b_.if_(b_.compare(loop::Compare::ne, b_.load(inside_, i), b_.constant_int(DType::i32, 0)),
             [&] { apply(i); });
    };
    b_.if_(
        b_.get(some_outside), [&] { b_.for_(0, count, 1, if_inside); },
        [&] { by_turns(count, [&](const loop::Index& i) { apply(i); }); });
  }
  /// Update `i` of the block.
  void apply(const loop::Index& i) {
    const loop::Index to = b_.index_of(b_.convert(DType::i64, b_.load(places_, i)), 0,
                                       op_.operand(0)->shape().count() - 1);
    std::vector<loop::Inst*> updates;
    for (loop::Ref* ref : fresh_) updates.push_back(b_.load(ref, i));
    store(to, combined(to, updates));
  }

  // ---- updates of which each point has its own
  /// Of a block, those that are inside and are this point's: where they go and what they are is
  /// brought together, for which they are is as good as chance, and then they are applied.
  void run_own(const Axis& axis, const loop::Index& first, std::int64_t count) {
    loop::Inst* found = b_.local(b_.constant_int(DType::i64, 0));
    each_strip(count, [&](const loop::Index& i, int lanes) {
      auto [to, inside] = place_of(axis, first + i);
      std::vector<std::pair<loop::Ref*, loop::Inst*>> what{{places_, to}};
      const std::vector<loop::Inst*> updates = fresh(window_);
      for (std::size_t k = 0; k < updates.size(); ++k) what.emplace_back(fresh_[k], updates[k]);
      bring_together(
          found, count,
          b_.binary(loop::Opcode::and_, inside, is_own(to, op_.operand(0)->shape().count())), what,
          i, lanes);
    });
    by_turns(b_.index_of(b_.get(found), 0, count), [&](const loop::Index& i) { apply(i); });
  }
  /// Whether a place among `size` of them is in this point's part.
  loop::Inst* is_own(loop::Inst* place, std::int64_t size) {
    const std::int64_t part = (size + cut_.owners - 1) / cut_.owners;
    place = wide_enough(place, size);
    auto bound = [&](loop::Inst* at) { return b_.convert(place->type.dtype, at); };
    loop::Inst *first = bound(b_.value(owner_ * part)),
               *end = bound(b_.binary(loop::Opcode::min, b_.value((owner_ + 1) * part),
                                      b_.constant_int(DType::i64, size)));
    return b_.binary(loop::Opcode::and_, b_.compare(loop::Compare::ge, place, first),
                     b_.compare(loop::Compare::lt, place, end));
  }
  /// An i32 that can be compared with `most` as it is, for an i64 has twice as many lanes; others
  /// as such.
  loop::Inst* wide_enough(loop::Inst* at, std::int64_t most) const {
    return at->type.dtype == DType::i32 && most <= INT32_MAX ? at : b_.convert(DType::i64, at);
  }

  /// Slices: the numbers of those that are this point's are brought together.
  void run_own_slices(const Axis& axis) {
    own_ = b_.scratch(DType::i32, kBlock);
    const std::int64_t places = op_.operand(0)->shape()[static_cast<int>(d_.index_map[0])];
    each_block(axis.size, [&](const loop::Index& first, std::int64_t count) {
      loop::Inst* found = b_.local(b_.constant_int(DType::i64, 0));
      each_strip(count, [&](const loop::Index& i, int lanes) {
        const std::pair<loop::Ref*, loop::Inst*> number{own_, b_.convert(DType::i32, b_.value(i))};
        bring_together(found, count, is_own(index_at(axis, first + i), places), {&number, 1}, i,
                       lanes);
      });
      by_turns(b_.index_of(b_.get(found), 0, count), [&](const loop::Index& i) {
        place(axis) = first + b_.index_of(b_.convert(DType::i64, b_.load(own_, i)), 0, count - 1);
        update_lanes(target().first);
      });
    });
  }

  /// `strip` for each strip of [0, count), and for each number that is left.
  void each_strip(std::int64_t count,
                  const std::function<void(const loop::Index& i, int lanes)>& strip) {
    const std::int64_t whole = count / kBlockLanes * kBlockLanes;
    b_.vector(0, whole, kBlockLanes, [&](loop::Index i) { strip(i, kBlockLanes); });
    b_.for_(whole, count, 1, [&](loop::Index i) { strip(i, 1); });
  }
  /// Stores what is `own` of strip `i` behind what the block has `found`.
  void bring_together(loop::Inst* found, std::int64_t count, loop::Inst* own,
                      std::span<const std::pair<loop::Ref*, loop::Inst*>> what,
                      const loop::Index& i, int lanes) {
    const loop::Index to = b_.index_of(b_.get(found), 0, count - lanes) + (i - i.at_first_lane());
    const bool all_or_none = own->type.lanes == 1;
    for (auto [ref, x] : what)
      b_.store(ref, to, all_or_none ? x : loop::compressed(b_, own, x, lanes));
    loop::Inst* more = all_or_none ? b_.select(own, b_.constant_int(DType::i64, lanes),
                                               b_.constant_int(DType::i64, 0))
                                   : loop::chosen(b_, own);
    b_.set(found, b_.binary(loop::Opcode::add, b_.get(found), more));
  }
  /// `body` for each number below `all`, several in a turn.
  void by_turns(const loop::Index& all, const std::function<void(const loop::Index&)>& body) {
    const loop::Index turns = b_.div(all, kTurn);
    b_.for_(0, turns, 1, [&](loop::Index i) {
      for (std::int64_t u = 0; u < kTurn; ++u) body(i * kTurn + u);
    });
    b_.for_(turns * kTurn, all, 1, body);
  }

  /// Start plus window position in each indexed dimension, and whether the window is inside.
  std::pair<std::vector<loop::Index>, loop::Inst*> target() {
    int rank = op_.operand(0)->rank();
    auto at = window_position<loop::Index>(d_, rank, outer_, window_);
    std::vector<loop::Inst*> conditions;
    for (std::size_t c = 0; c < d_.index_map.size(); ++c) {
      auto dim = static_cast<std::size_t>(d_.index_map[c]);
      std::int64_t high = op_.operand(0)->shape()[static_cast<int>(dim)] - sizes_[dim];
      auto from = index_position<loop::Index>(d_, scatter_indices(op_)->rank(), outer_,
                                              static_cast<std::int64_t>(c));
      loop::Inst* start = wide_enough(context_.operand(op_, n_, from), high);
      const DType wide = start->type.dtype;
      loop::Inst *zero = b_.constant_int(wide, 0), *last = b_.constant_int(wide, high);
      conditions.push_back(b_.compare(loop::Compare::ge, start, zero));
      conditions.push_back(b_.compare(loop::Compare::le, start, last));
      start = b_.convert(DType::i64, b_.binary(loop::Opcode::min,
                                               b_.binary(loop::Opcode::max, start, zero), last));
      at[dim] = at[dim] + b_.index_of(start, 0, high);
    }
    return {at, conditions.empty() ? nullptr : all_of(b_, conditions)};
  }

  /// Neither the place nor whether it is inside depends on the lane.
  void update_slice() {
    auto [at, inside] = target();
    if (!inside) return update_lanes(at);
    b_.if_(inside, [&, &at = at] { update_lanes(at); });
  }

  void update_lanes(std::vector<loop::Index> at) {
    if (cut_.lanes.empty()) return update_element(at);
    const Ints windowed = d_.windowed(op_.operand(0)->rank());
    const std::vector<loop::Index> first = at;
    cut_.pieces.vector(b_, piece_, copy_lanes(op_.result()->dtype()), [&](loop::Index i) {
      for (std::size_t k = cut_.lanes.size(); k-- > 0;) {
        const Axis& axis = cut_.lanes[k];
        const auto dim = static_cast<std::size_t>(windowed[axis.position]);
        place(axis) = k > 0 ? b_.mod(i, axis.size) : i;
        at[dim] = first[dim] + place(axis);
        if (k > 0) i = b_.div(i, axis.size);
      }
      update_element(at);
    });
    for (const Axis& axis : cut_.lanes) place(axis) = 0;  // where the next slice begins
  }

  void update_element(std::span<const loop::Index> at) {
    std::vector<loop::Inst*> updates = fresh(window_);
    loop::Index to = linearized(at, op_.operand(0)->shape().sizes());
    store(to, combined(to, updates));
  }
  void store(const loop::Index& to, const std::vector<loop::Inst*>& elements) {
    for (std::size_t i = 0; i < elements.size(); ++i) b_.store(targets_[i], to, elements[i]);
  }
  /// The updates at the place of the loops.
  std::vector<loop::Inst*> fresh(std::span<const loop::Index> window) {
    const Value* updates = scatter_updates(op_);
    std::vector<loop::Index> from(static_cast<std::size_t>(updates->rank()));
    Ints outer_dims = d_.outer(updates->rank());
    for (std::size_t i = 0; i < outer_.size(); ++i)
      from[static_cast<std::size_t>(outer_dims[i])] = outer_[i];
    for (std::size_t i = 0; i < window.size(); ++i)
      from[static_cast<std::size_t>(d_.window[i])] = window[i];
    std::vector<loop::Inst*> out;
    for (int i = 0; i < n_; ++i) {
      out.push_back(context_.operand(op_, n_ + 1 + i, from));
      // Pieces of rows are a line or two here and there, which nothing else fetches in time (2^18
      // rows of 64 into 8192: 3.3 ms without, 2.4 with).
      const loop::Inst* x = out.back();
      if (updates->type().bytes() >= kFetched && x->code == loop::Opcode::load && x->type.lanes > 1)
        out.back()->ahead = std::min(whole_slices(kAhead), x->ref->size);
    }
    return out;
  }

  /// At least so many elements of the updates, in slices: what is so far ahead is in the same
  /// piece of its slice.
  std::int64_t whole_slices(std::int64_t elements) const {
    const std::int64_t slice = std::max<std::int64_t>(1, cut_.pieces.extent);
    return (elements + slice - 1) / slice * slice;
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
  loop::Index piece_, owner_;
  loop::Ref *places_ = nullptr,
            *inside_ = nullptr;    // of a block's updates in the result, and whether they are there
  std::vector<loop::Ref*> fresh_;  // what they are
  loop::Ref* own_ = nullptr;  // the numbers in the block of those that are in this point's part
};

}  // namespace

std::int64_t scatter_grid(const Op& op) {
  if (op.operand(0)->shape().count() == 0) return 0;
  Cut c = cut(op, scatter_dims(op.attrs));
  std::int64_t points = c.pieces.count() * c.sorted * c.owners;
  for (const Axis& axis : c.parallel) points *= axis.size;
  return points;
}

void scatter_emit(LowerContext& context, const Op& op, std::span<loop::Ref* const> targets,
                  const loop::Index& point) {
  Emitter(context, op, targets).emit(point);
}

}  // namespace strata::op
