// The regular expressions of published tokenizers as loops over characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strata::tokenizer {

/// The end of the first alternative that matches at byte `at`, which is below the size of the
/// text; `at` itself where none matches. Looks at what is matched and a character more, so that
/// cutting a text takes time for its length.
using Matcher = std::size_t (*)(std::string_view text, std::size_t at);

/// The matcher of an expression; nullptr of an unknown one.
Matcher known_matcher(std::string_view expression);

/// The expressions themselves, by the names of `tokenizer.ggml.pre`.
namespace expression {
extern const char kGpt2[], kDigit[], kLlama3[], kQwen2[], kQwen35[], kGpt4o[], kTekken[],
    kThreeDigits[], kDeepseekHan[], kDeepseekWords[];
}  // namespace expression

}  // namespace strata::tokenizer
