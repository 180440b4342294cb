// Names of values, as MLIR's printer gives them.
//
// Arguments are arg0, arg1, ... counted on into nested regions; results are numbers counted on
// likewise, except where the operation suggests a name (constants: cst, c; loop arguments:
// iterArg), made unique by _N. A nested region is numbered after the whole block around it, and
// siblings start from the same counts. Source: SSANameState in mlir/lib/IR/AsmPrinter.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
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
  /// Names for the generic form: numbers that go on through the whole module, from its last
  /// function to its first, and in each block from its last operation's regions to its first's (as
  /// upstream counts when nothing suggests a name).
  void generic(const Module& module);
  void generic(const Block& block);

  /// "arg0", "3", "6#1", "cst_0".
  std::string of(const Value* value) const;
  /// Appends the same.
  void append(const Value* value, std::string& out) const;
  /// Appends what stands before an operation's name: "%0 = ", "%6:9 = ", "%output_state, %output =
  /// "; nothing without results.
  void append_defined(const Op& op, std::string& out) const;

 private:
  struct Counts {
    int value = 0, argument = 0, conflict = 0;
  };
  /// Results of one operation from `first` on, under one name: a number, or a text (-1 - its place
  /// in texts_).
  struct Group {
    int name = 0, first = 0, size = 1;
  };
  /// Groups of one operation, in groups_ from `first` on.
  struct Range {
    std::uint32_t first = 0, size = 0;
  };

  void nested(const Block& block, const Op* holder, Counts counts);
  void number(const Block& block, const Op* holder, Counts& counts, bool suggested);
  void op(const Op& op, Counts& counts, bool suggested);
  std::string unique(std::string_view name, Counts& counts);
  std::span<const Group> groups_of(const Op* op) const;
  void append(const Group& group, std::string& out) const;

  Regions regions_;
  Counts generic_;
  std::unordered_set<std::string> used_;                 // names of the blocks around
  std::vector<std::string> added_;                       // in the order of their making
  std::unordered_map<const Value*, std::string> names_;  // arguments
  std::unordered_map<const Op*, Range> ranges_;          // looked up, never iterated
  std::vector<Group> groups_;
  std::vector<std::string> texts_;
};

}  // namespace strata::ir
