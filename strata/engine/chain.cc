#include "strata/engine/chain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "strata/base/error.h"

namespace strata::engine {
namespace {

void check_range(const char* name, double value, double least, double most) {
  if (!(value >= least && value <= most))
    throw Error("sampling", "{} must be in [{}, {}], got {}", name, least, most, value);
}

}  // namespace

void check(const Chain& c, std::int64_t vocabulary) {
  constexpr double kMost = 1e6;
  check_range("typical_p", c.typical_p, 0, 1);
  check_range("top_n_sigma", c.top_n_sigma, -1, kMost);
  check_range("xtc_probability", c.xtc_probability, 0, 1);
  check_range("xtc_threshold", c.xtc_threshold, 0, 1);
  check_range("dry_multiplier", c.dry_multiplier, 0, kMost);
  check_range("dry_base", c.dry_base, 1, kMost);
  if (c.dry_allowed_length < 0 || c.dry_penalty_last_n < -1)
    throw Error("sampling",
                "dry_allowed_length={} must be 0 or more, dry_penalty_last_n={} -1 or more",
                c.dry_allowed_length, c.dry_penalty_last_n);
  if (c.mirostat < 0 || c.mirostat > 2)
    throw Error("sampling", "mirostat must be 0, 1 or 2, got {}", c.mirostat);
  check_range("mirostat_tau", c.mirostat_tau, 0, kMost);
  check_range("mirostat_eta", c.mirostat_eta, 0, kMost);
  check_range("dynatemp_range", c.dynatemp_range, 0, 100);
  check_range("dynatemp_exponent", c.dynatemp_exponent, 0, kMost);
  for (const auto& breaker : c.dry_breakers) {
    if (breaker.empty()) throw Error("sampling", "dry_breakers must have one token at least, each");
    for (std::int32_t t : breaker)
      if (t < 0 || t >= vocabulary)
        throw Error("sampling", "dry_breakers: token {} is not in [0, {})", t, vocabulary);
  }
}

bool stage_of(std::string_view name, Chain::Stage& stage) {
  using Stage = Chain::Stage;
  static constexpr std::pair<std::string_view, Stage> kNames[] = {
      {"penalties", Stage::penalties},
      {"dry", Stage::dry},
      {"top_n_sigma", Stage::top_n_sigma},
      {"top-n-sigma", Stage::top_n_sigma},
      {"top_k", Stage::top_k},
      {"top-k", Stage::top_k},
      {"typ_p", Stage::typical_p},
      {"typical_p", Stage::typical_p},
      {"typical-p", Stage::typical_p},
      {"typical", Stage::typical_p},
      {"typ-p", Stage::typical_p},
      {"typ", Stage::typical_p},
      {"top_p", Stage::top_p},
      {"top-p", Stage::top_p},
      {"nucleus", Stage::top_p},
      {"min_p", Stage::min_p},
      {"min-p", Stage::min_p},
      {"xtc", Stage::xtc},
      {"temperature", Stage::temperature},
      {"temp", Stage::temperature}};
  for (const auto& [known, one] : kNames)
    if (known == name) {
      stage = one;
      return true;
    }
  return false;
}

namespace chain {

Candidates candidates(std::span<const float> logits) {
  Candidates out;
  out.reserve(logits.size());
  for (std::size_t t = 0; t < logits.size(); ++t)
    if (logits[t] > -std::numeric_limits<float>::infinity())
      out.push_back({static_cast<std::int32_t>(t), logits[t]});
  return out;
}

void sort(Candidates& all) {
  const auto likelier = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  if (!std::is_sorted(all.begin(), all.end(), likelier))
    std::sort(all.begin(), all.end(), likelier);
}

std::vector<double> softmax(const Candidates& all) {
  std::vector<double> p(all.size());
  float most = -std::numeric_limits<float>::infinity();
  for (const Candidate& c : all) most = std::max(most, c.logit);
  double sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    sum += p[i] = std::exp(static_cast<double>(all[i].logit - most));
  for (double& x : p) x /= sum;
  return p;
}

void keep_top_n_sigma(Candidates& all, double n) {
  if (n <= 0 || all.size() < 2) return;
  double sum = 0, squares = 0, most = -std::numeric_limits<double>::infinity();
  for (const Candidate& c : all) {
    sum += static_cast<double>(c.logit);
    most = std::max(most, static_cast<double>(c.logit));
  }
  const auto size = static_cast<double>(all.size()), mean = sum / size;
  for (const Candidate& c : all) {
    const double apart = static_cast<double>(c.logit) - mean;
    squares += apart * apart;
  }
  const double least = most - n * std::sqrt(squares / size);
  std::erase_if(all, [&](const Candidate& c) { return static_cast<double>(c.logit) < least; });
}

void keep_top_k(Candidates& all, std::int64_t k) {
  if (k <= 0 || static_cast<std::size_t>(k) >= all.size()) return;
  sort(all);
  all.resize(static_cast<std::size_t>(k));
}

void keep_typical(Candidates& all, double p) {
  if (p >= 1 || all.size() < 2) return;
  sort(all);
  const std::vector<double> probability = softmax(all);
  double entropy = 0;
  for (double x : probability)
    if (x > 0) entropy -= x * std::log(x);
  std::vector<std::pair<double, std::size_t>> apart;
  for (std::size_t i = 0; i < all.size(); ++i)
    apart.emplace_back(std::abs(-std::log(probability[i]) - entropy), i);
  std::sort(apart.begin(), apart.end());
  Candidates kept;
  double sum = 0;
  for (const auto& [distance, i] : apart) {
    kept.push_back(all[i]);
    sum += probability[i];
    if (sum > p) break;
  }
  all = std::move(kept);
  sort(all);
}

void keep_top_p(Candidates& all, double p) {
  if (p >= 1 || all.size() < 2) return;
  sort(all);
  const std::vector<double> probability = softmax(all);
  std::size_t count = 0;
  double sum = 0;
  while (count < all.size()) {
    sum += probability[count++];
    if (sum >= p) break;
  }
  all.resize(count);
}

void keep_min_p(Candidates& all, double p) {
  if (p <= 0 || all.size() < 2) return;
  float most = -std::numeric_limits<float>::infinity();
  for (const Candidate& c : all) most = std::max(most, c.logit);
  const double least = static_cast<double>(most) + std::log(p);
  std::erase_if(all, [&](const Candidate& c) { return static_cast<double>(c.logit) < least; });
}

void leave_out_top(Candidates& all, double threshold) {
  if (threshold > 0.5 || all.size() < 2) return;
  sort(all);
  const std::vector<double> probability = softmax(all);
  std::size_t above = 0;
  while (above < all.size() && probability[above] >= threshold) ++above;
  // The least likely of them stays.
  if (above > 1) all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(above - 1));
}

void at_temperature(Candidates& all, double temperature) {
  if (all.empty()) return;
  if (temperature <= 0) {
    sort(all);
    all.resize(1);
    return;
  }
  for (Candidate& c : all) c.logit /= static_cast<float>(temperature);
}

double dynamic_temperature(const Candidates& all, double temperature, double range,
                           double exponent) {
  if (range <= 0 || all.size() < 2) return temperature;
  const double least = std::max(0.0, temperature - range), most = temperature + range;
  double entropy = 0;
  for (double x : softmax(all))
    if (x > 0) entropy -= x * std::log(x);
  const double part = entropy / std::log(static_cast<double>(all.size()));
  return least + (most - least) * std::pow(part, exponent);
}

namespace {

using Breakers = std::vector<std::vector<std::int32_t>>;

/// Those that begin with a token, of breakers in order.
std::span<const std::vector<std::int32_t>> beginning(const Breakers& sorted, std::int32_t token) {
  const auto first = std::lower_bound(sorted.begin(), sorted.end(), std::vector{token});
  auto last = first;
  while (last != sorted.end() && last->front() == token) ++last;
  return {first, last};
}

/// How many of the last tokens stand behind the last breaker; all where there is none.
std::size_t behind_breaker(std::span<const std::int32_t> tokens, const Breakers& sorted) {
  const std::size_t size = tokens.size();
  for (std::size_t i = 0; i < size; ++i) {
    const auto head = tokens.end() - 1 - static_cast<std::ptrdiff_t>(i);
    std::size_t longest = 0;
    for (const auto& breaker : beginning(sorted, *head))
      if (breaker.size() <= i + 1 && breaker.size() > longest &&
          std::equal(breaker.begin(), breaker.end(), head))
        longest = breaker.size();
    if (longest > 0) return i + 1 - longest;
  }
  return size;
}

/// For each place k, how long the text that ends k tokens before the end equals that at the end:
/// the Z function of the reversed text.
std::vector<std::size_t> equal_ends(std::span<const std::int32_t> tokens) {
  const std::size_t size = tokens.size();
  const auto at = [&](std::size_t i) { return tokens[size - 1 - i]; };
  std::vector<std::size_t> z(size);
  for (std::size_t k = 1, left = 0, right = 0; k < size; ++k) {
    if (k < right) z[k] = std::min(right - k, z[k - left]);
    while (k + z[k] < size && at(z[k]) == at(k + z[k])) ++z[k];
    if (k + z[k] > right) left = k, right = k + z[k];
  }
  return z;
}

}  // namespace

void dry(Candidates& all, const Chain& chain, std::span<const std::int32_t> tokens) {
  if (chain.dry_multiplier == 0 || chain.dry_penalty_last_n == 0) return;
  if (chain.dry_penalty_last_n > 0)
    tokens =
        tokens.last(std::min(tokens.size(), static_cast<std::size_t>(chain.dry_penalty_last_n)));
  const auto allowed = static_cast<std::size_t>(chain.dry_allowed_length);
  if (tokens.size() <= allowed) return;
  Breakers other;
  if (!std::is_sorted(chain.dry_breakers.begin(), chain.dry_breakers.end())) {
    other = chain.dry_breakers;
    std::sort(other.begin(), other.end());
  }
  const Breakers& breakers = other.empty() ? chain.dry_breakers : other;
  const std::size_t most = behind_breaker(tokens, breakers);
  if (most < allowed) return;
  const std::vector<std::size_t> equal = equal_ends(tokens);
  std::map<std::int32_t, std::size_t> repeats;  // by the token that would go on with one
  for (std::size_t k = 1; k < tokens.size(); ++k) {
    const std::size_t length = std::min(equal[k], most);
    if (length < allowed) continue;
    std::size_t& longest = repeats[tokens[tokens.size() - k]];
    longest = std::max(longest, length);
  }
  // Of a token's breakers the shortest comes first.
  std::erase_if(repeats, [&](const auto& repeat) {
    const auto its = beginning(breakers, repeat.first);
    return !its.empty() && its.front().size() == 1;
  });
  if (repeats.empty()) return;
  // base^exponent stays a number of f32.
  const double highest =
      chain.dry_base > 1.000001 ? std::floor(88.7228391 / std::log(chain.dry_base)) : 0;
  for (Candidate& c : all) {
    const auto found = repeats.find(c.token);
    if (found == repeats.end()) continue;
    double exponent = static_cast<double>(found->second - allowed);
    if (highest > 0) exponent = std::min(exponent, highest);
    c.logit -= static_cast<float>(chain.dry_multiplier * std::pow(chain.dry_base, exponent));
  }
}

void keep_mirostat(Candidates& all, int version, double mu, std::int64_t vocabulary) {
  if (all.size() < 2) return;
  sort(all);
  if (version == 2) {
    const std::vector<double> probability = softmax(all);
    std::size_t count = 1;
    while (count < all.size() && -std::log2(probability[count]) <= mu) ++count;
    all.resize(count);
    return;
  }
  // Zipf's exponent of the likeliest tokens.
  constexpr std::size_t kTokens = 100;
  double products = 0, squares = 0;
  for (std::size_t i = 0; i + 1 < kTokens && i + 1 < all.size(); ++i) {
    const double t = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
    products += t * static_cast<double>(all[i].logit - all[i + 1].logit);
    squares += t * t;
  }
  const double s = products / squares, e = s - 1;
  const double k =
      std::pow(e * std::pow(2.0, mu) / (1 - std::pow(static_cast<double>(vocabulary), -e)), 1 / s);
  // Where all are alike there is no exponent, and no border.
  if (!std::isfinite(k) || k >= static_cast<double>(all.size())) return;
  all.resize(std::max<std::size_t>(1, static_cast<std::size_t>(std::max(k, 0.0))));
}

double mirostat_next(const Candidates& kept, std::int32_t token, const Chain& chain, double mu) {
  const std::vector<double> probability = softmax(kept);
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i].token == token)
      return mu - chain.mirostat_eta * (-std::log2(probability[i]) - chain.mirostat_tau);
  return mu;
}

}  // namespace chain
}  // namespace strata::engine
