// What tiles.h promises, on a processor that has tiles.
#include <immintrin.h>

#include <cstdint>

#include "strata/loop/tiles.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("amx-tile,amx-bf16,avx512f"))), \
                             apply_to = function)
#else
#pragma GCC target("amx-tile,amx-bf16,avx512f")
#endif

namespace strata::loop {
namespace {

/// All eight tiles are of 16 rows of 64 bytes: 0 to 3 are sums, 4 and 5 of the left operand, 6 and
/// 7 of the right one.
struct alignas(64) Configuration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr Configuration kConfiguration;

struct Operands {
  float* c;
  const std::uint32_t *a, *b;
  std::int64_t c_pitch, a_pitch, b_pitch, steps;  // pitches in bytes
  bool first;
};

/// R x C squares of sums, each 1 or 2.
template <int R, int C>
inline void squares(const Operands& o) {
  auto c = [&](int r, int n) {
    return reinterpret_cast<char*>(o.c) + r * kTileSide * o.c_pitch + n * kTileSide * 4;
  };
  if (o.first) {
    _tile_zero(0);
    if (C > 1) _tile_zero(1);
    if (R > 1) _tile_zero(2);
    if (R > 1 && C > 1) _tile_zero(3);
  } else {
    _tile_loadd(0, c(0, 0), o.c_pitch);
    if (C > 1) _tile_loadd(1, c(0, 1), o.c_pitch);
    if (R > 1) _tile_loadd(2, c(1, 0), o.c_pitch);
    if (R > 1 && C > 1) _tile_loadd(3, c(1, 1), o.c_pitch);
  }
  const char *a = reinterpret_cast<const char*>(o.a), *b = reinterpret_cast<const char*>(o.b);
  for (std::int64_t s = 0; s < o.steps; ++s) {
    _tile_loadd(4, a, o.a_pitch);
    _tile_loadd(6, b, o.b_pitch);
    _tile_dpbf16ps(0, 4, 6);
    if (C > 1) {
      _tile_loadd(7, b + 64, o.b_pitch);
      _tile_dpbf16ps(1, 4, 7);
    }
    if (R > 1) {
      _tile_loadd(5, a + kTileSide * o.a_pitch, o.a_pitch);
      _tile_dpbf16ps(2, 5, 6);
    }
    if (R > 1 && C > 1) _tile_dpbf16ps(3, 5, 7);
    a += 64;
    b += kTileSide * o.b_pitch;
  }
  _tile_stored(0, c(0, 0), o.c_pitch);
  if (C > 1) _tile_stored(1, c(0, 1), o.c_pitch);
  if (R > 1) _tile_stored(2, c(1, 0), o.c_pitch);
  if (R > 1 && C > 1) _tile_stored(3, c(1, 1), o.c_pitch);
}

/// One square of 16 x 16; pitches in elements.
inline void turn(std::uint32_t* to, const std::uint32_t* from, std::int64_t to_pitch,
                 std::int64_t from_pitch) {
  __m512i x[16], y[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) x[i] = _mm512_loadu_si512(from + i * from_pitch);
  // Elements, pairs, quarters and halves change places.
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2)
    y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]), y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]), x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
    x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]),
          x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    y[i] = _mm512_shuffle_i32x4(x[i], x[i + 4], 0x88),
    y[i + 4] = _mm512_shuffle_i32x4(x[i], x[i + 4], 0xdd);
    y[i + 8] = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0x88),
          y[i + 12] = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0xdd);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    x[i] = _mm512_shuffle_i32x4(y[i], y[i + 8], 0x88),
    x[i + 8] = _mm512_shuffle_i32x4(y[i], y[i + 8], 0xdd);
    x[i + 4] = _mm512_shuffle_i32x4(y[i + 4], y[i + 12], 0x88),
          x[i + 12] = _mm512_shuffle_i32x4(y[i + 4], y[i + 12], 0xdd);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) _mm512_storeu_si512(to + i * to_pitch, x[i]);
}

}  // namespace
}  // namespace strata::loop

using strata::loop::kTileSide;

extern "C" std::int32_t strata_tile_product(void* c, const void* a, const void* b,
                                            std::int64_t c_pitch, std::int64_t a_pitch,
                                            std::int64_t b_pitch, std::int64_t rows,
                                            std::int64_t columns, std::int64_t steps,
                                            std::int64_t first) {
  _mm256_zeroupper();  // tiles are three times slower where upper halves of vectors hold something
                       // and SSE's instructions ran
  _tile_loadconfig(&strata::loop::kConfiguration);
  for (std::int64_t n = 0; n < columns; n += 2 * kTileSide) {
    const bool wide = n + kTileSide < columns;
    for (std::int64_t m = 0; m < rows; m += 2 * kTileSide) {
      const bool tall = m + kTileSide < rows;
      const strata::loop::Operands o{static_cast<float*>(c) + m * c_pitch + n,
                                     static_cast<const std::uint32_t*>(a) + m * a_pitch,
                                     static_cast<const std::uint32_t*>(b) + n,
                                     c_pitch * 4,
                                     a_pitch * 4,
                                     b_pitch * 4,
                                     steps,
                                     first != 0};
      if (wide && tall)
        strata::loop::squares<2, 2>(o);
      else if (wide)
        strata::loop::squares<1, 2>(o);
      else if (tall)
        strata::loop::squares<2, 1>(o);
      else
        strata::loop::squares<1, 1>(o);
    }
  }
  _tile_release();
  return 0;
}

extern "C" std::int32_t strata_turn_squares(void* to, const void* from, std::int64_t to_pitch,
                                            std::int64_t from_pitch, std::int64_t rows,
                                            std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; r += kTileSide)
    for (std::int64_t c = 0; c < columns; c += kTileSide)
      strata::loop::turn(static_cast<std::uint32_t*>(to) + c * to_pitch + r,
                         static_cast<const std::uint32_t*>(from) + r * from_pitch + c, to_pitch,
                         from_pitch);
  return 0;
}

#ifdef __clang__
#pragma clang attribute pop
#endif
