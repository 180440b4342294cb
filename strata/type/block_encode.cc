#include "strata/type/block_encode.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "strata/type/float.h"

// Sums and products are rounded one by one, as in ggml's portable build.
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

namespace strata::packed_block {
namespace {

void put_half(float x, std::uint8_t* at) {
  const std::uint16_t bits = f16_bits(x);
  at[0] = static_cast<std::uint8_t>(bits & 255), at[1] = static_cast<std::uint8_t>(bits >> 8);
}
float half(const std::uint8_t* at) {
  return f16_value(static_cast<std::uint16_t>(at[0] | at[1] << 8));
}

/// Elements 0..15 in the low nibbles, 16..31 in the high ones.
void put_nibbles(const int* q, std::uint8_t* at) {
  for (int i = 0; i < 16; ++i) at[i] = static_cast<std::uint8_t>(q[i] | q[i + 16] << 4);
}

/// The nearest integer, ties to even, of a number below 2^22; anything for others.
int nearest(float x) {
  return static_cast<int>(std::bit_cast<std::uint32_t>(x + 12582912.0f) & 0x007fffffu) - 0x00400000;
}

/// x without its fraction; 0 for what is no number of eight bits, where 1 / d overflows.
int truncated(float x) { return x > -129 && x < 129 ? static_cast<int>(x) : 0; }

}  // namespace

void encode_q4_0(const float* x, std::uint8_t* block) {
  const float* most =
      std::max_element(x, x + 32, [](float a, float b) { return std::fabs(a) < std::fabs(b); });
  const float d = *most / -8.0f, inverse = d != 0 ? 1.0f / d : 0.0f;
  int q[32];
  for (int i = 0; i < 32; ++i) q[i] = std::min(15, truncated(x[i] * inverse + 8.5f));
  put_half(d, block);
  put_nibbles(q, block + 2);
}

void encode_q4_1(const float* x, std::uint8_t* block) {
  const auto [least, most] = std::minmax_element(x, x + 32);
  const float min = *least, d = (*most - min) / 15.0f, inverse = d != 0 ? 1.0f / d : 0.0f;
  int q[32];
  for (int i = 0; i < 32; ++i) q[i] = std::min(15, truncated((x[i] - min) * inverse + 0.5f));
  put_half(d, block);
  put_half(min, block + 2);
  put_nibbles(q, block + 4);
}

void encode_q8_0(const float* x, std::uint8_t* block) {
  float most = 0;
  for (int i = 0; i < 32; ++i) most = std::max(most, std::fabs(x[i]));
  const float d = most / 127.0f, inverse = d != 0 ? 1.0f / d : 0.0f;
  put_half(d, block);
  for (int i = 0; i < 32; ++i)
    block[2 + i] =
        static_cast<std::uint8_t>(static_cast<std::int8_t>(truncated(std::round(x[i] * inverse))));
}

namespace {

/// What a part of 32 elements is approximated by: scale * level - min.
struct Part {
  float scale = 0, min = 0;  // min >= 0
  int levels[32] = {};       // of four bits
};

/// The levels, scale and minimum of least weighted squares among 21 ranges tried (ggml,
/// make_qkx2_quants). Where a range improves, the next ones begin at its minimum.
Part search(const float* x, const float* w) {
  constexpr int kCount = 32, kMost = 15, kTrials = 20;
  Part out;
  float min = x[0], max = x[0], sum_w = w[0], sum_x = sum_w * x[0];
  for (int i = 1; i < kCount; ++i) {
    min = std::min(min, x[i]), max = std::max(max, x[i]);
    sum_w += w[i];
    sum_x += w[i] * x[i];
  }
  min = std::min(min, 0.0f);
  if (max == min) return out.min = -min, out;
  auto set_levels = [&](float inverse, int* levels) {
    for (int i = 0; i < kCount; ++i)
      levels[i] = std::clamp(nearest(inverse * (x[i] - min)), 0, kMost);
  };
  auto error_of = [&](float scale, float least, const int* levels) {
    float error = 0;
    for (int i = 0; i < kCount; ++i) {
      const float off = scale * static_cast<float>(levels[i]) + least - x[i];
      error += w[i] * (off * off);
    }
    return error;
  };
  float inverse = kMost / (max - min);
  out.scale = 1 / inverse;
  set_levels(inverse, out.levels);
  float best = error_of(out.scale, min, out.levels);
  for (int trial = 0; trial <= kTrials; ++trial) {
    inverse = (-1.0f + 0.1f * static_cast<float>(trial) + kMost) / (max - min);
    int levels[kCount];
    set_levels(inverse, levels);
    float sum_l = 0, sum_l2 = 0, sum_xl = 0;
    for (int i = 0; i < kCount; ++i) {
      const float l = static_cast<float>(levels[i]);
      sum_l += w[i] * l;
      sum_l2 += w[i] * l * l;
      sum_xl += w[i] * l * x[i];
    }
    const float determinant = sum_w * sum_l2 - sum_l * sum_l;
    if (!(determinant > 0)) continue;
    float scale = (sum_w * sum_xl - sum_x * sum_l) / determinant;
    float least = (sum_l2 * sum_x - sum_l * sum_xl) / determinant;
    if (least > 0) least = 0, scale = sum_xl / sum_l2;
    const float error = error_of(scale, least, levels);
    if (!(error < best)) continue;
    best = error, out.scale = scale, min = least;
    std::copy(levels, levels + kCount, out.levels);
  }
  out.min = -min;
  return out;
}

}  // namespace

void encode_q4_k(const float* x, std::uint8_t* block) {
  Part parts[8];
  float most_scale = 0, most_min = 0;
  for (int j = 0; j < 8; ++j) {
    const float* at = x + 32 * j;
    float squares = 0, w[32];
    for (int i = 0; i < 32; ++i) squares += at[i] * at[i];
    const float mean = std::sqrt(squares / 32);
    for (int i = 0; i < 32; ++i) w[i] = mean + std::fabs(at[i]);
    parts[j] = search(at, w);
    most_scale = std::max(most_scale, parts[j].scale);
    most_min = std::max(most_min, parts[j].min);
  }
  const float to_scale = most_scale > 0 ? 63.0f / most_scale : 0.0f;
  const float to_min = most_min > 0 ? 63.0f / most_min : 0.0f;
  std::uint8_t* s = block + 4;
  for (int j = 0; j < 8; ++j) {
    const auto scale = static_cast<std::uint8_t>(std::min(63, nearest(to_scale * parts[j].scale)));
    const auto min = static_cast<std::uint8_t>(std::min(63, nearest(to_min * parts[j].min)));
    if (j < 4) {
      s[j] = scale, s[j + 4] = min;
      continue;
    }
    s[j + 4] = static_cast<std::uint8_t>((scale & 15) | (min & 15) << 4);
    s[j - 4] |= static_cast<std::uint8_t>(scale >> 4 << 6);
    s[j] |= static_cast<std::uint8_t>(min >> 4 << 6);
  }
  put_half(most_scale / 63.0f, block);
  put_half(most_min / 63.0f, block + 2);
  for (int j = 0; j < 8; ++j) {
    const float d = half(block) * static_cast<float>(scale_of(s, j));
    const float min = half(block + 2) * static_cast<float>(min_of(s, j));
    for (int i = 0; i < 32; ++i) {
      // A part whose scale is rounded to zero keeps the levels of its search.
      const int l =
          d != 0 ? std::clamp(nearest((x[32 * j + i] + min) / d), 0, 15) : parts[j].levels[i];
      std::uint8_t& byte = block[16 + 32 * (j / 2) + i];
      byte = static_cast<std::uint8_t>(j % 2 == 0 ? l : byte | l << 4);
    }
  }
}

}  // namespace strata::packed_block
