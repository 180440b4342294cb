// Powers of complex numbers that are infinite, NaN or zero, and infinite exponents: NumPy's values
// where those are numbers, and a real exponent leaves the real line real.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "strata/op/build.h"
#include "strata/op/evaluate.h"

namespace strata::op {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(),
                 kNaN = std::numeric_limits<double>::quiet_NaN();
using C = std::complex<double>;

template <class T>
C power(C z, C w) {
  using Z = std::complex<T>;
  Block block;
  Builder b(block);
  const Literal base = Literal::scalar(Z(static_cast<T>(z.real()), static_cast<T>(z.imag()))),
                exponent = Literal::scalar(Z(static_cast<T>(w.real()), static_cast<T>(w.imag())));
  Value *x = block.add_argument(base.type()), *y = block.add_argument(exponent.type());
  block.results = {pow(b, x, y)};
  return C(evaluate(block, std::array{base, exponent})[0].span<Z>()[0]);
}

struct Case {
  C base, exponent, want;
};
const Case kCases[] = {
    {{kInf, 0}, {1, 0}, {kInf, 0}},
    {{kInf, 0}, {2, 0}, {kInf, 0}},
    {{kInf, 0}, {0.5, 0}, {kInf, 0}},
    {{kInf, 0}, {-1, 0}, {0, 0}},
    {{kInf, 0}, {-0.5, 0}, {0, 0}},
    {{kInf, 0}, {0, 0}, {1, 0}},
    {{-kInf, 0}, {1, 0}, {-kInf, 0}},
    {{-kInf, 0}, {2, 0}, {kInf, 0}},
    {{-kInf, 0}, {-1, 0}, {0, 0}},
    {{0, kInf}, {1, 0}, {0, kInf}},
    {{0, kInf}, {2, 0}, {-kInf, kNaN}},
    {{2, -kInf}, {1, 0}, {2, -kInf}},
    {{2, -kInf}, {2, 0}, {-kInf, -kInf}},
    {{kInf, kInf}, {2, 0}, {kNaN, kInf}},
    {{kInf, 1}, {-0.5, 0}, {0, 0}},
    {{kInf, 1}, {1, 1}, {kInf, kNaN}},
    {{kInf, kNaN}, {-1, 1}, {0, 0}},
    {{kNaN, 1}, {1, 0}, {kNaN, 1}},
    {{kNaN, 1}, {0, 0}, {1, 0}},
    {{0.5, 0}, {kInf, 1}, {0, 0}},
    {{2, 0}, {-kInf, 0}, {0, 0}},
    {{0, 0}, {2, 0}, {0, 0}},
    {{0, 0}, {kInf, 0}, {0, 0}},
    {{0, 0}, {-1, 0}, {kNaN, kNaN}},
    {{0, 0}, {0, 0}, {1, 0}},
    {{0, 0}, {0, 1}, {kNaN, kNaN}},
};

bool same(double got, double want) { return got == want || (std::isnan(got) && std::isnan(want)); }

TEST(ComplexPower, BeyondTheFiniteNumbers) {
  for (const auto& [base, exponent, want] : kCases)
    for (C got : {power<double>(base, exponent), power<float>(base, exponent)})
      EXPECT_TRUE(same(got.real(), want.real()) && same(got.imag(), want.imag()))
          << base << " to the power " << exponent << ": " << got << ", want " << want;
}

}  // namespace
}  // namespace strata::op
