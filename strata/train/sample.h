// Which token comes next, drawn from logits.
//
//   std::int32_t token = train::sample(logits, {.temperature = 0.7, .top_k = 40, .top_p = 0.95},
//   train::uniform_number(seed, i));
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace strata::train {

struct Sampling {
  /// 0 takes the likeliest token each time; 1 draws from the model's own distribution.
  double temperature = 0.8;
  /// Only this many of the likeliest tokens are drawn from; 0 for all.
  std::int64_t top_k = 0;
  /// Only the fewest of the likeliest tokens whose probabilities reach this sum are drawn from; 1
  /// for all.
  double top_p = 1.0;
};

/// Probabilities of all tokens: softmax(logits / temperature), of which the top_k likeliest are
/// kept, of these (their probabilities taken anew) those of top_p, whose probabilities sum to 1. Of
/// equally likely tokens the first ranks first. Temperature 0: the first of the likeliest has 1.
/// Throws Error for logits of which none is a finite number. Source: top_p is Holtzman et al., The
/// Curious Case of Neural Text Degeneration (2020).
std::vector<double> distribution(std::span<const float> logits, const Sampling& sampling);

/// The first token at which the sum of the probabilities so far exceeds u, uniform in [0, 1).
std::int32_t draw(std::span<const double> probabilities, double u);

/// draw of the distribution.
std::int32_t sample(std::span<const float> logits, const Sampling& sampling, double u);

/// Number `i` of the stream of `seed`, uniform in [0, 1): SplitMix64, 53 bits.
/// Source: Steele, Lea and Flood, Fast splittable pseudorandom number generators (2014).
double uniform_number(std::uint64_t seed, std::uint64_t i);

}  // namespace strata::train
