// One case of a corpus, from its file to its verdict.
#pragma once

#include <string>
#include <vector>

#include "strata/conformance/execute.h"

namespace strata::conformance {

/// A part of a file.
struct Case {
  std::string name;    // "stablehlo/testdata/abs.mlir", or "...#2" for the second of several parts
  std::string folder;  // what the table groups by
  std::string path;
  std::size_t part = 0;
};

/// The cases of every .mlir file below `folder`, in the order of their names.
Result<std::vector<Case>> find_cases(const std::string& folder);

/// What came of a case: `reason` says why when it is not `equal`.
struct Outcome {
  Verdict verdict = Verdict::equal;
  std::string reason;
  double compile_s = 0, seconds = 0;
};

/// Reads, verifies, prints to a fixpoint, runs, compares. Expected are: the checks inside;
/// `NAME.safetensors` beside the file; CHECK lines of a file whose RUN lines ask for them; of a
/// compiled program that expects nothing the bits of the reference evaluator, unless `alone`.
/// Nothing thrown escapes but std::bad_alloc.
Outcome run_case(const Case& c, Mode mode, bool alone = false);

}  // namespace strata::conformance
