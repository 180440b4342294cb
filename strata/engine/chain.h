// llama.cpp's samplers: a chain of cuts over the candidates for one token.
//
//   Chain chain{.typical_p = 0.9, .xtc_probability = 0.5};
//   chain::Candidates all = chain::candidates(logits_V);
//   chain::keep_typical(all, chain.typical_p);        // the others are gone
//
// Each sampler is a function of the candidates and its numbers alone. A request that names one of
// them (Sampling::chain) is drawn in this chain's order on the host (chain_sampler.h); without it
// the compiled step draws (sampling.h).
//
// Source: llama.cpp v0.5.0, src/llama-sampler.cpp; testdata/llama_samplers.json holds its results.
// Deviations: of equal logits the smaller token comes first; log-ratios of Mirostat are differences
// of logits; sums are in f64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace strata::engine {

/// What a chain's stages are told. Names and meanings are llama.cpp's; what says nothing is off.
struct Chain {
  enum class Stage {
    penalties,
    dry,
    top_n_sigma,
    top_k,
    typical_p,
    top_p,
    min_p,
    xtc,
    temperature
  };
  /// Only tokens whose information is near the distribution's entropy, of this probability
  /// together; 1: all. Source: Meister et al., Locally Typical Sampling (2022).
  double typical_p = 1;
  /// Only tokens whose logit is at most so many standard deviations below the greatest; at most 0:
  /// all. Source: Tang et al., Top-n-sigma (2024).
  double top_n_sigma = -1;
  /// With this probability all tokens but the least likely of those of `xtc_threshold` and more are
  /// left out; a threshold above 0.5 does nothing.
  double xtc_probability = 0, xtc_threshold = 0.1;
  /// DRY: multiplier * base^(length - allowed_length) is taken from a token that would make a
  /// repetition of `length` tokens and one longer, within so many last tokens of prompt and output
  /// (-1: all of them; 0: off). Repetitions do not reach over breakers, which are sequences of
  /// tokens; they cost least in rising order.
  double dry_multiplier = 0, dry_base = 1.75;
  std::int64_t dry_allowed_length = 2, dry_penalty_last_n = -1;
  std::vector<std::vector<std::int32_t>> dry_breakers = {};
  /// 1 or 2: this version of Mirostat draws, behind the temperature and no other stage; 0: off.
  /// Source: Basu et al., Mirostat (2021).
  int mirostat = 0;
  double mirostat_tau = 5, mirostat_eta = 0.1;
  /// The temperature lies within so much of the request's, by the distribution's entropy as a part
  /// of the greatest, to this power; 0: as it is.
  double dynatemp_range = 0, dynatemp_exponent = 1;
  /// Stages in their order; one that is not named does nothing.
  std::vector<Stage> order = {Stage::penalties, Stage::dry,       Stage::top_n_sigma,
                              Stage::top_k,     Stage::typical_p, Stage::top_p,
                              Stage::min_p,     Stage::xtc,       Stage::temperature};
};
/// Throws Error for a number out of range, which it names, and for breakers that are empty or have
/// tokens outside of [0, vocabulary).
void check(const Chain& chain, std::int64_t vocabulary);
/// The stage of a name that llama.cpp knows ("typ_p", "typical_p", ...); false: it is none.
bool stage_of(std::string_view name, Chain::Stage& stage);

namespace chain {

struct Candidate {
  std::int32_t token;
  float logit;
};
using Candidates = std::vector<Candidate>;

/// All tokens that may be drawn: those of logits (V) above -inf.
Candidates candidates(std::span<const float> logits_V);
/// The likeliest first, of equal ones the smaller token.
void sort(Candidates& all);
/// Probabilities, in the order of the candidates.
std::vector<double> softmax(const Candidates& all);

/// Each keeps one candidate at least, and sorts where it has to.
void keep_top_n_sigma(Candidates& all, double n);
void keep_top_k(Candidates& all, std::int64_t k);
void keep_typical(Candidates& all, double p);
void keep_top_p(Candidates& all, double p);
void keep_min_p(Candidates& all, double p);
/// What XTC leaves where its chance has come.
void leave_out_top(Candidates& all, double threshold);
/// Logits divided by it; 0: the likeliest alone.
void at_temperature(Candidates& all, double temperature);
/// The temperature that the candidates' entropy asks for.
double dynamic_temperature(const Candidates& all, double temperature, double range,
                           double exponent);
/// Takes DRY's penalties from candidates, behind these tokens of prompt and output.
/// O(tokens x longest breaker + candidates).
void dry(Candidates& all, const Chain& chain, std::span<const std::int32_t> tokens);
/// What Mirostat of a version keeps at surprise `mu`, of a vocabulary of so many tokens.
void keep_mirostat(Candidates& all, int version, double mu, std::int64_t vocabulary);
/// The surprise to aim at behind a token of those kept.
double mirostat_next(const Candidates& kept, std::int32_t token, const Chain& chain, double mu);

}  // namespace chain
}  // namespace strata::engine
