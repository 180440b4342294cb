// Sharding rules beyond those of the definitions: those that a program states for its custom calls,
// and which factors nothing spreads along.
//
//   Rule r = parse_rule("#sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=2, j=3, k=4}
//   reduction={k}>");
//
// Source: OpShardingRuleAttr of shardy/dialect/sdy/ir/attrs.td.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "strata/op/def.h"

namespace strata::spmd {

/// Factors, and those along which nothing spreads whatever their kind.
struct Rule {
  op::Factors factors;
  std::vector<bool> blocked;
};

/// Reads Shardy's text. Throws strata::Error for what is none.
Rule parse_rule(std::string_view text);
/// The rule by which shardings spread through an operation of static shapes: what its attribute
/// `sdy.sharding_rule` states, else its definition's; nothing where there is none.
std::optional<Rule> rule_of(const op::Op& op);

}  // namespace strata::spmd
