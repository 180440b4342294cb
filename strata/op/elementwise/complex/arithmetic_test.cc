// Products and quotients of complex numbers that come out exactly.
#include <gtest/gtest.h>

#include <complex>

#include "strata/op/build.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

template <class T>
void expect_exact(const char* name, std::complex<T> z, std::complex<T> w, std::complex<T> want) {
  Literal got =
      testing::run({Literal::scalar(z), Literal::scalar(w)},
                   [&](Builder& b, const Values& v) { return b.create(name, v).results(); })[0];
  EXPECT_EQ(got.span<std::complex<T>>()[0], want) << name << " of " << z << " and " << w;
}

template <class T>
void expect_all() {
  using C = std::complex<T>;
  expect_exact<T>("stablehlo.multiply", C(1, 2), C(3, 4), C(-5, 10));
  expect_exact<T>("stablehlo.multiply", C(0, 1), C(0, 1), C(-1, 0));
  expect_exact<T>("stablehlo.divide", C(-5, 10), C(3, 4), C(1, 2));
  expect_exact<T>("stablehlo.divide", C(1, 0), C(0, 2), C(0, T(-0.5)));
}

TEST(ComplexArithmetic, WholeNumbers) {
  expect_all<float>();
  expect_all<double>();
}

}  // namespace
}  // namespace strata::op
