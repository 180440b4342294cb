// What is computed where it is read, in place of being a root: the first step of fusion (fusion.h).
// Private to this room.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "strata/compile/fusion.h"
#include "strata/ir/uses.h"
#include "strata/op/lowering_kind.h"
#include "strata/pass/read_before_update.h"

namespace strata::compile {

/// A constant with different elements lies in memory rather than in code.
bool is_stored_constant(const ir::Op& op);
/// Computed element by element, so that it may be part of a kernel or of a tree.
bool is_elemental(const ir::Op& op);
bool is_update(const ir::Op& op);
std::int64_t count(const ir::Value* v);
/// Which operations FusionRule::apart keeps apart: all arrays small, and something to compute from.
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

/// Floats whose values FusionRule::apart keeps out of kernels: those that small operations compute
/// with. Integers may be places, of which kernels should know.
std::unordered_set<const ir::Value*> unknown_numbers(const ir::Block& block, const Uses& uses);
/// Arithmetic for one element of each value with the elementwise operations that it is made of, as
/// far as these are in `through`.
std::unordered_map<const ir::Value*, double> tree_weights(
    const ir::Block& block, const std::unordered_set<const ir::Value*>& through);

/// Products with the reshapes and transpositions that they do as they store.
using Moves =
    std::unordered_map<const ir::Op*, std::vector<const ir::Op*>>;  // looked up, never walked
Moves moves_of_products(const ir::Block& block, const Uses& uses);
/// The operations of all of `moves`.
std::unordered_set<const ir::Op*> moved_by_products(const ir::Block& block, const Moves& moves);

/// The values that are computed where they are read.
std::unordered_set<const ir::Value*> choose_inlined(const ir::Block& block, const Uses& uses,
                                                    const std::unordered_set<const ir::Op*>& moved,
                                                    const pass::ConsumedArrays& taken,
                                                    FusionRule rule);

}  // namespace strata::compile
