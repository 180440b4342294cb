// A SentencePiece model as the tokenizer.json that `tokenizers` and `transformers` read.
//
//   auto files = huggingface_files(*read_file("tokenizer.model"), "tokenizer.model");
//   // "tokenizer.json", "tokenizer_config.json"
#pragma once

#include <map>
#include <string>

#include "strata/base/result.h"

namespace strata::tokenizer {

/// tokenizer.json and tokenizer_config.json (names of special tokens, PreTrainedTokenizerFast) of a
/// .model file's bytes; `name` stands for it in messages. Texts have the tokens that the model
/// gives them, but that of a unigram model's segmentations of equal score (of runs of spaces, say)
/// `tokenizers` may choose another; no token is put around a text. Merges of BPE are made of the
/// pieces' scores, as transformers' convert_slow_tokenizer.py makes them.
///
/// Code::corrupt for bytes that are no model; Code::unsupported for one of words or characters, and
/// for one that puts its spaces behind words.
Result<std::map<std::string, std::string>> huggingface_files(const std::string& model,
                                                             const std::string& name);

}  // namespace strata::tokenizer
