// Forward derivative of a program.
#pragma once

#include "strata/ir/graph.h"

namespace strata::transform {

/// (primals..., tangents of the active arguments...) -> (results..., tangents of the inexact
/// results...). Tangents that are zero are written out. Throws strata::Error where the program has
/// no forward derivative.
///
///   auto df = transform::jvp(f, {true, false});   // f(x, y): df(x, y, dx) -> (z, dz)
std::unique_ptr<ir::Block> jvp(const ir::Block& f, const std::vector<bool>& active);

}  // namespace strata::transform
