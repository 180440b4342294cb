// Names of operations, for the rules that are about single ones.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "strata/op/def.h"

namespace strata::spmd {

/// The name without its dialect: "dot_general" of stablehlo.dot_general.
inline std::string_view short_name(const op::Op& op) {
  const std::string_view name = op.name();
  return name.substr(name.find('.') + 1);
}
inline bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace strata::spmd
