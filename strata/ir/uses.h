// Who uses the values of a block.
//
//   const ir::Uses uses(block);
//   for (const ir::Uses::Use& use : uses.of(v)) ...   // operations of the block that read v
//   if (uses.count(v) == 1) ...                       // nobody else, in regions neither
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::ir {

/// An index of the uses of values in a block and in the regions of it, of the block as it stood
/// when the index was made. Whoever changes the block makes another.
class Uses {
 public:
  struct Use {
    const Op* op;
    int operand;  // kCaptured: a region of the operation uses it
  };
  static constexpr int kCaptured = -1;

  /// Whether a region counts as one user, the operation that has it, or the operations in it are
  /// users themselves.
  enum class Regions { as_users, entered };

  explicit Uses(const Block& block, Regions regions = Regions::as_users);

  /// The operations of the block itself that use `v`, in order, once for each operand; one whose
  /// regions use it comes once more behind its operands, whatever they do with it. Where regions
  /// are entered: the operations at any depth, outer ones before those in them.
  std::span<const Use> of(const Value* v) const;
  /// Whether the block returns it; where regions are entered, whether any of them does.
  bool is_result(const Value* v) const;
  /// How often it is named at all: as an operand and as a result of the block and of its regions,
  /// at any depth.
  int count(const Value* v) const;
  /// Where an operation of the block stands; -1 for others.
  int position(const Op* op) const;

 private:
  struct Entry {
    std::vector<Use> uses;
    int count = 0;
    bool is_result = false;
  };
  const Entry* find(const Value* v) const;
  void note(const Op& op);
  void note_results(const Block& block);
  void note_captures(const Op& op);
  void enter(const Op& op);

  std::unordered_map<const Value*, Entry> entries_;  // lookup only
  std::unordered_map<const Op*, int> positions_;     // lookup only
};

}  // namespace strata::ir
