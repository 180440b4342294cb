// Programs in StableHLO's own words, for other readers.
#pragma once

#include "strata/ir/graph.h"
#include "strata/transform/grouped_products.h"

namespace strata::transform {

/// Replaces operations of our own (strata.*) by what they stand for, in nested regions too: loops
/// by stablehlo.while, functions with derivatives of their own by the functions, marks for
/// derivatives by nothing. Values keep their bits, but for sums of products with packed blocks
/// (transform/packed_blocks.h). Throws strata::Error (unsupported) for what
/// StableHLO cannot say: references, and a derivative that only its transpose defines.
void export_stablehlo(ir::Block& block);
/// The same, after products of groups were made what a compiler takes (grouped_products.h).
void export_stablehlo(ir::Block& block, GroupedProducts how,
                      const mesh::AbstractMesh* mesh = nullptr);
/// Makes it known to strata-opt, as "to-stablehlo".
void add_export_pass();

}  // namespace strata::transform
