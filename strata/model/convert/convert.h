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

#include <string>

#include "strata/base/result.h"
#include "strata/model/convert/conversion.h"

namespace strata::model {

/// Converts; between two directories with an adapter only. Codes not_found, corrupt, unsupported
/// for what is read; exists where TO is there and not empty. Throws Error for types and formats
/// that there are not, and models that the target cannot hold.
Result<Conversion> convert(const std::string& from, const std::string& to,
                           const ConvertOptions& options = {});

}  // namespace strata::model
