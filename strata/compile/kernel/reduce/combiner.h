// Combiners of reductions in the loop form.
#pragma once

#include <functional>
#include <vector>

#include "strata/compile/kernel/kernel_builder.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/reduce/combiner.h"
#include "strata/op/reduce/reduce_order.h"

namespace strata::compile {

using op::in_any_order;
using op::is_reduction;
op::Reduction reduction_of(const ir::Op& op);

/// What elements of dtype `operand` are combined in. Truth values are as numbers of 32 bits, 0 and
/// not 0: LLVM makes a scalar of each lane of an <n x i1> that goes around a loop (any and all of
/// rows of 4096 f32: 6.0 ms with those, 2.3 so).
DType accumulator(DType operand);
/// The combiner's neutral element in its accumulator's type.
Inst* neutral(loop::Builder& b, op::Combiner combiner, DType operand);
/// The elements of dtype `operand` in the accumulator's type.
Inst* widen(loop::Builder& b, DType operand, Inst* element);

/// Lanes for a row of dtype that is combined in any order: what combines may take longer than what
/// loads, where registers hold as many lanes.
int lanes_in_any_order(std::int64_t length, DType dtype);

/// Lanes that take the elements of a row in turn. The largest or least float is by definition not a
/// number if any is none, and of zeros the one of its own side, which takes six instructions an
/// element where it is asked each time. Here lanes hold what must be known at the end: four for f32
/// and f64; halves are compared as integers in the order of the numbers, twice as many at a time,
/// the least as well as the largest, for beyond the infinities is what is no number.
class LaneTotals {
 public:
  LaneTotals(loop::Builder& b, op::Combiner combiner, DType operand, int lanes);
  /// An element of the operand, in its storage dtype.
  void add(Inst* element);
  /// In the accumulator's type.
  Inst* total();
  /// What each lane has taken, in the accumulator's type: in the order of the lanes, combined by
  /// halves, these make the total.
  Inst* lane_totals();
  /// Whether a lane holds three numbers of the operand's width.
  static bool holds_three(op::Combiner combiner, DType operand) {
    return way_of(combiner, operand) == Way::floats;
  }

 private:
  enum class Way { as_it_is, floats, halves };
  static Way way_of(op::Combiner combiner, DType operand);
  Inst* key(Inst* half);
  /// Of a best, of signs, of whether there was none; of the two extrema: a total's, or a lane's.
  Inst* of_floats(Inst* best, Inst* sign, Inst* nans);
  Inst* of_halves(Inst* best, Inst* farthest);

  loop::Builder& b_;
  loop::Opcode code_;
  DType operand_, bits_;  // bits: integers as wide as what lanes hold
  bool maximum_;
  Way way_;
  Inst* best_;       // local
  Inst* nans_ = {};  // local, floats: not 0 where an element was none
  Inst* signs_ =
      {};  // local, floats: the sign is that of a zero on the extremum's side, if there was one
  Inst* farthest_ = {};  // local, halves: the other extremum
};

/// The order of a plain reduction; one piece a chunk where no bit depends on pieces.
op::ReduceOrder order_of(const ir::Op& reduction);

/// Whether two go over the same dimensions of arrays of one shape, by the same pieces where these
/// decide about bits, and so may go side by side.
bool reduce_alike(const ir::Op& p, const ir::Op& q);

/// What the pieces of a chunk, or the chunks, come to (op/reduce/reduce_order.h): a local of a lane
/// for each output. Of sums and products of many elements it is wider than what pieces accumulate
/// in.
class Total {
 public:
  Total(loop::Builder& b, op::Combiner combiner, DType operand, const op::ReduceOrder& order,
        int lanes = 1);
  /// f64 for sums and products by pieces, else the accumulator's.
  static DType type(op::Combiner combiner, DType operand, const op::ReduceOrder& order);
  void clear();
  /// Goes on from such a total.
  void set(Inst* total);
  /// A piece's result in the accumulator's type, or such a total.
  void add(Inst* more);
  /// In `type`.
  Inst* get();
  /// In the accumulator's type.
  Inst* rounded();

 private:
  loop::Builder& b_;
  loop::Opcode code_;
  DType operand_;
  Inst *neutral_, *total_;  // the latter a local
};

/// Lanes combined by halves, the second with the first, as far as there are any: those that nothing
/// came to hold the neutral element, which changes nothing.
Inst* by_halves(loop::Builder& b, loop::Opcode code, std::vector<Inst*> lanes);
/// What a reduction makes of a row whose elements (at most 32, in their storage dtype) are all at
/// hand, in the same order; init and rounding as below.
Inst* short_row(loop::Builder& b, const ir::Op& op, std::vector<Inst*> elements, Inst* init);

/// init combined with a row's total, rounded to the result's dtype.
Inst* finished(loop::Builder& b, const ir::Op& op, Inst* init, Inst* total);

/// Reductions of one row side by side: accumulators over virtual lanes and chunks in the order of
/// op/reduce/reduce_order.h.
class RowReductions {
 public:
  /// `element(v, j)`: element j of the row of operand v, in its storage dtype. `light`: elements
  /// are little more than loads.
  RowReductions(loop::Builder& b, std::vector<const ir::Op*> reductions, std::int64_t length,
                std::function<Inst*(const ir::Value*, Index)> element, bool light);
  /// Loops over the row; `also(j)` is called once for each element, after the reductions took it.
  /// All that is made for a strip is made by `around`, if there is one, as often as that likes: in
  /// branches, say.
  void run(const std::function<void(Index)>& also,
           std::function<void(Index, std::function<void()>)> around = nullptr);
  /// init combined with the row's total, rounded to the result's dtype.
  Inst* result(const ir::Op& op, Inst* init);

 private:
  void chunk(const Index& begin, std::int64_t length, const std::function<void(Index)>& also);
  void piece(const Index& begin, std::int64_t length, std::vector<LaneTotals>& lanes,
             const std::function<void(Index)>& also);
  /// Lanes for reduction i, which hold nothing yet.
  LaneTotals lanes_of(std::size_t i);

  loop::Builder& b_;
  std::vector<const ir::Op*> reductions_;
  std::int64_t length_;
  int lanes_;
  std::function<Inst*(const ir::Value*, Index)> element_;
  std::function<void(Index, std::function<void()>)> around_;
  std::vector<op::ReduceOrder> orders_;       // each reduction's
  op::ReduceOrder order_;                     // that of the shortest pieces
  std::vector<Total> totals_, chunk_totals_;  // the latter of those that use pieces
};

}  // namespace strata::compile
