// What the specification calls the constraints by which an operation's results follow from its
// operands, for messages.
//
//   .info = ir::inferred_by("C1, C3", {.name = "stablehlo.transpose", .infer = infer, ...}),
//
// A program that states other results than those inferred breaks them; the verifier names them.
#pragma once

#include <string_view>

#include "strata/base/error.h"
#include "strata/ir/graph.h"

namespace strata::ir {

/// The info, with those names kept for its operation. Once for each, before it is used. `operands`:
/// what operands break that do not go together, where that is another constraint.
OpInfo inferred_by(const char* constraints, OpInfo info, const char* operands = nullptr);
/// "C1, C3", or empty where none were said.
std::string_view inferred_by(const OpInfo& info);
/// Of operands that do not go together.
std::string_view agreement_of(const OpInfo& info);

/// Makes a check that several operations share; what it throws names this one's constraint.
template <class F>
auto under(const char* constraint, F&& check) {
  try {
    return check();
  } catch (const Error& e) {
    throw Error(e.operation(), fmt::format("{} ({})", e.message(), constraint)).at(e.where());
  }
}

}  // namespace strata::ir
