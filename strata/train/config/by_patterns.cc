#include "strata/train/config/by_patterns.h"

#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>

namespace strata::train {

tree::Filter by_patterns(std::vector<std::string> patterns) {
  const std::string text = fmt::format("{}", fmt::join(patterns, " or "));
  return tree::where(
      [patterns = std::move(patterns)](const tree::Entry& e, const Array&) {
        std::string typed;
        tree::Step::path(e.name).append_to(typed);
        return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) {
          for (const std::string& path : {e.name, "/" + e.name, typed})
            if (fnmatch(p.c_str(), path.c_str(), 0) == 0) return true;
          return false;
        });
      },
      text);
}

}  // namespace strata::train
