#include "strata/data/tokenizer.h"

#include "strata/base/error.h"

namespace strata::data {

std::vector<std::int32_t> ByteTokenizer::encode(std::string_view text) const {
  std::vector<std::int32_t> out;
  out.reserve(text.size());
  for (char c : text) out.push_back(static_cast<unsigned char>(c));
  return out;
}

std::string ByteTokenizer::decode(const std::vector<std::int32_t>& tokens) const {
  std::string out;
  out.reserve(tokens.size());
  for (std::int32_t t : tokens) {
    if (t < 0 || t >= kVocabSize) throw Error("ByteTokenizer", "token {} is no byte (0 to 255)", t);
    out.push_back(t == kSeparator ? '\n' : static_cast<char>(t));
  }
  return out;
}

}  // namespace strata::data
