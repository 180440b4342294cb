// A GGUF file as a source of tensors, and what its metadata say of the model.
//
//   auto file = checkpoint::Gguf::open("model.gguf");
//   auto model = model::load_gguf("model.gguf");
#pragma once

#include "strata/checkpoint/gguf.h"
#include "strata/model/published/gguf_config.h"
#include "strata/model/published/tensor_source.h"

namespace strata::model::published {

/// The tensors of a file, by its names; packed ones come dequantised. `name`: for messages.
TensorSourcePtr source_of(const checkpoint::Gguf& file, const std::string& name);
/// The keys of a file but for long lists (tokens, merges), and what its tensors say. Code::corrupt
/// where a tensor of rotary factors cannot be read.
Result<GgufMetadata> metadata_of(const checkpoint::Gguf& file);
/// A value as JSON text: integers and booleans as they are, an f32 by the shortest number that is
/// it.
std::string json_of(const checkpoint::GgufValue& value);

}  // namespace strata::model::published
