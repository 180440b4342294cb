// Products in a scan that do not wait for another iteration are made of all iterations at once,
// before it or after it.
//
//   scan { h = tanh(dot(h, w) + dot(x, u)) }              ->  p = dot(x of all iterations, u); scan
//   { h = tanh(dot(h, w) + slice of p) } scan { d = ...; sum = sum + dot(h, d); y = dot(d, v) }  ->
//   scan { d = ...; y = d }; scan { sum = sum + dot(h, d) }; dot(d of all iterations, v)
//
// That is how one writes a recurrent network by hand: small products of each iteration become large
// ones, which take several threads and no launch in each iteration. What the second kind needs of
// an iteration is stacked, within limits. A scan that is left with a sum alone has a kernel of its
// own (accumulating_scan.h). Terms and their order stay, so no bit changes.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the block and the regions in it. Returns whether anything changed.
bool batch_dots_across_iterations(ir::Block& block);

}  // namespace strata::pass
