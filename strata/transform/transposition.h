// What passes that move transpositions share.
#pragma once

#include "strata/ir/graph.h"

namespace strata::transform {

/// Whether each dimension stays where it is.
bool is_iota(const ir::Ints& permutation);

/// A value that is transposed, and how.
struct Transposed {
  ir::Value* value;
  ir::Ints permutation;
};
/// `reduction`, of one array that is transpose(x, permutation), as one of x itself: transposed so, it is the same. In which order elements are combined may be another (op/reduce_order.h): ask before.
Transposed reduction_before(ir::Builder& b, const ir::Op& reduction, ir::Value* x, const ir::Ints& permutation);

}  // namespace strata::transform
