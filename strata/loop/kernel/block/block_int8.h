// Products with matrices in packed blocks by integers: x is rounded to eight bits, 32 elements with
// one scale, and meets the levels of the blocks as they are, without making numbers of them.
//
// An element of w is scale * level + minimum, with one scale and minimum for each part of 16 or 32
// elements. Of row i of x and each group g of 32 elements: d = max |x| / 127, n = x * (1 / d) to
// the nearest integer, ties to even. Over the parts p, from zero on,
//
//   sum = fma(sum of level * n over p, scale * d, sum)
//   sum = fma(minimum, d * (sum of n over p), sum)       where the format has minima
//
// Sums over a part are exact, so y does not depend on rows, threads or instructions.
//
// strata_block_dot_int8: buffers and parameters as strata_block_dot's (block_dot.h).
#pragma once

#include <cstdint>

#include "strata/type/block_format.h"

namespace strata::loop::block8 {

/// 32 elements of x.
struct alignas(64) Group {
  std::int8_t n[32];
  float scale;           // d
  float sum, halves[2];  // d times the sum of n, and of each half of n
  std::int32_t total, totals[2];
};

/// Whether each half of 32 elements has a scale of its own, and whether there are minima.
constexpr bool has_halves(BlockKind k) {
  return k == BlockKind::q2_k || k == BlockKind::q3_k || k == BlockKind::q6_k;
}
constexpr bool has_minimum(BlockKind k) {
  return k == BlockKind::q4_1 || k == BlockKind::q5_1 || k == BlockKind::q2_k ||
         k == BlockKind::q4_k || k == BlockKind::q5_k;
}

/// Rows of x, rounded, and rows of w that they meet.
struct Operands {
  const Group* x;  // rows x groups
  std::int64_t rows, groups;
  const std::uint8_t* w;  // out rows
  std::int64_t row_bytes, blocks, out;
  float* y;  // y[row of x * y_step + row of w]
  std::int64_t y_step;
};

struct InstructionSet {
  const char* name;
  bool (*present)();
  /// Rounds `count` groups.
  void (*round)(const float* x, std::int64_t count, Group* groups);
  /// By format. `room` has room_bytes(groups) bytes, aligned to 64.
  void (*const* dot)(const Operands& operands, std::uint8_t* room);
};
extern const InstructionSet kPortable, kAvx2, kVnni;
/// The best one that this CPU has.
const InstructionSet& instruction_set();

/// Bytes in which sixteen rows of w of so many groups are laid out for many rows of x: levels, and
/// a scale and a minimum for each half.
constexpr std::int64_t room_bytes(std::int64_t groups) { return groups * (512 + 4 * 64); }

/// Finishes a group whose n and scale are there.
inline void add_up(Group& group) {
  for (int h = 0; h < 2; ++h) {
    std::int32_t sum = 0;
    for (int i = 0; i < 16; ++i) sum += group.n[16 * h + i];
    group.totals[h] = sum;
    group.halves[h] = group.scale * static_cast<float>(sum);
  }
  group.total = group.totals[0] + group.totals[1];
  group.sum = group.scale * static_cast<float>(group.total);
}

/// What strata_block_dot_int8 does, by these instructions.
void run(const InstructionSet& set, void* const* buffers, std::int64_t begin, std::int64_t end);

}  // namespace strata::loop::block8
