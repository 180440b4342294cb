// The encoders of block formats (private to block_format.h): one block each, the bits of ggml's
// `quantize_row_*_ref`.
#pragma once

#include <cstdint>

namespace strata::packed_block {

/// Scale and minimum of part j of a Q4_K or Q5_K block, six bits each, from its twelve bytes.
inline int scale_of(const std::uint8_t* s, int j) {
  return j < 4 ? s[j] & 63 : (s[j + 4] & 15) | (s[j - 4] >> 6) << 4;
}
inline int min_of(const std::uint8_t* s, int j) {
  return j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | (s[j] >> 6) << 4;
}

/// Blocks of 32 and (Q4_K) 256 finite numbers.
void encode_q4_0(const float* x, std::uint8_t* block);
void encode_q4_1(const float* x, std::uint8_t* block);
void encode_q8_0(const float* x, std::uint8_t* block);
void encode_q4_k(const float* x, std::uint8_t* block);

}  // namespace strata::packed_block
