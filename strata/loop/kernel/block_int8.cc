#include "strata/loop/kernel/block_int8.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

namespace strata::loop::block8 {
namespace {

struct Params {
  std::int64_t format, batch, rows, out, blocks, chunk;
};

/// The nearest integer, ties to even, of a number below 2^22; anything for others.
int nearest(float x) {
  return static_cast<int>(std::bit_cast<std::uint32_t>(x + 12582912.0f) & 0x007fffffu) - 0x00400000;
}

const InstructionSet& best() {
  for (const InstructionSet* set : {&kVnni, &kAvx2})
    if (set->present()) return *set;
  return kPortable;
}

}  // namespace

void round_groups(const float* x, std::int64_t count, Group* groups, float* scales) {
  for (std::int64_t g = 0; g < count; ++g, x += 32) {
    // Magnitudes compare as the integers of their bits, and NaN is the largest.
    std::uint32_t most = 0;
    for (int i = 0; i < 32; ++i) {
      std::uint32_t bits;
      std::memcpy(&bits, x + i, sizeof bits);
      most = std::max(most, bits & 0x7fffffffu);
    }
    const float d = std::bit_cast<float>(most) / 127.0f, inverse = d != 0 ? 1.0f / d : 0.0f;
    scales[g] = d;
    Group& group = groups[g];
    for (int i = 0; i < 32; ++i) group.n[i] = static_cast<std::int8_t>(nearest(x[i] * inverse));
    for (int l = 0; l < 8; ++l) {
      const std::int8_t* n = group.n + 4 * l;
      group.sums[l] = static_cast<float>(n[0] + n[1] + n[2] + n[3]);
    }
  }
}

const InstructionSet& instruction_set() {
  static const InstructionSet& set = best();
  return set;
}

void run(const InstructionSet& set, void* const* buffers, std::int64_t begin, std::int64_t end) {
  if (begin == end) return;  // no rows of w, perhaps
  const auto& p = *static_cast<const Params*>(buffers[3]);
  const BlockLayout& layout = kBlockLayouts[p.format];
  const std::int64_t in = p.blocks * layout.elements, row_bytes = p.blocks * layout.bytes,
                     groups = in / 32, chunks = (p.out + p.chunk - 1) / p.chunk;
  std::unique_ptr<Group[]> rounded(new Group[static_cast<std::size_t>(kMostRows * groups)]);
  std::unique_ptr<float[]> scales(new float[static_cast<std::size_t>(kMostRows * groups)]);
  // Points follow each other in a batch: a few rows of x are rounded once for all of them.
  for (std::int64_t b = begin / chunks; b * chunks < end; ++b) {
    const std::int64_t first = std::max(begin - b * chunks, std::int64_t{0}) * p.chunk,
                       last = std::min(p.out, (end - b * chunks) * p.chunk);
    const auto* w = static_cast<const std::uint8_t*>(buffers[1]) + (b * p.out + first) * row_bytes;
    for (std::int64_t i = 0; i < p.rows; i += kMostRows) {
      const auto rows = static_cast<int>(std::min<std::int64_t>(kMostRows, p.rows - i));
      const float* x = static_cast<const float*>(buffers[0]) + (b * p.rows + i) * in;
      round_groups(x, rows * groups, rounded.get(), scales.get());
      Row all[kMostRows];
      for (int r = 0; r < rows; ++r)
        all[r] = {rounded.get() + r * groups, scales.get() + r * groups};
      set.dot[p.format](all, rows, w, row_bytes, p.blocks, last - first,
                        static_cast<float*>(buffers[2]) + (b * p.rows + i) * p.out + first, p.out);
    }
  }
}

}  // namespace strata::loop::block8

extern "C" void strata_block_dot_int8(void* const* buffers, std::int64_t begin, std::int64_t end) {
  strata::loop::block8::run(strata::loop::block8::instruction_set(), buffers, begin, end);
}
