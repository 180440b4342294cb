// Products with matrices in packed blocks (type/block_format.h), whose numbers are made in
// registers on the way: no f32 copy of the matrix is in memory.
//
// y[i, o] = sum over k of x[i, k] * w[o, k], w as the format says. The order: 32 partial sums, each
// one chain of fused multiply-adds over k = l, l + 32, l + 64, ... from zero on; then sums of
// halves, s[l] + s[l + 16], + 8, + 4, + 2, + 1. It does not depend on how many rows x has, on
// threads or instructions.
//
// strata_block_dot: buffers x (batch, rows, in) f32, w (batch, out, bytes) ui8, y (batch, rows,
// out) f32, parameters {format, batch, rows, out, blocks of a row, rows of w in a grid point}.
// strata_block_dot_transposed: y[i, k] = sum over o of g[i, o] * w[o, k], one chain over o from
// zero on; buffers g (batch, rows, out) f32, w (batch, out, bytes) ui8, y (batch, rows, in) f32,
// parameters {format, batch, rows, out, blocks of a row, blocks of a row in a grid point}. A grid
// point has the numbers of a few rows of w, and of its own columns, in memory at a time.
// strata_block_dequantize: buffers blocks ui8, numbers f32, parameters {format, blocks, blocks in a
// grid point}.
#pragma once

#include <cstdint>

#include "strata/type/block_format.h"

namespace strata::loop::block {

inline constexpr int kFormats = static_cast<int>(BlockKind::mxfp4) + 1;
/// Rows of x and of w that a tile has at the most.
inline constexpr int kMostTileRows = 4;

/// Places of a tile's operands: elements from row to row.
struct Tile {
  const float* x;
  std::int64_t x_step;
  const float* w;
  std::int64_t w_step;
  std::int64_t in;  // a multiple of 32
  float* y;         // y[row of x * y_step + row of w]
  std::int64_t y_step;
};

/// Operands of sums over rows of w: y[i, k] += sum over o of g[i, o] * w[o, k].
struct OuterTile {
  const float* g;
  std::int64_t g_step;
  const float* w;
  std::int64_t w_step;
  std::int64_t out;  // rows of w
  std::int64_t in;   // a multiple of 32
  float* y;
  std::int64_t y_step;
};

struct InstructionSet {
  const char* name;
  bool (*present)();
  /// y[o] for `rows` rows of w (at most kMostTileRows), from one row of x.
  void (*const* dot)(const float* x, const std::uint8_t* w, std::int64_t row_bytes,
                     std::int64_t blocks, int rows, float* y);
  /// Numbers of so many blocks.
  void (*const* decode)(const std::uint8_t* blocks, std::int64_t count, float* numbers);
  /// A product of numbers, in the same order: by rows of x and of w.
  void (*tile)(const Tile& tile, int x_rows, int w_rows);
  int tile_x_rows, tile_w_rows;
  /// So many rows of g and y, at most tile_x_rows; each element one chain of fused multiply-adds.
  void (*outer)(const OuterTile& tile, int rows);
};
extern const InstructionSet kPortable, kAvx2, kAvx512;
/// The best one that this CPU has.
const InstructionSet& instruction_set();

/// What strata_block_dot does, by these instructions.
void run(const InstructionSet& set, void* const* buffers, std::int64_t begin, std::int64_t end);
/// What strata_block_dot_transposed does.
void run_transposed(const InstructionSet& set, void* const* buffers, std::int64_t begin,
                    std::int64_t end);
/// Rows of y in one of its grid points.
inline constexpr std::int64_t kTransposedRows = 256;

}  // namespace strata::loop::block
