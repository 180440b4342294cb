// Odd functions of f32 in eight pieces: tanh and erf.
//
// In a piece f(m + d) = v + d p(d) with p of degree six, m a float whose f is nearly the float v;
// in the first, which begins at 0, f(a) = a + a p(a). b = kStart + kSlope a cuts the pieces by its
// bits from kShift upwards, the second begins at b = kSecondStart, and kOne is where f has come
// to 1.
//
// Eight entries are one permutation with AVX2 and with AVX-512. The coefficients use pairs rather
// than by Horner's rule, for loops that wait for each result. Constants: tools/fit/elementary.py
// pieces.
#pragma once

#include "strata/loop/math/number.h"

namespace strata::loop::math::internal {

/// Pieces of half a binade of b, wider where tanh is flatter; the first stands in slot 6. The
/// largest error over all floats is 0.87 ulp.
struct TanhPieces {
  static constexpr float kStart = 1.0f, kSlope = 0x1.a58p+0f, kOne = 9.1f;  // b stays below 16
  static constexpr int kShift = kMantissa<float> - 1;
  static constexpr float kSecondStart = 1.5f;
  static constexpr float kCenter[] = {0x1.b03046p-1f,
                                      0x1.73ab7ep+0f,
                                      0x1.25d690p+1f,
                                      0x1.c47478p+1f,
                                      0x1.4cb5aep+2f,
                                      0x1.e7f8bep+2f,
                                      0,
                                      0x1.b05530p-2f};
  static constexpr float kValue[] = {0x1.603f78p-1f,
                                     0x1.cac7c0p-1f,
                                     0x1.f5b86cp-1f,
                                     0x1.ff2138p-1f,
                                     0x1.fff800p-1f,
                                     0x1.fffff0p-1f,
                                     0,
                                     0x1.985a5ap-2f};
  static constexpr float kFirst[] = {0x1.0da8b8p-1f,
                                     0x1.93a150p-3f,
                                     0x1.45a4d6p-5f,
                                     0x1.bd2f7ep-9f,
                                     0x1.002152p-13f,
                                     0x1.001fe6p-20f,
                                     0,
                                     0x1.ae93fcp-1f};
  static constexpr float kSecond[] = {-0x1.730ad2p-2f,  -0x1.69acc6p-3f,  -0x1.3f1b04p-5f,
                                      -0x1.bc6e10p-9f,  -0x1.000364p-13f, -0x1.002294p-20f,
                                      -0x1.2eed22p-23f, -0x1.5769f2p-2f};
  static constexpr float kThird[] = {0x1.2dec66p-4f,  0x1.7b151ep-4f,  0x1.986098p-6f,
                                     0x1.2739e4p-9f,  0x1.53294ep-14f, 0x1.5393c4p-21f,
                                     -0x1.55530ap-2f, -0x1.2c347ap-3f};
  static constexpr float kFourth[] = {0x1.1f0310p-4f,   -0x1.8a3ff0p-6f,  -0x1.76e9f4p-7f,
                                      -0x1.2522d4p-10f, -0x1.537040p-15f, -0x1.536ceep-22f,
                                      -0x1.777df0p-13f, 0x1.5cb818p-3f};
  static constexpr float kFifth[] = {-0x1.effb40p-5f, -0x1.456482p-8f, 0x1.eb78f8p-9f,
                                     0x1.d1c988p-12f, 0x1.207a8ap-16f, 0x1.1fc324p-23f,
                                     0x1.147248p-3f,  -0x1.42c864p-11f};
  static constexpr float kSixth[] = {0x1.4112c8p-7f,   0x1.18efcep-7f,   -0x1.74a9e4p-11f,
                                     -0x1.33cbbep-13f, -0x1.90e810p-18f, -0x1.918b2ep-25f,
                                     -0x1.dffe40p-8f,  -0x1.0a92eap-4f};
  static constexpr float kSeventh[] = {0x1.23df94p-7f,  -0x1.f7384ap-9f, 0x1.55c5f4p-17f,
                                       0x1.146aecp-15f, 0x1.290510p-20f, 0x1.2c8d32p-27f,
                                       -0x1.4ad0ecp-5f, 0x1.0073fcp-5f};
};

/// Pieces of one half, but for the first. The largest error over all floats is 0.99 ulp.
struct ErfPieces {
  static constexpr float kStart = 8.12f, kSlope = 2.0f, kOne = 3.93f;  // b stays below 16
  static constexpr int kShift = kMantissa<float> - 3;
  static constexpr float kSecondStart = 9.0f;
  static constexpr float kCenter[] = {0,
                                      0x1.30b210p-1f,
                                      0x1.22a00ap+0f,
                                      0x1.9ff6a4p+0f,
                                      0x1.11370ep+1f,
                                      0x1.512ce2p+1f,
                                      0x1.915808p+1f,
                                      0x1.cfd5dep+1f};
  static constexpr float kValue[] = {0,
                                     0x1.33326ap-1f,
                                     0x1.c881b2p-1f,
                                     0x1.f4f512p-1f,
                                     0x1.feb32ep-1f,
                                     0x1.ffe66ep-1f,
                                     0x1.fffecap-1f,
                                     0x1.fffff6p-1f};
  static constexpr float kFirst[] = {0x1.06eba8p-3f,  0x1.956e8cp-1f, 0x1.3e720cp-2f,
                                     0x1.49c474p-4f,  0x1.845bf6p-7f, 0x1.1eb904p-10f,
                                     0x1.fcad5ap-15f, 0x1.2c33a0p-19f};
  static constexpr float kSecond[] = {-0x1.a03bc6p-22f, -0x1.e28d5ap-2f, -0x1.698442p-2f,
                                      -0x1.0be998p-3f,  -0x1.9e79a8p-6f, -0x1.79a3bep-9f,
                                      -0x1.8ebc5ep-13f, -0x1.0fad5ep-17f};
  static constexpr float kThird[] = {-0x1.81227cp-2f, -0x1.3b5c4ap-4f, 0x1.4ee9b0p-3f,
                                     0x1.d680dcp-4f,  0x1.068a94p-5f,  0x1.33b234p-8f,
                                     0x1.8b82f0p-12f, 0x1.3bd076p-16f};
  static constexpr float kFourth[] = {-0x1.17570ep-12f, 0x1.70af06p-3f,  0x1.973b4cp-6f,
                                      -0x1.97461ep-5f,  -0x1.a63992p-6f, -0x1.5656a8p-8f,
                                      -0x1.14c004p-11f, -0x1.0bf4f8p-15f};
  static constexpr float kFifth[] = {0x1.d53c00p-4f,  -0x1.45b280p-6f, -0x1.ecdb14p-5f,
                                     -0x1.1961b8p-9f, 0x1.94b442p-7f,  0x1.0c760ep-8f,
                                     0x1.2102eap-11f, 0x1.58e590p-15f};
  static constexpr float kSixth[] = {-0x1.5c8ba0p-8f,  -0x1.6ddafcp-5f,  0x1.050068p-6f,
                                     0x1.d6eb2ep-7f,   -0x1.ecdf36p-10f, -0x1.202454p-9f,
                                     -0x1.ced72ep-12f, -0x1.0dc0c0p-15f};
  static constexpr float kSeventh[] = {-0x1.481e3cp-6f, 0x1.0d6622p-6f,   0x1.aeff96p-8f,
                                       -0x1.911428p-8f, -0x1.48e294p-10f, 0x1.59a6d4p-11f,
                                       0x1.e05bbcp-13f, 0x1.3891bep-18f};
};

/// f(a) for a >= 0; NaN for NaN.
template <class C, template <class> class N>
N<float> in_pieces(N<float> a) {
  N<float> held = select(a > C::kOne, N<float>(C::kOne), a);
  N<float> b = fma(held, C::kSlope, C::kStart);
  N<std::int32_t> piece = bits(b) >> C::kShift;
  auto entry = [&](const float(&table)[8]) { return lookup(table, piece); };
  N<float> d = held - entry(C::kCenter), square = d * d;
  N<float> low = fma(entry(C::kSecond), d, entry(C::kFirst)),
           middle = fma(entry(C::kFourth), d, entry(C::kThird));
  N<float> high = fma(entry(C::kSeventh), square, fma(entry(C::kSixth), d, entry(C::kFifth)));
  N<float> p = fma(high, square * square, fma(middle, square, low));
  return fma(d, p, select(b < C::kSecondStart, held, entry(C::kValue)));
}

}  // namespace strata::loop::math::internal
