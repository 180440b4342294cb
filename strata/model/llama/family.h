// Llama behind the interface of all models.
//
//   model::ModelPtr m = llama::model(llama::Config{.vocab_size = 256});
#pragma once

#include "strata/model/llama/model.h"
#include "strata/model/registry.h"

namespace strata::llama {

/// A model of this configuration. Throws Error where the heads of keys do not divide those of
/// queries, and for an odd head_dim.
model::ModelPtr model(const Config& config);
/// The family's keys, which are MaxText's.
model::Family family();
/// The logical axes of each weight, MaxText's names: {"vocab", "embed"}.
tree::MetadataPtr logical_axes(std::string_view path);

}  // namespace strata::llama
