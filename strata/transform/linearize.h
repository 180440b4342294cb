// A program as what is known at a point and what is linear in the tangents; and the transposition
// of the latter.
#pragma once

#include "strata/ir/graph.h"

namespace strata::transform {

/// known: (primals...) -> (results..., residuals...); linear: (residuals..., tangents of the active
/// arguments...) -> tangents of the inexact results. Running both is jvp; the linear part may run
/// many times.
struct Linear {
  std::unique_ptr<ir::Block> known, linear;
  int num_residuals = 0;
};
Linear linearize(const ir::Block& f, const std::vector<bool>& active);

/// (arguments that are not linear..., cotangents of the inexact results...) -> cotangents of the
/// linear arguments. `f` must be linear in those; where an operation on the way is not, throws
/// strata::Error.
std::unique_ptr<ir::Block> transpose(const ir::Block& f, const std::vector<bool>& linear);

}  // namespace strata::transform
