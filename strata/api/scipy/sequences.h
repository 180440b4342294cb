// Special functions that a whole number counts.
#pragma once

#include "strata/api/numpy.h"

namespace strata::scipy::special {

/// Bernoulli's numbers B_0 to B_n with B_1 = -1/2: floats [n + 1]. Throws Error for negative n.
/// Source: Chowla and Hartung, "An exact formula for the m-th Bernoulli number" (1972).
Array bernoulli(std::int64_t n);

struct Comb {
  internal::Named named = internal::Named();
  /// Of N things with repetition: comb(N + k - 1, k).
  bool repetition = false;
};
/// How many ways there are to choose k of N things, as floats; 0 where there are none.
Array comb(const Operand& N, const Operand& k, const Comb& options = {});

struct BesselJn {
  internal::Named named = internal::Named();
  /// The greatest order, and from where the recurrence goes down.
  std::int64_t v = 0, n_iter = 50;
};
/// Bessel functions of the first kind of orders 0 to v, along a new first axis. Source: Miller's
/// backward recurrence; f32 good for |z| < n_iter / 2.
Array bessel_jn(const Operand& z, const BesselJn& options);

/// Spherical harmonics of degree n and order m (integers) at polar angle theta and azimuth phi,
/// complex, for arrays that broadcast. `n_max` bounds n and must be given where n is traced.
/// Source: the recurrence of normalised Legendre functions by degree.
Array sph_harm_y(const Operand& n, const Operand& m, const Operand& theta, const Operand& phi,
                 std::optional<std::int64_t> n_max = {});

}  // namespace strata::scipy::special
