#include "strata/cli/sampling_options.h"

namespace strata::cli {

void SamplingOptions::add_to(CommandLine& command) {
  command
      .add_option("--temperature", temperature,
                  "0: the likeliest token each time; 1: the model's own distribution (default: as "
                  "its generation_config.json says; 0.8 for a checkpoint)")
      .in_range(0.0, 100.0);
  command.add_option("--top_k", top_k, "draw from this many of the likeliest tokens; 0: from all")
      .in_range(std::int64_t{0}, std::int64_t{1} << 30);
  command
      .add_option(
          "--top_p", top_p,
          "draw from the fewest of the likeliest tokens that have this probability together")
      .in_range(0.0, 1.0);
  command
      .add_option("--min_p", min_p,
                  "draw from tokens with this part of the likeliest one's probability")
      .in_range(0.0, 1.0);
  command
      .add_option("--repetition_penalty", repetition_penalty,
                  "divides the logits of tokens that were there; 1: none")
      .in_range(0.01, 100.0);
  command
      .add_option("--frequency_penalty", frequency_penalty,
                  "taken from a token's logit for each time that it was drawn")
      .in_range(-2.0, 2.0);
  command
      .add_option("--presence_penalty", presence_penalty,
                  "taken from the logits of tokens that were drawn")
      .in_range(-2.0, 2.0);
  command
      .add_option("--seed", seed, "the same seed gives the same text; sample i is that of seed + i")
      .show_default();
}

engine::Sampling SamplingOptions::over(engine::Sampling usual) const {
  if (temperature) usual.temperature = *temperature;
  if (top_k) usual.top_k = *top_k;
  if (top_p) usual.top_p = *top_p;
  if (min_p) usual.min_p = *min_p;
  if (repetition_penalty) usual.repetition_penalty = *repetition_penalty;
  if (frequency_penalty) usual.frequency_penalty = *frequency_penalty;
  if (presence_penalty) usual.presence_penalty = *presence_penalty;
  usual.seed = seed;
  return usual;
}

}  // namespace strata::cli
