// Products with matrices in packed blocks by integers: x is rounded to eight bits, 32 elements with
// one scale, and meets the levels of the blocks as they are, without making numbers of them.
//
// An element of w is scale * level + minimum, with one scale and minimum for 16 or 32 elements. Of
// row i of x and each group g of 32 elements: d = max |x| / 127, n = x * (1 / d) to the nearest
// integer, ties to even. For lanes l = 0 .. 7, over g from zero on,
//
//   sum[l] = fma(sum over j < 4 of level[4 l + j] * n[4 l + j], scale * d, sum[l])
//   sum[l] = fma(sum over j < 4 of n[4 l + j], minimum * d, sum[l])   where the format has minima
//
// and y = (s[0] + s[4]) + (s[2] + s[6]) + ((s[1] + s[5]) + (s[3] + s[7])): sums of halves. It does
// not depend on rows, threads or instructions.
//
// strata_block_dot_int8: buffers and parameters as strata_block_dot's (block_dot.h).
#pragma once

#include <cstdint>

#include "strata/type/block_format.h"

namespace strata::loop::block8 {

/// 32 elements of x.
struct Group {
  std::int8_t n[32];
  float sums[8];  // of four of n
};
/// A row of x: groups, and the scale of each.
struct Row {
  const Group* groups;
  const float* scales;
};
/// Rounds `count` groups.
void round_groups(const float* x, std::int64_t count, Group* groups, float* scales);

/// Rows of x that meet a row of w together, at the most.
inline constexpr int kMostRows = 4;

struct InstructionSet {
  const char* name;
  bool (*present)();
  /// y[i * y_step + o] for rows i of x (at most kMostRows) and `out` rows of w.
  void (*const* dot)(const Row* x, int rows, const std::uint8_t* w, std::int64_t row_bytes,
                     std::int64_t blocks, std::int64_t out, float* y, std::int64_t y_step);
};
extern const InstructionSet kPortable, kAvx2, kVnni;
/// The best one that this CPU has.
const InstructionSet& instruction_set();

/// What strata_block_dot_int8 does, by these instructions.
void run(const InstructionSet& set, void* const* buffers, std::int64_t begin, std::int64_t end);

}  // namespace strata::loop::block8
