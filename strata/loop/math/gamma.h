// lgamma = log |Gamma|, digamma = lgamma's derivative.
//
// Both are a polynomial between 1 and 2 or so, asymptotic from 4 on; what lies between is moved there by the recurrences
// of Gamma; negative arguments are reflected. In f64 throughout, in two parts where parts may cancel.
// Constants: tools/fit/special.py.
#pragma once

#include "strata/loop/math/logarithm.h"

namespace strata::loop::math {
namespace internal {

template <class T>
struct GammaConstants;
template <>
struct GammaConstants<float> {
  // lgamma(2 + t) = t p(t)
  static constexpr double kNear[] = {
      0x1.b0ee607215451p-2, 0x1.4a34cc4eb8a07p-2, -0x1.13e001d2f1cb9p-4, 0x1.513215345256ap-6, -0x1.e404892dd6c15p-8, 0x1.7aec646a2466fp-9,
      -0x1.38c74e0f0796dp-10, 0x1.091c346e4917ap-11, -0x1.ce3b7aa19234p-13, 0x1.e25becabacc27p-14, -0x1.c0fcceccd4c02p-15};  // error 2^-36.3
  // lgamma(x) = (x - 1/2) (log x - 1) + (log 2 pi - 1) / 2 + s(1/x^2) / x
  static constexpr double kFar[] = {
      0x1.5555553eede08p-4, -0x1.6c145b3cde8ap-9, 0x1.9ddc33ca6559ep-11, -0x1.04e29b36f1a5p-11};  // error 2^-36.7
  // sin(pi f) = f (pi + f^2 p(f^2))
  static constexpr double kSinPi[] = {
      -0x1.4abbce6250214p+2, 0x1.466bc67031dc7p+1, -0x1.32d2c9ff5ddbbp-1, 0x1.50771f93bbc19p-4, -0x1.e29ec60b5571p-8, 0x1.d57b75e1f8449p-12};  // error 2^-43.4
};
template <>
struct GammaConstants<double> {
  static constexpr double kNear[] = {
      0x1.b0ee6072093cep-2, 0x1.4a34cc4a60fa7p-2, -0x1.13e001a557521p-4, 0x1.51322ac7d7acp-6, -0x1.e404fc21ee472p-8, 0x1.7add6eaeecdfbp-9,
      -0x1.38ac5bef8cb3dp-10, 0x1.0b36aef9c2b35p-11, -0x1.d3fd72f382f62p-13, 0x1.a127f60124054p-14, -0x1.78d77d130524fp-15,
      0x1.5803d6c7f1ad9p-16, -0x1.3d744aa98d6d5p-17, 0x1.26757b9c17b1fp-18, -0x1.069a39af42c56p-19, 0x1.ea19060b64d54p-21,
      -0x1.4beea9b9a40aep-21, 0x1.32b1295ca49cp-22, 0x1.15f3d572a7182p-25};  // error 2^-57.3
  static constexpr double kFar[] = {
      0x1.5555555555554p-4, -0x1.6c16c16c0a379p-9, 0x1.a01a015a77a99p-11, -0x1.3813549b89bc2p-11, 0x1.b941ff6ff4d9ep-11,
      -0x1.f4ef4a046f1bap-10, 0x1.946a39666e6afp-8, -0x1.84cc78dc8ec45p-6, 0x1.4ce65d59e421cp-4, -0x1.435c1ce0c95fap-3};  // error 2^-62.0
  static constexpr double kSinPi[] = {
      -0x1.4abbce625be52p+2, 0x1.466bc6775aa33p+1, -0x1.32d2cce625p-1, 0x1.50783483c96bbp-4, -0x1.e3074d1868b2cp-8, 0x1.e8f320356d3fdp-12,
      -0x1.6f6f4ded4351bp-16, 0x1.9bc6d8fb1c755p-21};  // error 2^-60.0
  // digamma(x) = (x - root) p(x - 3/2)
  static constexpr double kRoot[] = {
      0x1.e6f0cbb873616p-1, -0x1.b1cb63005ee98p-2, 0x1.eca189b8e6f76p-3, -0x1.2feeeb98a78d3p-3, 0x1.8512e590384e2p-4,
      -0x1.fb44202a24f8fp-5, 0x1.4de9aa17d2db6p-5, -0x1.b9f8b11b626fap-6, 0x1.256471623bb6p-6, -0x1.8635640ebc61cp-7, 0x1.03c0b0f57028bp-7,
      -0x1.5a06a3206721dp-8, 0x1.cd1f7870fc08cp-9, -0x1.336deb01fd3ep-9, 0x1.99dce8713f518p-10, -0x1.0fb1bdc33c8c4p-10,
      0x1.69e856b0d38bfp-11, -0x1.fda55d92e55f4p-12, 0x1.55b4bdf1a2271p-12, -0x1.2f5c3bca5d381p-13, 0x1.8755b88a7971p-14,
      -0x1.75ff36d962f76p-13, 0x1.fc38a95a657c4p-14};  // error 2^-54.2
  // digamma(x) = log x - 1 / (2 x) - z s(z), z = 1 / x^2
  static constexpr double kSlope[] = {
      0x1.555555555550ep-4, -0x1.111111109fa31p-7, 0x1.0410400993884p-8, -0x1.1110872902911p-8, 0x1.f04ff2903adap-8, -0x1.5759729a2548bp-6,
      0x1.42205ad4db109p-4, -0x1.54966006fb1efp-2, 0x1.312372ae01315p+0, -0x1.2cba6474f3027p+1};  // error 2^-61.2
  // pi cot(pi f) = (1 - z q(z)) / f, z = f^2
  static constexpr double kCotPi[] = {
      0x1.a51a6625307dap+1, 0x1.151322ac7cd5dp+1, 0x1.0470984c6a854p+1, 0x1.010b36940c4d2p+1, 0x1.004132cf6b3f7p+1, 0x1.000fa01a14727p+1,
      0x1.000d9d8fa021bp+1, 0x1.fefdcbb98987cp+0, 0x1.04f95bfa86747p+1, 0x1.b934e7f719253p+0, 0x1.b678fab38e7a7p+1, -0x1.9ccf48a134f4p+1,
      0x1.e2848d11aa3eep+3, -0x1.28f656beee319p+4, 0x1.27c41a16f0eaap+4};  // error 2^-58.5
};

/// The sum a + b in two parts.
template <template <class> class N>
TwoParts<N, double> sum_in_two(N<double> a, N<double> b) {
  N<double> sum = a + b, back = sum - a;
  return {sum, (a - (sum - back)) + (b - back)};
}

/// lgamma for x > 0 and, of the magnitude of the shifted product, for x >= -1/2.
template <template <class> class N, class T>
TwoParts<N, double> lgamma_right(N<double> x) {
  using C = GammaConstants<T>;
  static constexpr double kHalfLog = 0x1.acfe390c97d6ap-2;  // (log 2 pi - 1) / 2
  auto least = x < 0.5, less = x < 1.5, middle = x < 2.5, more = x < 3.5, far = x >= 4.0;
  N<double> one(1.0);
  // lgamma(x) = lgamma(2 + t) -+ log(product)
  N<double> shift = select(least, N<double>(0.0), select(less, one, select(middle, N<double>(2.0), select(more, N<double>(3.0), N<double>(4.0)))));
  N<double> below = x - 1.0;
  N<double> product = select(least, abs(x * (x + 1.0)), select(less, x, select(middle, one, select(more, below, below * (x - 2.0)))));
  N<double> t = x - shift;
  auto [log, log_low] = log_in_two<N, double>(select(far, x, product), N<double>(0.0));

  N<double> p = polynomial(t, C::kNear);
  N<double> base = t * p, base_low = fma(t, p, -base);
  auto [near, near_low] = sum_in_two<N>(base, select(less, -log, log));
  near_low = near_low + (base_low + select(less, -log_low, log_low));

  N<double> inverse = 1.0 / x;
  N<double> m = log - 1.0, m_low = ((log - m) - 1.0) + log_low;
  N<double> w = x - 0.5;
  N<double> stirling = w * m;
  N<double> stirling_low = fma(w, m, -stirling) + fma(w, m_low, fma(inverse, polynomial(inverse * inverse, C::kFar), kHalfLog));
  N<double> finite = select(stirling < kInfinity<double>, stirling_low, N<double>(0.0));
  return {select(far, stirling, near), select(far, finite, near_low)};
}

/// sin(pi f) / f in two parts for |f| <= 1/2.
template <template <class> class N, class T>
TwoParts<N, double> sine_pi_over(N<double> f) {
  static constexpr double kPi = 0x1.921fb54442d18p+1, kPiLow = 0x1.1a62633145c07p-53;
  N<double> z = f * f;
  N<double> tail = z * polynomial(z, GammaConstants<T>::kSinPi);
  N<double> high = tail + kPi;
  return {high, ((kPi - high) + tail) + kPiLow};
}

/// lgamma(x) = log(pi) - log(a |sin(pi a)|) - lgamma(a), a = -x.
template <template <class> class N, class T>
N<double> lgamma_reflected(N<double> a, TwoParts<N, double> right) {
  static constexpr double kLogPi = 0x1.250d048e7a1bdp+0, kLogPiLow = 0x1.7abf2ad8d5088p-57;
  N<double> f = a - rint(a);
  auto [v, v_low] = sine_pi_over<N, T>(f);
  N<double> s = f * v, s_low = fma(f, v, -s) + f * v_low;
  N<double> g = a * s, g_low = fma(a, s, -g) + a * s_low;
  auto [log, log_low] = log_in_two<N, double>(abs(g), g_low / g);
  auto [sum, sum_low] = sum_in_two<N>(log, right.high);
  auto [all, all_low] = sum_in_two<N>(N<double>(kLogPi), -sum);
  return all + (all_low + (kLogPiLow - (sum_low + (log_low + right.low))));
}

}  // namespace internal

template <template <class> class N, class T>
N<T> lgamma(N<T> single) {
  N<double> x = N<double>::convert(single), a = abs(x);
  auto left = x < -0.5;
  auto right = internal::lgamma_right<N, T>(select(left, a, x));
  N<double> usual = right.high + right.low;
  N<double> y = rarely(left, usual, [&] { return internal::lgamma_reflected<N, T>(a, right); });
  auto pole = (x <= 0.0) & (rint(x) == x);
  return N<T>::convert(select(pole | (a == kInfinity<double>), N<double>(kInfinity<double>), y));
}

/// digamma(x) = digamma(1 - x) - pi cot(pi x) for x < 0. NaN at the poles 0, -1, -2 ..., where it has no limit. f32 takes the
/// constants of f64: beside its zeros left of 0 nearly all of both terms cancels.
template <template <class> class N, class T>
N<T> digamma(N<T> single) {
  using C = internal::GammaConstants<double>;
  static constexpr double kRoot = 0x1.762d86356be3fp+0, kRootLow = 0x1.b86a722197829p-54;
  N<double> original = N<double>::convert(single);
  auto left = original < 0.0;
  N<double> x = select(left, 1.0 - original, original);

  auto least = x < 1.0, less = x < 2.0, more = x < 3.0;
  N<double> zero(0.0), one(1.0);
  N<double> t = x - select(least, N<double>(0.5), select(less, N<double>(1.5), select(more, N<double>(2.5), N<double>(3.5))));
  N<double> below = x - 1.0;
  N<double> top = select(least, N<double>(-1.0), select(less, zero, select(more, one, fma(x, 2.0, -3.0))));
  N<double> bottom = select(least, x, select(less, one, select(more, below, below * (x - 2.0))));
  N<double> near = fma((t + (1.5 - kRoot)) - kRootLow, polynomial(t, C::kRoot), top / bottom);

  auto [log, log_low] = internal::log_in_two<N, double>(x, zero);
  N<double> inverse = 1.0 / x, z = inverse * inverse;
  N<double> far_low = log_low - fma(z, polynomial(z, C::kSlope), inverse * 0.5);
  N<double> far = log + far_low;
  N<double> right = select(x >= 4.0, select(x < kInfinity<double>, far, x), near);

  // The difference of what is left and right is exact where they nearly cancel; what was rounded away before is added then.
  N<double> f = original - rint(original), square = f * f;
  N<double> p = polynomial(square, C::kCotPi);
  N<double> top_high = fma(-square, p, 1.0);
  N<double> top_low = fma(-square, p, 1.0 - top_high) - fma(f, f, -square) * p;
  N<double> cotangent = top_high / f;
  N<double> rest = (fma(-cotangent, f, top_high) + top_low) / f;
  rest = select(abs(cotangent) < kInfinity<double>, rest, zero);
  N<double> difference = select(x >= 4.0, (log - cotangent) + (far_low - rest), (near - cotangent) - rest);
  N<double> y = select(left, difference, right);
  auto pole = (original <= 0.0) & (rint(original) == original);
  return N<T>::convert(select(pole, N<double>(kNaN<double>), y));
}

}  // namespace strata::loop::math
