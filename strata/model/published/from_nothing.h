// A published architecture whose weights are drawn afresh: what a config.json describes, without
// the weights that were published with it.
//
//   model::make("published", {{"config", R"({"model_type": "qwen3", "hidden_size": 64, ...})"}});
#pragma once

#include "strata/model/registry.h"

namespace strata::model::published {

/// The family "published" of the registry. Keys: `config`, a config.json's text; `dtype`;
/// `remat_policy`. Its `make` throws Error for a model_type that none has, and for a configuration
/// that its family refuses.
model::Family from_nothing();

}  // namespace strata::model::published
