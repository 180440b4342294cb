#include "strata/tokenizer/tokenizer.h"

#include <algorithm>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/tokenizer/sentencepiece.h"
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

Result<std::shared_ptr<const Tokenizer>> load_tokenizer(const std::string& type,
                                                        const std::string& path) {
  if (type == "byte") {
    if (!path.empty())
      return Status(Code::invalid, "tokenizer_path={}: tokenizer_type=byte needs no file", path);
    return std::shared_ptr<const Tokenizer>(std::make_shared<ByteTokenizer>());
  }
  if (type != "sentencepiece")
    return Status(Code::invalid, "tokenizer_type={}: allowed is byte or sentencepiece", type);
  if (path.empty())
    return Status(Code::invalid,
                  "tokenizer_path is not set: tokenizer_type=sentencepiece needs a .model file");
  auto model = read_file(path);
  if (!model) return model.status();
  return make_sentencepiece(std::move(*model), path);
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

}  // namespace strata::tokenizer
