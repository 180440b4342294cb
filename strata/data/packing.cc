#include "strata/data/packing.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "strata/base/check.h"

namespace strata::data {

std::vector<std::vector<std::size_t>> pack_best_fit(std::span<const std::int64_t> lengths,
                                                    std::int64_t capacity) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
  std::vector<std::vector<std::size_t>> out;
  std::map<std::int64_t, std::set<std::size_t>> by_space;
  for (const std::size_t item : order) {
    const std::int64_t length = lengths[item];
    STRATA_CHECK(length > 0 && length <= capacity, "an item of {} in bins of {}", length, capacity);
    std::size_t bin = out.size();
    std::int64_t space = capacity;
    if (const auto found = by_space.lower_bound(length); found != by_space.end()) {
      bin = *found->second.begin();
      space = found->first;
      found->second.erase(found->second.begin());
      if (found->second.empty()) by_space.erase(found);
    } else {
      out.emplace_back();
    }
    out[bin].push_back(item);
    if (space > length) by_space[space - length].insert(bin);
  }
  return out;
}

}  // namespace strata::data
