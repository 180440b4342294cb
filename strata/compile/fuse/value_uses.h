// Queries of fusion: how an operation is lowered, which operations use a value, and which values
// must be materialised in memory. Private to this room.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "strata/compile/fuse/fusion.h"
#include "strata/ir/uses.h"
#include "strata/op/lowering_kind.h"

namespace strata::compile {

/// Whether the operation is a constant whose elements differ: kernels load it from memory, other
/// constants are immediates.
bool is_stored_constant(const ir::Op& op);
/// Computed element by element, so that it may be part of a kernel or of a tree.
bool is_elemental(const ir::Op& op);
bool is_update(const ir::Op& op);
std::int64_t count(const ir::Value* v);
/// Whether the array fits in a first-level cache: passing it on in memory costs about a call.
bool is_small_array(const ir::Value* v);
/// Which operations FusionMode::separate_small keeps apart: all arrays small, and something to
/// compute from.
bool is_small(const ir::Op& op);

/// The uses of a block's values, and the values that fusion must materialise in memory, such as
/// results of the block and values that regions capture.
struct Uses {
  ir::Uses index;
  std::unordered_set<const ir::Value*> stored;
  std::unordered_set<const ir::Op*> making_results;  // that make one of the block (lookup only)
  bool makes_result(const ir::Op& op) const { return making_results.count(&op) != 0; }

  /// The only operation of the block that uses `v`; null if there are others or `v` is stored.
  const ir::Op* only_reader(const ir::Value* v) const {
    const auto uses = index.of(v);
    return uses.size() == 1 && !stored.count(v) ? uses[0].op : nullptr;
  }

  explicit Uses(const ir::Block& block);
};

}  // namespace strata::compile
