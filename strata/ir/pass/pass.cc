#include "strata/ir/pass/pass.h"

namespace strata::ir {

Passes& Passes::global() {
  static Passes passes = [] {
    Passes p;
    p.add({"cse", "merges operations that compute the same", [](Module& m) { cse(m); }});
    p.add({"dce", "drops what nobody uses", dce});
    p.add({"inline-calls", "replaces calls by the bodies they call", inline_calls});
    return p;
  }();
  return passes;
}

void Passes::add(Pass pass) {
  std::string name = pass.name;
  STRATA_CHECK(by_name_.emplace(name, std::move(pass)).second, "pass {} registered twice", name);
}

const Pass* Passes::find(std::string_view name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &it->second;
}

}  // namespace strata::ir
