// WordPiece: of each word the longest piece of the vocabulary, then the longest behind it.
#include "strata/base/error.h"
#include "strata/tokenizer/byte_trie.h"
#include "strata/tokenizer/pipeline/model.h"
#include "strata/tokenizer/unicode.h"

namespace strata::tokenizer {
namespace {

class WordPiece : public Model {
 public:
  WordPiece(Vocabulary vocabulary, std::string unknown, const std::string& prefix,
            std::int64_t longest)
      : unknown_(std::move(unknown)), longest_(longest) {
    vocabulary_ = std::move(vocabulary);
    std::vector<std::pair<std::string_view, std::int32_t>> first, later;
    for (std::int32_t id = 0; id < vocabulary_.end(); ++id) {
      const std::string* token = vocabulary_.token_of(id);
      if (token == nullptr || token->empty()) continue;
      first.emplace_back(*token, id);
      if (token->starts_with(prefix) && token->size() > prefix.size())
        later.emplace_back(std::string_view(*token).substr(prefix.size()), id);
    }
    first_ = ByteTrie(std::move(first));
    later_ = ByteTrie(std::move(later));
  }

  void encode(std::string_view text, std::vector<std::int32_t>& out) const override {
    const std::size_t before = out.size();
    if (count_characters(text) > static_cast<std::size_t>(longest_)) return put_unknown(out);
    for (std::size_t at = 0; at < text.size();) {
      std::size_t n = 0;
      std::int32_t id = -1;
      (at == 0 ? first_ : later_)
          .prefixes(text.substr(at), [&](std::size_t length, std::int32_t i) {
            if (allowed(i)) n = length, id = i;
          });
      if (id < 0) {
        out.resize(before);
        return put_unknown(out);
      }
      out.push_back(id);
      at += n;
    }
  }

 private:
  void put_unknown(std::vector<std::int32_t>& out) const {
    const auto id = vocabulary_.id_of(unknown_);
    if (!id) throw Error("encode", "the unknown token '{}' is none of the vocabulary's", unknown_);
    out.push_back(*id);
  }
  std::string unknown_;
  std::int64_t longest_;
  ByteTrie first_, later_;
};

}  // namespace

std::shared_ptr<Model> make_word_piece(Vocabulary vocabulary, std::string unknown,
                                       std::string continuing_prefix, std::int64_t longest_word) {
  return std::make_shared<WordPiece>(std::move(vocabulary), std::move(unknown), continuing_prefix,
                                     longest_word);
}

}  // namespace strata::tokenizer
