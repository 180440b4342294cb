// Products of groups of rows, as other compilers take them.
//
//   grouped_products(block, GroupedProducts::ragged, &mesh);   // for libtpu's compiler
#pragma once

#include <string_view>

#include "strata/ir/graph.h"
#include "strata/mesh/mesh.h"

namespace strata::transform {

/// What becomes of chlo.ragged_dot, strata.gmm and strata.tgmm.
enum class GroupedProducts {
  /// A ragged_dot stays one.
  as_they_are,
  /// All are products of every row with every group's matrix, of which a row's own is chosen.
  dense,
  /// All are ragged_dots with one list of sizes, where that can be said.
  ragged,
};

/// What the compiler of a platform takes: "tpu" ragged ones, "strata" all as they are, others (XLA
/// has none on CPUs, and JAX gives it none on GPUs) dense ones.
GroupedProducts products_of(std::string_view platform);

/// Replaces products of groups in a block and its regions. As `ragged` rows of no group are zero
/// still. With a batch in front (a device's tokens each, strata/api/sharding/shard_map.h) they are
/// ragged where a sharding_constraint over axes of `mesh` cuts one of their arrays into as many
/// parts as the batch has: the product is an sdy.manual_computation then. What is not ragged so
/// stays, and is dense after export_stablehlo.
void grouped_products(ir::Block& block, GroupedProducts how,
                      const mesh::AbstractMesh* mesh = nullptr);

}  // namespace strata::transform
