// How many grid points of a launch a thread claims at a time.
//
// To claim costs as much as a few hundred lanes of work, and more where several threads claim at
// once: points of a few elements each are claimed many together.
#pragma once

#include "strata/compile/plan/plan.h"

namespace strata::compile {

/// So many of a launch's points that what is claimed takes about a microsecond, where there are
/// enough for 64 claims; `lanes` is the work of all of them (lanes_of). Which points there are, and
/// so bits, does not depend on it.
std::int64_t grain_of(std::int64_t points, double lanes);

/// Sets the grains of parallel launches of the plan's own kernels.
void choose_grains(Plan& plan);

}  // namespace strata::compile
