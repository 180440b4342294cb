// Models of tokenizer.json: a split's text as tokens of the vocabulary.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "strata/tokenizer/pipeline/part.h"

namespace strata::tokenizer {

/// Token texts and their numbers, both ways.
class Vocabulary {
 public:
  /// Throws BadPart where a number has two texts, or one beyond 2^24.
  void add(std::string token, std::int32_t id);
  /// Gives numbers to texts that had one before: of equal texts the last counts, as `tokenizers`
  /// reads the vocabulary of a Unigram.
  void add_next(std::string token);
  std::optional<std::int32_t> id_of(std::string_view token) const;
  /// The text of a token; nullptr of a number without one.
  const std::string* token_of(std::int32_t id) const;
  /// How many texts there are, and the first number that nothing has behind all others.
  std::int32_t count() const { return static_cast<std::int32_t>(ids_.size()); }
  std::int32_t end() const { return static_cast<std::int32_t>(tokens_.size()); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> ids_;
  std::vector<const std::string*> tokens_;  // of ids_, or of twins_
  std::vector<std::unique_ptr<std::string>> twins_;
};

class Model {
 public:
  virtual ~Model() = default;
  /// Appends the tokens of a split, which is well-formed and not empty. Throws Error where a text
  /// cannot be encoded for want of an unknown token.
  virtual void encode(std::string_view text, std::vector<std::int32_t>& out) const = 0;
  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Special tokens, which no text becomes: where text that users typed spells one, and nothing
  /// looked for special tokens in it, its characters are encoded. Before the first `encode`.
  void forbid(const std::vector<std::int32_t>& tokens);

 protected:
  bool allowed(std::int32_t token) const {
    return static_cast<std::size_t>(token) >= forbidden_.size() ||
           !forbidden_[static_cast<std::size_t>(token)];
  }
  Vocabulary vocabulary_;

 private:
  std::vector<bool> forbidden_;
};

struct BpeOptions {
  std::optional<std::string> unknown;
  std::string continuing_prefix, end_suffix;
  bool fuse_unknown = false, byte_fallback = false, ignore_merges = false;
};
/// Byte pair encoding (bpe.cc). A merge's `rank` may be shared: of equal ranks the leftmost pair
/// is merged first. Throws BadPart for a merge of texts that are no tokens.
struct Merge {
  std::string left, right;
  std::int32_t rank;
};
std::shared_ptr<Model> make_bpe(Vocabulary vocabulary, const std::vector<Merge>& merges,
                                const BpeOptions& options);
/// The same with the merges that SentencePiece makes: any two tokens whose texts joined are a
/// token of the kind that `merged` names, best score first.
std::shared_ptr<Model> make_scored_bpe(Vocabulary vocabulary, const std::vector<float>& scores,
                                       const std::vector<bool>& merged, const BpeOptions& options);

/// A unigram language model (unigram.cc): the most likely cut, sums in f64; of equal ones the
/// first found. `scores` are by token.
std::shared_ptr<Model> make_unigram(Vocabulary vocabulary, std::vector<double> scores,
                                    std::optional<std::int32_t> unknown, bool byte_fallback);

/// Greedy longest pieces of words (word_piece.cc).
std::shared_ptr<Model> make_word_piece(Vocabulary vocabulary, std::string unknown,
                                       std::string continuing_prefix, std::int64_t longest_word);

/// BPE, Unigram, WordPiece, WordLevel; without a `type` what its fields say (read_model.cc).
/// Throws BadPart for another one or a damaged one.
std::shared_ptr<Model> read_model(const Json& part);

/// "<0x0A>" and the like.
std::string byte_token(unsigned char byte);

}  // namespace strata::tokenizer
