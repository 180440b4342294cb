#include "strata/compile/fuse/fusion_limits.h"

#include "strata/base/stage_times.h"
#include "strata/compile/fuse/fuse.h"
#include "strata/compile/fuse/group_key.h"

namespace strata::compile {
namespace {

/// How many operations the kernels of all groups are made of, those of equal groups counted once.
std::size_t operations_to_compile(const Fusion& fusion) {
  std::size_t operations = 0;
  std::unordered_set<std::string> seen;
  for (const Group& group : fusion.groups) {
    std::optional<GroupKey> key = group_key(group, fusion);
    std::size_t values = key ? key->values.size() : group.roots.size();
    if (!key || seen.insert(std::move(key->bytes)).second) operations += values;
  }
  return operations;
}

}  // namespace

Fusion choose_fusion(const ir::Block& block, const SharingLimits& limits) {
  Fusion joined = fuse(block);
  if (block.ops().size() <= limits.many) return joined;
  Stage shares("  share");
  std::size_t operations = operations_to_compile(joined);
  if (operations <= limits.many) return joined;
  Fusion apart = fuse(block, FusionMode::separate_small);
  bool fewer = static_cast<double>(operations_to_compile(apart)) <=
               limits.less * static_cast<double>(operations);
  return fewer ? std::move(apart) : std::move(joined);
}

}  // namespace strata::compile
