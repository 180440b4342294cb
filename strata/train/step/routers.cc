#include "strata/train/step/routers.h"

#include <algorithm>
#include <cmath>

#include "strata/api/numpy.h"

namespace strata::train {

RouterFigures figures_of(const std::vector<float>& chosen, const std::vector<float>& dropped) {
  RouterFigures out;
  const std::size_t layers = dropped.size(),
                    experts = chosen.size() / std::max<std::size_t>(layers, 1);
  double routed = 0, choices = 0, full = 0;
  for (std::size_t i = 0; i < layers; ++i) {
    double all = 0, entropy = 0, most = 0;
    for (std::size_t e = 0; e < experts; ++e) all += chosen[i * experts + e];
    if (all == 0) continue;
    for (std::size_t e = 0; e < experts; ++e) {
      const double share = chosen[i * experts + e] / all;
      most = std::max(most, share);
      if (share > 0) entropy -= share * std::log(share);
      out.idle += share == 0;
    }
    ++routed, choices += all, full += dropped[i];
    out.largest_load = std::max(out.largest_load, most * static_cast<double>(experts));
    out.entropy += experts > 1 ? entropy / std::log(static_cast<double>(experts)) : 1;
  }
  if (routed == 0) return out;
  out.entropy /= routed, out.idle /= routed * static_cast<double>(experts);
  out.dropped = full / choices;
  return out;
}

RouterFigures figures_of(const RouterOutcome& o) {
  RouterFigures out = figures_of(o.chosen.to_vector<float>(), o.dropped.to_vector<float>());
  out.load_balance = o.load_balance.item<double>(), out.router_z = o.router_z.item<double>();
  return out;
}

}  // namespace strata::train
