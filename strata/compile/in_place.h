// What may be written over an array that is read no more.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "strata/compile/grouped_block.h"

namespace strata::compile {

/// Decides by what is read of the old value and when, never by what a program looks like. Keeps the
/// groups of branches, whose results are made by what lies inside.
class InPlace {
 public:
  explicit InPlace(const SharingLimits& limits) : limits_(limits) {}

  /// Whether `made`, a result of a group of `in`, may lie where `old` does, memory that only these
  /// groups read: when it is written, nothing of `old` is read any more but, at most, each element
  /// for the one in its place.
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
