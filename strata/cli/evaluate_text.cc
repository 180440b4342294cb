#include "strata/cli/evaluate_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/base/progress.h"
#include "strata/cli/command.h"
#include "strata/engine/requests.h"

namespace strata::cli {
namespace {

int perplexity(const engine::LanguageModel& lm, const EvaluateText& o) {
  auto text = read_file(o.perplexity);
  if (!text) return fail(text.status());
  const std::vector<std::int32_t> tokens = lm.tokenizer->encode_with(*text, {.add_special = true});
  if (tokens.size() < 2)
    return fail(Status(Code::invalid, "{}: fewer than two tokens", o.perplexity));
  const std::int64_t length =
      lm.at_most(std::min<std::int64_t>(o.context, static_cast<std::int64_t>(tokens.size())));
  const std::int64_t stride = o.stride > 0 ? o.stride : std::max<std::int64_t>(1, length / 2);
  if (stride >= length)
    return fail(Status(Code::invalid, "--stride {} is not below the {} tokens of a window", stride,
                       length));
  Progress progress(STDERR_FILENO);
  const engine::Scorer scorer(lm.model, lm.params, length);
  const auto total = static_cast<std::int64_t>(tokens.size());
  const engine::Perplexity p = engine::perplexity(
      scorer, tokens, length, stride,
      [&](std::int64_t done) { progress.show(fmt::format("{} of {} tokens", done, total)); });
  progress.clear();
  if (o.json)
    std::cout << nlohmann::ordered_json{{"perplexity", p.perplexity()},
                                        {"nats", p.nats},
                                        {"tokens", p.tokens},
                                        {"bits_per_byte", p.bits_per_byte(text->size())},
                                        {"context", length},
                                        {"stride", stride}}
                     .dump()
              << "\n";
  else
    std::cout << fmt::format(
        "perplexity {:.4f} over {} tokens, {:.4f} bits per byte (windows of {} tokens, {} apart)\n",
        p.perplexity(), p.tokens, p.bits_per_byte(text->size()), length, stride);
  return kDone;
}

int requests(const engine::LanguageModel& lm, const EvaluateText& o) {
  engine::Answers answers(lm, {.max_length = o.context});
  std::cerr << "ready\n";
  for (std::string line; std::cout && std::getline(std::cin, line);)
    if (!line.empty()) std::cout << answers.to(line) << std::endl;
  return std::cout ? kDone : kWorkFailed;
}

}  // namespace

int evaluate_text(const EvaluateText& o) {
  if (o.perplexity.empty() == !o.requests)
    return fail(Status(Code::invalid, "--model: what is asked? --perplexity FILE, or --requests"));
  auto lm = engine::load_language_model(
      o.model,
      {.int8_activations = o.activations == "int8", .length = o.context, .adapter = o.adapter});
  if (!lm) return fail(lm.status());
  return o.requests ? requests(*lm, o) : perplexity(*lm, o);
}

}  // namespace strata::cli
