// Which launches inside loops run on several threads.
//
// From one iteration of a loop to the next the pool's threads do not fall asleep, so that a launch
// which would be over before they had woken up anywhere else is worth their help.
#pragma once

#include "strata/compile/plan/plan.h"

namespace strata::compile {

/// Makes launches in bodies of loops parallel whose grid can be cut and that take a few
/// microseconds. Launches elsewhere stay as they are.
void parallelize_launches_in_loops(Plan& plan);

}  // namespace strata::compile
