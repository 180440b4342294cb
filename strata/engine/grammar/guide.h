// Which tokens may come next, so that a text stays in a grammar.
//
//   auto words = std::make_shared<const Vocabulary>(*lm.tokenizer, lm.model->vocab_size());
//   auto guide = std::make_shared<Guide>(read_ebnf("root ::= \"yes\" | \"no\""), words);
//   engine.submit({.tokens = prompt, .stop_tokens = eos, .shape = shape_of(guide, eos)});
//
// A token may come where its bytes lead to a state of the grammar's automaton. The tokens are
// walked as a tree of their bytes, so that what begins alike is looked at once, and what is dead
// ends a whole branch; the set of tokens of a state is kept. So a step costs a copy of the set, and
// a walk only where a state is new.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "strata/engine/grammar/automaton.h"
#include "strata/tokenizer/tokenizer.h"

namespace strata::engine::grammar {

/// Tokens by their bytes. Special tokens and those without bytes are not among them. Immutable.
class Vocabulary {
 public:
  /// Of the model's `size` tokens, those that the tokenizer knows.
  Vocabulary(const tokenizer::Tokenizer& tokenizer, std::int64_t size);
  /// The same, and special tokens as their texts: where free text stands beside what has a form.
  static Vocabulary with_special(const tokenizer::Tokenizer& tokenizer, std::int64_t size);
  /// The same, and special tokens as marks of their own, which no other tokens make: where a form
  /// names them.
  static Vocabulary with_marks(const tokenizer::Tokenizer& tokenizer, std::int64_t size);
  /// The mark of a special token with this text.
  static std::string mark_of(std::string_view text);
  /// Of these bytes; an empty one is no token.
  explicit Vocabulary(std::vector<std::string> words);

  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }
  /// Empty for those that are not among them.
  const std::string& bytes(std::int32_t token) const {
    return bytes_[static_cast<std::size_t>(token)];
  }

  /// A byte of the tree, in the order of a walk that goes down first.
  struct Place {
    unsigned char byte;
    std::int32_t depth;         // 0: the first byte of a token
    std::int32_t behind;        // the place behind all that begin so
    std::int32_t first, count;  // of `tokens()`, those that end here
  };
  const std::vector<Place>& places() const { return places_; }
  const std::vector<std::int32_t>& tokens() const { return tokens_; }

 private:
  void build();
  std::vector<std::string> bytes_;
  std::vector<Place> places_;
  std::vector<std::int32_t> tokens_;
};

/// A grammar with the sets of tokens that its states have. Several requests may share one, in
/// several threads.
class Guide {
 public:
  using State = Automaton::State;
  /// Bytes of sets that are kept at most.
  static constexpr std::size_t kMostSets = std::size_t{16} << 20;

  /// Throws Error as Automaton.
  Guide(Grammar grammar, std::shared_ptr<const Vocabulary> words);

  /// The tokens that may follow a text of tokens, and whether it may end there and must.
  struct Next {
    std::vector<std::uint64_t> tokens;  // bit t: token t
    bool may_end = false, must_end = false;
    bool alive = true;  // whether the text can be completed
  };
  /// `path` is what `follow` keeps between calls for one text; empty at first.
  struct Path {
    std::vector<std::int32_t> tokens = {};
    std::vector<State> states = {};
    std::uint64_t age = 0;
  };
  /// Cheap where the text begins as that of the last call did. Throws Error where the grammar is
  /// too much for Automaton.
  void follow(Path& path, std::span<const std::int32_t> text, Next& next);
  const Vocabulary& vocabulary() const { return *vocabulary_; }

 private:
  State after(State state, std::int32_t token);
  const std::vector<std::uint64_t>& set_of(State state);

  std::mutex mutex_;
  Automaton automaton_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::unordered_map<State, std::vector<std::uint64_t>> sets_;
  std::uint64_t age_ = 1;  // of the automaton's states
};

/// Request::shape that keeps an output in the grammar; a stop token may come where the text may
/// end, and only such behind it. Where no token may come, the request ends with an error. It may be
/// asked for outputs in any order, guessed ones too. `free` come only where the text may end.
std::function<bool(std::span<const std::int32_t>, std::span<float>)> shape_of(
    std::shared_ptr<Guide> guide, std::vector<std::int32_t> stop_tokens,
    std::vector<std::int32_t> free = {});

}  // namespace strata::engine::grammar
