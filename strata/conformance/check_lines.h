// Expected output in a program's comments: `// CHECK: text`, `// CHECK-NEXT: text`, as LLVM's
// FileCheck reads them.
//
// Of FileCheck there is what StableHLO's programs use: substrings, found one after the other
// (CHECK) or on the line after (CHECK-NEXT); blanks in a row count as one. No patterns and no
// variables, so that {LITERAL} changes nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata::conformance {

struct CheckLine {
  bool next = false;
  std::string text;
};
/// Those of a prefix ("CHECK", "CHECK-DENSE"), in order.
std::vector<CheckLine> check_lines(std::string_view program, std::string_view prefix);
/// Empty when the output has them all in order; otherwise the first that it has not.
std::string first_unmatched(const std::vector<CheckLine>& lines, std::string_view output);

/// The value of an option `name=` in a RUN line that starts with `// RUN: stablehlo-translate`,
/// unquoted: what stands between the quotes of --args="[...]". Empty without one.
std::string run_option(std::string_view file, std::string_view name);

}  // namespace strata::conformance
