// Transpositions of products sink through what is computed from them, as far as the next product,
// which reads its operand in any order.
//
//   dot(exp(transpose(dot(q, k)) - m), v)  ->  dot(exp(dot(q, k) - transpose(m)), v), its result
//   transposed
//
// Attention whose heads share keys is stated so (a mapped dimension comes first, then softmax, then
// it goes back): rows of scores then are computed in the order in which the product makes them, and
// kernels pass them on part by part (compile/plan/tile_pipelines.h). Each element is the same
// number, and a row's reduction keeps its order, so no bit changes.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the block and the regions in it: permutations that leave the last dimension where it is, of
/// large products; and those of anything whose maps all end in products or are transposed again, so
/// that nothing is left of them (`rate * x.T @ error`). Returns whether anything changed.
bool sink_transposes(ir::Block& block);

}  // namespace strata::pass
