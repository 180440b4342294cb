// Carries of counted loops that are made in one place and kept in another.
#pragma once

#include "strata/compile/plan/plan.h"

namespace strata::compile {

/// A loop whose turn makes the next value of a carry in a temporary and copies it to the carry's
/// place, for that is read until the turn ends, does two iterations at a time instead: the second
/// reads the temporary and makes the carry in its place, and nothing is copied. Of an odd count the
/// last iteration stays as it was. Done where an iteration has few steps, however little it copies:
/// the next iteration would wait for the copy. Before assign_memory: the temporary lives longer.
void double_buffer_carries(Plan& plan);

}  // namespace strata::compile
