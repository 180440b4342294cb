// What may be written over an array that is read no more.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "strata/compile/fuse/grouped_block.h"

namespace strata::compile {

/// Decides by dependence: which groups still read the old value, and where. Keeps the groups of
/// branches, since their results are made inside.
class InPlace {
 public:
  explicit InPlace(const SharingLimits& limits) : limits_(limits) {}

  /// Whether a group of `in` may write `made` into the buffer of `old`, which no other block reads:
  /// when it does, every other read of `old` is done, and its own reads are element by element,
  /// each from the place that it writes.
  bool may_replace(const GroupedBlock& in, const ir::Value* made, const ir::Value* old);

  /// What reads `old` so that `made` may not replace it, in words; empty where it may.
  std::string why_not(const GroupedBlock& in, const ir::Value* made, const ir::Value* old);

  /// The groups of a branch; the same each time.
  const GroupedBlock& branch(const ir::Block& region);

 private:
  bool branch_replaces(const ir::Block& region, std::size_t result, const ir::Value* old);
  bool structured_replaces(const ir::Value* made, const ir::Value* old);

  const SharingLimits& limits_;
  std::unordered_map<const ir::Block*, std::unique_ptr<GroupedBlock>> branches_;  // lookup only
};

/// Whether the operation reads the value in more than one way (two operands, or an operand and a
/// capture).
bool is_shared_operand(const ir::Op& op, const ir::Value* v);

}  // namespace strata::compile
