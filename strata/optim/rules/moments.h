// What rules with moments share.
#pragma once

#include "strata/optim/rule.h"

namespace strata::optim::detail {

/// base^count as one accurate f32 number.
inline Array raised(const Rate& base, const Array& count) {
  return numpy::power(numpy::astype(base.array(), DType::f32), numpy::astype(count, DType::f32));
}
/// base^count by squaring, as upstream computes it op by op where the count is a known integer.
inline Array raised_by_products(const Rate& base, const Array& count) {
  Array power = numpy::ones({}, DType::f32), factor = numpy::astype(base.array(), DType::f32);
  for (int bit = 0; bit < 31; ++bit) {
    const Array odd = numpy::equal(numpy::remainder(count >> bit, 2), 1);
    power = numpy::where(odd, power * factor, power);
    factor = factor * factor;
  }
  return power;
}
/// The first moment divided by 1 - b1^count; with `nesterov` b1 m / (1 - b1^(count+1)) + (1 - b1) g
/// / (1 - b1^count).
inline Tree corrected(const Tree& mu, const Tree& updates, const Rate& b1, const Array& count,
                      bool nesterov) {
  if (!nesterov) return trees::bias_correction(mu, b1, count);
  const Rate rest = 1.0 - b1;
  return trees::map([&](const Array& m, const Array& g) { return b1 * m + rest * g; },
                    trees::bias_correction(mu, b1, safe_increment(count)),
                    trees::bias_correction(updates, b1, count));
}
/// m / (sqrt(v + eps_root) + eps)
inline Tree over_root(const Tree& mu, const Tree& nu, const Rate& eps, const Rate& eps_root) {
  return trees::map(
      [&](const Array& m, const Array& v) { return m / (numpy::sqrt(v + eps_root) + eps); }, mu,
      nu);
}
/// m / (sqrt(v) + eps)
inline Tree over_root(const Tree& mu, const Tree& nu, const Rate& eps) {
  return trees::map([&](const Array& m, const Array& v) { return m / (numpy::sqrt(v) + eps); }, mu,
                    nu);
}

}  // namespace strata::optim::detail
