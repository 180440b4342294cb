// How a product whose one side is windows of an array is cut into blocks, and what each block lays
// out: from shapes and the target alone, before any instruction is made (conv_kernel.h makes
// them).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "strata/compile/fuse/fusion.h"
#include "strata/compile/kernel/gemm/gemm_operand.h"
#include "strata/compile/kernel/gemm/gemm_terms.h"
#include "strata/compile/kernel/gemm/register_tile.h"
#include "strata/compile/llvm/target.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/reduce/windows.h"

namespace strata::compile {

/// Which operand of a dot_general is windows of more than single elements where they are; -1: none.
int windows_side(const ir::Op& product, const Fusion& fusion);

/// Whether the columns of the other side would leave most lanes empty, and rows of the windows fill
/// them. Registers that are not wide hold the sums of fewer columns, and lanes that are apart in
/// memory cost more there than empty ones (3 x 3 on 8 x 56 x 56 x 64 f32, Zen 3, ms so and by
/// columns: to 12 6.0, 3.3; in steps of 2 to 8 1.15, 0.71, to 4 0.73, 0.63; to 6 2.1, 2.5).
bool few_columns_of_long_rows(const GemmOperand& windows, const op::WindowDims& dims,
                              std::int64_t columns, bool wide_registers);

/// Blocks are boxes of results and of k. A block lays out the *patch*, what it sees of the array,
/// widened and with its padding, and *panels* of the other side, [k][lane] each. Rows are results
/// that differ in the place of their window, columns those that differ on the other side.
class ConvTiling {
 public:
  using Sizes = std::vector<std::int64_t>;
  /// A dimension of the windows that is counted along: how far it moves in dimension `dim` of the
  /// array.
  struct Axis {
    std::int64_t size, step;
    std::size_t dim;
  };
  /// The innermost axis of k as it was, of which two neighbours are one step: sums go on in the
  /// order of k. Where its size is odd, the last pair has one element.
  struct Pair {
    std::int64_t size, step;
  };
  /// What k walks through in the patch: a count and a step.
  struct Run {
    std::int64_t count, step;
  };
  /// A dimension of which neighbours are side by side in memory, and another of which they do so in
  /// the patch.
  struct Square {
    std::size_t in_memory, in_patch;
  };
  static constexpr std::int64_t kTransposeTile = 8;

  /// `side`: which operand of `product`, with the contraction `c`, is windows.
  ConvTiling(const ir::Op& product, const op::Contraction& c, int side, const Fusion& fusion,
             const CpuTarget& target);

  bool swapped;  // the windows are the right operand
  GemmOperand seen, other;
  const ir::Op& windows;
  op::WindowDims dims;
  std::vector<Axis> rows,
      depth;  // what rows of the product and k count along; of those of one element none
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  DType accumulator;
  std::optional<Pair> pair;  // of bf16, where terms are such
  Tile tile;
  bool along = false;  // few columns: rows run along the lanes
  std::int64_t nc = 1;
  Sizes row_box, depth_box;    // lengths of a block along `rows` and `depth`
  std::optional<Sizes> chain;  // by boxes of which the sum goes, along `depth`; a block of k is a
                               // group of them
  Sizes unit;   // of each dimension of the array: all positions that a block sees differ by
                // multiples of it
  Sizes pitch;  // how far neighbours in each dimension are apart in the patch
  std::int64_t patch_size = 0;
  bool packs_first = false;  // the other side is laid out whole by a kernel that runs before

  std::size_t rank() const { return dims.size.size(); }
  std::int64_t padded(std::int64_t columns) const {
    return (columns + tile.lanes - 1) / tile.lanes * tile.lanes;
  }
  /// Columns of a panel: those that a tile takes as lanes, or all of the few that it takes one by
  /// one.
  std::int64_t panel_lanes() const { return along ? n : tile.lanes; }
  std::int64_t panels() const { return (n + panel_lanes() - 1) / panel_lanes(); }
  std::int64_t panel_size(std::int64_t steps) const { return steps * panel_lanes(); }
  std::int64_t column_blocks() const { return (n + nc - 1) / nc; }
  std::int64_t row_blocks() const { return blocks(rows, row_box); }
  std::int64_t depth_blocks() const { return blocks(depth, depth_box); }
  const Axis& paired() const { return depth.back(); }
  TermKind kind() const { return pair ? TermKind::pairs : TermKind::single; }
  /// In which terms are laid out.
  DType laid_out() const { return pair ? DType::i32 : accumulator; }
  /// Whether neighbours in the result are rows of a tile rather than its lanes.
  bool crosses() const { return swapped && !rows.empty() && !along; }

  /// How many elements of each dimension of the array a block with so many rows sees, in steps of
  /// `unit`.
  Sizes extents(const Sizes& block_rows) const;
  /// Where what a block sees is turned in registers; `extent`: as `extents` gives it.
  std::optional<Square> transpose_tile_of(const Sizes& extent) const;
  /// The walk of a box of k through the patch, innermost first; neighbours that continue each other
  /// are joined.
  std::vector<Run> runs(const Sizes& box) const;
  /// The walk of a block from chain to chain, outermost first.
  std::vector<Run> chain_runs() const;
  /// In which the sums of blocks of k are added up.
  DType sums_type() const { return chain ? op::pieces_type(accumulator) : accumulator; }

 private:
  static std::int64_t blocks(const std::vector<Axis>& axes, const Sizes& box);
  std::vector<Axis> axes(const std::vector<int>& dims_of_windows) const;
  std::optional<Pair> join_pairs();
  void cut(std::int64_t most_rows, std::int64_t most_depth);
  std::int64_t elements_moved() const;
  void choose_blocks();
  void lay_out_patch();

  Sizes group_;  // of chains, along `depth`
};

/// How many elements a box has.
std::int64_t elements_of(const ConvTiling::Sizes& box);

/// The lengths of these axes.
ConvTiling::Sizes lengths_of(const std::vector<ConvTiling::Axis>& axes);

}  // namespace strata::compile
