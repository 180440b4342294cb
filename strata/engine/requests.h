// Questions about texts as lines of JSON: what evaluation harnesses ask of a model.
//
//   engine::Answers answers(lm, {.max_length = 2048});
//   std::cout << answers.to(R"({"loglikelihood": ["The sky is", " blue"]})") << "\n";
//
// | request | answer |
// |---|---|
// | {"loglikelihood": [context, continuation]} | {"logprob": the sum over the continuation's
// tokens,
//   "greedy": whether each is the likeliest} |
// | {"loglikelihood_rolling": text} | {"logprob": of the whole text, "tokens": how many} |
// | {"generate": prompt, "until": [...], "max_tokens": n, "temperature": t, "top_p": p, "seed": s}
// |
//   {"text": what follows the prompt, without the string that ended it, "tokens": how many} |
//
// An "id" comes back with the answer. A request that is wrong gives {"error": why}.
//
// Texts become tokens as in lm_eval's model for transformers: spaces at a context's end go with the
// continuation; the continuation's tokens are those of the whole text behind as many as the context
// has alone; an empty context is the token that begins a text; too long a context loses its
// beginning.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "strata/engine/score.h"
#include "strata/engine/text.h"

namespace strata::engine {

struct AnswerOptions {
  /// The longest sequence; no more than the model was made for.
  std::int64_t max_length = 2048;
  /// Tokens of an answer to `generate` that names none, half of max_length at most.
  std::int64_t max_tokens = 256;
};

class Answers {
 public:
  /// The language model must outlive it.
  Answers(const LanguageModel& lm, const AnswerOptions& options);
  /// The answer to one line, a JSON object without line ends.
  std::string to(std::string_view line);

 private:
  const LanguageModel& lm_;
  AnswerOptions options_;
  Scorer scorer_;
  TextEngine engine_;
};

}  // namespace strata::engine
