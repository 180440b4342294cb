// The tokenizer that the parts of tokenizer.json make.
//
//   raw text -> added tokens -> normalizer -> added tokens of normalised text -> pre-tokenizer
//            -> model -> special tokens around
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "strata/tokenizer/pipeline/added_tokens.h"
#include "strata/tokenizer/pipeline/decoder.h"
#include "strata/tokenizer/pipeline/model.h"
#include "strata/tokenizer/pipeline/normalizer.h"
#include "strata/tokenizer/pipeline/post_processor.h"
#include "strata/tokenizer/pipeline/pre_tokenizer.h"
#include "strata/tokenizer/tokenizer.h"

namespace strata::tokenizer {

struct Parts {
  std::vector<AddedToken> added;
  std::shared_ptr<const Normalizer> normalizer;       // or none
  std::shared_ptr<const PreTokenizer> pre_tokenizer;  // or none
  std::shared_ptr<Model> model;
  Template post_processor;
  std::shared_ptr<const Decoder> decoder;  // or none: tokens with spaces between
  bool truncates_left = false;
  std::map<std::string, std::string> special_tokens;  // by name
  std::string type, fingerprint, file;
};

/// Throws BadPart where two added tokens have one number.
std::shared_ptr<const Tokenizer> make_pipeline(Parts parts);

}  // namespace strata::tokenizer
