// A program's checks, taken out of it.
//
// Each check of a function's body goes; its operands come back as further results, so that compiled
// code computes both sides and the comparison happens outside.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/op/control/check.h"

namespace strata::conformance {

/// A check that was taken out.
struct Check {
  op::Demand demand;
  int got = -1, want = -1;       // results of the function; got -1: the value that a probe recorded
  std::optional<Literal> value;  // in place of `want`
  std::string probe;             // of expect_serialized_eq, with its iteration
  std::size_t iteration = 0;
  std::string what;  // "check.expect_close at program.mlir:12:5"
};

/// Takes the checks out of `f` (not those inside regions, which stay and fail to run). A result of
/// a check that is used becomes true.
std::vector<Check> extract_checks(ir::Function& f);

/// Compares results that a run of the function gave; one line for each check that fails. `largest`:
/// see op::compare.
std::vector<std::string> failed_checks(const std::vector<Check>& checks,
                                       const std::vector<Literal>& results,
                                       op::Distance* largest = nullptr);

}  // namespace strata::conformance
