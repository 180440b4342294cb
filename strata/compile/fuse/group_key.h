// Groups of equal structure: their kernels are built and compiled once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/compile/fuse/fusion.h"

namespace strata::compile {

struct GroupKey {
  std::string
      bytes;  // all that the group's kernels depend on, but for which values they are bound to
  std::vector<const ir::Value*>
      values;  // those, among others: of groups with equal bytes they correspond one to one
};

/// Nothing for a group that may not be like any other (it has regions that use values from
/// outside).
std::optional<GroupKey> group_key(const Group& group, const Fusion& fusion);

}  // namespace strata::compile
