// Products one of whose sides is mostly zeros, in blocks of the sum (pass/dot/block_sparsity.h): a
// tile leaves out the steps before and behind which all its terms are such.
#pragma once

#include <utility>

#include "strata/compile/kernel/gemm/gemm_terms.h"

namespace strata::compile {

/// The terms of a tile of so many rows and columns: of the left side that of a row at a step, of
/// the right side that of a column.
struct SparseTileRange {
  std::function<Inst*(const Index& row, const Index& step)> lhs;
  std::function<Inst*(const Index& column, const Index& step)> rhs;
  std::int64_t rows, columns;
  int lanes;
  bool rows_are_neighbours;  // of the left side, rather than steps
};

/// Steps of the sum that are looked at, and left out, together.
inline constexpr int kSparseBlockSteps = 16;

/// [first, last) of `count` times kSparseBlockSteps steps outside of which all terms of the left
/// side, or of the right one, are zeros. Looks at no more than those and two more.
std::pair<Index, Index> steps_with_terms(loop::Builder& b, const SparseTileRange& terms,
                                         bool of_left, DType dtype, std::int64_t count);

}  // namespace strata::compile
