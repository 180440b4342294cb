// How a product is cut into tiles, blocks and parts of its sum, and which sides are laid out for
// them: from shapes, from where operands lie, and from the target alone, before any instruction is
// made (product_kernel.h makes them).
#pragma once

#include <optional>

#include "strata/compile/fusion.h"
#include "strata/compile/product_band.h"
#include "strata/compile/product_side.h"
#include "strata/compile/product_terms.h"
#include "strata/compile/register_tile.h"
#include "strata/op/dot_general.h"

namespace strata::compile {

/// Rows are the free dimensions of `left`, columns, which lie along the lanes, those of `right`:
/// the operand's own, or each other's where they are `swapped`.
class ProductPlan {
 public:
  /// Of a product with elements.
  ProductPlan(const Group& group, const op::Contraction& c, const Fusion& fusion,
              const CpuTarget& target);

  const ir::Op& product;
  ProductSide left, right;
  bool swapped = false;
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  DType accumulator = DType::f32;
  TermKind kind = TermKind::single;
  std::optional<ProductBand> band;
  bool left_has_zeros = false, right_has_zeros = false;  // in blocks (pass/block_sparsity.h)

  Tile tile;
  std::int64_t row_block = 1, column_block = 1, depth = 1;  // of a block, and of a part of its sum
  bool by_rows = false;         // tiles follow each other along the rows, else down the columns
  bool keep_in_caches = false;  // results, however large
  bool in_place = false;        // both sides are read where they lie, step after step
  bool packs = true;            // the right side is laid out
  bool turns = false;   // squares of the right side are turned in registers rather than laid out
  bool stages = false;  // the left side is laid out, too
  bool right_ahead = false, left_ahead = false;  // by kernels before this one

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
  std::int64_t row_blocks() const { return (m + row_block - 1) / row_block; }
  std::int64_t column_blocks() const { return (n + column_block - 1) / column_block; }
  std::int64_t row_tiles() const { return (row_block + tile.rows - 1) / tile.rows; }
  std::int64_t column_tiles() const { return (column_block + tile.lanes - 1) / tile.lanes; }
  /// Steps that so many elements of k make.
  std::int64_t steps(std::int64_t elements) const { return steps_of(kind, elements); }
  std::int64_t part_steps() const { return std::max<std::int64_t>(1, steps(std::min(k, depth))); }
  std::int64_t parts() const { return (k + depth - 1) / depth; }
  /// Steps of all parts; whole parts have an even depth where two elements are a step.
  std::int64_t all_steps() const { return k / depth * steps(depth) + steps(k % depth); }
  /// Elements of a side that is laid out whole, with so many rows or columns in whole tiles.
  std::int64_t laid_out_elements(std::int64_t padded) const { return batch * padded * all_steps(); }

 private:
  std::int64_t bytes_of(const ProductSide& s, std::int64_t elements) const {
    return elements * static_cast<std::int64_t>(byte_width(s.value->dtype()));
  }
  bool rows_stay() const;
  bool goes_by_quads(const CpuTarget& target) const;
  bool is_thin() const { return std::min(m, n) == 1; }
  bool streams() const;
  bool lies_by_steps(const ProductSide& s) const;
  bool stages_left() const;
  bool sums_in_pieces(const ProductSide& s) const;
  std::int64_t fetched_ahead(const ProductSide& s) const;
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
