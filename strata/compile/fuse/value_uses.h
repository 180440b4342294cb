// What fusion asks of operations and values: how an operation is computed, who reads a value, and
// which values must lie in memory whatever else is decided. Private to this room.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "strata/compile/fuse/fusion.h"
#include "strata/ir/uses.h"
#include "strata/op/lowering_kind.h"

namespace strata::compile {

/// A constant with different elements lies in memory rather than in code.
bool is_stored_constant(const ir::Op& op);
/// Computed element by element, so that it may be part of a kernel or of a tree.
bool is_elemental(const ir::Op& op);
bool is_update(const ir::Op& op);
std::int64_t count(const ir::Value* v);
/// Which operations FusionMode::separate_small keeps apart: all arrays small, and something to
/// compute from.
bool is_small(const ir::Op& op);

/// Uses of values, and which values must lie in memory whatever else is decided: among them those
/// that regions use.
struct Uses {
  ir::Uses index;
  std::unordered_set<const ir::Value*> stored;
  std::unordered_set<const ir::Op*> making_results;  // that make one of the block (lookup only)
  bool makes_result(const ir::Op& op) const { return making_results.count(&op) != 0; }

  /// The one operation of the block that reads a value which need not lie in memory, or null.
  const ir::Op* only_reader(const ir::Value* v) const {
    const auto uses = index.of(v);
    return uses.size() == 1 && !stored.count(v) ? uses[0].op : nullptr;
  }

  explicit Uses(const ir::Block& block);
};

}  // namespace strata::compile
