// A conversation as tokens, and which of them are answers.
//
//   auto example = data::example_of(conversation, {.tokenizer = t, .chat_template = &chat});
//   example->tokens, example->learned       // learned[i]: token i is to be predicted
//
// What counts as an answer is exact: the text that the template puts inside {% generation %}, else
// what a longer rendering has beyond a shorter one, where each is the beginning of the next; a
// template that writes an answer otherwise once more follows is refused, never guessed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/data/conversations.h"
#include "strata/tokenizer/chat_template/chat_template.h"
#include "strata/tokenizer/tokenizer.h"

namespace strata::data {

struct Example {
  std::vector<std::int32_t> tokens;
  /// Of each token 1 where it counts as a target, else 0.
  std::vector<std::uint8_t> learned;
  /// Where the first token begins in the rendered conversation, in tokens and in bytes: not 0 where
  /// the beginning was cut off.
  std::int64_t first_token = 0, first_byte = 0;
  /// Whether the last token is the one that ends a text, which stands for no bytes.
  bool ended = false;
};

/// What a token is of a rendered conversation: a special one's name, another one's bytes.
std::string text_of_token(std::int32_t token, const tokenizer::Tokenizer& tokenizer);

struct ExampleOptions {
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  /// Needed by conversations; null for texts alone.
  const tokenizer::ChatTemplate* chat_template = nullptr;
  /// Learn answers alone, or all tokens.
  bool answers_only = true;
};

/// Tokens of the rendered conversation; special tokens in what messages say are text. Of texts:
/// prompt and completion as they are, with the token that ends a text behind. What a template asks
/// of the time is 26 July 2024, so that the same lines give the same tokens. A token counts as an
/// answer's where any of its bytes is. Code::invalid, naming the line, where the template refuses,
/// where an answer's bounds cannot be known, and where there is no answer.
Result<Example> example_of(const Conversation& conversation, const ExampleOptions& options);

}  // namespace strata::data
