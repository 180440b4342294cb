// Prices of European calls and their sensitivities ("greeks"). The price is five lines; each greek
// is a derivative of them, for a strip of strikes at once. The other way round, the volatility that
// explains a price is the root of an equation: Newton's method, one root a strike. Source: Black
// and Scholes, The Pricing of Options and Corporate Liabilities (1973).
#include <strata/core.h>

#include "require.h"

using namespace strata;
using scipy::special::ndtr;  // the normal distribution function

struct Call {
  Array spot, strike, years, rate, volatility;
  STRATA_FIELDS(spot, strike, years, rate, volatility)
};

Array price(const Call& c) {
  Array spread = c.volatility * sqrt(c.years);
  Array d1 = (log(c.spot / c.strike) + (c.rate + square(c.volatility) / 2) * c.years) / spread;
  return c.spot * ndtr(d1) - c.strike * exp(-c.rate * c.years) * ndtr(d1 - spread);
}

// The second derivative by the spot.
Array gamma_of(const Call& c) {
  auto delta = [&](Array spot) {
    return grad(price)(Call{spot, c.strike, c.years, c.rate, c.volatility}).spot;
  };
  return grad(delta)(c.spot);
}

Array implied_volatility(const Call& c, Array paid) {
  auto excess = [&](Array volatility) {
    return price({c.spot, c.strike, c.years, c.rate, volatility}) - paid;
  };
  auto newton = [&](Array, Array volatility) {
    auto [value, slope] = value_and_grad(excess)(volatility);
    return volatility - value / slope;
  };
  return fori_loop(0, 8, newton, Array(0.5));
}

bool near(const Array& x, const Array& y) { return allclose(x, y, {.rtol = 1e-8}).item<bool>(); }

int main() {
  EnableX64 wide;  // second derivatives of prices deserve f64
  Array strike = linspace(80, 120, 9, float64);
  auto same = [&](double v) { return full_like(strike, v); };
  Call calls{same(100), strike, same(0.5), same(0.03), same(0.25)};

  Array value = jit(vmap(price))(calls);
  Call slope = jit(vmap(grad(price)))(calls);  // a derivative for each field
  Array gamma = jit(vmap(gamma_of))(calls);

  std::printf("strike   price   delta   gamma    vega     rho   theta\n");
  Array table =
      stack({strike, value, slope.spot, gamma, slope.volatility, slope.rate, -slope.years}, 1);
  for (std::int64_t i = 0; i < strike.shape(0); ++i) {
    for (double x : table[i].to_vector<double>()) std::printf(x >= 80 ? "%6.0f" : " %7.4f", x);
    std::printf("\n");
  }

  // The closed forms of the textbooks.
  Array d1 = (log(calls.spot / strike) + (0.03 + 0.25 * 0.25 / 2) * 0.5) / (0.25 * std::sqrt(0.5));
  Array density = exp(-square(d1) / 2) / std::sqrt(2 * pi);
  require(near(slope.spot, ndtr(d1)), "delta is N(d1)");
  require(near(gamma, density / (100 * 0.25 * std::sqrt(0.5))), "gamma is n(d1) / (S v sqrt(T))");
  require(near(slope.volatility, 100 * density * std::sqrt(0.5)), "vega is S n(d1) sqrt(T)");
  require(near(slope.years, calls.rate * slope.rate / calls.years +
                                square(calls.volatility * calls.spot) * gamma / 2),
          "the equation of Black and Scholes");

  Array found = jit(vmap(implied_volatility))(calls, value);
  std::printf("implied volatility: %.6f to %.6f\n", min(found).item<double>(),
              max(found).item<double>());
  require(near(found, calls.volatility), "the volatility comes back from the prices");
}
