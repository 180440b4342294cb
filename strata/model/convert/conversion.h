// What a conversion (convert.h) is asked for, what it tells, and the files beside weights.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "strata/base/result.h"

namespace strata::model {

struct ConvertOptions {
  /// The type of matrices: of a GGUF file F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q4_K; of the others
  /// F32, F16 (not in a Strata checkpoint), BF16. Empty: as in the source (packed ones F32 where
  /// the target has no blocks; those that gguf.json names).
  std::string type = {};
  /// What to write: "gguf", "hugging_face", "strata", "maxtext" (a step's folder of MaxText's).
  /// Empty: GGUF for a name that ends in .gguf, else a Hugging Face directory.
  std::string format = {};
  /// A folder with an adapter in PEFT's layout (lora/peft.h), which is added to the weights: W + s
  /// A B in f32, before it is written in its type. Empty: none.
  std::string adapter = {};
  /// Of a checkpoint of MaxText's as source: a config.json, or the directory that has it.
  std::string config = {};
  /// Of MaxText's checkpoints: param_scan_axis, and scan_layers of one that is written.
  std::int64_t scan_axis = 1;
  bool scan_layers = true;
  /// Says what would be written, and writes nothing.
  bool dry_run = false;
  /// The most bytes of a safetensors file; more go into several with an index.
  std::uint64_t shard_bytes = std::uint64_t{5} << 30;
};

/// A tensor on both sides.
struct ConvertedTensor {
  std::string from, to;
  std::vector<std::int64_t> from_shape, to_shape;
  std::string from_type, to_type;
  /// Whether an adapter is added to it.
  bool is_adapted = false;
};

struct Conversion {
  std::string from_format, to_format;
  std::vector<ConvertedTensor> tensors;
  /// What is left out or changed, with the reason.
  std::vector<std::string> notes;
  /// What was, or would be, written.
  std::vector<std::string> files;
  /// Bytes of the tensors written.
  std::uint64_t bytes = 0;
};

/// The files that stand beside the weights of a Hugging Face directory: those that one has, or
/// those that a GGUF file amounts to (config.json, tokenizer.json, ..., gguf.json). Fails as
/// `convert` does.
Result<std::map<std::string, std::string>> files_beside_weights(const std::string& path);

}  // namespace strata::model
