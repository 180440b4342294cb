// Between the packagings of published models: a GGUF file, a Hugging Face directory, a Strata
// checkpoint.
//
//   auto done = model::convert("SmolLM2.gguf", "SmolLM2", {});           // to a directory
//   auto back = model::convert("SmolLM2", "SmolLM2.Q8_0.gguf", {.type = "Q8_0"});
//
// Tensors go row by row, so that memory holds a few rows, not the model (a Strata checkpoint apart,
// whose weights are in memory as a whole). Nothing is dropped silently: every tensor has its line,
// what is left out has its reason, and what a GGUF file says that no file of a directory holds goes
// into gguf.json beside them, from which the way back takes it.
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

/// Converts; between two directories with an adapter only. Codes not_found, corrupt, unsupported
/// for what is read; exists where TO is there and not empty. Throws Error for types and formats
/// that there are not, and models that the target cannot hold.
Result<Conversion> convert(const std::string& from, const std::string& to,
                           const ConvertOptions& options = {});

/// The files that stand beside the weights of a Hugging Face directory: those that one has, or
/// those that a GGUF file amounts to (config.json, tokenizer.json, ..., gguf.json). Fails as
/// `convert` does.
Result<std::map<std::string, std::string>> files_beside_weights(const std::string& path);

}  // namespace strata::model
