// Tokenizers that Hugging Face's `tokenizers` package writes: tokenizer.json and the names of
// special tokens beside it.
//
//   auto t = load_huggingface("SmolLM2-135M-Instruct");   // a folder
//   (*t)->encode("Hello, world!")                         // 19556 28 905 17
//
// Tokens are those of tokenizers 0.23, with these deviations: bytes outside UTF-8 are encoded as
// U+FFFD; a text beyond a mebibyte is encoded in parts that end behind line ends before a visible
// ASCII character, where there are such; `truncation` and `padding` of the file are applied by
// nobody but who asks (EncodeOptions::max_length); BPE's dropout counts as 0.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "strata/tokenizer/tokenizer.h"

namespace strata::tokenizer {

/// The tokenizer of a tokenizer.json or of a folder that holds one; tokenizer_config.json and
/// special_tokens_map.json beside it give the names of special tokens. A folder may hold vocab.json
/// and merges.txt instead, of a GPT2Tokenizer or Qwen2Tokenizer. Code::not_found where there
/// is no file, Code::corrupt for one that is damaged, Code::unsupported for a part that is unknown.
Result<std::shared_ptr<const Tokenizer>> load_huggingface(const std::string& path);

/// The same of a tokenizer.json's text; `name` stands for it in messages. `special_tokens` are
/// texts by name ("eos_token").
Result<std::shared_ptr<const Tokenizer>> make_huggingface(
    std::string json, const std::string& name,
    std::map<std::string, std::string> special_tokens = {});

/// What tokenizer_config.json (or special_tokens_map.json) says of special tokens, by name: keys
/// that end in "_token" with a text or an object with `content`, and extra ones by their own text.
Result<std::map<std::string, std::string>> read_special_tokens(const std::string& json,
                                                               const std::string& name);

}  // namespace strata::tokenizer
