#include "strata/engine/logprobs.h"

#include <algorithm>
#include <numeric>

namespace strata::engine {

TokenLogprobs likeliest(std::span<const float> all, std::int32_t token, std::int64_t most,
                        std::span<const std::int32_t> asked) {
  const auto of = [&](std::int32_t t) { return all[static_cast<std::size_t>(t)]; };
  const auto rank = [&](std::int32_t t) {
    return static_cast<std::int64_t>(
        std::count_if(all.begin(), all.end(), [x = of(t)](float y) { return y >= x; }));
  };
  TokenLogprobs out{.rank = rank(token)};
  const auto vocabulary = static_cast<std::int64_t>(all.size());
  const std::int64_t count = most < 0 ? vocabulary : std::min(most, vocabulary);
  std::vector<std::int32_t> order(count > 0 ? all.size() : 0);
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&](std::int32_t a, std::int32_t b) {
    return of(a) != of(b) ? of(a) > of(b) : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + count, order.end(), before);
  for (std::int64_t i = 0; i < count; ++i) {
    // Those behind with the same number are at least as likely too.
    const std::int32_t t = order[static_cast<std::size_t>(i)];
    out.likeliest.push_back({t, of(t), 0});
  }
  for (std::size_t i = out.likeliest.size(); i-- > 0;) {
    TokenLogprob& at = out.likeliest[i];
    const bool ties = i + 1 < out.likeliest.size() && out.likeliest[i + 1].logprob == at.logprob;
    if (ties)
      at.rank = out.likeliest[i + 1].rank;
    else
      at.rank = i + 1 == out.likeliest.size() ? rank(at.token) : static_cast<std::int64_t>(i) + 1;
  }
  for (std::int32_t t : asked) out.asked.push_back({t, of(t), rank(t)});
  return out;
}

}  // namespace strata::engine
