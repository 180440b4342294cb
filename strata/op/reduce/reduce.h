// Reductions: what the compiler and the tests ask beyond the table.
#pragma once

#include "strata/op/reduce/reduce_order.h"

namespace strata::op {

/// A region over pairs (value, index) that keeps the pair with the greatest (or least) value.
struct ArgExtremum {
  bool maximum = true;
};

/// Recognises the combiner of an argument maximum or minimum as JAX emits it, with arguments (v, i,
/// w, j):
///
///   first = v > w or v != v             (LT for a minimum; `v != v` may be absent for integers)
///   return select(first, v, w), select(first or (v == w and i < j), i, j)
///
/// Operands of `or`, `and` and of comparisons may stand in either order. A reduction by such a
/// region is *defined* as the winner of a total order, so that it may be computed in any order: of
/// two pairs the better one has a NaN where the other has none, else the greater value, else
/// (values equal or both NaN) the smaller index. The initial pair takes part and wins ties with
/// itself. Where indices ascend, as an iota does, this is what the sequence gives, except that the
/// sequence takes the last of several zeros of either sign as the value and this takes the first.
std::optional<ArgExtremum> arg_extremum(const Block& region);
inline bool is_arg_extremum(const Block& region) { return arg_extremum(region).has_value(); }

/// Emits one step of it: `state` and `element` are pairs, and the better one is returned.
std::vector<loop::Inst*> lower_extremum(loop::Builder& b, bool maximum,
                                        std::span<loop::Inst* const> state,
                                        std::span<loop::Inst* const> element);

/// The same where the element's place comes after the state's: equal ones need not be asked which
/// is sooner.
std::vector<loop::Inst*> lower_later_extremum(loop::Builder& b, bool maximum,
                                              std::span<loop::Inst* const> state,
                                              std::span<loop::Inst* const> element);

/// The order of a reduce operation (inputs of static shape).
ReduceOrder reduce_order(const Op& reduce);
/// Its dimensions, ascending.
std::vector<int> reduced_dims(const Op& reduce);

/// The values along the first dimension combined in sequence, whatever the others are (one element
/// would use lanes); from `init`.
///
///   Value* total = reduce_in_sequence(b, pieces, zero, Combiner::add);   // [n, ...] -> [...]
Value* reduce_in_sequence(Builder& b, Value* x, Value* init, Combiner combiner);

}  // namespace strata::op
