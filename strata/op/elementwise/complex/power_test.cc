// Complex powers with whole exponents against repeated products.
#include <gtest/gtest.h>

#include <complex>

#include "strata/op/build.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

// The exponent's angle is a hundred and more, of which f64 loses what many ulp of the result are.
TEST(ComplexPower, LargeWholeExponents) {
  using Long = std::complex<long double>;
  for (std::complex<double> z : {std::complex(1.0, 0.25), {-0.5, 0.875}, {0.75, -0.625}})
    for (int n : {1, 2, 200, 400}) {
      Long want = 1, base = z;
      for (int i = 0; i < n; ++i) want *= base;
      Literal got = testing::run(
          {Literal::scalar(z), Literal::scalar(std::complex<double>(n, 0))},
          [](Builder& b, const Values& v) { return b.create("stablehlo.power", v).results(); })[0];
      const Long error = Long(got.span<std::complex<double>>()[0]) - want;
      EXPECT_LT(std::abs(error) / std::abs(want), 0x1p-51) << z << " to the " << n;
    }
}

}  // namespace
}  // namespace strata::op
