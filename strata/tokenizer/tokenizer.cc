#include "strata/tokenizer/tokenizer.h"

#include <algorithm>

#include "strata/base/error.h"
#include "strata/tokenizer/utf8.h"

namespace strata::tokenizer {

const std::string& Tokenizer::model() const {
  static const std::string none;
  return none;
}

std::size_t Tokenizer::part(std::string_view text) const {
  return std::min(text.size(), std::size_t{1} << 20);
}

std::string Tokenizer::decode(std::span<const std::int32_t> tokens) const {
  std::string out;
  for (std::int32_t t : tokens) out += bytes(t);
  return out;
}

std::vector<std::int32_t> Tokenizer::encode_with(std::string_view text,
                                                 const EncodeOptions& options) const {
  std::vector<std::int32_t> out = encode(text);
  if (options.max_length)
    out.resize(std::min(out.size(),
                        static_cast<std::size_t>(std::max<std::int64_t>(0, *options.max_length))));
  return out;
}

std::string Tokenizer::decode_with(std::span<const std::int32_t> tokens, bool) const {
  return decode(tokens);
}

std::optional<std::int32_t> Tokenizer::id_of(std::string_view token) const {
  for (std::int32_t id = 0; id < vocab_size(); ++id) {
    if (token_of(id) == token) return id;
  }
  return std::nullopt;
}

std::string Tokenizer::token_of(std::int32_t token) const { return bytes(token); }

bool Tokenizer::is_special(std::int32_t token) const { return token == separator(); }

const std::map<std::string, std::string>& Tokenizer::special_tokens() const {
  static const std::map<std::string, std::string> none;
  return none;
}

std::optional<std::int32_t> Tokenizer::special_id(const std::string& name) const {
  const auto found = special_tokens().find(name);
  return found == special_tokens().end() ? std::nullopt : id_of(found->second);
}

std::vector<std::int32_t> ByteTokenizer::encode(std::string_view text) const {
  std::vector<std::int32_t> out;
  out.reserve(text.size());
  for (char c : text) out.push_back(static_cast<unsigned char>(c));
  return out;
}

std::string ByteTokenizer::bytes(std::int32_t t) const {
  if (t < 0 || t >= kVocabSize) throw Error("ByteTokenizer", "token {} is no byte (0 to 255)", t);
  return {t == kSeparator ? '\n' : static_cast<char>(t)};
}

std::string StreamDecoder::add(std::int32_t token) {
  held_ += tokenizer_->bytes(token);
  return take(false);
}

std::string StreamDecoder::finish() { return take(true); }

std::string StreamDecoder::take(bool end) {
  std::string out;
  std::string_view rest = held_;
  while (!rest.empty()) {
    const std::size_t n = character(rest);
    if (n == 0 && !end && may_become_character(rest)) break;
    if (n == 0)
      out += "\xef\xbf\xbd";
    else
      out += rest.substr(0, n);
    rest.remove_prefix(std::max<std::size_t>(n, 1));
  }
  held_ = rest;
  return out;
}

std::string DecodeStream::decode() const { return tokenizer_->decode_with(ids_, skip_special_); }

std::string DecodeStream::step(std::int32_t token) {
  static constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  if (prefix_.empty() && !ids_.empty()) {
    if (std::string text = decode(); !text.ends_with(kReplacement)) {
      prefix_ = std::move(text);
      prefix_index_ = ids_.size();
    }
  }
  ids_.push_back(token);
  const std::string text = decode();
  if (text.size() <= prefix_.size() || text.ends_with(kReplacement)) return "";
  std::size_t common = 0;
  while (common < prefix_.size() && text[common] == prefix_[common]) ++common;
  while (common > 0 && (static_cast<unsigned char>(text[common]) & 0xc0) == 0x80) --common;
  const std::size_t index = ids_.size() - prefix_index_;
  ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(prefix_index_));
  prefix_ = decode();
  prefix_index_ = index;
  return text.substr(common);
}

std::string DecodeStream::finish() {
  std::string text = decode();
  if (prefix_.empty() && prefix_index_ == 0) return text;
  return text.size() > prefix_.size() ? text.substr(prefix_.size()) : "";
}

}  // namespace strata::tokenizer
