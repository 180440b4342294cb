#include "strata/optim/typed/decay.h"

#include <fnmatch.h>

#include <algorithm>

namespace strata::optim::typed {

Mask mask_by_ndim(int axes) {
  return [axes](const std::string&, const Array& leaf) { return leaf.ndim() >= axes; };
}

Mask mask_except_paths(std::vector<std::string> patterns) {
  return [patterns = std::move(patterns)](const std::string& path, const Array&) {
    return std::none_of(patterns.begin(), patterns.end(), [&](const std::string& p) {
      return fnmatch(p.c_str(), path.c_str(), 0) == 0;
    });
  };
}

}  // namespace strata::optim::typed
