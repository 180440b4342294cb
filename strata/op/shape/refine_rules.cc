#include "strata/op/shape/refine_rules.h"

#include <functional>
#include <map>
#include <string>

namespace strata::op {
namespace {

/// Filled while the catalog is made.
std::map<std::string, Needs, std::less<>>& needs_by_name() {
  static std::map<std::string, Needs, std::less<>> all;
  return all;
}
std::map<std::string, Refine, std::less<>>& refine_by_name() {
  static std::map<std::string, Refine, std::less<>> all;
  return all;
}

}  // namespace

void state_needs(const char* name, Needs needs) { needs_by_name()[name] = needs; }

Needs needs_of(const Op& op) {
  catalog();
  auto it = needs_by_name().find(op.name());
  return it == needs_by_name().end() ? nullptr : it->second;
}

void refined_by(const char* name, Needs needs, Refine refine) {
  needs_by_name()[name] = needs;
  refine_by_name()[name] = refine;
}

Refine refine_of(const Op& op) {
  catalog();
  auto it = refine_by_name().find(op.name());
  return it == refine_by_name().end() ? nullptr : it->second;
}

}  // namespace strata::op
