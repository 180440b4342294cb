// Functions that append operations whose derivatives follow from what their results solve: systems
// and roots.
//
// All regions take what is solved for (`count` values: right-hand sides, guesses or solutions) and
// then the parameters. They must be isolated.
#pragma once

#include "strata/op/control.h"

namespace strata::op {

/// x of matvec(x, p...) = b, by `solve`: (b..., p...) -> (x..., more...); matvec: (x..., p...) ->
/// b..., linear in x. For the reverse mode also `transpose_solve` and `vecmat`, the same for the
/// transposed system; without them both are null.
struct LinearSystem {
  BlockPtr solve, matvec, transpose_solve, vecmat;
};
Values custom_linear_solve(Builder& b, LinearSystem system, Values rhs, Values params);

/// x of f(x, p...) = 0, by `solve`: (guess..., p...) -> (x..., more...); f: (x..., p...) -> as many
/// of the same types. `tangent_solve`: (x..., y..., p...) -> the z for which f's derivative by x
/// along z is y.
struct RootProblem {
  BlockPtr solve, f, tangent_solve;
};
Values custom_root(Builder& b, RootProblem problem, Values guess, Values params);

}  // namespace strata::op
