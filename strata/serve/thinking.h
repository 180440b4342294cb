// How long a model thinks: behind so many tokens between its marks, the mark that ends it comes.
//
//   Marks marks(*lm.tokenizer, "<think>", "</think>");
//   request.shape = marks.begin(prompt, 256).shape({});
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strata/tokenizer/tokenizer.h"

namespace strata::serve {

/// A request's budget of thinking.
struct Thinking {
  using Shape = std::function<bool(std::span<const std::int32_t>, std::span<float>)>;
  std::vector<std::int32_t> begins, ends;  // tokens of the marks
  std::int64_t most = 0;
  /// Whether the prompt ends within thoughts, and how many tokens of them it has.
  bool open = false;
  std::int64_t thought = 0;

  /// The only token that may come behind an output; none: any. Reads all of the output.
  std::optional<std::int32_t> forced(std::span<const std::int32_t> output) const;
  /// What was read of outputs, so that of the next one only what is new is read.
  class Path;
  std::optional<std::int32_t> forced(std::span<const std::int32_t> output, Path& path) const;
  /// As engine::Request::shape: `inner` (or nothing), but where a token is forced, that one. Tokens
  /// that it has seen before are compared, and not read again.
  Shape shape(Shape inner) const;
};

class Thinking::Path {
 public:
  struct State {
    bool open = false;
    std::int64_t thought = 0;
    std::size_t from = 0;  // where a mark may begin
  };
  /// The state behind an output.
  State at(const Thinking& marks, std::span<const std::int32_t> output);

 private:
  std::vector<std::int32_t> tokens_;
  std::vector<State> behind_;  // each of them
};

/// The marks between which a model thinks, as tokens.
class Marks {
 public:
  Marks() = default;
  Marks(const tokenizer::Tokenizer& tokenizer, const std::string& begins, const std::string& ends);
  /// Whether the tokenizer cannot write one of them.
  bool empty() const { return begins_.empty() || ends_.empty(); }
  /// For a request with this prompt.
  Thinking begin(std::span<const std::int32_t> prompt, std::int64_t most) const;

 private:
  std::vector<std::int32_t> begins_, ends_;
};

}  // namespace strata::serve
