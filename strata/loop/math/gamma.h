// lgamma = log |Gamma|, digamma = lgamma's derivative.
//
// Both are a polynomial between 1 and 2 or so, asymptotic from 4 on; what is between is moved
// there by the recurrences of Gamma; negative arguments are reflected. In f64 throughout, in two
// parts where parts may cancel. Between the poles left of 0 both pass through zero: there f64 is
// computed in pairs, of which so much is left that the result is exact to its own ulp. Constants:
// tools/fit/special.py, tools/fit/pairs.py.
#pragma once

#include "strata/loop/math/logarithm.h"
#include "strata/loop/math/pair.h"

namespace strata::loop::math {
namespace internal {

template <class T>
struct GammaConstants;
template <>
struct GammaConstants<float> {
  // lgamma(2 + t) = t p(t)
  static constexpr double kNear[] = {
      0x1.b0ee607215451p-2,  0x1.4a34cc4eb8a07p-2,  -0x1.13e001d2f1cb9p-4,  0x1.513215345256ap-6,
      -0x1.e404892dd6c15p-8, 0x1.7aec646a2466fp-9,  -0x1.38c74e0f0796dp-10, 0x1.091c346e4917ap-11,
      -0x1.ce3b7aa19234p-13, 0x1.e25becabacc27p-14, -0x1.c0fcceccd4c02p-15};  // error 2^-36.3
  // lgamma(x) = (x - 1/2) (log x - 1) + (log 2 pi - 1) / 2 + s(1/x^2) / x
  static constexpr double kFar[] = {0x1.5555553eede08p-4, -0x1.6c145b3cde8ap-9,
                                    0x1.9ddc33ca6559ep-11, -0x1.04e29b36f1a5p-11};  // error 2^-36.7
  // sin(pi f) = f (pi + f^2 p(f^2))
  static constexpr double kSinPi[] = {
      -0x1.4abbce6250214p+2, 0x1.466bc67031dc7p+1, -0x1.32d2c9ff5ddbbp-1,
      0x1.50771f93bbc19p-4,  -0x1.e29ec60b5571p-8, 0x1.d57b75e1f8449p-12};  // error 2^-43.4
};
template <>
struct GammaConstants<double> {
  static constexpr double kNear[] = {
      0x1.b0ee6072093cep-2,   0x1.4a34cc4a60fa7p-2,  -0x1.13e001a557521p-4,  0x1.51322ac7d7acp-6,
      -0x1.e404fc21ee472p-8,  0x1.7add6eaeecdfbp-9,  -0x1.38ac5bef8cb3dp-10, 0x1.0b36aef9c2b35p-11,
      -0x1.d3fd72f382f62p-13, 0x1.a127f60124054p-14, -0x1.78d77d130524fp-15, 0x1.5803d6c7f1ad9p-16,
      -0x1.3d744aa98d6d5p-17, 0x1.26757b9c17b1fp-18, -0x1.069a39af42c56p-19, 0x1.ea19060b64d54p-21,
      -0x1.4beea9b9a40aep-21, 0x1.32b1295ca49cp-22,  0x1.15f3d572a7182p-25};  // error 2^-57.3
  static constexpr double kFar[] = {
      0x1.5555555555554p-4,  -0x1.6c16c16c0a379p-9,  0x1.a01a015a77a99p-11, -0x1.3813549b89bc2p-11,
      0x1.b941ff6ff4d9ep-11, -0x1.f4ef4a046f1bap-10, 0x1.946a39666e6afp-8,  -0x1.84cc78dc8ec45p-6,
      0x1.4ce65d59e421cp-4,  -0x1.435c1ce0c95fap-3};  // error 2^-62.0
  static constexpr double kSinPi[] = {
      -0x1.4abbce625be52p+2,  0x1.466bc6775aa33p+1,  -0x1.32d2cce625p-1,
      0x1.50783483c96bbp-4,   -0x1.e3074d1868b2cp-8, 0x1.e8f320356d3fdp-12,
      -0x1.6f6f4ded4351bp-16, 0x1.9bc6d8fb1c755p-21};  // error 2^-60.0
  // digamma(x) = (x - root) p(x - 3/2)
  static constexpr double kRoot[] = {
      0x1.e6f0cbb873616p-1,  -0x1.b1cb63005ee98p-2,  0x1.eca189b8e6f76p-3,  -0x1.2feeeb98a78d3p-3,
      0x1.8512e590384e2p-4,  -0x1.fb44202a24f8fp-5,  0x1.4de9aa17d2db6p-5,  -0x1.b9f8b11b626fap-6,
      0x1.256471623bb6p-6,   -0x1.8635640ebc61cp-7,  0x1.03c0b0f57028bp-7,  -0x1.5a06a3206721dp-8,
      0x1.cd1f7870fc08cp-9,  -0x1.336deb01fd3ep-9,   0x1.99dce8713f518p-10, -0x1.0fb1bdc33c8c4p-10,
      0x1.69e856b0d38bfp-11, -0x1.fda55d92e55f4p-12, 0x1.55b4bdf1a2271p-12, -0x1.2f5c3bca5d381p-13,
      0x1.8755b88a7971p-14,  -0x1.75ff36d962f76p-13, 0x1.fc38a95a657c4p-14};  // error 2^-54.2
  // digamma(x) = log x - 1 / (2 x) - z s(z), z = 1 / x^2
  static constexpr double kSlope[] = {
      0x1.555555555550ep-4, -0x1.111111109fa31p-7, 0x1.0410400993884p-8, -0x1.1110872902911p-8,
      0x1.f04ff2903adap-8,  -0x1.5759729a2548bp-6, 0x1.42205ad4db109p-4, -0x1.54966006fb1efp-2,
      0x1.312372ae01315p+0, -0x1.2cba6474f3027p+1};  // error 2^-61.2
  // pi cot(pi f) = (1 - z q(z)) / f, z = f^2
  static constexpr double kCotPi[] = {
      0x1.a51a6625307dap+1, 0x1.151322ac7cd5dp+1,  0x1.0470984c6a854p+1, 0x1.010b36940c4d2p+1,
      0x1.004132cf6b3f7p+1, 0x1.000fa01a14727p+1,  0x1.000d9d8fa021bp+1, 0x1.fefdcbb98987cp+0,
      0x1.04f95bfa86747p+1, 0x1.b934e7f719253p+0,  0x1.b678fab38e7a7p+1, -0x1.9ccf48a134f4p+1,
      0x1.e2848d11aa3eep+3, -0x1.28f656beee319p+4, 0x1.27c41a16f0eaap+4};  // error 2^-58.5
};

// Of f64 left of 0 in pairs (pair.h): 1 / Gamma(1 + t) for |t| <= 1/2, error 2^-104.
inline constexpr PairConstant kInversePairs[] = {{0x1p+0, 0.0},
                                                 {0x1.2788cfc6fb619p-1, -0x1.6cb90701fbfabp-58},
                                                 {-0x1.4fcf4026afa2ep-1, 0x1.8a3db7a90c42ap-56},
                                                 {-0x1.5815e8fa27048p-5, 0x1.b85ea59bc3638p-60},
                                                 {0x1.5512320b43fbep-3, 0x1.77e9bfd84d0f8p-57},
                                                 {-0x1.59af103c34092p-5, -0x1.ef8da0241c465p-59},
                                                 {-0x1.3b4af28483e21p-7, -0x1.38dbcf40c139bp-61},
                                                 {0x1.d919c527f60b2p-8, -0x1.a91714b11611fp-62},
                                                 {-0x1.317112ce3a2a8p-10, 0x1.0b48922be53b9p-64},
                                                 {-0x1.c364fe6f1563dp-13, 0x1.6707f71f86f2ep-69},
                                                 {0x1.0c8a78cd9f9d2p-13, -0x1.6193e5e682992p-67},
                                                 {-0x1.51ce8af47eabep-16, 0x1.26de8c501cb48p-75},
                                                 {-0x1.4fad41fc34fbbp-20, -0x1.01776ab160dc8p-75},
                                                 {0x1.302509dbc0de3p-20, -0x1.bf09003481b1ap-75},
                                                 {-0x1.b9986666c225dp-23, -0x1.d12e45de59d01p-79},
                                                 {0x1.a44b7ba22d629p-28, -0x1.4d6f19c81365fp-82},
                                                 {0x1.57bc3fc384334p-28, -0x1.30a82205f48c5p-86},
                                                 {-0x1.44b4cedca388fp-30, -0x1.f1c4c0ce1c9c5p-84}};
inline constexpr double kInverseTail[] = {
    0x1.cae7675c18607p-34,  0x1.11d065bfaf067p-37,  -0x1.0423bac8ca3fbp-38, 0x1.1f20151323cdp-41,
    -0x1.72cb88ea5ae6ep-46, -0x1.815f72a05f16fp-48, 0x1.6198491a83bcdp-50,  -0x1.10613dde57a89p-53,
    0x1.5e3fee81de0eap-60,  0x1.a0dc770fb8a4ap-60,  -0x1.0f635344a29eap-62, 0x1.43d79a4b90ce8p-66,
    0x1.435a100c67b42p-73,  -0x1.f0aee5efb2fccp-73, 0x1.089cd2aab3897p-75};
// digamma(y) = log y - 1 / (2 y) - z s(z), z = 1 / y^2, for y >= 20.
inline constexpr PairConstant kSlopePairs[] = {{0x1.5555555555555p-4, 0x1.5555555555555p-58},
                                               {-0x1.1111111111111p-7, -0x1.1111111111111p-63},
                                               {0x1.041041041041p-8, 0x1.041041041041p-62},
                                               {-0x1.1111111111111p-8, -0x1.1111111111111p-64},
                                               {0x1.f07c1f07c1f08p-8, -0x1.f07c1f07c1f08p-63}};
inline constexpr double kSlopeTail[] = {
    -0x1.5995995995996p-6,  0x1.5555555555555p-4, -0x1.c5e5e5e5e5e5ep-2,  0x1.86e7f9b9fe6e8p+1,
    -0x1.a74ca514ca515p+4,  0x1.1975cc0ed7304p+8, -0x1.c2f0566566566p+11, 0x1.ac572aaaaaaabp+15,
    -0x1.dc0b1a5cfbe16p+19, 0x1.31fad7cbf3cp+24,  -0x1.c280563b8bcbdp+28};

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
  N<double> shift =
      select(least, N<double>(0.0),
             select(less, one,
                    select(middle, N<double>(2.0), select(more, N<double>(3.0), N<double>(4.0)))));
  N<double> below = x - 1.0;
  N<double> product =
      select(least, abs(x * (x + 1.0)),
             select(less, x, select(middle, one, select(more, below, below * (x - 2.0)))));
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
  N<double> stirling_low =
      fma(w, m, -stirling) +
      fma(w, m_low, fma(inverse, polynomial(inverse * inverse, C::kFar), kHalfLog));
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

inline constexpr double kZeros =
    20;  // no double left of -kZeros is so near a zero of lgamma that its terms cancel

/// lgamma(x) = -log |x (x + 1) ... (x + n - 1) / Gamma(1 + f)| where x + n - 1 = f, |f| <= 1/2, for
/// -20 < x < -1/2. The factors are exact.
template <template <class> class N>
N<double> lgamma_between_poles(N<double> x) {
  N<double> nearest = rint(x), f = x - nearest;
  PairOf<N<double>> product{x, N<double>(0.0)};
  for (double j = 1; j <= kZeros; ++j)
    product = product * select(nearest <= -j, x + j, N<double>(1.0));
  PairOf<N<double>> inverse =
      product * pair_polynomial(PairOf<N<double>>{f, N<double>(0.0)}, kInversePairs, kInverseTail);
  auto negative = inverse.high < 0.0;
  PairOf<N<double>> log =
      log_pair<N>({abs(inverse.high), select(negative, -inverse.low, inverse.low)});
  return -(log.high + log.low);
}

/// digamma(a) + 1/a for a > 0: from 20 on by the asymptotic series, below as the value at a + 20
/// less the sum of 1 / (a + j) for j = 1 .. 19, whose terms j and 20 - j make (2 a + 20) / (a (a +
/// 20) + j (20 - j)).
template <template <class> class N>
PairOf<N<double>> digamma_beyond(N<double> a) {
  using Pair = PairOf<N<double>>;
  N<double> zero(0.0), one(1.0);
  auto near = a < 20.0;
  Pair moved = two_sum(a, N<double>(20.0));
  Pair y{select(near, moved.high, a), select(near, moved.low, zero)};
  Pair inverse = Pair{one, zero} / y, z = inverse * inverse;
  Pair far =
      log_pair<N>(y) - inverse * N<double>(0.5) - pair_polynomial(z, kSlopePairs, kSlopeTail) * z;
  Pair product = two_product(a, a) + two_product(a, N<double>(20.0));
  Pair sum = Pair{N<double>(0.5), zero} / (product + N<double>(100.0));
  for (double j = 9; j >= 1; --j) sum = sum + Pair{one, zero} / (product + N<double>(j * (20 - j)));
  Pair below = far - sum * (moved + a);
  Pair above = far + Pair{one, zero} / Pair{a, zero};
  return {select(near, below.high, above.high), select(near, below.low, above.low)};
}

/// digamma(x) = digamma(a) + 1/a - pi cot(pi x), a = -x > 0.
template <template <class> class N>
N<double> digamma_between_poles(N<double> x) {
  using Pair = PairOf<N<double>>;
  N<double> f = x - rint(x), g = abs(f);
  auto steep = g <= 0.25;
  Pair pi = constant(x, kPiPair);
  auto [sine, cosine, below] = sine_cosine_pair(pi * select(steep, g, 0.5 - g));
  Pair top{select(steep, cosine.high, sine.high), select(steep, cosine.low, sine.low)};
  Pair bottom{select(steep, sine.high, cosine.high), select(steep, sine.low, cosine.low)};
  Pair cotangent = pi * (top / bottom);
  auto negative = f < 0.0;
  Pair sum = digamma_beyond<N>(-x) + Pair{select(negative, cotangent.high, -cotangent.high),
                                          select(negative, cotangent.low, -cotangent.low)};
  return sum.high + sum.low;
}

}  // namespace internal

/// f32 takes the constants of f64 left of -1/2: beside the zeros there nearly all of both terms
/// cancels.
template <template <class> class N, class T>
N<T> lgamma(N<T> single) {
  N<double> x = N<double>::convert(single), a = abs(x);
  auto left = x < -0.5;
  internal::TwoParts<N, double> right =
      internal::lgamma_right<N, T>(sizeof(T) == 4 ? x : select(left, a, x));
  N<double> usual = right.high + right.low;
  N<double> y = rarely(left, usual, [&] {
    if constexpr (sizeof(T) == 4)
      return internal::lgamma_reflected<N, double>(a, internal::lgamma_right<N, double>(a));
    return select(a < internal::kZeros, internal::lgamma_between_poles<N>(x),
                  internal::lgamma_reflected<N, T>(a, right));
  });
  auto pole = (x <= 0.0) & (rint(x) == x);
  return N<T>::convert(select(pole | (a == kInfinity<double>), N<double>(kInfinity<double>), y));
}

/// digamma(x) = digamma(1 - x) - pi cot(pi x) for x < 0. NaN at the poles 0, -1, -2 ..., where it
/// has no limit. f32 takes the constants of f64: beside its zeros left of 0 nearly all of both
/// terms cancels.
template <template <class> class N, class T>
N<T> digamma(N<T> single) {
  using C = internal::GammaConstants<double>;
  static constexpr double kRoot = 0x1.762d86356be3fp+0, kRootLow = 0x1.b86a722197829p-54;
  N<double> original = N<double>::convert(single);
  auto left = original < 0.0;
  N<double> x = select(left, 1.0 - original, original);

  auto least = x < 1.0, less = x < 2.0, more = x < 3.0;
  N<double> zero(0.0), one(1.0);
  N<double> t =
      x - select(least, N<double>(0.5),
                 select(less, N<double>(1.5), select(more, N<double>(2.5), N<double>(3.5))));
  N<double> below = x - 1.0;
  N<double> top =
      select(least, N<double>(-1.0), select(less, zero, select(more, one, fma(x, 2.0, -3.0))));
  N<double> bottom = select(least, x, select(less, one, select(more, below, below * (x - 2.0))));
  N<double> near = fma((t + (1.5 - kRoot)) - kRootLow, polynomial(t, C::kRoot), top / bottom);

  auto [log, log_low] = internal::log_in_two<N, double>(x, zero);
  N<double> inverse = 1.0 / x, z = inverse * inverse;
  N<double> far_low = log_low - fma(z, polynomial(z, C::kSlope), inverse * 0.5);
  N<double> far = log + far_low;
  N<double> right = select(x >= 4.0, select(x < kInfinity<double>, far, x), near);

  N<double> y = right;
  if constexpr (sizeof(T) == 4) {
    // The difference of what is left and right is exact where they nearly cancel; what was rounded
    // away before is added then.
    N<double> f = original - rint(original), square = f * f;
    N<double> p = polynomial(square, C::kCotPi);
    N<double> top_high = fma(-square, p, 1.0);
    N<double> top_low = fma(-square, p, 1.0 - top_high) - fma(f, f, -square) * p;
    N<double> cotangent = top_high / f;
    N<double> rest = (fma(-cotangent, f, top_high) + top_low) / f;
    rest = select(abs(cotangent) < kInfinity<double>, rest, zero);
    N<double> difference =
        select(x >= 4.0, (log - cotangent) + (far_low - rest), (near - cotangent) - rest);
    y = select(left, difference, right);
  } else {
    y = rarely(left, right, [&] { return internal::digamma_between_poles<N>(original); });
  }
  auto pole = (original <= 0.0) & (rint(original) == original);
  return N<T>::convert(select(pole, N<double>(kNaN<double>), y));
}

}  // namespace strata::loop::math
