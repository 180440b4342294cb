// erf_inv, the inverse of erf.
//
// With w = -log(1 - x^2): x c(w) up to w = 5/2, beyond sign(x) s t(s - middle) with s = sqrt(w), by
// intervals of s. Both c and t are smooth, and w needs no more than absolute accuracy where it is
// small. In f64 throughout. Constants: tools/fit/special.py.
#pragma once

#include "strata/loop/math/logarithm.h"

namespace strata::loop::math {
namespace internal {

template <class T>
struct ErfInvConstants;
template <>
struct ErfInvConstants<float> {
  static constexpr double kCentral[] = {
      0x1.c5bf891bb31c9p-1,   0x1.db29fab187c85p-3,  0x1.7a73506af0d0ep-7,  -0x1.32198073bf115p-9,
      -0x1.0b22c862b3a36p-13, 0x1.7ea8bfc4e9026p-15, 0x1.885e1815b3d37p-19, -0x1.95f94803aed3ep-20,
      0x1.068b7363b58afp-23,  -0x1.d80cbeff63cbbp-32};  // error 2^-34.4
  // from sqrt(5/2) around 2.0625, from 2.625 around 3.375
  static constexpr double kFirst[] = {
      0x1.d8502c6635192p-1,  0x1.ae54111d46a55p-6,  -0x1.c096f3a699722p-10, -0x1.4787dd3a15d95p-9,
      0x1.dbcca06db598p-11,  0x1.8e8be9a2c0e56p-13, -0x1.9f6dcfd6eeffdp-13, -0x1.7f98ceceeee89p-18,
      0x1.409593e320642p-15, -0x1.071476c9ce6dfp-18};  // error 2^-34.2
  static constexpr double kSecond[] = {
      0x1.e6e89428e5bf5p-1,   0x1.0dc03b01f3b12p-6,   -0x1.eb635ca8ab28fp-9, 0x1.07b1ffa9e63d5p-11,
      0x1.123029151a157p-14,  -0x1.495d7ec58a57bp-14, 0x1.1aef993eb5ea2p-15, -0x1.13367c847aed2p-17,
      -0x1.125ca0e138fa1p-20, 0x1.863879111863fp-20};  // error 2^-33.8
  static constexpr auto& kThird = kSecond;             // w ends at 15.9
};
template <>
struct ErfInvConstants<double> {
  static constexpr double kCentral[] = {
      0x1.c5bf891b4ef6bp-1,   0x1.db29fb2fee4a4p-3,   0x1.7a72e72c4ed5ap-7,  -0x1.3211026960a28p-9,
      -0x1.0c86b2a9a93a8p-13, 0x1.8700dfb2d4462p-15,  0x1.0f346c8027bf3p-19, -0x1.1030b53a27e52p-20,
      -0x1.2ca72156f8b61p-25, 0x1.592c97fe35313p-26,  0x1.ad49487076195p-29, -0x1.1d94b563ff407p-29,
      0x1.98441f1ea8311p-31,  -0x1.1de18a8165ec9p-32, 0x1.349df4db9e155p-34, -0x1.b6477305d2f41p-37,
      0x1.6dd85c2d83eb6p-40,  -0x1.12982f5dc16edp-44};  // error 2^-54.5
  // the third from 4.125 around 5.125
  static constexpr double kFirst[] = {
      0x1.d8502c66a25dfp-1,  0x1.ae5410f893276p-6,   -0x1.c0977c8e69b3fp-10, -0x1.47879e70407f7p-9,
      0x1.dbe817db79c9p-11,  0x1.8e4db99e7c15cp-13,  -0x1.a34e92c6e40e7p-13, -0x1.4b944cc711249p-18,
      0x1.7aba9176d9de8p-15, -0x1.a73d23fea98d8p-18, -0x1.459e25054d7ffp-17, 0x1.9d14e9ca345ddp-19,
      0x1.fe9bac1f560e3p-20, -0x1.1d9e6ad705b4dp-20, -0x1.4fb3ae9d85721p-22, 0x1.48e5fbd321d35p-22,
      0x1.1c0f4c49793cbp-25, -0x1.0533ffd4e386p-24};  // error 2^-55.4
  static constexpr double kSecond[] = {
      0x1.e6e8942975359p-1,   0x1.0dc03ae72837bp-6,   -0x1.eb638efb58b3ep-9,
      0x1.07b266d0ffaecp-11,  0x1.128a8b724fc03p-14,  -0x1.497a99552af68p-14,
      0x1.175fde2954d63p-15,  -0x1.0fb29339fb153p-17, -0x1.2e69c894fa16ep-23,
      0x1.53124a7133a37p-20,  -0x1.620b70ab4417dp-21, 0x1.46f0c0b0f8d87p-23,
      0x1.9d88b6b589a15p-26,  -0x1.3557e40bf1851p-25, 0x1.f3b6a8bf500d1p-27,
      -0x1.80a83f0b18c1bp-30, -0x1.e40e73376bf9bp-30, 0x1.a53dbf440e0a7p-31};  // error 2^-54.7
  static constexpr double kThird[] = {
      0x1.f1223756e9c3bp-1,   0x1.f672bfc9c1913p-8,   -0x1.93077b23f3c24p-10,
      0x1.15be7fff7e0bp-12,   -0x1.47abfeafe2052p-15, 0x1.26572149a3b3bp-18,
      -0x1.0fafda726ceb7p-23, -0x1.1376bb6315112p-23, 0x1.dd2b1fbdf8377p-25,
      -0x1.1e834d5d382b7p-26, 0x1.28a8061292269p-28,  -0x1.178af50f3d5cap-30,
      0x1.dd7fc866e549fp-33,  -0x1.5ddc1c451d12dp-35, 0x1.8fa92b724b2ffp-38,
      0x1.2a047a979b36cp-41,  -0x1.8b0db4fde05fap-40, 0x1.1b972e279e437p-41};  // error 2^-54.3
};

/// erf_inv(x) / s, by the interval in which s is.
template <template <class> class N, class T>
N<double> error_inverse_tail(N<double> s) {
  using C = ErfInvConstants<T>;
  auto second = s > 2.625, third = s > 4.125;
  auto pick = [&](double a, double b, double c) {
    N<double> below = select(second, N<double>(b), N<double>(a));
    return sizeof(T) == 4 ? below : select(third, N<double>(c), below);
  };
  N<double> t = s - pick(2.0625, 3.375, 5.125);
  constexpr int terms = std::size(C::kFirst);
  N<double> sum = pick(C::kFirst[terms - 1], C::kSecond[terms - 1], C::kThird[terms - 1]);
  for (int i = terms - 1; i-- > 0;)
    sum = fma(sum, t, pick(C::kFirst[i], C::kSecond[i], C::kThird[i]));
  return sum;
}

}  // namespace internal

template <template <class> class N, class T>
N<T> erf_inv(N<T> single) {
  using C = internal::ErfInvConstants<T>;
  N<double> x = N<double>::convert(single);
  N<double> rest = fma(-x, x, 1.0);
  N<double> w = -internal::log_of(rest, N<double>(0.0));
  N<double> s = sqrt_rounded(w);
  N<double> central = x * polynomial(w, C::kCentral);
  N<double> tail = copysign(s * internal::error_inverse_tail<N, T>(s), x);
  N<double> inside = select(w > 2.5, tail, central);
  N<double> outside = select(rest == 0.0, copysign(N<double>(kInfinity<double>) + rest, x),
                             N<double>(kNaN<double>));
  return N<T>::convert(select(rest > 0.0, inside, outside));
}

}  // namespace strata::loop::math
