// Random packed blocks, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "strata/type/block_format.h"
#include "strata/type/float.h"

namespace strata::loop::testing {

/// Random bytes, but for the f16 fields, which are finite.
inline std::vector<std::uint8_t> random_blocks(BlockFormat f, std::int64_t count,
                                               std::mt19937& random) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(count * f.bytes()));
  for (std::uint8_t& b : out) b = static_cast<std::uint8_t>(random());
  auto put = [&](std::int64_t block, int at) {
    const float x = std::normal_distribution<float>(0, 0.05f)(random);
    const std::uint16_t bits = f16_bits(x);
    std::memcpy(&out[static_cast<std::size_t>(block * f.bytes() + at)], &bits, 2);
  };
  for (std::int64_t i = 0; i < count; ++i) {
    switch (f.kind()) {
      case BlockKind::mxfp4:
        out[static_cast<std::size_t>(i * 17)] = static_cast<std::uint8_t>(120 + random() % 8);
        break;
      case BlockKind::q2_k: put(i, 80), put(i, 82); break;
      case BlockKind::q3_k: put(i, 108); break;
      case BlockKind::q6_k: put(i, 208); break;
      default:
        put(i, 0), put(i, f.kind() == BlockKind::q4_1 || f.kind() == BlockKind::q5_1 ||
                                  f.kind() == BlockKind::q4_k || f.kind() == BlockKind::q5_k
                              ? 2
                              : 0);
    }
  }
  return out;
}

}  // namespace strata::loop::testing
