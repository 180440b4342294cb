#include "strata/type/codebook_format.h"

#include <bit>
#include <cstring>
#include <iterator>

#include "strata/type/float.h"

namespace strata {
namespace {

#include "strata/type/codebooks.inc"

using Bytes = const std::uint8_t*;

int word(Bytes at) { return at[0] | at[1] << 8; }
std::uint32_t word32(Bytes at) {
  return static_cast<std::uint32_t>(word(at)) | static_cast<std::uint32_t>(word(at + 2)) << 16;
}
float half(int bits) { return f16_value(static_cast<std::uint16_t>(bits)); }

constexpr float kIq2Values[] = {8, 25, 43};
constexpr float kIq3XxsValues[] = {4, 12, 20, 28, 36, 44, 52, 62};
constexpr float kIq3SValues[] = {1, 3, 5, 7, 9, 11, 13, 15};

/// Seven signs, and the eighth that makes the number of minuses even.
int signs_of(std::uint32_t seven) {
  seven &= 127;
  return static_cast<int>(seven | (std::popcount(seven) % 2 == 0 ? 0u : 128u));
}
float sign(int signs, int i) { return (signs >> i & 1) != 0 ? -1.0f : 1.0f; }

/// Eight elements of a row of two bits each.
void eight(int row, float scale, int signs, float* out) {
  for (int i = 0; i < 8; ++i) out[i] = scale * kIq2Values[row >> 2 * i & 3] * sign(signs, i);
}
/// Four elements of a row of three bits each; `from` is the place of the first sign.
void four(int row, const float* values, float scale, int signs, int from, float* out) {
  for (int i = 0; i < 4; ++i) out[i] = scale * values[row >> 3 * i & 7] * sign(signs, from + i);
}
/// Eight elements of -1, 0 or 1, all moved by an eighth.
void ternary(int row, float scale, bool down, float* out) {
  const float delta = down ? -0.125f : 0.125f;
  for (int i = 0; i < 8; ++i) out[i] = scale * (static_cast<float>((row >> 2 * i & 3) - 1) + delta);
}

void iq2_xxs(Bytes b, float* out) {
  const float d = half(word(b));
  for (int j = 0; j < 8; ++j) {
    const Bytes q = b + 2 + 8 * j;
    const std::uint32_t rest = word32(q + 4);
    const float scale = d * (0.5f + static_cast<float>(rest >> 28)) * 0.25f;
    for (int k = 0; k < 4; ++k)
      eight(kIq2Xxs[q[k]], scale, signs_of(rest >> 7 * k), out + 32 * j + 8 * k);
  }
}
void iq2_xs(Bytes b, float* out) {
  const float d = half(word(b));
  for (int k = 0; k < 32; ++k) {
    const int q = word(b + 2 + 2 * k), s = b[66 + k / 4] >> 4 * (k / 2 % 2) & 15;
    eight(kIq2Xs[q & 511], d * (0.5f + static_cast<float>(s)) * 0.25f,
          signs_of(static_cast<std::uint32_t>(q >> 9)), out + 8 * k);
  }
}
void iq2_s(Bytes b, float* out) {
  const float d = half(word(b));
  for (int k = 0; k < 32; ++k) {
    const int q = b[2 + k] | (b[66 + k / 4] >> 2 * (k % 4) & 3) << 8;
    const int s = b[74 + k / 4] >> 4 * (k / 2 % 2) & 15;
    eight(kIq2S[q], d * (0.5f + static_cast<float>(s)) * 0.25f, b[34 + k], out + 8 * k);
  }
}
void iq3_xxs(Bytes b, float* out) {
  const float d = half(word(b));
  for (int j = 0; j < 8; ++j) {
    const std::uint32_t rest = word32(b + 66 + 4 * j);
    const float scale = d * (0.5f + static_cast<float>(rest >> 28)) * 0.5f;
    for (int k = 0; k < 8; ++k)
      four(kIq3Xxs[b[2 + 8 * j + k]], kIq3XxsValues, scale, signs_of(rest >> 7 * (k / 2)),
           k % 2 * 4, out + 32 * j + 4 * k);
  }
}
void iq3_s(Bytes b, float* out) {
  const float d = half(word(b));
  for (int k = 0; k < 64; ++k) {
    const int q = b[2 + k] | (b[66 + k / 8] >> k % 8 & 1) << 8;
    const int s = b[106 + k / 16] >> 4 * (k / 8 % 2) & 15;
    four(kIq3S[q], kIq3SValues, d * static_cast<float>(1 + 2 * s), b[74 + k / 2], k % 2 * 4,
         out + 4 * k);
  }
}
void iq1_s(Bytes b, float* out) {
  const float d = half(word(b));
  for (int k = 0; k < 32; ++k) {
    const int h = word(b + 34 + k / 4 * 2);
    ternary(kIq1[b[2 + k] | (h >> 3 * (k % 4) & 7) << 8],
            d * static_cast<float>(2 * (h >> 12 & 7) + 1), (h & 0x8000) != 0, out + 8 * k);
  }
}
void iq1_m(Bytes b, float* out) {
  const Bytes s = b + 48;
  int bits = 0;  // of the scale, a nibble in each of four words
  for (int i = 0; i < 4; ++i) bits |= word(s + 2 * i) >> 12 << 4 * i;
  const float d = half(bits);
  for (int k = 0; k < 32; ++k) {
    const int h = b[32 + k / 2] >> 4 * (k % 2) & 15;
    const int scale = word(s + k / 8 * 2) >> 3 * (k / 2 % 4) & 7;
    ternary(kIq1[b[k] | (h & 7) << 8], d * static_cast<float>(2 * scale + 1), (h & 8) != 0,
            out + 8 * k);
  }
}

struct Layout {
  const char* name;
  int bytes;
  void (*decode)(Bytes, float*);
};
/// In the order of CodebookKind.
constexpr Layout kLayouts[] = {{"IQ1_S", 50, iq1_s},     {"IQ1_M", 56, iq1_m},
                               {"IQ2_XXS", 66, iq2_xxs}, {"IQ2_XS", 74, iq2_xs},
                               {"IQ2_S", 82, iq2_s},     {"IQ3_XXS", 98, iq3_xxs},
                               {"IQ3_S", 110, iq3_s}};
const Layout& layout(CodebookKind kind) { return kLayouts[static_cast<int>(kind)]; }

}  // namespace

std::optional<CodebookFormat> CodebookFormat::find(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kLayouts); ++i)
    if (name == kLayouts[i].name) return CodebookFormat(static_cast<CodebookKind>(i));
  return std::nullopt;
}
const char* CodebookFormat::name() const { return layout(kind_).name; }
int CodebookFormat::bytes() const { return layout(kind_).bytes; }

void CodebookFormat::dequantize(const std::uint8_t* blocks, std::int64_t count,
                                float* numbers) const {
  const Layout& l = layout(kind_);
  for (std::int64_t i = 0; i < count; ++i) l.decode(blocks + i * l.bytes, numbers + i * elements());
}

}  // namespace strata
