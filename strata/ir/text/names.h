// Names of values, as MLIR's printer gives them.
//
// Arguments are arg0, arg1, ... counted on into nested regions; results are numbers counted on likewise, except where
// the operation suggests a name (constants: cst, c; loop arguments: iterArg), made unique by _N. A nested region is
// numbered after the whole block around it, and siblings start from the same counts.
// Source: SSANameState in mlir/lib/IR/AsmPrinter.cpp.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::ir {

class Names {
 public:
  /// The regions of an operation as they will be printed.
  using Regions = std::function<std::vector<const Block*>(const Op&)>;
  explicit Names(Regions regions) : regions_(std::move(regions)) {}

  /// Names for one function, starting afresh, with the names that operations suggest.
  void function(const Block& body);
  /// Names for the generic form: numbers that go on through the whole module, from its last function to its first, and
  /// in each block from its last operation's regions to its first's (as upstream counts when nothing suggests a name).
  void generic(const Module& module);
  void generic(const Block& block);

  /// "arg0", "3", "6#1", "cst_0".
  std::string of(const Value* value) const;
  /// Appends the same.
  void append(const Value* value, std::string& out) const;
  /// What stands before '=': "%0", "%6:9", "%output_state, %output"; empty without results.
  std::string defined_by(const Op& op) const;

 private:
  struct Counts { int value = 0, argument = 0, conflict = 0; };
  /// Results of one operation from `first` on, under one name: a number, or text where `number` is negative.
  struct Group { std::string name; int number = -1, first = 0, size = 1; };

  void nested(const Block& block, const Op* holder, Counts counts);
  void number(const Block& block, const Op* holder, Counts& counts, bool suggested);
  void op(const Op& op, Counts& counts, bool suggested);
  std::string unique(std::string_view name, Counts& counts);
  const Group* group_of(const Value* value) const;
  static void append(const Group& group, std::string& out);

  Regions regions_;
  Counts generic_;
  std::unordered_set<std::string> used_;                            // names of the blocks around
  std::vector<std::string> added_;                                  // in the order of their making
  std::unordered_map<const Value*, std::string> names_;             // arguments
  std::unordered_map<const Op*, std::vector<Group>> groups_;        // results; looked up, never iterated
};

}  // namespace strata::ir
