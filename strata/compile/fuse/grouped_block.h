// A block's groups in their order, and by which of them each value is made and read.
#pragma once

#include <limits>
#include <unordered_map>

#include "strata/compile/fuse/fusion_limits.h"

namespace strata::compile {

struct GroupedBlock {
  /// Numbers of groups: of what no group makes or reads, and of results, which are read when all
  /// have run.
  static constexpr int kNever = -1, kForever = std::numeric_limits<int>::max();

  /// Throws for a type that kernels have no arithmetic for.
  GroupedBlock(const ir::Block& block, const SharingLimits& limits);

  /// The group that reads it last, or that makes it.
  int last(const ir::Value* v) const { return of(last_read, v); }
  int made(const ir::Value* v) const { return of(maker, v); }

  const ir::Block& block;
  Fusion fusion;
  std::unordered_map<const ir::Value*, int> last_read, maker;  // lookup only

 private:
  static int of(const std::unordered_map<const ir::Value*, int>& numbers, const ir::Value* v) {
    auto it = numbers.find(v);
    return it == numbers.end() ? kNever : it->second;
  }
};

/// The argument of the block that v is a slice of (Fusion::slices), or null.
const ir::Value* sliced_by(const ir::Value* v, const Fusion& fusion);

}  // namespace strata::compile
