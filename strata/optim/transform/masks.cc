#include "strata/optim/transform/masks.h"

#include "strata/api/trace/trace.h"
#include "strata/base/error.h"

namespace strata::optim {

tree::Filter mask_by_path(std::map<std::string, bool> by_path) {
  std::string all;
  for (const auto& [path, yes] : by_path) all += (all.empty() ? "" : ", ") + path;
  const std::string text = "a mask of " + std::to_string(by_path.size()) + " leaves";
  return tree::where(
      [by_path = std::move(by_path), all](const tree::Entry& e, const Array&) {
        const auto it = by_path.find(e.name);
        if (it == by_path.end())
          throw Error("masked",
                      "the mask is of another structure: it says nothing of {}; it has {}", e.name,
                      all.empty() ? "no leaf" : all);
        return it->second;
      },
      text);
}
tree::Filter mask_of(const tree::Tree& booleans) {
  std::map<std::string, bool> by_path;
  for (std::size_t i = 0; i < booleans.size(); ++i) {
    const Array& x = booleans.value(i);
    if (x.dtype() != DType::i1 || x.ndim() != 0)
      throw Error("masked", "a mask has a boolean for each leaf; that of {} is {}",
                  booleans.entry(i).name, strata::internal::describe(x.type()));
    by_path[booleans.entry(i).name] = x.item<bool>();
  }
  return mask_by_path(std::move(by_path));
}

}  // namespace strata::optim
