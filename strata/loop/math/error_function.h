// erf.
//
// Method: x + x p(x^2) up to 1, 1 - e^u(|x|) above, with u a polynomial near log(erfc).
// Constants: tools/fit/elementary.py.
#pragma once

#include "strata/loop/math/exponential.h"

namespace strata::loop::math {
namespace internal {
template <class T>
struct ErfConstants;
template <>
struct ErfConstants<float> {
  static constexpr float kNear[] = {0x1.06eba8p-3f, -0x1.81274p-2f,   0x1.ce2d6ap-4f,  -0x1.b8028ep-6f,
                                    0x1.54676ep-8f, -0x1.a80ce6p-11f, 0x1.5f52bap-14f, -0x1.745c7ep-20f};  // error 2^-29.9
  static constexpr float kMiddle = 2.0f, kOne = 4.0f;
  static constexpr float kFar[] = {-0x1.575b32p+2f,  -0x1.1ac32ap+2f, -0x1.d8f746p-1f,  -0x1.0dfa4cp-6f, 0x1.d8f926p-9f,
                                   -0x1.55f74ap-11f, 0x1.2fdbc4p-13f, -0x1.4a9518p-14f, -0x1.7fc92p-16f, 0x1.2970fcp-18f};  // error 2^-29.7
};
template <>
struct ErfConstants<double> {
  static constexpr double kNear[] = {0x1.06eba8214db69p-3,  -0x1.812746b0379e7p-2,  0x1.ce2f21a042bdep-4,  -0x1.b82ce312889c2p-6,
                                     0x1.565bcd0e65194p-8,  -0x1.c02db3fef01bap-11, 0x1.f9a326c2d95f1p-14, -0x1.f4d2562a19d99p-17,
                                     0x1.b9e6518e6bb48p-20, -0x1.5f6d9cc35251cp-23, 0x1.fc43f089830edp-27, -0x1.4e635c349fd7p-30,
                                     0x1.7f17258e5eb33p-34, -0x1.29e15b30161e9p-38};  // error 2^-56.2
  static constexpr double kMiddle = 3.0, kOne = 6.0;
  static constexpr double kFar[] = {-0x1.570d36cb51ca5p+3,  -0x1.9370b35013b83p+2,  -0x1.ea2f933642c1ep-1,  -0x1.e5bee8dd16d4p-8,
                                    0x1.62c32048960bdp-10,  -0x1.01a07ade6b494p-12, 0x1.696571d85c0d5p-15,  -0x1.dd82c21d18897p-18,
                                    0x1.1f0fb1d3adf82p-20,  -0x1.2470c09692ad8p-23, 0x1.89d3e87d0e173p-27,  0x1.5d4bfd99c1816p-31,
                                    -0x1.4fe114f830fb4p-31, 0x1.9ddbcb0adf043p-33,  -0x1.82925ff1c5585p-35, 0x1.356e650710f24p-37,
                                    -0x1.7fe4f7236b231p-40, 0x1.0482d39ce49e2p-43,  -0x1.969ed5688d301p-47, 0x1.5edb2844a9bd4p-49,
                                    0x1.2eaf24598e964p-49,  -0x1.118f5df27c9fcp-50, 0x1.e038c38f2f292p-54};  // error 2^-62.8
};
}  // namespace internal

template <template <class> class N, class T>
N<T> erf(N<T> x) {
  using C = internal::ErfConstants<T>;
  N<T> a = abs(x);
  N<T> near = fma(x, polynomial(x * x, C::kNear), x);
  N<T> t = select(a > C::kOne, N<T>(C::kOne), a) - C::kMiddle;
  N<T> u = polynomial(select(t < T(1) - C::kMiddle, N<T>(T(1) - C::kMiddle), t), C::kFar);
  auto [power, k, r] = internal::exp_parts(u);
  N<T> s = internal::two_to<N, T>(power);
  N<T> far = fma(-s, internal::exp_minus_one(r), T(1) - s);
  return select(a < T(1), near, copysign(far, x));
}

}  // namespace strata::loop::math
