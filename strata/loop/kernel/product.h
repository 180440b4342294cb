// Products of matrices of any size by code that is there before the program: for operations outside
// of jit, which meet new sizes all the time (compile/kernel/dot/precompiled_gemm.h).
//
// Every element of the result is one chain of fused multiply-adds over k = 0 .. K-1 (of integers:
// of products and sums, wrapping), as in the code that is generated for a size
// (compile/kernel/gemm/gemm_kernel.h), and rounded once: the same bits.
//
// Buffers: left, right, result, parameters (`ProductParams::numbers`). A grid point is a block of
// the result's rows and columns, of some batches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "strata/type/dtype.h"

namespace strata::loop::product {

/// One dimension of a role: how many places it has, and how many elements are between two.
struct Extent {
  std::int64_t size, step;
};
/// The places of a role (rows, columns, ...), the last dimension the fastest.
using Role = std::vector<Extent>;

/// How many rows and columns a block has at the most, and steps of k that are laid out together.
inline constexpr std::int64_t kRows = 192, kColumns = 256, kDepth = 256;

struct ProductParams {
  DType left, right, result;
  DType accumulator;
  Role left_batch, right_batch, rows, columns, left_k, right_k;
  /// How many batches, rows and columns a grid point has.
  std::int64_t together = 1, row_block = 1, column_block = 1;
  /// Elements between neighbours of the result, of which a batch is rows * columns.
  std::int64_t row_step = 1, column_step = 1;
  /// Whether the left side is the second buffer, the right one the first.
  bool swapped = false;

  static std::int64_t count(const Role& role);
  std::int64_t grid() const;
  std::vector<std::int64_t> numbers() const;
  static ProductParams from(const std::int64_t* numbers);
};

/// Whether the kernel takes the types: floats and integers that a processor knows, bf16 and f16,
/// operands and result of one kind, the accumulator the widest of them.
bool takes(DType left, DType right, DType result, DType accumulator);

/// One side of a tile: its first element, and how many elements are between two places and between
/// two steps of k.
template <class T>
struct TileSide {
  const T* at;
  std::int64_t place, step;
};

/// What a tile has brought near while it computes, for the product after it: of each step of k the
/// 128 bytes at its place. It may be no memory at all, but what is none is slow to look for.
template <class T>
struct Ahead {
  const T* at;
  std::int64_t step;
};

/// Where a tile's sums are: what they go on from, zero if null, and where they go, with how many
/// elements between two rows of either. `stream`: they go past the caches, to a place that is
/// aligned to vectors.
template <class T>
struct TileSums {
  const T* from;
  std::int64_t from_step;
  T* to;
  std::int64_t to_step;
  bool stream = false;

  static TileSums in_place(T* at, std::int64_t step) { return {at, step, at, step}; }
};

/// The sums of one tile: rows x lanes of them, row by row. The places of the right side are side by
/// side.
template <class T>
struct TileOf {
  std::int64_t rows, lanes;
  /// By how many rows of the tile are wanted, from one on.
  void (*const* add)(const TileSide<T>& left, const TileSide<T>& right, const Ahead<T>& ahead,
                     std::int64_t depth, const TileSums<T>& sums);
};

struct InstructionSet {
  const char* name;
  bool (*present)();
  TileOf<float> f32;
  TileOf<double> f64;
  TileOf<std::uint32_t> ui32;
  TileOf<std::uint64_t> ui64;
};
extern const InstructionSet kPortable, kAvx2, kAvx512;
/// The best one that this CPU has.
const InstructionSet& instruction_set();

/// The kernel, by a given instruction set.
void run(const InstructionSet& set, void* const* buffers, std::int64_t begin, std::int64_t end);

}  // namespace strata::loop::product
