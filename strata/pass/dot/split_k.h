// Products over very many terms become a product for each piece of the sum
// (op/linalg/dot_general.h), and their sum.
//
//   dot(x, y)  ->  round(add(reduce_sum(dot(x as pieces, y as pieces), pieces), dot(the rest of x,
//   the rest of y)))
//
// which is their definition, so no bit changes: the pieces are elements of a batch, for as many
// lanes and threads as there are. Of floats they use chains, and their sums are added up in f64.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the block and the regions in it. Returns whether anything changed.
bool split_k(ir::Block& block);

}  // namespace strata::pass
