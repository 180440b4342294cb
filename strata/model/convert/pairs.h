// What a tensor of a Hugging Face directory is called in a GGUF file, and how it is laid out there.
// Private to strata/model/convert.
#pragma once

#include <string>
#include <vector>

#include "strata/model/published/family.h"

namespace strata::model::conversion {

struct Pair {
  std::string hugging_face, gguf;
  std::int64_t paired_heads = 0;
  double gguf_plus = 0;
  bool transposed = false;
  /// Of experts: which of GGUF's one tensor for all (E, out, in) it is, of how many; 0: of none.
  std::int64_t expert = 0, experts = 0;
};

/// The model that a config.json describes.
struct Described {
  const published::Family* family;
  decoder::Options options;
  published::Names names;
  /// Throws Error, unsupported, for a family of whose experts a directory has one tensor a layer.
  const std::vector<Pair>& pairs() const;

  std::vector<Pair> all = {};  // none of such a family
};
/// Throws Error for what Strata does not know.
Described described(const std::string& config);
/// A configuration of the tensors that blocks of MXFP4 stand for, as `load` reads them; any other
/// as it is.
std::string plain_config(const std::string& config);

}  // namespace strata::model::conversion
