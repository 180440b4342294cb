// How a product is cut into tiles, blocks and parts of its sum, and which sides are laid out for
// them: from shapes, from where operands are, and from the target alone, before any instruction is
// made (gemm_kernel.h makes them).
#pragma once

#include <optional>

#include "strata/compile/fuse/fusion.h"
#include "strata/compile/kernel/gemm/gemm_mask_band.h"
#include "strata/compile/kernel/gemm/gemm_operand.h"
#include "strata/compile/kernel/gemm/gemm_terms.h"
#include "strata/compile/kernel/gemm/register_tile.h"
#include "strata/op/linalg/dot_general.h"

namespace strata::compile {

/// Rows are the free dimensions of `lhs`, columns, which run along the lanes, those of `rhs`:
/// the operand's own, or each other's where they are `swapped`.
class GemmTiling {
 public:
  /// Of a product with elements.
  GemmTiling(const Group& group, const op::Contraction& c, const Fusion& fusion,
             const CpuTarget& target);

  const ir::Op& product;
  GemmOperand lhs, rhs;
  bool swapped = false;
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  DType accumulator = DType::f32;
  TermKind kind = TermKind::single;
  std::optional<GemmMaskBand> band;
  bool lhs_is_sparse = false, rhs_is_sparse = false;  // in blocks (pass/dot/block_sparsity.h)

  Tile tile;
  std::int64_t mc = 1, nc = 1, kc = 1;  // of a block, and of a part of its sum
  bool row_major_tiles = false;  // tiles follow each other along the rows, else down the columns
  bool keep_in_caches = false;   // results, however large
  bool in_place = false;         // both sides are read where they are, step after step
  bool pack_rhs = true;          // the right side is laid out
  bool transpose_in_registers =
      false;              // squares of the right side are turned in registers rather than laid out
  bool pack_lhs = false;  // the left side is laid out, too
  bool rhs_prepacked = false, lhs_prepacked = false;  // by kernels before this one

  std::optional<op::SumChains> chains;  // of the sum

  bool is(TermKind of) const { return kind == of; }
  /// Whether a launch is worth threads.
  bool is_parallel() const;
  /// Columns, and rows, in whole tiles.
  std::int64_t padded(std::int64_t columns) const {
    return (columns + tile.lanes - 1) / tile.lanes * tile.lanes;
  }
  std::int64_t padded_rows(std::int64_t rows) const {
    return (rows + tile.rows - 1) / tile.rows * tile.rows;
  }
  std::int64_t row_blocks() const { return (m + mc - 1) / mc; }
  std::int64_t column_blocks() const { return (n + nc - 1) / nc; }
  std::int64_t row_tiles() const { return (mc + tile.rows - 1) / tile.rows; }
  std::int64_t column_tiles() const { return (nc + tile.lanes - 1) / tile.lanes; }
  /// Steps that so many elements of k make.
  std::int64_t steps(std::int64_t elements) const { return steps_of(kind, elements); }
  std::int64_t part_steps() const { return std::max<std::int64_t>(1, steps(std::min(k, kc))); }
  std::int64_t parts() const { return (k + kc - 1) / kc; }
  /// Steps of all parts; whole parts have an even depth where two elements are a step.
  std::int64_t all_steps() const { return k / kc * steps(kc) + steps(k % kc); }
  /// Elements of a side that is laid out whole, with so many rows or columns in whole tiles.
  std::int64_t laid_out_elements(std::int64_t padded) const { return batch * padded * all_steps(); }

 private:
  std::int64_t bytes_of(const GemmOperand& s, std::int64_t elements) const {
    return elements * static_cast<std::int64_t>(byte_width(s.value->dtype()));
  }
  bool rows_stay() const;
  bool sums_byte_quads(const CpuTarget& target) const;
  bool is_thin() const { return std::min(m, n) == 1; }
  bool streams() const;
  bool is_contiguous_by_steps(const GemmOperand& s) const;
  bool stages_left() const;
  bool sums_in_pieces(const GemmOperand& s) const;
  std::int64_t fetched_ahead(const GemmOperand& s) const;
  std::int64_t columns_together() const;
  bool is_parted() const { return together_ < n && together_ % tile.lanes != 0; }
  bool spreads() const;
  bool leaves_parts_small() const;

  Tile part_columns(const CpuTarget& target);
  void choose_tile(const CpuTarget& target);
  void choose_order(const CpuTarget& target);
  void choose_depth();
  void choose_blocks();
  void leave_parts_small();
  void choose_ahead();

  const Group& group_;
  const Fusion& fusion_;
  std::int64_t together_ = 1;  // columns that tiles do not cross from; all where they need not mind
};

}  // namespace strata::compile
