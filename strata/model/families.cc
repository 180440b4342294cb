// Every family of models (registry.h): one line each.
#include <algorithm>

#include "strata/model/llama/family.h"
#include "strata/model/published/from_nothing.h"
#include "strata/model/registry.h"

namespace strata::model {
namespace {

std::vector<Family> make_families() {
  std::vector<Family> out;
  out.push_back(llama::family());
  out.push_back(published::from_nothing());
  std::sort(out.begin(), out.end(),
            [](const Family& a, const Family& b) { return a.name < b.name; });
  return out;
}

}  // namespace

std::span<const Family> families() {
  static const std::vector<Family> all = make_families();
  return all;
}

}  // namespace strata::model
