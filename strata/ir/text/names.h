// Names of values, as MLIR's printer gives them.
//
// Arguments are arg0, arg1, ... counted on into nested regions; results are numbers counted on likewise, except where
// the operation suggests a name (constants: cst, c; loop arguments: iterArg), made unique by _N. A nested region is
// numbered after the whole block around it, and siblings start from the same counts.
// Source: SSANameState in mlir/lib/IR/AsmPrinter.cpp.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::ir {

class Names {
 public:
  /// The regions of an operation as they will be printed.
  using Regions = std::function<std::vector<const Block*>(const Op&)>;
  Names(const Block& function, const Regions& regions, bool suggested);

  /// "arg0", "3", "6#1", "cst_0".
  std::string of(const Value* value) const;
  /// What stands before '=': "%0", "%6:9", "%output_state, %output"; empty without results.
  std::string defined_by(const Op& op) const;

 private:
  struct Counts { int value = 0, argument = 0, conflict = 0; };
  struct Group { std::string name; int first = 0, size = 1; };
  using Used = std::set<std::string>;

  void block(const Block& block, const char* argument_name, Counts& counts, std::vector<Used>& used);
  void nested(const Block& block, const char* argument_name, Counts counts, std::vector<Used>& used);
  void op(const Op& op, Counts& counts, std::vector<Used>& used);
  static std::string unique(const std::string& name, Counts& counts, std::vector<Used>& used);

  const Regions& regions_;
  bool suggested_;
  std::unordered_map<const Value*, std::string> names_;             // arguments
  std::unordered_map<const Op*, std::vector<Group>> groups_;        // results; looked up, never iterated
};

}  // namespace strata::ir
