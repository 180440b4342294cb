// Values that are one as far as shardings go, because loops, branches and calls carry one to the
// other: a while's operand, its bodies' arguments, what the body returns, the result.
//
// Each group of values that is carried to has one owner, whose sharding is that of all of them; an
// edge leads to it from its sources. Source: data_flow_edge of shardy/dialect/sdy/ir/ops.td.
#pragma once

#include <unordered_map>
#include <vector>

#include "strata/op/def.h"

namespace strata::spmd {

/// From sources to an owner.
struct Edge {
  std::vector<const ir::Value*> sources;
  const ir::Value* owner = nullptr;
  std::vector<const ir::Value*> targets = {};  // others that have the owner's sharding
  op::Factors factors;                         // of the sources as operands, the owner as result
  const ir::Op* after = nullptr;               // the operation whose edge it is
};

/// All edges of a block and those inside it, in the order of the program.
struct DataFlow {
  std::vector<Edge> edges;
  std::unordered_map<const ir::Value*, int> edge_of;  // by owner
  std::unordered_map<const ir::Op*, std::vector<int>> edges_after;
  std::unordered_map<const ir::Value*, const ir::Value*> owner_of;  // of values that have one

  explicit DataFlow(const ir::Block& block);
  /// The value whose sharding `v` has.
  const ir::Value* owner(const ir::Value* v) const;

 private:
  void add(const ir::Op& op);
  void edge(const ir::Op& op, std::vector<const ir::Value*> sources, const ir::Value* owner,
            std::vector<const ir::Value*> targets = {}, int leads_source = 0, int leads_owner = 0);
};

}  // namespace strata::spmd
