// Modified Bessel functions of the first kind, scaled: e^-|x| I0(x) and e^-|x| I1(x).
//
// Up to `kMiddle` a polynomial in x^2, whose terms are all positive, times e^-|x|; beyond, a
// polynomial in 1/|x| over sqrt |x|, for f64 one of two. In f64 throughout. Constants:
// tools/fit/special.py.
#pragma once

#include "strata/loop/math/exponential.h"

namespace strata::loop::math {
namespace internal {

template <class T>
struct BesselConstants;
template <>
struct BesselConstants<float> {
  static constexpr double kMiddle = 8.0, kFar = 8.0;
  static constexpr double kFarScale = 16.0;
  // I0(x) = 1 + z p(z), I1(x) = x/2 (1 + z p(z)), z = x^2; e^-x I(x) sqrt(x) = p(scale / x - 1)
  static constexpr double kNear0[] = {
      0x1.ffffffd06027bp-3,  0x1.000001eb6a3e7p-6,  0x1.c71c3fd8de121p-12, 0x1.c71ec6f150116p-18,
      0x1.23364cb0f4f9fp-24, 0x1.035b8f1254a5ap-31, 0x1.4df57e9e04c32p-39, 0x1.6a5efbffaab65p-47,
      0x1.711d7965d2d74p-56, 0x1.3f8adbfd063ccp-63};  // error 2^-31.7
  static constexpr double kFar0[] = {
      0x1.9bd428acebde4p-2,  0x1.b879696109695p-9,  0x1.1daacfc7e605ep-13, 0x1.75ec7fac6e7a9p-17,
      0x1.8ccbb0f05064p-20,  0x1.3a9e10a985b05p-22, 0x1.c4987aaa65e12p-24, 0x1.b38577924322ep-25,
      0x1.c5b97bcf6c627p-30, -0x1.233b05c413157p-27};  // error 2^-34.8
  static constexpr double kNear1[] = {
      0x1.ffffffef8267fp-4,  0x1.5555567754357p-8,  0x1.c71c57d161fd9p-14, 0x1.6c17d9d7f4d57p-20,
      0x1.844f7b9d9bf54p-27, 0x1.2841f83c16b0bp-34, 0x1.4ef54976b39d3p-42, 0x1.3e2fa6c561b11p-50,
      0x1.3810eeb1a2671p-59, 0x1.c1bf5d8bf3617p-67};  // error 2^-33.9
  static constexpr double kFar1[] = {
      0x1.8ebe783ac0739p-2,   -0x1.3f79617f97f4fp-7,  -0x1.cbc5b0ed98673p-13,
      -0x1.f8a375e662762p-17, -0x1.eaf0daa89a2d5p-20, -0x1.70e8170d1dba1p-22,
      -0x1.f91901ca29e59p-24, -0x1.dd5bcbf736546p-25, -0x1.6083a66818025p-29,
      0x1.2e2a9b98c1a96p-27};  // error 2^-34.7
  static constexpr auto &kMiddle0 = kFar0, &kMiddle1 = kFar1;
};
template <>
struct BesselConstants<double> {
  static constexpr double kMiddle = 5.0, kFar = 12.0;
  static constexpr double kFarScale = 24.0;
  // in the middle e^-x I(x) sqrt(x) = p(16 / x - 9/4)
  static constexpr double kNear0[] = {
      0x1.fffffffffffffp-3,  0x1.0000000000021p-6,  0x1.c71c71c71bcb4p-12,
      0x1.c71c71c7351ebp-18, 0x1.234567879d267p-24, 0x1.02e85c3eea5bp-31,
      0x1.522a3ca79123dp-39, 0x1.522aec98ac6d5p-47, 0x1.0b26f25708ea7p-55,
      0x1.56d56848b5f59p-64, 0x1.5ef32f232ba43p-73, 0x1.921c957455b62p-82};  // error 2^-57.8
  static constexpr double kMiddle0[] = {
      0x1.a0602da1da0c4p-2,   0x1.ee4ef23a30db3p-9,   0x1.a9cf8330fb3c9p-13,
      0x1.d80415c2c2e4fp-16,  0x1.430d5f53b49d8p-18,  -0x1.8e0d8a11064fep-21,
      -0x1.d5153a39306e9p-21, -0x1.31b7fd72d2bp-26,   0x1.17282824cb168p-23,
      -0x1.29d0a8638605p-27,  -0x1.491a2b120ec1p-26,  0x1.942f3ead7968ep-28,
      0x1.91e362b6be52ep-30,  -0x1.97f7dc3e2d80dp-30, 0x1.57e682c69d55dp-32,
      0x1.353fc47a9f205p-33,  -0x1.0969120ed29a4p-33, 0x1.65d494f69df43p-36,
      0x1.ded3de1e05c3cp-37,  -0x1.80b411ad25198p-38};  // error 2^-54.5
  static constexpr double kFar0[] = {
      0x1.9ab25f8f56038p-2,   0x1.1e0569de02b3fp-9,  0x1.d5a27f377b96cp-15,
      0x1.77807b2f08e3bp-19,  0x1.d2593f77e6ac9p-23, 0x1.96f6dfe126d12p-26,
      0x1.d943b07faf25fp-29,  0x1.643d6fda46b86p-31, 0x1.575a7f2fe1a38p-33,
      0x1.a880de8c0437ap-35,  0x1.4df54b6611663p-36, 0x1.75a08affc721ep-37,
      0x1.21d238bed236bp-37,  0x1.869abfa4a9181p-39, -0x1.2f0a3c8f8f757p-38,
      -0x1.2aa893c1b5ad1p-38, 0x1.cd068cae9737fp-42, 0x1.8faba9db4e9ap-40,
      0x1.d52c1d74a54f4p-45,  -0x1.ac0c5a732731ap-43};  // error 2^-56.1
  static constexpr double kNear1[] = {0x1p-3,
                                      0x1.5555555555556p-8,
                                      0x1.c71c71c71c63fp-14,
                                      0x1.6c16c16c1a16ap-20,
                                      0x1.845c8a0c2de21p-27,
                                      0x1.27e4fb8d8f0c3p-34,
                                      0x1.522a40af6dd1ep-42,
                                      0x1.2c97a9fd7e2c2p-50,
                                      0x1.ab77889dce899p-59,
                                      0x1.f255a1ba4d91cp-68,
                                      0x1.d6a021d432744p-77,
                                      0x1.e5672eeef3136p-86};  // error 2^-60.2
  static constexpr double kMiddle1[] = {
      0x1.81e09c772fe47p-2,   -0x1.547436a17f18ap-7,  -0x1.408edaa01f754p-12,
      -0x1.28f522a5064d1p-15, -0x1.8d64c26a4b988p-18, 0x1.615aaedbb38bap-21,
      0x1.00bbe371760acp-20,  0x1.7d653f913f80dp-25,  -0x1.29aa6fc947f8dp-23,
      0x1.75df54e27c1cep-28,  0x1.64abe078d0f3dp-26,  -0x1.895cf828b4daap-28,
      -0x1.dee4ad9709869p-30, 0x1.a8c0ef8b5d47ap-30,  -0x1.3cf0699c4698ap-32,
      -0x1.611e28821abc8p-33, 0x1.0f2d8acf997aep-33,  -0x1.38f9460148812p-36,
      -0x1.fa44caa890c3p-37,  0x1.79b3a03732f56p-38};  // error 2^-54.7
  static constexpr double kFar1[] = {
      0x1.920c27c8dc633p-2,   -0x1.a3c9adbe35638p-8,  -0x1.7eb85088a8682p-14,
      -0x1.00e3b4197c87p-18,  -0x1.24caf5079a7b9p-22, -0x1.e565237adbac2p-26,
      -0x1.10a649437f3bp-28,  -0x1.904871187cfcap-31, -0x1.7a58cdeed6f69p-33,
      -0x1.cc64c82dfc156p-35, -0x1.6573aa9f4482bp-36, -0x1.8a73e3b2a948cp-37,
      -0x1.308834d9025b6p-37, -0x1.a777ba49ebd0fp-39, 0x1.34d71181de158p-38,
      0x1.37addfc42d83p-38,   -0x1.a4833ab6dca92p-42, -0x1.9bbc2c2538aa8p-40,
      -0x1.19eb18d803c4bp-44, 0x1.b4fb4d2e7271dp-43};  // error 2^-55.5
};

/// e^-a I(a) for a >= 0; the near polynomial times `factor`. What squaring lost enters by the
/// polynomial's logarithmic slope, nearly 1 / (slope + 2 a).
template <template <class> class N, class T, std::size_t Near, std::size_t Far>
N<double> bessel_scaled(N<double> a, N<double> factor, double slope, const double (&near)[Near],
                        const double (&middle)[Far], const double (&far)[Far]) {
  using C = BesselConstants<T>;
  N<double> z = a * a, lost = fma(a, a, -z) / fma(a, 2.0, slope);
  auto [power, k, r] = exp_parts(select(a > C::kMiddle, N<double>(-C::kMiddle), -a));
  N<double> series = fma(z, polynomial(z, near), 1.0) * two_to<N, double>(power);
  N<double> close = fma(series, exp_minus_one(r) + lost, series) * factor;

  auto is_far = a > C::kFar;
  auto pick = [&](double in_middle, double beyond) {
    return sizeof(T) == 4 ? N<double>(beyond)
                          : select(is_far, N<double>(beyond), N<double>(in_middle));
  };
  N<double> v = fma(1.0 / a, pick(16.0, C::kFarScale), pick(-2.25, -1.0));
  N<double> sum = pick(middle[Far - 1], far[Far - 1]);
  for (std::size_t i = Far - 1; i-- > 0;) sum = fma(sum, v, pick(middle[i], far[i]));
  return select(a > C::kMiddle, sum / sqrt_rounded(a), close);
}

}  // namespace internal

template <template <class> class N, class T>
N<T> bessel_i0e(N<T> x) {
  using C = internal::BesselConstants<T>;
  return N<T>::convert(internal::bessel_scaled<N, T>(N<double>::convert(abs(x)), N<double>(1.0),
                                                     4.0, C::kNear0, C::kMiddle0, C::kFar0));
}

template <template <class> class N, class T>
N<T> bessel_i1e(N<T> x) {
  using C = internal::BesselConstants<T>;
  N<double> a = N<double>::convert(abs(x));
  return copysign(N<T>::convert(internal::bessel_scaled<N, T>(a, a * 0.5, 8.0, C::kNear1,
                                                              C::kMiddle1, C::kFar1)),
                  x);
}

}  // namespace strata::loop::math
