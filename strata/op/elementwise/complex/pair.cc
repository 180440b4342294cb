// The exponential and the circular functions in pairs of f64, for sums of their products that
// cancel.
#include "strata/op/elementwise/complex/functions.h"

namespace strata::op::complex_rules {

/// x = k log 2 + r.
PairExponential exp_pair(Real x) {
  constexpr double kInverse = 0x1.71547652b82fep+0, kLn2 = 0x1.62e42fefa39efp-1,
                   kLn2Low = 0x1.abc9e3b39803fp-56;
  Real k = nearest(x * kInverse), power = two_to(k), zero = x.like(0);
  Pair less = loop::math::expm1_pair(Pair{x, zero} - Pair{x.like(kLn2), x.like(kLn2Low)} * k);
  Pair value = (less + x.like(1)) * power;
  return {value, either(k == 0, less, value + x.like(-1))};
}

/// y = k pi/2 + r.
loop::math::SineCosine<Real> sine_cosine(Real y) {
  constexpr double kTurns = 0x1.45f306dc9c883p-1;  // 2 / pi
  constexpr double kHalfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                -0x1.f1976b7ed8fbcp-110};
  Truth far = !(abs(y) <= 0x1p20);
  Real zero = y.like(0), within = choose(far, zero, y), k = nearest(within * kTurns);
  Pair r = Pair{within, zero} - two_product(k, y.like(kHalfPi[0])) -
           two_product(k, y.like(kHalfPi[1])) - Pair{k * kHalfPi[2], zero};
  auto [sine, cosine, below] = loop::math::sine_cosine_pair(r);
  Real quarter = k - 4 * nearest(0.25 * k);  // -2 .. 2
  Truth odd = abs(quarter) == 1, back = abs(quarter) == 2;
  Pair s = either(odd, cosine, sine), c = either(odd, sine, cosine);
  s = either(back || quarter == -1, -s, s);
  c = either(back || quarter == 1, -c, c);
  Pair less_one = either(quarter == 0, below, c + y.like(-1));
  Real plain = cos(y);
  return {either(far, {sin(y), zero}, s), either(far, {plain, zero}, c),
          either(far, Pair{plain, zero} + y.like(-1), less_one)};
}

}  // namespace strata::op::complex_rules
