// Chains as the table of rules (registry.h) makes them.
#include "strata/optim/gradient_transformation.h"
#include "strata/optim/registry.h"

namespace strata::optim {

namespace {
GradientTransformation chain_by_name(std::vector<GradientTransformation> transforms) {
  return chain(std::move(transforms));
}
GradientTransformation named_chain_by_name(Option transforms) {
  const auto* list = transforms.as<std::vector<Option>>();
  if (!list) throw Error("named_chain", "transforms is a list, got {}", transforms.text());
  std::vector<std::pair<std::string, GradientTransformation>> parts;
  for (const Option& one : *list) {
    const auto* pair = one.as<std::vector<Option>>();
    if (!pair || pair->size() != 2)
      throw Error("named_chain", "transforms are pairs of a name and a transformation");
    auto& [name, tx] = parts.emplace_back();
    read((*pair)[0], "named_chain: transforms", name);
    read((*pair)[1], "named_chain: " + name, tx);
  }
  return named_chain(std::move(parts));
}
}  // namespace

namespace detail {
void add_chains(Rules& r) {
  r.add("chain", {"transforms"}, &chain_by_name, "", "Transformations one after the other.");
  r.add("named_chain", {"transforms"}, &named_chain_by_name, "",
        "Transformations one after the other, with names in the state.");
}
}  // namespace detail

}  // namespace strata::optim
