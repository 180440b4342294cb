// A GGUF file as a source of tensors, and what its metadata say of the model.
//
//   auto file = published::open_gguf("model.gguf");
//   std::string config = published::family_of(file->metadata).from_gguf(file->metadata);
#pragma once

#include <string>

#include "strata/base/result.h"
#include "strata/checkpoint/gguf.h"
#include "strata/model/published/gguf_config.h"
#include "strata/model/published/tensor_source.h"

namespace strata::model::published {

/// What one file holds.
struct GgufModel {
  GgufMetadata metadata;
  TensorSourcePtr tensors;
};
/// Codes of checkpoint::Gguf::open; Code::unsupported for files that are no whole model: of another
/// general.type (mmproj, imatrix, adapter), or one of several parts.
Result<GgufModel> open_gguf(const std::string& path);

/// The tensors of a file, by its names; all come as f32 when they are read.
/// `name`: for messages.
TensorSourcePtr source_of(const checkpoint::Gguf& file, const std::string& name);
/// The keys of a file but for the tokenizer's, and what its tensors say. Code::corrupt for numbers
/// that are not finite, and where a tensor of rotary factors cannot be read.
Result<GgufMetadata> metadata_of(const checkpoint::Gguf& file);
/// A value as JSON text: integers and booleans as they are, an f32 by the shortest number that is
/// it.
std::string json_of(const checkpoint::GgufValue& value);

}  // namespace strata::model::published
