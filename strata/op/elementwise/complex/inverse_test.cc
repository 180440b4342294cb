// Complex atan2 near real numbers of each quadrant, where it is that of the real ones.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "strata/op/build.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

TEST(ComplexInverse, Atan2HasItsQuadrant) {
  using C = std::complex<double>;
  for (double y : {3.0, 0.5, -0.5, -3.0})
    for (double x : {2.0, 0.25, -0.25, -2.0}) {
      Literal got = testing::run(
          {Literal::scalar(C(y, 1e-20)), Literal::scalar(C(x, -1e-20))},
          [](Builder& b, const Values& v) { return b.create("stablehlo.atan2", v).results(); })[0];
      EXPECT_NEAR(got.span<C>()[0].real(), std::atan2(y, x), 1e-15) << y << " " << x;
    }
}

}  // namespace
}  // namespace strata::op
