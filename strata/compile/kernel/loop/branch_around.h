// Choices between a short and a long way: where the iterations of a loop wait for each other, the
// long way is taken only if it is chosen.
#pragma once

#include "strata/loop/loop.h"

namespace strata::compile {

/// A `select` of scalars (outside of vector loops) one side of which takes many more cycles than
/// the other, and is used for nothing else, becomes a branch around the instructions of that side.
/// No bit changes. A processor that guesses the branch no longer waits for the longer side; for
/// lanes, and where turns do not wait, both sides at once are better.
void branch_around_long_sides(loop::Kernel& kernel);

}  // namespace strata::compile
