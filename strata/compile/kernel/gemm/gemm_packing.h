// A side of a product laid out as its tiles read it: of each part of the sum, one tile of rows or
// columns after another. By each block of results for itself, or of the whole side at once, by a
// kernel that runs before (product_kernel.cc).
#pragma once

#include "strata/compile/kernel/gemm/gemm_axis.h"
#include "strata/compile/kernel/gemm/gemm_terms.h"

namespace strata::compile {

class OperandPacking {
 public:
  /// Tiles of `width` rows or columns: [step][width], or [width][step] where `by_rows`.
  OperandPacking(std::int64_t width, bool by_rows) : width_(width), by_rows_(by_rows) {}

  std::int64_t width() const { return width_; }
  /// Rows or columns, whole tiles of them.
  std::int64_t padded(std::int64_t free) const { return (free + width_ - 1) / width_ * width_; }
  /// A block of them in `memory`, which each part of the sum takes anew.
  void hold_block(loop::Ref* memory) { memory_ = memory; }
  /// All `free` of them in `memory`, of each batch; a part of the sum but the last has `part_steps`
  /// of all `steps`.
  void hold_all(loop::Ref* memory, Index batch, std::int64_t free, std::int64_t steps,
                std::int64_t part_steps);
  loop::Ref* memory() const { return memory_; }
  bool holds_all() const { return all_ > 0; }
  bool by_rows() const { return by_rows_; }

  /// Of row or column i of a tile, at step s of a part that has `count`. A step's are neighbours,
  /// but by rows.
  Index at(const GemmAxisRange& tile, const Index& i, const Index& s, const KSlice& part,
           std::int64_t count) const;

  /// Lays out the columns of a block: what is read is neighbours along the columns, or along the
  /// sum (side.contracts_minor()).
  void fill_columns(loop::Builder& b, const GemmTerms& terms, const GemmOperand& side,
                    const GemmAxis& columns, const KSlice& part) const;
  /// Lays out the rows of a block.
  void fill_rows(loop::Builder& b, const GemmTerms& terms, const GemmOperand& side,
                 const GemmAxis& rows, const KSlice& part) const;

 private:
  void fill_transposed(loop::Builder& b, const GemmTerms& terms, const GemmOperand& side,
                       const GemmAxisRange& n, const KSlice& part) const;
  void fill_step(loop::Builder& b, const GemmTerms& terms, const GemmOperand& side,
                 const GemmAxisRange& m, const KSlice& part, const Index& s, bool odd_end) const;

  std::int64_t width_;
  bool by_rows_;
  loop::Ref* memory_ = nullptr;
  std::int64_t all_ = 0, steps_ = 0, part_steps_ = 0;
  Index batch_;
};

}  // namespace strata::compile
