// Reductions over rows, some rows at a time, without a changed bit: what a part of the rows gives
// are whole chunks of the reduction (op/reduce/reduce_order.h), and these are combined in order
// when all are there.
//
//   s = reduce(x) over dimension 0 of 2048 rows   =   combine(part(x[0:512]), part(x[512:1024]),
//   ...)
#pragma once

#include <cstdint>

#include "strata/ir/graph.h"

namespace strata::pass {

/// In how many equal parts the rows, the outermost factor of dimension d of the operand, may come:
/// a divisor of this. 0: in none, since another order than theirs decides the result.
std::int64_t reduction_parts(const ir::Op& op, int d);

/// What a part of the rows gives: its chunks, stacked along dimension 0, in the type that the
/// reduction accumulates in.
ir::Value* partial_reduction(ir::Builder& b, const ir::Op& op, ir::Value* rows);

/// The result, from the chunks of all parts in order. `init` stands for the operation's.
ir::Value* combine_partial_reductions(ir::Builder& b, const ir::Op& op, ir::Value* chunks,
                                      ir::Value* init);

}  // namespace strata::pass
