// Incomplete gamma and beta functions under the names of jax.lax: of floats of one dtype and shape
// (or scalars), computed in f32 at least. NaN outside of the domain. The iterations are upstream's
// (Cephes' igam and incbet), and stop where all elements have converged.
#pragma once

#include "strata/api/array.h"

namespace strata::lax {

/// The gamma distribution of shape a below x, and above it: 0 <= a, 0 <= x.
Array igamma(const Operand& a, const Operand& x);
/// The regularised upper incomplete gamma function, 1 - igamma(a, x).
Array igammac(const Operand& a, const Operand& x);
/// The derivative of igamma by a.
Array igamma_grad_a(const Operand& a, const Operand& x);
/// The derivative by a of a sample x of the gamma distribution: -igamma_grad_a(a, x) over the
/// density at x.
Array random_gamma_grad(const Operand& a, const Operand& x);
/// The beta distribution below x: 0 <= a, 0 <= b, 0 <= x <= 1. Derivatives by a and b, which
/// upstream does not have, are those of the iteration.
Array betainc(const Operand& a, const Operand& b, const Operand& x);

}  // namespace strata::lax
