#include "strata/nn/state.h"

#include <map>

namespace strata::nn {

std::vector<std::vector<std::string>> find_duplicates(const tree::Tree& state) {
  std::vector<std::vector<std::string>> groups;
  std::map<const void*, std::size_t> place;  // looked up only; groups stand in the order of leaves
  for (std::size_t i = 0; i < state.size(); ++i) {
    const void* held = state.value(i).state().get();
    if (!held) continue;
    const auto [it, fresh] = place.emplace(held, groups.size());
    if (fresh) groups.emplace_back();
    groups[it->second].push_back(state.entry(i).name);
  }
  std::erase_if(groups, [](const auto& g) { return g.size() < 2; });
  return groups;
}

}  // namespace strata::nn
