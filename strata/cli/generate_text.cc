#include "strata/cli/generate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "strata/cli/command.h"
#include "strata/engine/text.h"

namespace strata::cli {
namespace {

using nlohmann::ordered_json;

/// Tokens of an answer where neither the user nor the model says how many.
constexpr std::int64_t kUsualTokens = 256;

struct Drawn {
  engine::TextOutput out;
  std::vector<std::int32_t> prompt;
  std::uint64_t seed = 0;
};

/// Drawn tokens of the texts together, in a second of drawing.
double tokens_per_second(const std::vector<Drawn>& all) {
  double seconds = 0, tokens = 0;
  for (const Drawn& d : all) {
    seconds = std::max(seconds, d.out.seconds);
    tokens += static_cast<double>(d.out.tokens.size()) - 1;
  }
  return seconds > 0 ? tokens / seconds : 0;
}

ordered_json to_json(const Drawn& d) {
  return {{"tokens", d.out.tokens},         {"text", d.out.text},
          {"logprobs", d.out.logprobs},     {"prompt_tokens", d.prompt},
          {"end", engine::name(d.out.end)}, {"seed", d.seed}};
}

}  // namespace

int generate_text(const GenerateText& o) {
  auto lm = engine::load_language_model(
      o.model, {.int8_activations = o.activations == "int8", .adapter = o.adapter});
  if (!lm) return fail(lm.status());
  for (const std::string& note : lm->notes) std::cerr << "note: " << note << "\n";
  std::vector<std::string> prompts = o.prompts;
  if (prompts.empty()) prompts.emplace_back();
  for (std::string& p : prompts)
    if (p == "-") p.assign(std::istreambuf_iterator<char>(std::cin), {});
  const std::int64_t max_tokens =
      o.max_tokens.value_or(lm->generation.max_new_tokens.value_or(kUsualTokens));
  std::vector<Drawn> all;
  std::int64_t longest = 0;
  for (const std::string& p : prompts)
    for (std::int64_t i = 0; i < o.num_samples; ++i) {
      all.push_back({.out = {},
                     .prompt = lm->prompt(p),
                     .seed = o.sampling.seed + static_cast<std::uint64_t>(i)});
      longest = std::max(longest, static_cast<std::int64_t>(all.back().prompt.size()));
    }
  const auto batch = std::min<std::int64_t>(static_cast<std::int64_t>(all.size()), 16);
  engine::Options options = engine::options_for(*lm, longest + max_tokens, batch);
  if (Status s = o.engine.put_into(options, *lm); !s.ok()) return fail(s);
  engine::TextEngine engine(*lm, options);
  const std::int64_t room = engine.engine().options().max_length;
  if (longest >= room)
    return fail(Status(Code::invalid, "--prompt: {} tokens, and {} takes {} with what it draws",
                       longest, o.model, room));
  const bool streams = !o.json && all.size() == 1;
  if (streams) std::cout << prompts[0] << std::flush;
  std::vector<engine::Id> ids;
  bool lost = false;
  for (Drawn& d : all) {
    engine::Sampling sampling = o.sampling.over(lm->generation.sampling);
    sampling.seed = d.seed;
    ids.push_back(engine.submit(
        {.tokens = d.prompt,
         .sampling = sampling,
         .max_tokens = std::min(max_tokens, room - static_cast<std::int64_t>(d.prompt.size())),
         .stop = o.stop,
         .ignore_eos = o.ignore_eos,
         .on_text = [&](std::string_view text) {
           if (streams) std::cout << text << std::flush;
           lost = lost || !std::cout;
         }}));
  }
  while (!lost && engine.step()) {
  }
  if (lost) return kWorkFailed;  // whoever ends the command says why
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].out = engine.take(ids[i]);
    if (all[i].out.end == engine::End::error)
      return fail(Status(Code::invalid, "{}: {}", o.model, all[i].out.error));
  }
  const double rate = tokens_per_second(all);
  if (o.json) {
    ordered_json out;
    if (all.size() == 1) {
      out = to_json(all[0]);
    } else {
      out["samples"] = ordered_json::array();
      for (const Drawn& d : all) out["samples"].push_back(to_json(d));
    }
    out["tokens_per_s"] = rate;
    std::cout << out.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << "\n";
  } else if (streams) {
    std::cout << "\n";
  } else {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto per = static_cast<std::size_t>(o.num_samples);
      std::cout << fmt::format("--- {} of {}, seed {}\n{}{}\n", i + 1, all.size(), all[i].seed,
                               prompts[i / per], all[i].out.text);
    }
  }
  if (o.stats) {
    std::int64_t read = 0;
    double reading = 0;
    for (const Drawn& d : all) {
      read += d.out.prompt_tokens;
      reading = std::max(reading, d.out.prompt_seconds);
    }
    std::cerr << fmt::format(
        "{} tokens of prompt in {:.3f} s with compiling, {:.1f} tokens/s drawn\n", read, reading,
        rate);
    if (const std::string guesses = guesses_of(engine.engine().statistics()); !guesses.empty())
      std::cerr << guesses << "\n";
  }
  return kDone;
}

}  // namespace strata::cli
