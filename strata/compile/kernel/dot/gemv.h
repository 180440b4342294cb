// A row of results of a product whose right side runs along the sum and is read once: a matrix by a
// vector.
#pragma once

#include <functional>
#include <optional>

#include "strata/compile/kernel/gemm/gemm_axis.h"
#include "strata/compile/kernel/gemm/gemm_terms.h"
#include "strata/loop/lanes.h"
#include "strata/op/linalg/dot_general.h"

namespace strata::compile {

/// What a row of results is made of.
struct GemvRow {
  DType accumulator;
  std::function<Inst*(const Index& step)> lhs;        // in all lanes
  std::optional<op::SumChains> chains;                // of the sum, from zero
  std::function<Inst*(const Index& column)> initial;  // what its chain begins from
  std::function<void(const Index& column, Inst* sum)> store;
};

/// The fewest columns, and the lanes, of a square; shorter sums are not worth turning.
inline constexpr int kGemvColumns = loop::kQuickSquare;
inline constexpr std::int64_t kShortGemvColumns = 64;

/// Columns of `piece`, kGemvColumns or twice as many, for a sum that is one part, by squares that
/// are turned in registers and added at once, as many steps as a line of the cache has, of eight
/// columns and then of eight more, so that their chains go side by side. The second eight are
/// kBehind steps behind the first: columns a power of two apart share a set of the first cache,
/// which has room for eight lines. (Side by side LLVM mixes the squares of both, and spills.) A sum
/// by chains takes the second eight behind all of the first: its chains go side by side anyway.
/// Returns how many columns it has done: fewer than a square are left.
std::int64_t gemv_columns(loop::Builder& b, const GemmTerms& terms, const GemmOperand& rhs,
                          const GemmAxisRange& piece, const KSlice& part, const GemvRow& row);

}  // namespace strata::compile
