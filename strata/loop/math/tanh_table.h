// tanh for f32 in sixteen pieces.
//
// In a piece tanh(m + d) = v + d p(d) with p of degree four, m a float whose tanh is nearly the float v; in the first, which begins at 0,
// tanh(a) = a + a p(a). b = 1 + a s cuts the pieces: each is a quarter of a binade of b, numbered by the last two bits of the exponent
// and the first two of the mantissa, so that pieces are wider where tanh is flatter and slot 12 of the tables is the first.
//
// Sixteen entries are one permutation with AVX-512 and two with AVX2. One table holds two numbers a slot: m, and in the lower half of
// its bits the upper half of those of p's last coefficient, which needs no more; in the first slot nothing is left of m but 2^-135, which
// counts for 0. The v of other pieces is not above their least a, and that of the first is 2, so v is the smaller of a and the entry there,
// too: no comparison of its own. The polynomial in halves is four cycles faster than Horner's rule, for loops that wait for each tanh.
// Constants: tools/fit/elementary.py tanh_pieces; the fit errs by 0.31 ulp at most.
#pragma once

#include "strata/loop/math/number.h"

namespace strata::loop::math::internal {

struct TanhPieces {
  static constexpr float kSpread = 0x1.a5ep+0f;  // s
  static constexpr float kOne = 9.1f;             // 1 from there on; b stays below 16
  static constexpr int kShift = kMantissa<float> - 2;
  static constexpr float kCenterAndFifth[] = {
      0x1.517b02p-1f, 0x1.eb7a44p-1f, 0x1.517852p+0f, 0x1.a4762ep+0f, 0x1.e67722p+0f, 0x1.687602p+1f, 0x1.867458p+1f, 0x1.d472a4p+1f,
      0x1.107024p+2f, 0x1.606ca6p+2f, 0x1.d86924p+2f, 0x1.0a6598p+3f, 0x1.f02000p-136f, 0x1.367b50p-3f, 0x1.3c791ap-2f, 0x1.cd7a20p-2f};
  static constexpr float kValue[] = {
      0x1.27d456p-1f, 0x1.7d0d04p-1f, 0x1.bb91b8p-1f, 0x1.db0a14p-1f, 0x1.e99ad2p-1f, 0x1.fc58b2p-1f, 0x1.fdb5dcp-1f, 0x1.ff5272p-1f,
      0x1.ffcb66p-1f, 0x1.fffbaep-1f, 0x1.ffffe6p-1f, 0x1.fffffcp-1f, 0x1.000000p+1f, 0x1.341feep-3f, 0x1.32c486p-2f, 0x1.b094bap-2f};
  static constexpr float kFirst[] = {
      0x1.551278p-1f, 0x1.c8d02cp-2f, 0x1.fedccap-3f, 0x1.1d0338p-3f, 0x1.5e7d08p-4f, 0x1.d1fe54p-7f, 0x1.24682cp-7f, 0x1.5ae0eep-9f,
      0x1.a44854p-11f, 0x1.14759ap-14f, 0x1.a06386p-20f, 0x1.f829d0p-23f, 0, 0x1.f46916p-1f, 0x1.d20cb2p-1f, 0x1.a4a132p-1f};
  static constexpr float kSecond[] = {
      -0x1.8a23acp-2f, -0x1.53f93cp-2f, -0x1.ba9516p-3f, -0x1.087072p-3f, -0x1.4f26fap-4f, -0x1.cea8bap-7f, -0x1.22da0ap-7f,
      -0x1.5a2254p-9f, -0x1.9f4de0p-11f, -0x1.12d82ap-14f, -0x1.a2f1dap-20f, -0x1.c6a134p-23f, 0x1.8c94c0p-22f, -0x1.2d20c4p-3f,
      -0x1.173a76p-2f, -0x1.635f56p-2f};
  static constexpr float kThird[] = {
      0x1.79c626p-12f, 0x1.937646p-4f, 0x1.aa15aap-4f, 0x1.2ca5ccp-4f, 0x1.96ec48p-5f, 0x1.2f6384p-7f, 0x1.7c1df4p-8f, 0x1.c6efa8p-10f,
      0x1.02e1dcp-11f, 0x1.5cc44cp-15f, 0x1.11ea86p-20f, 0x1.510f1cp-23f, -0x1.555e08p-2f, -0x1.374de6p-2f, -0x1.c6b3d2p-3f,
      -0x1.0538c2p-3f};
  static constexpr float kFourth[] = {
      0x1.06ca24p-3f, 0x1.21499cp-5f, -0x1.280870p-6f, -0x1.992a44p-6f, -0x1.48268cp-6f, -0x1.289964p-8f, -0x1.578ea0p-9f,
      -0x1.9eaabep-11f, -0x1.90bb46p-13f, -0x1.16947cp-16f, -0x1.13d3f6p-21f, -0x1.f21610p-24f, 0x1.6951bep-11f, 0x1.96a0a4p-4f,
      0x1.4b6908p-3f, 0x1.633d5ep-3f};
};

/// tanh of a >= 0.
template <template <class> class N>
N<float> tanh_in_pieces(N<float> a) {
  using C = TanhPieces;
  N<float> held = select(a > C::kOne, N<float>(C::kOne), a);
  N<float> b = fma(held, C::kSpread, 1.0f);
  N<std::int32_t> piece = bits(b) >> C::kShift;
  N<float> m = lookup(C::kCenterAndFifth, piece), v = lookup(C::kValue, piece);
  N<float> d = held - m, square = d * d;
  N<float> p = fma(lookup(C::kFourth, piece), d, lookup(C::kThird, piece));
  p = fma(N<float>::from_bits(bits(m) << 16), square, p);
  p = fma(p, square, fma(lookup(C::kSecond, piece), d, lookup(C::kFirst, piece)));
  return fma(d, p, select(held < v, held, v));
}

}  // namespace strata::loop::math::internal
