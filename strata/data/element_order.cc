#include "strata/data/element_order.h"

#include <algorithm>
#include <limits>

#include "strata/base/error.h"

namespace strata::data {

std::int64_t MixedOrder::size() const { return std::numeric_limits<std::int64_t>::max(); }

MegatronOrder::MegatronOrder(std::span<const double> weights, std::int64_t size)
    : blend_(megatron_blend(weights, size)), elements_(weights.size()) {
  for (std::size_t k = 0; k < blend_.source.size(); ++k)
    elements_[static_cast<std::size_t>(blend_.source[k])].push_back(static_cast<std::int64_t>(k));
}

Mix::Pick MegatronOrder::at(std::int64_t k) const {
  if (k < 0 || k >= size())
    throw Error("data", "sequence {} of {}: Megatron's order ends with the run's steps", k, size());
  const auto i = static_cast<std::size_t>(k);
  return {static_cast<std::size_t>(blend_.source[i]), blend_.sample[i]};
}

std::int64_t MegatronOrder::count(std::size_t source, std::int64_t k) const {
  const std::vector<std::int64_t>& all = elements_[source];
  return std::lower_bound(all.begin(), all.end(), k) - all.begin();
}

}  // namespace strata::data
