// Which of our families each decoder_block of MaxText is, and the config.json that its keys become
// (private to this folder).
#pragma once

#include <string>

#include "strata/train/maxtext/config.h"

namespace strata::train::maxtext {

/// The config.json of the model that the keys describe. Throws ConfigError for a family that is not
/// there.
std::string model_config(const Resolved& resolved);

/// Whether the layers of this configuration have experts, so that keys of routers count.
bool has_experts(const Resolved& resolved);

/// How MaxText stores weights where that is not as they were published, for `optimizer.stored_as`
/// (train/config/optimizer.h): queries divided by the root of a head's width, Gemma's embedding
/// times that of the model's, and its norms with the 1 that is added. Empty where nothing differs.
/// `imported`: weights of a checkpoint of MaxText's, whose queries are held as it stores them.
std::string stored_as(const Resolved& resolved, bool imported = false);

/// "llama2, mistral, ...": the decoder blocks that there are.
std::string decoder_blocks();

}  // namespace strata::train::maxtext
