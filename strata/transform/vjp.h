// Reverse derivative of a program.
#pragma once

#include "strata/ir/graph.h"

namespace strata::transform {

/// (primals..., cotangents of the seeded results...) -> (results..., cotangents of the active
/// arguments...). `seeded`: results that have a cotangent argument (empty: all inexact ones); the
/// others' cotangents are zero. Cotangents that are zero are written out. Throws strata::Error
/// where the program has no reverse derivative, as a while loop.
///
///   auto back = transform::vjp(f, {true, false});   // f(x, y) -> z: back(x, y, dz) -> (z, dx)
std::unique_ptr<ir::Block> vjp(const ir::Block& f, const std::vector<bool>& active,
                               std::vector<bool> seeded = {});

/// (primals...) -> (results..., gradient of result 0 for the active arguments...). Result 0 must be
/// an inexact scalar; the other results have no part in the gradient.
std::unique_ptr<ir::Block> value_and_grad(const ir::Block& f, const std::vector<bool>& active);

}  // namespace strata::transform
