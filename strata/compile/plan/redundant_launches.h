// Launches that would make again what is there: sides of products laid out for tiles, mostly. In
// the graph nothing is left to share or to take out of a loop; in the plan two products lay out the
// same array, and a product in a loop lays out what the loop leaves as it is.
#pragma once

#include "strata/compile/plan/plan.h"

namespace strata::compile {

/// Before pipelines and memory: of launches of one kernel on the same operands the first stays, and
/// its results serve for the others'; those that a counted loop would repeat stand before it.
void eliminate_redundant_launches(Plan& plan);

}  // namespace strata::compile
