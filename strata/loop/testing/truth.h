// The true values of the functions of loop/math, by MPFR: for tests and measurements.
//
//   Number x(0.5), y;
//   unary_truth("tanh")(y.value, x.value, MPFR_RNDN);
//   double error = ulps(math::tanh(0.5), y);
//
// MPFR has most of them. erf_inv is Newton's method from its erf, the Bessel functions their
// series, Hurwitz's zeta Euler's and Maclaurin's formula with more terms than 200 bits need. Poles
// are as math.h says.
#pragma once

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

namespace strata::loop::testing {

struct Number {
  mpfr_t value;
  explicit Number(double x = 0, mpfr_prec_t bits = 200) {
    mpfr_init2(value, bits);
    mpfr_set_d(value, x, MPFR_RNDN);
  }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value); }
};

using UnaryTruth = int (*)(mpfr_t, const mpfr_t, mpfr_rnd_t);
using BinaryTruth = int (*)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

namespace internal {

inline int logistic(mpfr_t result, const mpfr_t x, mpfr_rnd_t round) {
  mpfr_neg(result, x, round);
  mpfr_exp(result, result, round);
  mpfr_add_ui(result, result, 1, round);
  return mpfr_ui_div(result, 1, result, round);
}

inline int rsqrt(mpfr_t result, const mpfr_t x, mpfr_rnd_t round) {
  mpfr_sqrt(result, x, round);
  return mpfr_ui_div(result, 1, result, round);
}

inline int lgamma(mpfr_t result, const mpfr_t x, mpfr_rnd_t round) {
  int sign;
  return mpfr_lgamma(result, &sign, x, round);
}

inline bool at_pole(const mpfr_t x) {
  return mpfr_sgn(x) <= 0 && (mpfr_integer_p(x) || mpfr_inf_p(x));
}

inline int digamma(mpfr_t result, const mpfr_t x, mpfr_rnd_t round) {
  if (!mpfr_nan_p(x) && at_pole(x)) return mpfr_set_nan(result), 0;
  return mpfr_digamma(result, x, round);
}

/// Newton's steps y += (x - erf(y)) sqrt(pi) / 2 e^(y^2), the difference by erfc of |x| > 1/2. They
/// begin beside the root where the slope falls (near 0 for small |x|, beyond the root for large),
/// from which they cannot leave.
inline int erf_inv(mpfr_t result, const mpfr_t x, mpfr_rnd_t round) {
  Number a(0, 320), y(0, 320), step(0, 320), slope(0, 320);
  mpfr_abs(a.value, x, round);
  if (mpfr_nan_p(x) || mpfr_cmp_ui(a.value, 1) > 0) return mpfr_set_nan(result), 0;
  if (mpfr_zero_p(x)) return mpfr_set(result, x, round);
  if (mpfr_cmp_ui(a.value, 1) == 0) return mpfr_set_inf(result, mpfr_sgn(x)), 0;
  // sqrt(-log(1 - a)) is beyond the root for a near 1; Newton on log erfc is concave and converges
  // from there.
  Number rest(0, 320), target(0, 320);
  mpfr_ui_sub(rest.value, 1, a.value, round);
  mpfr_log(target.value, rest.value, round);
  mpfr_neg(y.value, target.value, round);
  mpfr_sqrt(y.value, y.value, round);
  if (mpfr_cmp_d(a.value, 0.5) < 0) mpfr_mul_d(y.value, a.value, 0.886226925452758, round);
  for (int i = 0; i < 60; ++i) {
    if (mpfr_cmp_d(a.value, 0.5) < 0) {
      mpfr_erf(step.value, y.value, round);
      mpfr_sub(step.value, step.value, a.value, round);
      mpfr_set_ui(slope.value, 1, round);
    } else {
      mpfr_erfc(slope.value, y.value, round);
      mpfr_log(step.value, slope.value, round);
      mpfr_sub(step.value, target.value, step.value, round);
    }
    mpfr_mul(step.value, step.value, slope.value, round);
    mpfr_sqr(slope.value, y.value, round);
    mpfr_exp(slope.value, slope.value, round);
    mpfr_mul(step.value, step.value, slope.value, round);
    mpfr_const_pi(slope.value, round);
    mpfr_sqrt(slope.value, slope.value, round);
    mpfr_mul(step.value, step.value, slope.value, round);
    mpfr_div_ui(step.value, step.value, 2, round);
    mpfr_sub(y.value, y.value, step.value, round);
    if (mpfr_zero_p(step.value) || mpfr_get_exp(step.value) < mpfr_get_exp(y.value) - 210) break;
  }
  return mpfr_copysign(result, y.value, x, round);
}

/// e^-|x| I(|x|): the power series, or beyond 300 the asymptotic one.
inline void bessel(mpfr_t result, const mpfr_t x, int order, mpfr_rnd_t round) {
  if (mpfr_nan_p(x)) return mpfr_set_nan(result);
  if (mpfr_inf_p(x)) return mpfr_set_zero(result, 1);
  bool far = mpfr_cmpabs_ui(x, 300) > 0;
  Number a(0, 1400), term(0, 1400), sum(0, 1400), z(0, 1400);
  mpfr_abs(a.value, x, round);
  mpfr_set_ui(term.value, 1, round);
  mpfr_set_ui(sum.value, 1, round);
  mpfr_sqr(z.value, a.value, round);
  mpfr_div_ui(z.value, z.value, 4, round);
  for (unsigned long k = 1; k < 4000; ++k) {
    if (far) {  // term_k = term_(k-1) ((2k-1)^2 - 4 order^2) / (8 a k)
      long factor = static_cast<long>((2 * k - 1) * (2 * k - 1)) - 4 * order;
      mpfr_mul_si(term.value, term.value, factor, round);
      mpfr_div_ui(term.value, term.value, 8 * k, round);
      mpfr_div(term.value, term.value, a.value, round);
    } else {
      mpfr_mul(term.value, term.value, z.value, round);
      mpfr_div_ui(term.value, term.value, k * (k + static_cast<unsigned long>(order)), round);
    }
    mpfr_add(sum.value, sum.value, term.value, round);
    if (mpfr_zero_p(term.value) || mpfr_get_exp(term.value) < mpfr_get_exp(sum.value) - 260) break;
  }
  if (far) {
    mpfr_const_pi(z.value, round);
    mpfr_mul(z.value, z.value, a.value, round);
    mpfr_mul_ui(z.value, z.value, 2, round);
    mpfr_rec_sqrt(z.value, z.value, round);
  } else {
    mpfr_neg(z.value, a.value, round);
    mpfr_exp(z.value, z.value, round);
    if (order) mpfr_mul(z.value, z.value, a.value, round), mpfr_div_ui(z.value, z.value, 2, round);
  }
  mpfr_mul(result, sum.value, z.value, round);
}
inline int bessel_i0e(mpfr_t result, const mpfr_t x, mpfr_rnd_t round) {
  return bessel(result, x, 0, round), 0;
}
inline int bessel_i1e(mpfr_t result, const mpfr_t x, mpfr_rnd_t round) {
  bessel(result, x, 1, round);
  return mpfr_copysign(result, result, x, round);
}

/// The sum of (q + j)^-s for s > 1: 40 terms beyond q > 0, the integral of the others, 40
/// corrections.
inline void hurwitz(mpfr_t result, const mpfr_t s, const mpfr_t q, mpfr_rnd_t round) {
  constexpr mpfr_prec_t bits = 400;
  Number a(0, bits), minus(0, bits), sum(0, bits), term(0, bits), factor(0, bits), part(0, bits),
      turn(0, bits);
  mpfr_set(a.value, q, round);
  mpfr_neg(minus.value, s, round);
  for (int positive = 0; positive < 40;
       positive += mpfr_sgn(a.value) > 0, mpfr_add_ui(a.value, a.value, 1, round)) {
    mpfr_pow(term.value, a.value, minus.value, round);
    mpfr_add(sum.value, sum.value, term.value, round);
  }
  mpfr_pow(term.value, a.value, minus.value, round);  // a^-s
  mpfr_div_ui(part.value, term.value, 2, round);
  mpfr_add(sum.value, sum.value, part.value, round);
  mpfr_sub_ui(factor.value, s, 1, round);
  mpfr_div(factor.value, a.value, factor.value, round);
  mpfr_mul(part.value, term.value, factor.value, round);
  mpfr_add(sum.value, sum.value, part.value, round);
  // 2 (-1)^(k+1) zeta(2k) / (2 pi)^(2k) s (s+1) ... (s+2k-2) a^(-s-2k+1)
  mpfr_const_pi(turn.value, round);
  mpfr_mul_ui(turn.value, turn.value, 2, round);
  mpfr_mul(turn.value, turn.value, a.value, round);
  mpfr_mul(term.value, term.value, a.value, round);
  mpfr_mul_si(term.value, term.value, -2, round);
  for (unsigned long k = 1; k <= 40; ++k) {
    for (unsigned long i = k == 1 ? 0 : 2 * k - 3; i <= 2 * k - 2; ++i) {
      mpfr_add_ui(factor.value, s, i, round);
      mpfr_mul(term.value, term.value, factor.value, round);
    }
    mpfr_div(term.value, term.value, turn.value, round);
    mpfr_div(term.value, term.value, turn.value, round);
    mpfr_neg(term.value, term.value, round);
    mpfr_zeta_ui(part.value, 2 * k, round);
    mpfr_mul(part.value, part.value, term.value, round);
    mpfr_add(sum.value, sum.value, part.value, round);
  }
  mpfr_set(result, sum.value, round);
}

inline bool is_even(const mpfr_t s) {
  Number half(0, 400);
  mpfr_div_ui(half.value, s, 2, MPFR_RNDN);
  return mpfr_integer_p(half.value);
}

inline int zeta(mpfr_t result, const mpfr_t s, const mpfr_t q, mpfr_rnd_t round) {
  if (mpfr_nan_p(s) || mpfr_nan_p(q) || mpfr_cmp_ui(s, 1) < 0) return mpfr_set_nan(result), 0;
  if (mpfr_cmp_ui(s, 1) == 0) return mpfr_set_inf(result, 1), 0;
  if (at_pole(q)) return is_even(s) ? mpfr_set_inf(result, 1) : mpfr_set_nan(result), 0;
  if (mpfr_inf_p(q)) return mpfr_set_zero(result, 1), 0;
  if (mpfr_sgn(q) < 0 && !mpfr_integer_p(s)) return mpfr_set_nan(result), 0;
  hurwitz(result, s, q, round);
  return 0;
}

inline int polygamma(mpfr_t result, const mpfr_t n, const mpfr_t x, mpfr_rnd_t round) {
  if (mpfr_nan_p(n) || mpfr_nan_p(x) || mpfr_sgn(n) < 0 || !mpfr_integer_p(n))
    return mpfr_set_nan(result), 0;
  if (mpfr_zero_p(n)) return digamma(result, x, round);
  Number s(0, 400), factor(0, 400);
  mpfr_add_ui(s.value, n, 1, round);
  zeta(result, s.value, x, round);
  mpfr_gamma(factor.value, s.value, round);
  mpfr_mul(result, result, factor.value, round);
  return is_even(s.value) ? 0 : mpfr_neg(result, result, round);
}

}  // namespace internal

inline UnaryTruth unary_truth(std::string_view name) {
  static const std::map<std::string_view, UnaryTruth> known = {
      {"exp", mpfr_exp},
      {"exp2", mpfr_exp2},
      {"expm1", mpfr_expm1},
      {"log", mpfr_log},
      {"log2", mpfr_log2},
      {"log1p", mpfr_log1p},
      {"sin", mpfr_sin},
      {"cos", mpfr_cos},
      {"tan", mpfr_tan},
      {"tanh", mpfr_tanh},
      {"sqrt", mpfr_sqrt},
      {"cbrt", mpfr_cbrt},
      {"erf", mpfr_erf},
      {"erfc", mpfr_erfc},
      {"asin", mpfr_asin},
      {"acos", mpfr_acos},
      {"atan", mpfr_atan},
      {"sinh", mpfr_sinh},
      {"cosh", mpfr_cosh},
      {"asinh", mpfr_asinh},
      {"acosh", mpfr_acosh},
      {"atanh", mpfr_atanh},
      {"logistic", internal::logistic},
      {"rsqrt", internal::rsqrt},
      {"lgamma", internal::lgamma},
      {"digamma", internal::digamma},
      {"erf_inv", internal::erf_inv},
      {"bessel_i0e", internal::bessel_i0e},
      {"bessel_i1e", internal::bessel_i1e}};
  return known.at(name);
}
inline BinaryTruth binary_truth(std::string_view name) {
  static const std::map<std::string_view, BinaryTruth> known = {{"pow", mpfr_pow},
                                                                {"atan2", mpfr_atan2},
                                                                {"zeta", internal::zeta},
                                                                {"polygamma", internal::polygamma}};
  return known.at(name);
}

/// The error of `got` in ulps of the format of T, an ulp counting as that of `least` at least;
/// infinity if `got` is of the wrong kind (NaN, infinity, sign of zero).
template <class T>
double ulps(T got, const Number& truth, double least = 0) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  using Limits = std::numeric_limits<T>;
  if (mpfr_nan_p(truth.value)) return std::isnan(got) ? 0 : kWrong;
  T nearest = sizeof(T) == 4 ? mpfr_get_flt(truth.value, MPFR_RNDN)
                             : static_cast<T>(mpfr_get_d(truth.value, MPFR_RNDN));
  if (std::isinf(nearest)) return got == nearest ? 0 : kWrong;
  if (mpfr_zero_p(truth.value))
    return got == 0 && std::signbit(got) == std::signbit(nearest) ? 0 : kWrong;
  if (!std::isfinite(got) || (got == 0 && std::signbit(got) != std::signbit(nearest)))
    return kWrong;
  Number error(got);
  mpfr_sub(error.value, error.value, truth.value, MPFR_RNDN);
  long exponent = mpfr_get_exp(truth.value);
  if (least > 0) exponent = std::max<long>(exponent, std::ilogb(least) + 1);
  exponent = std::max<long>(exponent - Limits::digits, Limits::min_exponent - Limits::digits);
  mpfr_mul_2si(error.value, error.value, -exponent, MPFR_RNDN);
  return std::fabs(mpfr_get_d(error.value, MPFR_RNDN));
}

}  // namespace strata::loop::testing
