// Numbers as sums of two f64 that are not carried out: some 104 bits, for results of f64 that are
// the rest of large terms.
//
//   PairOf<R> p = two_product(x, y);      // x y, exactly
//   PairOf<R> l = log1p_pair(p + 1.0);    // to some 2^-100 of its size
//
// R is a number type of number.h (N<double>) or another that has +, -, *, /, fma, log1p, atan2 and
// `like(x, 0.5)`, the constant beside a value: the formulas of complex functions (op/complex) are
// built of these too. Errors are relative to the result, also where terms cancel, while nothing
// underflows. `high` is the sum rounded. After J.-M. Muller and others, "Handbook of Floating-Point
// Arithmetic", chapter 14. Constants: tools/fit/pairs.py.
#pragma once

#include <cstddef>

#include "strata/loop/math/angle.h"
#include "strata/loop/math/logarithm.h"

namespace strata::loop::math {

template <class R>
struct PairOf {
  R high, low;
};

template <template <class> class N>
N<double> like(N<double>, double value) {
  return N<double>(value);
}

/// x + y of |x| >= |y| (or x = 0), x + y, and x y, exactly.
template <class R>
PairOf<R> quick_sum(R x, R y) {
  R sum = x + y;
  return {sum, y - (sum - x)};
}
template <class R>
PairOf<R> two_sum(R x, R y) {
  R sum = x + y, y_part = sum - x;
  return {sum, (x - (sum - y_part)) + (y - y_part)};
}
template <class R>
PairOf<R> two_product(R x, R y) {
  R product = x * y;
  return {product, fma(x, y, -product)};
}

template <class R>
PairOf<R> operator-(PairOf<R> x) {
  return {-x.high, -x.low};
}
template <class R>
PairOf<R> operator+(PairOf<R> x, PairOf<R> y) {
  PairOf<R> high = two_sum(x.high, y.high), low = two_sum(x.low, y.low);
  PairOf<R> sum = quick_sum(high.high, high.low + low.high);
  return quick_sum(sum.high, sum.low + low.low);
}
template <class R>
PairOf<R> operator+(PairOf<R> x, R y) {
  PairOf<R> sum = two_sum(x.high, y);
  return quick_sum(sum.high, sum.low + x.low);
}
template <class R>
PairOf<R> operator-(PairOf<R> x, PairOf<R> y) {
  return x + -y;
}
template <class R>
PairOf<R> operator*(PairOf<R> x, R y) {
  PairOf<R> product = two_product(x.high, y);
  return quick_sum(product.high, fma(x.low, y, product.low));
}
template <class R>
PairOf<R> operator*(PairOf<R> x, PairOf<R> y) {
  PairOf<R> product = two_product(x.high, y.high);
  return quick_sum(product.high, fma(x.high, y.low, fma(x.low, y.high, product.low)));
}
template <class R>
PairOf<R> operator/(PairOf<R> x, PairOf<R> y) {
  R q = x.high / y.high;
  R rest = fma(-q, y.high, x.high) + fma(-q, y.low, x.low);
  return quick_sum(q, rest / y.high);
}

namespace internal {

struct PairConstant {
  double high, low;
};

template <class R>
PairOf<R> constant(R beside, PairConstant c) {
  return {like(beside, c.high), like(beside, c.low)};
}

/// pairs[0] + pairs[1] x + ... + x^Pairs (tail[0] + tail[1] x + ...); the tail is small enough for
/// f64.
template <class R, std::size_t Pairs, std::size_t Tail>
PairOf<R> pair_polynomial(PairOf<R> x, const PairConstant (&pairs)[Pairs],
                          const double (&tail)[Tail]) {
  R rest = like(x.high, tail[Tail - 1]);
  for (std::size_t i = Tail - 1; i-- > 0;) rest = fma(rest, x.high, like(x.high, tail[i]));
  PairOf<R> sum{rest, like(x.high, 0.0)};
  for (std::size_t i = Pairs; i-- > 0;) {
    PairOf<R> product = two_product(sum.high, x.high);
    R low = fma(sum.high, x.low, fma(sum.low, x.high, product.low));
    PairOf<R> next = two_sum(like(x.high, pairs[i].high), product.high);
    sum = quick_sum(next.high, next.low + (low + like(x.high, pairs[i].low)));
  }
  return sum;
}

inline constexpr PairConstant kLn2Pair{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
inline constexpr PairConstant kPiPair{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
inline constexpr PairConstant kHalfPiPair{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

// 1/2!, 1/3!, ..., 1/24!
inline constexpr PairConstant kExpPairs[] = {{0x1p-1, 0.0},
                                             {0x1.5555555555555p-3, 0x1.5555555555555p-57},
                                             {0x1.5555555555555p-5, 0x1.5555555555555p-59},
                                             {0x1.1111111111111p-7, 0x1.1111111111111p-63},
                                             {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
                                             {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
                                             {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
                                             {0x1.71de3a556c734p-19, -0x1.c154f8ddc6cp-73},
                                             {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
                                             {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
                                             {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
                                             {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87}};
inline constexpr double kExpTail[] = {
    0x1.93974a8c07c9dp-37, 0x1.ae7f3e733b81fp-41, 0x1.ae7f3e733b81fp-45, 0x1.952c77030ad4ap-49,
    0x1.6827863b97d97p-53, 0x1.2f49b46814157p-57, 0x1.e542ba4020225p-62, 0x1.71b8ef6dcf572p-66,
    0x1.0ce396db7f853p-70, 0x1.761b41316381ap-75, 0x1.f2cf01972f578p-80};
// -1/3!, 1/5!, ... and -1/2!, 1/4!, ...
inline constexpr PairConstant kSinPairs[] = {{-0x1.5555555555555p-3, -0x1.5555555555555p-57},
                                             {0x1.1111111111111p-7, 0x1.1111111111111p-63},
                                             {-0x1.a01a01a01a01ap-13, -0x1.a01a01a01a01ap-73},
                                             {0x1.71de3a556c734p-19, -0x1.c154f8ddc6cp-73},
                                             {-0x1.ae64567f544e4p-26, 0x1.c062e06d1f209p-80},
                                             {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
                                             {-0x1.ae7f3e733b81fp-41, -0x1.1d8656b0ee8cbp-97}};
inline constexpr double kSinTail[] = {
    0x1.952c77030ad4ap-49, -0x1.2f49b46814157p-57, 0x1.71b8ef6dcf572p-66, -0x1.761b41316381ap-75,
    0x1.3f3ccdd165fa9p-84, -0x1.d1ab1c2dccea3p-94, 0x1.259f98b4358adp-103};
inline constexpr PairConstant kCosPairs[] = {{-0x1p-1, 0.0},
                                             {0x1.5555555555555p-5, 0x1.5555555555555p-59},
                                             {-0x1.6c16c16c16c17p-10, 0x1.f49f49f49f49fp-65},
                                             {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
                                             {-0x1.27e4fb7789f5cp-22, -0x1.cbbc05b4fa99ap-76},
                                             {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
                                             {-0x1.93974a8c07c9dp-37, -0x1.05d6f8a2efd1fp-92}};
inline constexpr double kCosTail[] = {
    0x1.ae7f3e733b81fp-45, -0x1.6827863b97d97p-53, 0x1.e542ba4020225p-62, -0x1.0ce396db7f853p-70,
    0x1.f2cf01972f578p-80, -0x1.88e85fc6a4e5ap-89, 0x1.0a18a2635085dp-98};

}  // namespace internal

/// e^x - 1 for |x| <= 0.36.
template <class R>
PairOf<R> expm1_pair(PairOf<R> x) {
  return internal::pair_polynomial(x, internal::kExpPairs, internal::kExpTail) * x * x + x;
}

/// The sine and cosine of |x| <= pi/4, and what the cosine lacks to 1.
template <class R>
struct SineCosine {
  PairOf<R> sine, cosine, cosine_less_one;
};
template <class R>
SineCosine<R> sine_cosine_pair(PairOf<R> x) {
  PairOf<R> z = x * x,
            below = internal::pair_polynomial(z, internal::kCosPairs, internal::kCosTail) * z;
  return {internal::pair_polynomial(z, internal::kSinPairs, internal::kSinTail) * z * x + x,
          below + like(x.high, 1.0), below};
}

/// log(1 + t) for -0.3 < t < 0.42: a step of Newton's method from the logarithm in f64.
template <class R>
PairOf<R> log1p_pair(PairOf<R> t) {
  R y = log1p(t.high);
  PairOf<R> e = expm1_pair(PairOf<R>{y, like(y, 0.0)});
  return quick_sum(y, (t - e).high / (e.high + 1.0));
}

/// The angle of the point (x, y) for 0 <= y <= x, x not 0, by a step from the angle in f64.
template <class R>
PairOf<R> atan2_pair(R y, R x) {
  R angle = atan2(y, x);
  SineCosine<R> s = sine_cosine_pair(PairOf<R>{angle, like(angle, 0.0)});
  PairOf<R> across = s.cosine * y - s.sine * x;
  return quick_sum(angle, across.high / fma(s.cosine.high, x, s.sine.high * y));
}

/// log x for a positive x whose parts are normal numbers.
template <template <class> class N>
PairOf<N<double>> log_pair(PairOf<N<double>> x) {
  auto [k, f] = internal::log_parts(x.high);
  N<double> down =
      N<double>::from_bits(bits((kWholeShift<double> + kBias<double>)-k) << kMantissa<double>);
  PairOf<N<double>> log = log1p_pair(two_sum(f, x.low * down));
  return internal::constant(k, internal::kLn2Pair) * k + log;
}

}  // namespace strata::loop::math
