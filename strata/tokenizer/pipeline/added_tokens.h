// Added tokens: those that are cut from a text before a model sees it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/tokenizer/byte_trie.h"

namespace strata::tokenizer {

struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  bool single_word = false;             // only where no \w is before or behind
  bool lstrip = false, rstrip = false;  // takes the spaces before or behind along
  bool normalized = false;              // looked for in normalised text, by its normalised form
  bool special = false;
};

/// A piece of a text: an added token's, or what the model is to encode (id -1).
struct Piece {
  std::size_t begin, end;
  std::int32_t id;
};

/// Looks for added tokens from left to right, the longest at each place.
class AddedTokens {
 public:
  AddedTokens() = default;
  /// Tokens by what they are looked for as.
  AddedTokens(const std::vector<AddedToken>& tokens, const std::vector<std::string>& contents);
  /// Bytes of a text that no token may touch.
  using Forbidden = std::function<bool(std::size_t begin, std::size_t end, bool special)>;
  std::vector<Piece> cut(std::string_view text, const Forbidden& forbidden = {}) const;
  bool empty() const { return tokens_.empty(); }

 private:
  std::vector<AddedToken> tokens_;
  std::vector<std::string> contents_;
  ByteTrie trie_;
  bool begins_[256] = {};
};

}  // namespace strata::tokenizer
