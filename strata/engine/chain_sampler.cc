#include "strata/engine/chain_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "strata/api/transform/jit.h"
#include "strata/base/check.h"

namespace strata::engine {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

/// In [0, 1), by seed and position; another stream than the noise's.
double chance(std::uint64_t seed, std::int64_t position) {
  constexpr std::uint64_t kStream = 0x5854435f64726177ull;  // "XTC_draw"
  return static_cast<double>(seed_of_sample(seed ^ kStream, position + 1) >> 11) * 0x1p-53;
}

/// Logits of candidates as a row of a table, -inf where there is none.
std::vector<float> spread(const chain::Candidates& all, std::size_t size) {
  std::vector<float> out(size, kNever);
  for (const chain::Candidate& c : all) out[static_cast<std::size_t>(c.token)] = c.logit;
  return out;
}

void to_logprobs(std::vector<float>& row) {
  const float most = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (float x : row) sum += std::exp(static_cast<double>(x - most));
  const float total = most + static_cast<float>(std::log(sum));
  for (float& x : row) x -= total;
}

}  // namespace

ChainSampler::ChainSampler(Sampling sampling, std::span<const std::int32_t> prompt,
                           std::int64_t vocabulary, Noise noise)
    : sampling_(std::move(sampling)),
      prompt_(prompt.begin(), prompt.end()),
      in_prompt_(static_cast<std::size_t>(vocabulary)),
      vocabulary_(vocabulary),
      noise_(std::move(noise)) {
  STRATA_CHECK(sampling_.chain.has_value(), "a sampler of a chain needs one");
  mu_ = 2 * sampling_.chain->mirostat_tau;
  for (std::int32_t t : prompt_)
    if (t < vocabulary) in_prompt_[static_cast<std::size_t>(t)] = true;
}

void ChainSampler::penalise(chain::Candidates& all, std::span<const std::int32_t> output) const {
  if (!sampling_.has_penalties()) return;
  std::vector<std::int32_t> counts(in_prompt_.size());
  for (std::int32_t t : output)
    if (static_cast<std::size_t>(t) < counts.size()) ++counts[static_cast<std::size_t>(t)];
  const auto repetition = static_cast<float>(sampling_.repetition_penalty),
             frequency = static_cast<float>(sampling_.frequency_penalty),
             presence = static_cast<float>(sampling_.presence_penalty);
  for (chain::Candidate& c : all) {
    const auto t = static_cast<std::size_t>(c.token);
    if (in_prompt_[t] || counts[t] > 0)
      c.logit = c.logit < 0 ? c.logit * repetition : c.logit / repetition;
    if (counts[t] == 0) continue;
    c.logit -= frequency * static_cast<float>(counts[t]);
    c.logit -= presence;
  }
}

void ChainSampler::apply(Chain::Stage stage, chain::Candidates& all,
                         std::span<const std::int32_t> output, std::int64_t position) const {
  const Chain& c = *sampling_.chain;
  using Stage = Chain::Stage;
  switch (stage) {
    case Stage::penalties: return penalise(all, output);
    case Stage::dry: {
      std::vector<std::int32_t> tokens = prompt_;
      tokens.insert(tokens.end(), output.begin(), output.end());
      return chain::dry(all, c, tokens);
    }
    case Stage::top_n_sigma: return chain::keep_top_n_sigma(all, c.top_n_sigma);
    case Stage::top_k: return chain::keep_top_k(all, sampling_.top_k);
    case Stage::typical_p: return chain::keep_typical(all, c.typical_p);
    case Stage::top_p: return chain::keep_top_p(all, sampling_.top_p);
    case Stage::min_p: return chain::keep_min_p(all, sampling_.min_p);
    case Stage::xtc:
      if (c.xtc_probability > 0 && chance(sampling_.seed, position) <= c.xtc_probability)
        chain::leave_out_top(all, c.xtc_threshold);
      return;
    case Stage::temperature: {
      const double given = sampling_.greedy() ? 0 : std::max(sampling_.temperature, 0.01);
      return chain::at_temperature(
          all, chain::dynamic_temperature(all, given, c.dynatemp_range, c.dynatemp_exponent));
    }
  }
}

Chosen ChainSampler::draw(std::span<const float> logits, std::span<const float> bias,
                          std::span<const std::int32_t> output, std::int64_t position,
                          bool with_table) {
  const auto size = static_cast<std::size_t>(vocabulary_);
  std::vector<float> x(logits.begin(), logits.begin() + static_cast<std::ptrdiff_t>(size));
  if (!bias.empty())
    for (std::size_t t = 0; t < size; ++t) x[t] += bias[t];
  chain::Candidates all = chain::candidates(x);
  STRATA_CHECK(!all.empty(), "no token may be drawn");
  const Chain& c = *sampling_.chain;
  using Stage = Chain::Stage;
  using Mode = Sampling::LogprobsMode;
  const Mode mode = sampling_.logprobs_mode;
  std::vector<float> told;
  if (mode == Mode::raw_logprobs || mode == Mode::raw_logits) {
    told.assign(logits.begin(), logits.begin() + static_cast<std::ptrdiff_t>(size));
  } else if (mode == Mode::tempered) {
    chain::Candidates warm = all;
    if (c.mirostat == 0)
      for (const Stage stage : c.order)
        if (stage == Stage::penalties || stage == Stage::dry) apply(stage, warm, output, position);
    if (!sampling_.greedy()) chain::at_temperature(warm, std::max(sampling_.temperature, 0.01));
    told = spread(warm, size);
  }
  if (c.mirostat > 0) {
    apply(Stage::temperature, all, output, position);
    chain::keep_mirostat(all, c.mirostat, mu_, vocabulary_);
  } else {
    for (const Stage stage : c.order) apply(stage, all, output, position);
  }
  if (told.empty()) told = spread(all, size);
  Chosen out;
  const bool greedy = sampling_.greedy();
  std::span<const float> noise;
  if (all.size() > 1 && !greedy) noise = noise_(sampling_.seed, position);
  float most = kNever;
  out.token = -1;
  for (const chain::Candidate& one : all) {
    const float value =
        noise.empty() ? one.logit : one.logit + noise[static_cast<std::size_t>(one.token)];
    if (out.token < 0 || value > most || (value == most && one.token < out.token))
      most = value, out.token = one.token;
  }
  if (c.mirostat > 0) mu_ = chain::mirostat_next(all, out.token, c, mu_);
  if (mode != Mode::raw_logits && mode != Mode::processed_logits) to_logprobs(told);
  out.logprob = told[static_cast<std::size_t>(out.token)];
  if (with_table) {
    told.resize(logits.size(), kNever);
    out.table = std::move(told);
  }
  return out;
}

ChainSampler::Noise compiled_noise(std::int64_t vocabulary) {
  const auto made = std::make_shared<std::vector<float>>();
  return [made, run = jit(
                    [vocabulary](const Array& seed, const Array& position) {
                      return noise(seed, position, vocabulary);
                    },
                    {.name = "noise"})](std::uint64_t seed,
                                        std::int64_t position) -> std::span<const float> {
    const std::vector<std::uint32_t> words = {static_cast<std::uint32_t>(seed >> 32),
                                              static_cast<std::uint32_t>(seed)};
    *made = run(array(words, Sizes{1, 2}),
                array(std::vector<std::int32_t>{static_cast<std::int32_t>(position)}))
                .to_vector<float>();
    return *made;
  };
}

}  // namespace strata::engine
