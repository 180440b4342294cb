#include "strata/type/block_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include "strata/base/error.h"
#include "strata/type/block_encode.h"
#include "strata/type/float.h"

namespace strata {
namespace {

using Bytes = const std::uint8_t*;

float half(Bytes at) { return f16_value(static_cast<std::uint16_t>(at[0] | at[1] << 8)); }
int low(std::uint8_t byte) { return byte & 15; }
int high(std::uint8_t byte) { return byte >> 4; }
/// Nibble of element i of 32: those of the first half are the low ones.
int nibble(Bytes q, int i) { return i < 16 ? low(q[i]) : high(q[i - 16]); }
int fifth_bit(Bytes bits, int i) { return bits[i / 8] >> i % 8 & 1; }

// ---- blocks of 32 ------------------------------------------------------------------------------

void q4_0(Bytes b, float* out) {
  const float d = half(b);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(nibble(b + 2, i) - 8);
}
void q4_1(Bytes b, float* out) {
  const float d = half(b), m = half(b + 2);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(nibble(b + 4, i)) + m;
}
void q5_0(Bytes b, float* out) {
  const float d = half(b);
  for (int i = 0; i < 32; ++i)
    out[i] = d * static_cast<float>((nibble(b + 6, i) | fifth_bit(b + 2, i) << 4) - 16);
}
void q5_1(Bytes b, float* out) {
  const float d = half(b), m = half(b + 2);
  for (int i = 0; i < 32; ++i)
    out[i] = d * static_cast<float>(nibble(b + 8, i) | fifth_bit(b + 4, i) << 4) + m;
}
void q8_0(Bytes b, float* out) {
  const float d = half(b);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(static_cast<std::int8_t>(b[2 + i]));
}
void iq4_nl(Bytes b, float* out) {
  const float d = half(b);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(kIq4Values[nibble(b + 2, i)]);
}
void mxfp4(Bytes b, float* out) {
  // 2^(e - 128) as the bits of an f32; the first two are subnormal.
  const std::uint32_t e = b[0];
  const float d = std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1) << 23);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(kMxfp4Values[nibble(b + 1, i)]);
}

// ---- blocks of 256: i = 128 h + 32 g + l = 32 j + l --------------------------------------------

void q2_k(Bytes b, float* out) {
  const Bytes s = b, q = b + 16;
  const float d = half(b + 80), dmin = half(b + 82);
  for (int i = 0; i < 256; ++i) {
    const int h = i / 128, g = i / 32 % 4, l = i % 32;
    const std::uint8_t t = s[8 * h + 2 * g + l / 16];
    const int v = q[32 * h + l] >> 2 * g & 3;
    out[i] =
        d * static_cast<float>(low(t)) * static_cast<float>(v) - dmin * static_cast<float>(high(t));
  }
}

/// The six bits of scale k of a Q3_K block.
int q3_scale(Bytes s, int k) {
  return (k < 8 ? low(s[k]) : high(s[k - 8])) | (s[8 + k % 4] >> 2 * (k / 4) & 3) << 4;
}
void q3_k(Bytes b, float* out) {
  const Bytes mask = b, q = b + 32, s = b + 96;
  const float d = half(b + 108);
  for (int i = 0; i < 256; ++i) {
    const int h = i / 128, g = i / 32 % 4, l = i % 32;
    const float scale = d * static_cast<float>(q3_scale(s, 8 * h + 2 * g + l / 16) - 32);
    const int v = (q[32 * h + l] >> 2 * g & 3) - (mask[l] >> (4 * h + g) & 1 ? 0 : 4);
    out[i] = scale * static_cast<float>(v);
  }
}

void q4_k(Bytes b, float* out) {
  const float d = half(b), dmin = half(b + 2);
  for (int i = 0; i < 256; ++i) {
    const int j = i / 32, l = i % 32;
    const std::uint8_t byte = b[16 + 32 * (j / 2) + l];
    const float v = static_cast<float>(j % 2 == 0 ? low(byte) : high(byte));
    out[i] = d * static_cast<float>(packed_block::scale_of(b + 4, j)) * v -
             dmin * static_cast<float>(packed_block::min_of(b + 4, j));
  }
}
void q5_k(Bytes b, float* out) {
  const float d = half(b), dmin = half(b + 2);
  for (int i = 0; i < 256; ++i) {
    const int j = i / 32, l = i % 32;
    const std::uint8_t byte = b[48 + 32 * (j / 2) + l];
    const int v = (j % 2 == 0 ? low(byte) : high(byte)) | (b[16 + l] >> j & 1) << 4;
    out[i] = d * static_cast<float>(packed_block::scale_of(b + 4, j)) * static_cast<float>(v) -
             dmin * static_cast<float>(packed_block::min_of(b + 4, j));
  }
}
void q6_k(Bytes b, float* out) {
  const Bytes ql = b, qh = b + 128, s = b + 192;
  const float d = half(b + 208);
  for (int i = 0; i < 256; ++i) {
    const int h = i / 128, g = i / 32 % 4, l = i % 32;
    const std::uint8_t byte = ql[64 * h + l + 32 * (g & 1)];
    const int v = (g < 2 ? low(byte) : high(byte)) | (qh[32 * h + l] >> 2 * g & 3) << 4;
    const auto scale = static_cast<std::int8_t>(s[8 * h + 2 * g + l / 16]);
    out[i] = d * static_cast<float>(scale) * static_cast<float>(v - 32);
  }
}
void iq4_xs(Bytes b, float* out) {
  const float d = half(b);
  const int sh = b[2] | b[3] << 8;
  for (int i = 0; i < 256; ++i) {
    const int j = i / 32, l = i % 32;
    const int scale = (b[4 + j / 2] >> 4 * (j & 1) & 15) | (sh >> 2 * j & 3) << 4;
    out[i] = d * static_cast<float>(scale - 32) *
             static_cast<float>(kIq4Values[nibble(b + 8 + 16 * j, l)]);
  }
}

using Decode = void (*)(Bytes, float*);
constexpr Decode kDecoders[] = {q4_0, q4_1, q5_0, q5_1,   q8_0,   q2_k, q3_k,
                                q4_k, q5_k, q6_k, iq4_nl, iq4_xs, mxfp4};
static_assert(std::size(kDecoders) == std::size(kBlockLayouts));

using Encode = void (*)(const float*, std::uint8_t*);
Encode encoder(BlockKind kind) {
  switch (kind) {
    case BlockKind::q4_0: return packed_block::encode_q4_0;
    case BlockKind::q4_1: return packed_block::encode_q4_1;
    case BlockKind::q8_0: return packed_block::encode_q8_0;
    case BlockKind::q4_k: return packed_block::encode_q4_k;
    default: return nullptr;
  }
}

}  // namespace

std::string block_format_names() {
  std::string out;
  for (const BlockLayout& l : kBlockLayouts)
    out += out.empty() ? l.name : fmt::format(", {}", l.name);
  return out;
}

std::optional<BlockFormat> BlockFormat::find(std::string_view name) {
  for (const BlockLayout& l : kBlockLayouts)
    if (name == l.name) return BlockFormat(l.kind);
  return std::nullopt;
}

BlockFormat BlockFormat::named(std::string_view name) {
  if (std::optional<BlockFormat> found = find(name)) return *found;
  const bool is_grid =
      name.starts_with("IQ1") || name.starts_with("IQ2") || name.starts_with("IQ3");
  if (is_grid)
    throw Error("block_format",
                "{} packs elements as places of a codebook, which Strata does not "
                "have; formats: {}",
                name, block_format_names())
        .unsupported();
  throw Error("block_format", "there is no format '{}'; formats: {}", name, block_format_names());
}

std::int64_t BlockFormat::row_bytes(std::int64_t row_elements) const {
  if (row_elements % elements() != 0)
    throw Error("block_format", "{} packs {} elements in a block, which do not divide a row of {}",
                name(), elements(), row_elements);
  return row_elements / elements() * bytes();
}
std::int64_t BlockFormat::row_elements(std::int64_t row_bytes) const {
  if (row_bytes % bytes() != 0)
    throw Error("block_format", "a block of {} has {} bytes, which do not divide a row of {}",
                name(), bytes(), row_bytes);
  return row_bytes / bytes() * elements();
}

void BlockFormat::dequantize(const std::uint8_t* blocks, std::int64_t count, float* numbers) const {
  const Decode decode = kDecoders[static_cast<int>(kind_)];
  for (std::int64_t i = 0; i < count; ++i) decode(blocks + i * bytes(), numbers + i * elements());
}

void BlockFormat::quantize(const float* numbers, std::int64_t count, std::uint8_t* blocks) const {
  const Encode encode = encoder(kind_);
  if (encode == nullptr)
    throw Error("block_format",
                "there is no encoder for {}; there are those of Q4_0, Q4_1, Q8_0, "
                "Q4_K",
                name())
        .unsupported();
  for (std::int64_t i = 0; i < count * elements(); ++i)
    if (!std::isfinite(numbers[i]))
      throw Error("block_format", "element {} to be packed is {}, which has no place in {}", i,
                  numbers[i], name());
  for (std::int64_t i = 0; i < count; ++i) encode(numbers + i * elements(), blocks + i * bytes());
}

}  // namespace strata
