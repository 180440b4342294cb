// Between MaxText's checkpoints and Hugging Face directories. Private to strata/model/convert.
#pragma once

#include <string>

#include "strata/base/result.h"
#include "strata/model/convert/conversion.h"

namespace strata::model::conversion {

/// From a checkpoint of MaxText's, whose model options.config describes (a config.json, or the
/// directory that has it, whose tokenizer comes along), to a directory.
Status maxtext_to_directory(const std::string& from, const std::string& to,
                            const ConvertOptions& options, Conversion& out);
/// From a Hugging Face directory or a GGUF file to a step's folder that MaxText restores.
Status to_maxtext(const std::string& from, const std::string& to, const ConvertOptions& options,
                  Conversion& out);

}  // namespace strata::model::conversion
