// Rows of transposed arrays on their way from memory to a kernel of rows.
//
// The elements of such a row are far apart, and those of its neighbours beside them: of one row
// after the other each element is a line of memory, of which the next rows want the rest when it is
// gone from the caches. So sixteen rows are brought together first, by squares that are turned in
// registers, and read where they are then (softmax of 512 x 4096 f32, transposed, over the last
// dimension: 13.8 ms row by row, 1.7 so; two threads of a Zen 3).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "strata/compile/kernel/row/row_passes.h"

namespace strata::compile {

class TransposedRows {
 public:
  /// Those that the group's elements are made of, element by element; nothing where there are none,
  /// where the rows are few or sixteen of them are more than a core's second cache holds.
  static std::optional<TransposedRows> of(const RowPasses& rows, const Fusion& fusion);
  /// Whether rows of `v` of so many elements run across memory.
  static bool are_strided(const ir::Value* v, std::int64_t length, const Fusion& fusion);
  /// Whether sixteen rows of `v` of so many elements are few enough.
  static bool fit(const ir::Value* v, std::int64_t length);

  /// Whether roots that run over `total` elements, in rows of so many, read longer ones across
  /// memory, element by element.
  static bool too_long(std::span<const ir::Op* const> roots, std::int64_t total,
                       std::int64_t length, const Fusion& fusion);

  /// Brings together the rows of a block, which begins with row `first`.
  void bring(RowPasses& rows, const Index& first);
  /// From now on they are read there.
  void keep(RowContext& context, const Index& first, std::int64_t length) const;

 private:
  explicit TransposedRows(std::vector<const ir::Value*> values) : values_(std::move(values)) {}

  std::vector<const ir::Value*> values_;
  std::vector<loop::Ref*> memory_;
};

}  // namespace strata::compile
