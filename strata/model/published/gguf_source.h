// A GGUF file as a source of tensors, and its metadata.
//
//   auto file = published::open_gguf("model.gguf");
//   std::string config = published::family_of(file->metadata).from_gguf(file->metadata);
#pragma once

#include "strata/base/result.h"
#include "strata/model/published/gguf_config.h"
#include "strata/model/published/tensor_source.h"

namespace strata::model::published {

/// What one file holds.
struct GgufModel {
  GgufMetadata metadata;
  TensorSourcePtr tensors;
};
/// Packed tensors are dequantised when they are read, to f32. Codes of checkpoint::Gguf::open;
/// Code::unsupported for files that are no whole model: of another general.type (mmproj, imatrix,
/// adapter), or one of several parts.
Result<GgufModel> open_gguf(const std::string& path);

}  // namespace strata::model::published
