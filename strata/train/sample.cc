#include "strata/train/sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "strata/base/error.h"

namespace strata::train {
namespace {

using Tokens = std::vector<std::int32_t>;

/// Tokens with finite logits; the likeliest first where `count` asks for some of them in order.
Tokens ranked(std::span<const float> logits, std::size_t count) {
  Tokens tokens;
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (std::isfinite(logits[i])) tokens.push_back(static_cast<std::int32_t>(i));
  if (tokens.empty()) throw Error("sample", "none of {} logits is a finite number", logits.size());
  auto likelier = [&](std::int32_t a, std::int32_t b) {
    const float x = logits[static_cast<std::size_t>(a)], y = logits[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  };
  const auto end = tokens.begin() + static_cast<std::ptrdiff_t>(std::min(count, tokens.size()));
  std::partial_sort(tokens.begin(), end, tokens.end(), likelier);
  return tokens;
}

/// exp((logit - largest) / temperature) of some tokens.
std::vector<double> weigh(std::span<const float> logits, const Tokens& tokens, double temperature) {
  float largest = logits[static_cast<std::size_t>(tokens[0])];
  for (std::int32_t t : tokens) largest = std::max(largest, logits[static_cast<std::size_t>(t)]);
  std::vector<double> out;
  for (std::int32_t t : tokens)
    out.push_back(std::exp(
        (static_cast<double>(logits[static_cast<std::size_t>(t)]) - static_cast<double>(largest)) /
        temperature));
  return out;
}

/// How many of the weights, greatest first, reach the share p of their sum; at least one.
std::size_t reaching(const std::vector<double>& weights, double p) {
  const double goal = p * std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if ((sum += weights[i]) >= goal) return i + 1;
  return weights.size();
}

}  // namespace

std::vector<double> distribution(std::span<const float> logits, const Sampling& s) {
  const std::size_t most = s.temperature <= 0 ? 1
                           : s.top_k > 0      ? static_cast<std::size_t>(s.top_k)
                                              : logits.size();
  const bool in_order = most < logits.size() || s.top_p < 1;
  Tokens tokens = ranked(logits, in_order ? most : 0);
  tokens.resize(std::min(tokens.size(), most));
  std::vector<double> weights = weigh(logits, tokens, s.temperature <= 0 ? 1 : s.temperature);
  if (s.top_p < 1) weights.resize(reaching(weights, s.top_p));
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> out(logits.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    out[static_cast<std::size_t>(tokens[i])] = weights[i] / total;
  return out;
}

std::int32_t draw(std::span<const double> probabilities, double u) {
  double sum = 0;
  std::size_t last = 0;  // u so near 1 that rounding ate the rest
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] == 0) continue;
    sum += probabilities[last = i];
    if (sum > u) break;
  }
  return static_cast<std::int32_t>(last);
}

std::int32_t sample(std::span<const float> logits, const Sampling& sampling, double u) {
  return draw(distribution(logits, sampling), u);
}

double uniform_number(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

}  // namespace strata::train
