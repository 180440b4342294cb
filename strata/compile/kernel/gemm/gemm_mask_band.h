// A product of which only a band of elements is needed (pass/dot/mask_sparsity.h): blocks and tiles
// outside of it are left out.
#pragma once

#include <optional>

#include "strata/compile/kernel/elemental_emitter.h"

namespace strata::compile {

/// The elements with low <= column - row <= high.
struct GemmMaskBand {
  std::int64_t low, high;

  /// That of a product, where the marked dimensions are the only ones of its rows and of its
  /// columns. `swapped`: rows are those of the right operand.
  static std::optional<GemmMaskBand> of(const ir::Op& product, const op::Contraction& c,
                                        bool swapped);

  /// Whether any of so many rows and columns from here is needed.
  Inst* meets(loop::Builder& b, const Index& row, const Index& rows, const Index& column,
              const Index& columns) const;
};

}  // namespace strata::compile
