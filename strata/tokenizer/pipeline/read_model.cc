#include <cmath>

#include "strata/base/error.h"
#include "strata/tokenizer/pipeline/model.h"
#include "strata/tokenizer/unicode.h"

namespace strata::tokenizer {
namespace {

constexpr std::size_t kMostTokens = 1 << 21, kMostMerges = 1 << 22;

Vocabulary read_vocabulary(const Fields& f) {
  const Json& entries = f.object("vocab");
  if (entries.size() > kMostTokens)
    f.refuse(fmt::format("vocab has {} tokens: allowed are {}", entries.size(), kMostTokens));
  Vocabulary out;
  for (const auto& [token, id] : entries.items()) {
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() > INT32_MAX)
      f.refuse(fmt::format("token '{}' has the number {}", token, id.dump()));
    out.add(token, id.get<std::int32_t>());
  }
  return out;
}

Merge read_merge(const Fields& f, const Json& merge, std::int32_t rank) {
  if (merge.is_string()) {
    const auto& text = merge.get_ref<const std::string&>();
    const std::size_t space = text.find(' ');
    if (space == text.npos || text.find(' ', space + 1) != text.npos)
      f.refuse(fmt::format("merge {} is '{}', no pair", rank, text));
    return {text.substr(0, space), text.substr(space + 1), rank};
  }
  if (!merge.is_array() || merge.size() != 2 || !merge[0].is_string() || !merge[1].is_string())
    f.refuse(fmt::format("merge {} is no pair", rank));
  return {merge[0].get<std::string>(), merge[1].get<std::string>(), rank};
}

std::shared_ptr<Model> read_bpe(const Fields& f) {
  BpeOptions options;
  if (f.has("unk_token")) options.unknown = f.text("unk_token");
  options.continuing_prefix = f.text("continuing_subword_prefix", "");
  options.end_suffix = f.text("end_of_word_suffix", "");
  options.fuse_unknown = f.flag("fuse_unk", false);
  options.byte_fallback = f.flag("byte_fallback", false);
  options.ignore_merges = f.flag("ignore_merges", false);
  const Json& entries = f.list("merges");
  if (entries.size() > kMostMerges)
    f.refuse(fmt::format("has {} merges: allowed are {}", entries.size(), kMostMerges));
  std::vector<Merge> merges;
  merges.reserve(entries.size());
  for (const Json& merge : entries)
    merges.push_back(read_merge(f, merge, static_cast<std::int32_t>(merges.size())));
  return make_bpe(read_vocabulary(f), merges, options);
}

std::shared_ptr<Model> read_unigram(const Fields& f) {
  const Json& entries = f.list("vocab");
  if (entries.size() > kMostTokens)
    f.refuse(fmt::format("vocab has {} tokens: allowed are {}", entries.size(), kMostTokens));
  Vocabulary vocabulary;
  std::vector<double> scores;
  for (const Json& entry : entries) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number() ||
        !std::isfinite(entry[1].get<double>()))
      f.refuse(fmt::format("token {} is no pair of a text and a score", scores.size()));
    vocabulary.add_next(entry[0].get<std::string>());
    scores.push_back(entry[1].get<double>());
  }
  std::optional<std::int32_t> unknown;
  if (f.has("unk_id"))
    unknown = static_cast<std::int32_t>(f.number("unk_id", 0, vocabulary.end() - 1));
  return make_unigram(std::move(vocabulary), std::move(scores), unknown,
                      f.flag("byte_fallback", false));
}

std::shared_ptr<Model> read_word_piece(const Fields& f) {
  return make_word_piece(read_vocabulary(f), f.text("unk_token", "[UNK]"),
                         f.text("continuing_subword_prefix", "##"),
                         f.number("max_input_chars_per_word", 1, 1 << 20, 100));
}

/// A table of words.
class WordLevel : public Model {
 public:
  WordLevel(Vocabulary vocabulary, const std::string& unknown) : unknown_(unknown) {
    vocabulary_ = std::move(vocabulary);
  }
  void encode(std::string_view text, std::vector<std::int32_t>& out) const override {
    auto id = vocabulary_.id_of(text);
    if (!id || !allowed(*id)) id = vocabulary_.id_of(unknown_);
    if (!id)
      throw Error("encode", "'{}' is no token, and the unknown token '{}' is none either", text,
                  unknown_);
    out.push_back(*id);
  }

 private:
  std::string unknown_;
};

}  // namespace

std::shared_ptr<Model> read_model(const Json& part) {
  const Fields f(part, "model");
  std::string type = f.text("type", "");
  if (type.empty())
    type = f.has("merges")                              ? "BPE"
           : f.has("max_input_chars_per_word")          ? "WordPiece"
           : f.has("vocab") && f.at("vocab").is_array() ? "Unigram"
                                                        : "WordLevel";
  const Fields named(part, "model " + type);
  if (type == "BPE") return read_bpe(named);
  if (type == "Unigram") return read_unigram(named);
  if (type == "WordPiece") return read_word_piece(named);
  if (type == "WordLevel")
    return std::make_shared<WordLevel>(read_vocabulary(named), named.text("unk_token", "<unk>"));
  throw BadPart{"model " + type + " is unknown: allowed is BPE, Unigram, WordPiece or WordLevel"};
}

}  // namespace strata::tokenizer
