#include "strata/checkpoint/manager/policy.h"

#include <algorithm>
#include <cmath>

#include "strata/base/error.h"

namespace strata::checkpoint {
namespace {

using Infos = std::span<const CheckpointInfo>;
constexpr std::int64_t kSecond = 1000000000;

/// Keeps the last `most` of those that are kept.
std::vector<bool> last_of(std::vector<bool> kept, std::optional<std::int64_t> most) {
  if (!most || *most == 0) return kept;  // as upstream, whose slice of 0 cuts nothing
  std::int64_t n = 0;
  for (std::size_t i = kept.size(); i-- > 0;)
    if (kept[i] && ++n > *most) kept[i] = false;
  return kept;
}

/// The first, then each whose value is at least `gap` above the last kept.
template <class Get>
std::vector<bool> spaced(Infos all, std::int64_t gap, Get get) {
  std::vector<bool> out;
  std::int64_t last = 0;
  for (const CheckpointInfo& c : all) {
    out.push_back(out.empty() || get(c) - last >= gap);
    if (out.back()) last = get(c);
  }
  return out;
}

void need_interval(std::int64_t interval) {
  if (interval < 1) throw Error("policy", "an interval of {} steps", interval);
}

/// step / interval, rounded; halves to the even neighbour.
std::int64_t nearest_multiple(std::int64_t step, std::int64_t interval) {
  const std::int64_t below = step / interval, rest = step % interval;
  return below + (2 * rest > interval || (2 * rest == interval && below % 2 != 0));
}

}  // namespace

PreservationPolicy preserve_all() {
  return [](Infos all, std::int64_t) { return std::vector<bool>(all.size(), true); };
}

PreservationPolicy custom_steps(std::set<std::int64_t> steps) {
  return [steps = std::move(steps)](Infos all, std::int64_t) {
    std::vector<bool> out;
    for (const CheckpointInfo& c : all) out.push_back(steps.count(c.step) > 0);
    return out;
  };
}

PreservationPolicy latest_n(std::optional<std::int64_t> n) {
  return [n](Infos all, std::int64_t) {
    std::vector<bool> out(all.size(), true);
    for (std::int64_t i = 0; n && i < std::ssize(all) - *n; ++i)
      out[static_cast<std::size_t>(i)] = false;
    return out;
  };
}

PreservationPolicy every_n_steps(std::int64_t interval, bool exact,
                                 std::optional<std::int64_t> most) {
  need_interval(interval);
  return [=](Infos all, std::int64_t) {
    std::vector<bool> out;
    for (const CheckpointInfo& c : all) out.push_back(c.step % interval == 0);
    if (!exact) out = spaced(all, interval, [](const CheckpointInfo& c) { return c.step; });
    return last_of(std::move(out), most);
  };
}

PreservationPolicy every_n_steps_closest(std::int64_t interval, std::optional<std::int64_t> most) {
  need_interval(interval);
  return [=](Infos all, std::int64_t) {
    std::map<std::int64_t, std::pair<std::int64_t, std::size_t>> best;  // distance, place
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::int64_t k = nearest_multiple(all[i].step, interval);
      const std::int64_t distance = std::abs(all[i].step - k * interval);
      const auto found = best.find(k);
      if (found == best.end() || distance <= found->second.first) best[k] = {distance, i};
    }
    std::vector<bool> out(all.size(), false);
    for (const auto& [k, at] : best) out[at.second] = true;
    if (!out.empty()) out.back() = true;
    return last_of(std::move(out), most);
  };
}

PreservationPolicy every_n_seconds(std::int64_t seconds) {
  return [seconds](Infos all, std::int64_t) {
    return spaced(all, seconds * kSecond, [](const CheckpointInfo& c) { return c.time; });
  };
}

PreservationPolicy best_n(std::string metric, std::optional<std::int64_t> n, bool smallest,
                          bool without_metrics) {
  return [=](Infos all, std::int64_t) {
    if (!n || std::ssize(all) <= *n) return std::vector<bool>(all.size(), true);
    std::vector<bool> out(all.size(), false);
    if (*n == 0) return out;
    std::vector<std::pair<double, std::size_t>> ranked;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].metrics) {
        out[i] = without_metrics;
        continue;
      }
      const auto found = all[i].metrics->find(metric);
      if (found == all[i].metrics->end())
        throw Error("policy", "the metrics of step {} lack '{}'", all[i].step, metric);
      ranked.emplace_back(smallest ? -found->second : found->second, i);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::size_t keep = std::min(ranked.size(), static_cast<std::size_t>(*n));
    for (std::size_t i = ranked.size() - keep; i < ranked.size(); ++i) out[ranked[i].second] = true;
    return out;
  };
}

PreservationPolicy latest_duration(std::int64_t seconds) {
  return [seconds](Infos all, std::int64_t now) {
    bool kept = false;
    std::vector<bool> out;
    for (const CheckpointInfo& c : all) {
      kept |= now - c.time <= seconds * kSecond;
      out.push_back(kept);
    }
    return out;
  };
}

PreservationPolicy any_of(std::vector<PreservationPolicy> policies) {
  return [policies = std::move(policies)](Infos all, std::int64_t now) {
    std::vector<bool> out(all.size(), false);
    for (const PreservationPolicy& policy : policies) {
      const std::vector<bool> kept = policy(all, now);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i] || kept[i];
    }
    return out;
  };
}

SavePolicy save_every(std::int64_t interval) {
  need_interval(interval);
  return [interval](const SaveQuestion& q) { return q.step % interval == 0; };
}

SavePolicy save_on(std::set<std::int64_t> steps) {
  return [steps = std::move(steps)](const SaveQuestion& q) { return steps.count(q.step) > 0; };
}

SavePolicy save_continuously(double seconds) {
  return [seconds](const SaveQuestion& q) {
    if (q.saving) return false;
    return !q.latest || static_cast<double>(q.now - q.latest->time) >= seconds * kSecond;
  };
}

SavePolicy save_first() {
  return [](const SaveQuestion& q) { return !q.latest; };
}

SavePolicy save_when_any(std::vector<SavePolicy> policies) {
  return [policies = std::move(policies)](const SaveQuestion& q) {
    return std::any_of(policies.begin(), policies.end(), [&](const SavePolicy& p) { return p(q); });
  };
}

}  // namespace strata::checkpoint
