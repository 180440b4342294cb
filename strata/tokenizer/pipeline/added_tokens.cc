#include "strata/tokenizer/pipeline/added_tokens.h"

#include <algorithm>

#include "strata/tokenizer/unicode.h"

namespace strata::tokenizer {

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens,
                         const std::vector<std::string>& contents)
    : tokens_(tokens), contents_(contents) {
  std::vector<std::pair<std::string_view, std::int32_t>> strings;
  for (std::size_t i = 0; i < contents_.size(); ++i) {
    if (contents_[i].empty()) continue;
    strings.emplace_back(contents_[i], static_cast<std::int32_t>(i));
    begins_[static_cast<unsigned char>(contents_[i][0])] = true;
  }
  trie_ = ByteTrie(std::move(strings));
}

std::vector<Piece> AddedTokens::cut(std::string_view text, const Forbidden& forbidden) const {
  std::vector<Piece> out;
  std::size_t done = 0, at = 0;
  while (at < text.size()) {
    while (at < text.size() && !begins_[static_cast<unsigned char>(text[at])]) ++at;
    if (at == text.size()) break;
    const auto [length, which] = trie_.longest(text.substr(at));
    if (which < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<std::size_t>(which)];
    std::size_t begin = at, end = at + length;
    if (forbidden && forbidden(begin, end, token.special)) {
      ++at;
      continue;
    }
    at = end;
    if (token.single_word && ((begin > 0 && is_word(code_point_before(text, begin).value)) ||
                              (end < text.size() && is_word(code_point_at(text, end).value))))
      continue;
    while (token.lstrip && begin > done && is_space(code_point_before(text, begin).value))
      begin -= code_point_before(text, begin).bytes;
    while (token.rstrip && end < text.size() && is_space(code_point_at(text, end).value))
      end += code_point_at(text, end).bytes;
    // Spaces that an earlier token took hold no match of their own.
    if (begin < done) begin = done;
    if (done < begin) out.push_back({done, begin, -1});
    out.push_back({begin, std::max(begin, end), token.id});
    done = std::max(begin, end);
  }
  if (done < text.size()) out.push_back({done, text.size(), -1});
  return out;
}

}  // namespace strata::tokenizer
