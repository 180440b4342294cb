// Passes over modules, by name: what `strata-opt --passes=a,b` runs.
//
//   ir::Passes::global().add({"my-pass", "what it does", my_pass});
//
// A pass keeps a verified module verified. Same module in, same module out, always.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "strata/ir/graph.h"

namespace strata::ir {

struct Pass {
  std::string name, summary;
  std::function<void(Module&)> run;
};

/// The passes of this process, in the order of their names.
class Passes {
 public:
  static Passes& global();
  void add(Pass pass);
  const Pass* find(std::string_view name) const;
  const std::map<std::string, Pass, std::less<>>& all() const { return by_name_; }

 private:
  std::map<std::string, Pass, std::less<>> by_name_;
};

/// Every call (func.call, nested ones too) becomes a copy of the body it calls; private functions
/// that are then unused are dropped. The functions that an operation names in an attribute `bodies`
/// become its regions, in that order; so do those that a custom call names in
/// `called_computations`, which its text form leaves out, since the functions stay. Throws
/// strata::Error where a function is absent or calls itself.
void inline_calls(Module& module);
/// Composites of operations as jaxlib writes those of CHLO (`chlo.erf` by `@chlo.erf.impl`) become
/// the operations where these have the composite's types: a decomposition says the same, but slower
/// and less exactly. Others stay, to be inlined as calls.
void use_chlo(Module& module);
/// Composites as they are recorded, with a region (strata.composite), become stablehlo.composite of
/// private functions that hold the regions, under the composites' names; `name_0` and so on where
/// one is taken.
void outline_composites(Module& module);
/// Operations without effects whose results nobody uses, and private functions nobody calls, are
/// dropped.
void dce(Module& module);
/// Of operations without effects and regions that have the same kind, operands and attributes, the
/// first stays. A region sees the operations around it.
void cse(Module& module);
void cse(Block& block);

}  // namespace strata::ir
