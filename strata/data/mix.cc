#include "strata/data/mix.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace strata::data {
namespace {

constexpr double kFurthest = 1e9;

/// k * part / whole, rounded down.
std::int64_t share_of(std::int64_t k, std::int64_t part, std::int64_t whole) {
  return static_cast<std::int64_t>(static_cast<__int128>(k) * part / whole);
}

}  // namespace

Mix::Mix(std::vector<std::int64_t> parts)
    : parts_(std::move(parts)),
      sum_(std::accumulate(parts_.begin(), parts_.end(), std::int64_t{0})) {}

Result<Mix> Mix::make(const std::vector<double>& weights) {
  double least = 0, most = 0;
  for (double w : weights) {
    if (!std::isfinite(w) || w < 0)
      return Status(Code::invalid, "the weight {} of a source: allowed are numbers from 0 on", w);
    if (w > 0) least = least == 0 ? w : std::min(least, w);
    most = std::max(most, w);
  }
  if (most == 0)
    return Status(Code::invalid,
                  "the weights of the {} sources sum to 0; at least one must be above 0",
                  weights.size());
  if (!(most / least <= kFurthest))
    return Status(Code::invalid, "the weights {} and {} are too far apart: at most a factor of {}",
                  least, most, kFurthest);
  std::vector<std::int64_t> parts;
  for (double w : weights) parts.push_back(static_cast<std::int64_t>(w * (100 / least)));
  return Mix(std::move(parts));
}

Mix::Pick Mix::at(std::int64_t k) const {
  STRATA_CHECK(k >= 0, "element {}", k);
  std::int64_t left = sum_, a = k, b = k + 1;
  for (std::size_t i = 0;; ++i) {
    const std::int64_t a_left = share_of(a, left - parts_[i], left),
                       b_left = share_of(b, left - parts_[i], left);
    if (a - a_left != b - b_left) return {i, b - b_left - 1};
    left -= parts_[i];
    a = a_left;
    b = b_left;
  }
}

std::int64_t Mix::count(std::size_t source, std::int64_t k) const {
  std::int64_t left = sum_, rest = k;
  for (std::size_t i = 0; i < source; ++i) {
    rest = share_of(rest, left - parts_[i], left);
    left -= parts_[i];
    if (left == 0) return 0;  // only sources of weight 0 are behind
  }
  return rest - share_of(rest, left - parts_[source], left);
}

MixSchedule::MixSchedule(Mix first) {
  const std::size_t sources = first.parts().size();
  stages_.push_back({0, std::move(first), std::vector<std::int64_t>(sources)});
}

void MixSchedule::add(std::int64_t from, Mix mix) {
  const Stage& last = stages_.back();
  STRATA_CHECK(from > last.from && mix.parts().size() == last.before.size(),
               "a stage of {} sources from element {} behind one of {} from {}", mix.parts().size(),
               from, last.before.size(), last.from);
  std::vector<std::int64_t> before;
  for (std::size_t s = 0; s < last.before.size(); ++s) before.push_back(count(s, from));
  stages_.push_back({from, std::move(mix), std::move(before)});
}

const MixSchedule::Stage& MixSchedule::stage(std::int64_t k) const {
  return *std::prev(std::upper_bound(stages_.begin(), stages_.end(), k,
                                     [](std::int64_t x, const Stage& s) { return x < s.from; }));
}

Mix::Pick MixSchedule::at(std::int64_t k) const {
  const Stage& s = stage(k);
  Mix::Pick out = s.mix.at(k - s.from);
  out.index += s.before[out.source];
  return out;
}

std::int64_t MixSchedule::count(std::size_t source, std::int64_t k) const {
  const Stage& s = stage(k);
  return s.before[source] + s.mix.count(source, k - s.from);
}

}  // namespace strata::data
