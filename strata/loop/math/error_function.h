// erf, erfc.
//
// erf, f32: pieces.h. f64: x + x p(x^2) up to 1, 1 - e^u(|x| - 1) above, with u(t) near log(erfc(1
// + t)). erfc for a = |x|; 2 less that for x < 0. f32: e^(-a^2) t h(t) with t = 1 / (1 + 3/8 a).
// f64: e^(-a^2) g(q) / (1 + 2 a) with q = (a - 4) / (a + 4), up to 1/2 1 - erf(x), which is nearer.
// Constants: tools/fit/elementary.py, tools/fit/special.py.
#pragma once

#include "strata/loop/math/exponential.h"

namespace strata::loop::math {
namespace internal {
template <class T>
struct ErfConstants;
template <>
struct ErfConstants<float> {
  static constexpr float kZero = 10.1f;  // erfc is 0 from here on
  static constexpr float kSlope = 0x1.8p-2f, kMiddle = 0.5f;
  // erfc(a) e^(a^2) / t as kFirst and a polynomial times t - kMiddle, t = 1 / (1 + kSlope a), error
  // 2^-26.4
  static constexpr float kFirst = 0x1.97b364p-2f;
  static constexpr float kComplement[] = {
      0x1.406332p-1f,  0x1.82a03ap-1f,  0x1.4fa5f8p-1f, 0x1.55cf0cp-2f, -0x1.376f9cp-7f,
      -0x1.2264aep-3f, -0x1.820e22p-5f, 0x1.f8b414p-5f, 0x1.e241f4p-6f, -0x1.0425aap-5f};
  static constexpr float
      kTimes = 0x1.066666p+1f,
      kPlus =
          0x1.cccccdp-1f;  // kTimes t + kPlus: nearly the slope of log(erfc(a) e^(a^2)) in log(t)
};
template <>
struct ErfConstants<double> {
  static constexpr double kNear[] = {
      0x1.06eba8214db69p-3,  -0x1.812746b0379e7p-2,  0x1.ce2f21a042bdep-4,  -0x1.b82ce312889c2p-6,
      0x1.565bcd0e65194p-8,  -0x1.c02db3fef01bap-11, 0x1.f9a326c2d95f1p-14, -0x1.f4d2562a19d99p-17,
      0x1.b9e6518e6bb48p-20, -0x1.5f6d9cc35251cp-23, 0x1.fc43f089830edp-27, -0x1.4e635c349fd7p-30,
      0x1.7f17258e5eb33p-34, -0x1.29e15b30161e9p-38};  // error 2^-56.2
  static constexpr double kOne = 6.0;
  static constexpr double kZero = 27.3;
  static constexpr double kComplement[] = {
      0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28fp-3,  0x1.f7f5df66fd6ccp-7,
      0x1.16ecefcfa54a5p-4,   -0x1.9ddb23c3e8955p-4,  0x1.7fee004e0fdf3p-4,
      -0x1.0fb06dfe5536p-4,   0x1.3079edf6d4d19p-5,   -0x1.096238829b1bfp-6,
      0x1.49c6726f032fp-8,    -0x1.8d4a9c4de1bbbp-11, -0x1.a1df1615e93f8p-13,
      0x1.3be06c0b314a2p-13,  -0x1.995ace6f8dc48p-16, -0x1.788dd15ff4b0bp-17,
      0x1.7f346efa68afp-18,   0x1.3bda9107bb4ccp-22,  -0x1.bb6ff7e80d77ep-21,
      0x1.3e47c670ad58p-24,   0x1.d9e05823fc553p-24,  -0x1.2c20b1bf5373dp-26,
      -0x1.e376273d115acp-27, 0x1.cd0d5b2b905b8p-30,  0x1.4957e4c473e3ap-30};  // error 2^-54.2
  static constexpr double kFar[] = {
      -0x1.d97fbf27aa2a1p+0,  -0x1.51c9b0006c23dp+1,  -0x1.afabc11a28f63p-1,
      -0x1.5477f09ca6932p-5,  0x1.48c9d40bc7117p-7,   -0x1.033f699604d35p-9,
      0x1.f1b4bf4e25c03p-13,  0x1.b8bd8777643a2p-16,  -0x1.c756a8c197934p-16,
      0x1.4149a347498adp-17,  -0x1.0e5df2bc280bfp-19, 0x1.9f3c9b19fc825p-24,
      0x1.1e8d8b1231ec3p-23,  -0x1.3b1dca2c45e24p-24, 0x1.a66feaf19db1dp-26,
      -0x1.a98221969a1edp-28, 0x1.50b4f04f38af0p-30,  -0x1.a3c4e7096a122p-33,
      0x1.9506219f10ef3p-36,  -0x1.23e35702e0729p-39, 0x1.277a7bb300db4p-43,
      -0x1.763f04f7a875ap-48, 0x1.bd9351242dc0dp-54};  // error 2^-59
};
}  // namespace internal

template <template <class> class N>
N<float> erf(N<float> x) {
  return copysign(internal::in_pieces<internal::ErfPieces, N>(abs(x)), x);
}

template <template <class> class N>
N<double> erf(N<double> x) {
  using C = internal::ErfConstants<double>;
  N<double> a = abs(x);
  N<double> near = fma(x, polynomial(x * x, C::kNear), x);
  N<double> t = select(a > C::kOne, N<double>(C::kOne), a) - 1.0;
  N<double> u = polynomial(select(t < 0.0, N<double>(0.0), t), C::kFar);
  auto [power, k, r] = internal::exp_parts(u);
  N<double> s = internal::two_to<N, double>(power);
  N<double> far = fma(-s, internal::exp_minus_one(r), 1.0 - s);
  return copysign(select(a < 1.0, near, far), x);
}

/// What t, the square, r, the polynomial and its product with t have lost by rounding enters by its
/// first power: 2.05 ulp without that of r.
template <template <class> class N>
N<float> erfc(N<float> x) {
  using C = internal::ErfConstants<float>;
  using E = internal::ExpConstants<float>;
  N<float> a = abs(x);
  a = select(a > C::kZero, N<float>(C::kZero), a);
  N<float> square = a * a, square_low = fma(a, a, -square);
  auto [power, k, r] = internal::exp_parts(-square);
  N<float> p = internal::exp_minus_one(r);
  N<float> d = fma(a, C::kSlope, 1.0f), d_low = fma(a, C::kSlope, 1.0f - d);
  N<float> t = N<float>(1.0f) / d, t_lost = fma(-t, d_low, fma(-t, d, 1.0f));
  N<float> r_lost = fma(k, -E::kLn2Low, fma(k, -E::kLn2, -square) - r);
  N<float> low = fma(t_lost, fma(t, C::kTimes, C::kPlus), r_lost - square_low);
  N<float> z = t - C::kMiddle;
  N<float> rest = polynomial(z, C::kComplement);
  N<float> h = fma(rest, z, C::kFirst), h_lost = fma(rest, z, C::kFirst - h);
  N<float> whole = t * h, lost = fma(t, h_lost, fma(t, h, -whole));
  N<float> y = scale(fma(whole, p, fma(whole, fma(p, low, low), lost)) + whole, k, power);
  return select(x < 0.0f, 2.0f - y, y);
}

template <template <class> class N>
N<double> erfc(N<double> x) {
  using C = internal::ErfConstants<double>;
  N<double> a = abs(x);
  a = select(a > C::kZero, N<double>(C::kZero), a);
  N<double> square = a * a, square_low = fma(a, a, -square);
  auto [power, k, r] = internal::exp_parts(-square);
  N<double> p = internal::exp_minus_one(r);
  N<double> d = fma(a, 2.0, 1.0);
  N<double> g = polynomial((a - 4.0) / (a + 4.0), C::kComplement) / d;
  N<double> y = scale(fma(g, fma(-square_low, p, p - square_low), g), k, power);
  y = select(x < 0.0, 2.0 - y, y);
  return select(a < 0.5, 1.0 - fma(x, polynomial(x * x, C::kNear), x), y);
}

}  // namespace strata::loop::math
