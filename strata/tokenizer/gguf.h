// Tokenizers of GGUF files: byte-level BPE (gpt2), SentencePiece's BPE (llama), a unigram model
// (t5) and WordPiece (bert), from what the file's metadata say.
//
//   GgufVocabulary v;             // as tokenizer.ggml.* has it
//   v.model = "gpt2", v.pre = "smollm", v.tokens = ..., v.merges = ..., v.types = ...;
//   auto t = make_gguf(v, "smollm.gguf");
//
// Tokens are those of `tokenizers` with the same vocabulary. Of post-processing a GGUF keeps only
// whether bos and eos are put around. Pieces of type "unused" are never made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/tokenizer/tokenizer.h"

namespace strata::tokenizer {

/// The keys `tokenizer.ggml.*` by their names; what a file lacks stays empty.
struct GgufVocabulary {
  std::string model;  // llama, gpt2, t5, bert
  std::string pre;    // which expression cuts the text; for gpt2
  std::vector<std::string> tokens;
  std::vector<float> scores;
  /// 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte.
  std::vector<std::int32_t> types;
  std::vector<std::string> merges;
  std::optional<std::int32_t> bos, eos, eot, eom, unknown, separator, padding, mask;
  std::optional<bool> add_bos, add_eos, add_space_prefix, remove_extra_whitespaces;
  std::string precompiled_charsmap;  // bytes
  /// tokenizer.huggingface.json: counts instead of all others where it is there.
  std::string huggingface_json;
};

/// Code::unsupported for a model or a `pre` that is unknown, Code::corrupt for arrays that do not
/// fit each other; `name` stands for the file in messages.
Result<std::shared_ptr<const Tokenizer>> make_gguf(const GgufVocabulary& vocabulary,
                                                   const std::string& name);

}  // namespace strata::tokenizer
