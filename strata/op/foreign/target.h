// Targets of custom calls that Strata knows itself: what JAX states for any platform.
//
// A target is a row of target.cc and a function in a file of its own (target_*.cc). A handler
// registered for its name (op/foreign/foreign.h) goes before it.
#pragma once

#include <string_view>

#include "strata/op/foreign/handler.h"

namespace strata::op {

struct Target {
  const char* name;
  /// The results of the call, from values of its operands; throws strata::Error where the call does
  /// not say what it should. Null: it is called as others are, with this handler.
  Decompose compose;
  Result<foreign::Bound> (*handler)(const foreign::Call&) = nullptr;
  /// Operands whose elements decide shapes, so that refinement composes the call
  /// (op/shape/dynamic.h).
  std::vector<int> (*needs)(const Op&) = nullptr;
};

/// Null for a target that is not among them.
const Target* find_target(std::string_view name);

}  // namespace strata::op
