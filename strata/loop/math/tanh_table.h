// tanh for f32 in pieces, a quarter of a binade each, from 1/16 on.
//
// In a piece tanh(m + d) = v + d p(d) with p of degree four, m a float near the middle whose tanh is nearly the float v; in the first,
// which reaches down to 0, m = v = 0 and tanh(a) = a + a p(a). A piece is chosen by the last three bits of the exponent and the first
// two of the mantissa, so that slot 12 of the tables is the first. Constants: tools/fit/elementary.py tanh_pieces; errors below 2^-26.
#pragma once

#include "strata/loop/math/number.h"

namespace strata::loop::math::internal {

struct TanhPieces {
  static constexpr float kFirstEnd = 0x1.4p-4f;  // of the first piece
  static constexpr float kOne = 9.2f;            // 1 from there on
  static constexpr int kShift = kMantissa<float> - 2;
  static constexpr std::int32_t kFirstPiece = std::bit_cast<std::int32_t>(0x1p-4f) >> kShift;
  static constexpr float kCenter[] = {
      0x1.1ffe24p+1f, 0x1.600230p+1f, 0x1.9ffd2cp+1f, 0x1.e002cep+1f, 0x1.1ffee2p+2f, 0x1.600320p+2f, 0x1.9ffce0p+2f,
      0x1.e00320p+2f, 0x1.135f48p+3f, 0x1.400000p+3f, 0x1.800000p+3f, 0x1.c00000p+3f, 0, 0x1.5ffee6p-4f, 0x1.9ffde6p-4f,
      0x1.e0030ep-4f, 0x1.200278p-3f, 0x1.5ffecep-3f, 0x1.9fff9ap-3f, 0x1.dfff30p-3f, 0x1.1ffe3ap-2f, 0x1.600068p-2f,
      0x1.9ffd82p-2f, 0x1.e000eap-2f, 0x1.1ffcecp-1f, 0x1.5ffe5ap-1f, 0x1.9ffd40p-1f, 0x1.e0029ap-1f, 0x1.1ffeb6p+0f,
      0x1.6002b0p+0f, 0x1.9fff10p+0f, 0x1.e00076p+0f};
  static constexpr float kValue[] = {
      0x1.f4bf84p-1f, 0x1.fbd52ep-1f, 0x1.fe7668p-1f, 0x1.ff6f1ep-1f, 0x1.ffdfa6p-1f, 0x1.fffba0p-1f, 0x1.ffff68p-1f,
      0x1.ffffecp-1f, 0x1.fffffep-1f, 0x1.000000p+0f, 0x1.000000p+0f, 0x1.000000p+0f, 0, 0x1.5f21bap-4f, 0x1.9e9142p-4f,
      0x1.ddd396p-4f, 0x1.1e203cp-3f, 0x1.5c91dep-3f, 0x1.9a5ebap-3f, 0x1.d76598p-3f, 0x1.18a1f6p-2f, 0x1.52c322p-2f,
      0x1.8a85c2p-2f, 0x1.bfaf28p-2f, 0x1.050628p-1f, 0x1.3156d0p-1f, 0x1.57877cp-1f, 0x1.77d96cp-1f, 0x1.9e5bd2p-1f,
      0x1.c279dcp-1f, 0x1.d9c6b6p-1f, 0x1.e878b4p-1f};
  static constexpr float kFirst[] = {
      0x1.641aa6p-5f, 0x1.099ea8p-6f, 0x1.8900c0p-8f, 0x1.219b08p-9f, 0x1.02c896p-11f, 0x1.181a88p-14f, 0x1.2f94b6p-17f,
      0x1.49bc16p-20f, 0x1.2462c0p-23f, 0, 0, 0, 0, 0x1.fc3cc4p-1f, 0x1.fac14cp-1f, 0x1.f90844p-1f, 0x1.f601a0p-1f, 0x1.f12b18p-1f,
      0x1.eb7164p-1f, 0x1.e4dfc8p-1f, 0x1.d98baap-1f, 0x1.c7f704p-1f, 0x1.b40000p-1f, 0x1.9e235cp-1f, 0x1.7aed3ap-1f,
      0x1.49e804p-1f, 0x1.1981d6p-1f, 0x1.d8314cp-2f, 0x1.6152e4p-2f, 0x1.ce9eb8p-3f, 0x1.266032p-3f, 0x1.6fce64p-4f};
  static constexpr float kSecond[] = {
      -0x1.5c44acp-5f, -0x1.077154p-6f, -0x1.87cbc4p-8f, -0x1.2143a6p-9f, -0x1.026210p-11f, -0x1.193388p-14f, -0x1.26ecb8p-17f,
      -0x1.cd3914p-20f, -0x1.3ea386p-22f, 0, 0, 0, 0, -0x1.5c8d0ep-4f, -0x1.9a5206p-4f, -0x1.d752aep-4f, -0x1.188a88p-3f,
      -0x1.5278fcp-3f, -0x1.89e4c0p-3f, -0x1.be6c74p-3f, -0x1.038e2ap-2f, -0x1.2dafd6p-2f, -0x1.4ff5e8p-2f, -0x1.6a1d8ep-2f,
      -0x1.825ce4p-2f, -0x1.897d44p-2f, -0x1.79c1f6p-2f, -0x1.5aa0a6p-2f, -0x1.1df1e8p-2f, -0x1.970842p-3f, -0x1.10665cp-3f,
      -0x1.5ee782p-4f};
  static constexpr float kThird[] = {
      0x1.bbdb18p-6f, 0x1.5988aep-7f, 0x1.03a104p-8f, 0x1.80d55ap-10f, 0x1.5891e0p-12f, 0x1.74e49ep-15f, 0x1.922d7ep-18f,
      0x1.937fe2p-21f, 0x1.36d1c2p-24f, 0, 0, 0, -0x1.55551cp-2f, -0x1.4957e8p-2f, -0x1.47dd22p-2f, -0x1.43857ep-2f,
      -0x1.3b3014p-2f, -0x1.2e5b96p-2f, -0x1.206772p-2f, -0x1.0fcefcp-2f, -0x1.e9242ap-3f, -0x1.98374ap-3f, -0x1.427164p-3f,
      -0x1.d75b02p-4f, -0x1.bd5ab4p-5f, 0x1.d6d9ecp-7f, 0x1.0705fap-4f, 0x1.8441e6p-4f, 0x1.c68bbcp-4f, 0x1.97d6f4p-4f,
      0x1.33e16ap-4f, 0x1.a859bep-5f};
  static constexpr float kFourth[] = {
      -0x1.95e3dap-7f, -0x1.514e26p-8f, -0x1.034892p-9f, -0x1.8382fap-11f, -0x1.691aa6p-13f, -0x1.702080p-16f, -0x1.15b3eap-18f,
      0x1.a26680p-20f, 0x1.aaaa62p-22f, 0, 0, 0, 0, 0x1.c571f2p-5f, 0x1.0b72bap-4f, 0x1.2a2db8p-4f, 0x1.6b67f0p-4f, 0x1.b0a304p-4f,
      0x1.edfb8cp-4f, 0x1.18112ep-3f, 0x1.32dab6p-3f, 0x1.4ffd5ap-3f, 0x1.5c100cp-3f, 0x1.584e40p-3f, 0x1.39dbfep-3f,
      0x1.e93ad0p-4f, 0x1.474ed4p-4f, 0x1.6320b8p-5f, 0x1.e1eed4p-9f, -0x1.59d366p-6f, -0x1.9ba7dcp-6f, -0x1.5595b0p-6f};
  static constexpr float kFifth[] = {
      0x1.046704p-8f, 0x1.f61336p-10f, 0x1.94445ap-11f, 0x1.3306ccp-12f, 0x1.1bd570p-14f, 0x1.38cce4p-17f, 0x1.67e012p-20f,
      0x1.6f3bd4p-22f, 0x1.b56f18p-25f, 0, 0, 0, 0x1.10221cp-3f, -0x1.9b96f0p+4f, 0x1.19dee0p+2f, 0x1.b31232p+2f, 0x1.a143e6p-2f,
      -0x1.424aecp-1f, 0x1.babd8cp-1f, -0x1.1a4a4ap-3f, 0x1.010f7ap-4f, -0x1.542f94p-7f, 0x1.29cd48p-9f, 0x1.5bd60ap-6f,
      -0x1.40874ep-5f, -0x1.e9785ep-5f, -0x1.ce8052p-5f, -0x1.be18a0p-5f, -0x1.05abdcp-5f, -0x1.3ceac0p-7f, 0x1.613956p-10f,
      0x1.2efc4ap-8f};
};

/// tanh of a >= 0.
template <template <class> class N>
N<float> tanh_in_pieces(N<float> a) {
  using C = TanhPieces;
  N<float> held = select(a > C::kOne, N<float>(C::kOne), a);
  N<std::int32_t> piece = bits(held) >> C::kShift;
  piece = select(piece < C::kFirstPiece, N<std::int32_t>(C::kFirstPiece), piece);
  N<float> d = held - lookup(C::kCenter, piece);
  N<float> p = fma(lookup(C::kFifth, piece), d, lookup(C::kFourth, piece));
  p = fma(p, d, lookup(C::kThird, piece));
  p = fma(p, d, lookup(C::kSecond, piece));
  p = fma(p, d, lookup(C::kFirst, piece));
  return fma(d, p, select(held < C::kFirstEnd, held, lookup(C::kValue, piece)));
}

}  // namespace strata::loop::math::internal
