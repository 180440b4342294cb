// The true values of functions of complex numbers, by MPFR with so many bits that the plain
// formulas need no care.
//
//   BigComplex w = complex_truth("stablehlo.cbrt", {z});
//   double error = std::max(ulps(got.real(), w.re.number), ulps(got.imag(), w.im.number));
//
// Signs of zeros on branch cuts are not told.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "strata/loop/testing/truth.h"

namespace strata::loop::testing {

/// A number of 1600 bits with operators.
struct Big {
  Number number;
  Big(double x = 0) : number(x, 1600) {}  // NOLINT: constants convert by themselves
  Big(const Big& other) : Big() { mpfr_set(number.value, other.number.value, MPFR_RNDN); }
  Big& operator=(const Big& other) {
    mpfr_set(number.value, other.number.value, MPFR_RNDN);
    return *this;
  }
};

#define STRATA_BIG(name, function)                                         \
  inline Big name(const Big& x, const Big& y) {                            \
    Big out;                                                               \
    function(out.number.value, x.number.value, y.number.value, MPFR_RNDN); \
    return out;                                                            \
  }
STRATA_BIG(operator+, mpfr_add)
STRATA_BIG(operator-, mpfr_sub)
STRATA_BIG(operator*, mpfr_mul)
STRATA_BIG(operator/, mpfr_div)
STRATA_BIG(atan2, mpfr_atan2)
#undef STRATA_BIG
#define STRATA_BIG(name)                                      \
  inline Big name(const Big& x) {                             \
    Big out;                                                  \
    mpfr_##name(out.number.value, x.number.value, MPFR_RNDN); \
    return out;                                               \
  }
STRATA_BIG(exp)
STRATA_BIG(log)
STRATA_BIG(sin)
STRATA_BIG(cos)
#undef STRATA_BIG

struct BigComplex {
  Big re, im;
  BigComplex(const Big& x, const Big& y = 0) : re(x), im(y) {}  // NOLINT
  BigComplex(double x) : re(x) {}                               // NOLINT
};
inline BigComplex operator+(const BigComplex& z, const BigComplex& w) {
  return {z.re + w.re, z.im + w.im};
}
inline BigComplex operator-(const BigComplex& z, const BigComplex& w) {
  return {z.re - w.re, z.im - w.im};
}
inline BigComplex operator*(const BigComplex& z, const BigComplex& w) {
  return {z.re * w.re - z.im * w.im, z.re * w.im + z.im * w.re};
}
inline BigComplex operator/(const BigComplex& z, const BigComplex& w) {
  Big square = w.re * w.re + w.im * w.im;
  return {(z.re * w.re + z.im * w.im) / square, (z.im * w.re - z.re * w.im) / square};
}
inline BigComplex turned(const BigComplex& z) { return {Big(0) - z.im, z.re}; }       // i z
inline BigComplex turned_back(const BigComplex& z) { return {z.im, Big(0) - z.re}; }  // -i z
inline BigComplex log(const BigComplex& z) {
  return {log(z.re * z.re + z.im * z.im) / 2, atan2(z.im, z.re)};
}
inline BigComplex exp(const BigComplex& z) {
  return {exp(z.re) * cos(z.im), exp(z.re) * sin(z.im)};
}
inline BigComplex power(const BigComplex& z, const BigComplex& w) { return exp(w * log(z)); }
inline BigComplex sqrt(const BigComplex& z) { return power(z, 0.5); }
inline BigComplex sinh(const BigComplex& z) { return (exp(z) - exp(0.0 - z)) / 2.0; }
inline BigComplex cosh(const BigComplex& z) { return (exp(z) + exp(0.0 - z)) / 2.0; }
inline BigComplex asinh(const BigComplex& z) { return log(z + sqrt(z * z + 1.0)); }
inline BigComplex atanh(const BigComplex& z) { return (log(1.0 + z) - log(1.0 - z)) / 2.0; }
inline BigComplex acosh(const BigComplex& z) { return log(z + sqrt(z + 1.0) * sqrt(z - 1.0)); }

/// The function of the operation of that name.
inline BigComplex complex_truth(std::string_view name, const std::vector<BigComplex>& x) {
  using Function = BigComplex (*)(const std::vector<BigComplex>&);
  using In = const std::vector<BigComplex>&;
  static const std::map<std::string_view, Function> known = {
      {"stablehlo.multiply", [](In x) { return x[0] * x[1]; }},
      {"stablehlo.divide", [](In x) { return x[0] / x[1]; }},
      {"stablehlo.power", [](In x) { return power(x[0], x[1]); }},
      {"stablehlo.atan2",
       [](In x) {
         return turned_back(log((x[1] + turned(x[0])) / sqrt(x[0] * x[0] + x[1] * x[1])));
       }},
      {"stablehlo.exponential", [](In x) { return exp(x[0]); }},
      {"stablehlo.exponential_minus_one", [](In x) { return exp(x[0]) - 1.0; }},
      {"stablehlo.log", [](In x) { return log(x[0]); }},
      {"stablehlo.log_plus_one", [](In x) { return log(1.0 + x[0]); }},
      {"stablehlo.logistic", [](In x) { return 1.0 / (1.0 + exp(0.0 - x[0])); }},
      {"stablehlo.sqrt", [](In x) { return sqrt(x[0]); }},
      {"stablehlo.rsqrt", [](In x) { return 1.0 / sqrt(x[0]); }},
      {"stablehlo.cbrt", [](In x) { return exp(log(x[0]) / 3.0); }},
      {"stablehlo.sine", [](In x) { return turned_back(sinh(turned(x[0]))); }},
      {"stablehlo.cosine", [](In x) { return cosh(turned(x[0])); }},
      {"stablehlo.tan", [](In x) { return turned_back(sinh(turned(x[0])) / cosh(turned(x[0]))); }},
      {"stablehlo.tanh", [](In x) { return sinh(x[0]) / cosh(x[0]); }},
      {"chlo.sinh", [](In x) { return sinh(x[0]); }},
      {"chlo.cosh", [](In x) { return cosh(x[0]); }},
      {"chlo.asin", [](In x) { return turned_back(asinh(turned(x[0]))); }},
      {"chlo.acos",
       [](In x) { return turned_back(log(x[0] + turned(sqrt(1.0 - x[0]) * sqrt(1.0 + x[0])))); }},
      {"chlo.atan", [](In x) { return turned_back(atanh(turned(x[0]))); }},
      {"chlo.asinh", [](In x) { return asinh(x[0]); }},
      {"chlo.acosh", [](In x) { return acosh(x[0]); }},
      {"chlo.atanh", [](In x) { return atanh(x[0]); }},
  };
  return known.at(name)(x);
}

}  // namespace strata::loop::testing
