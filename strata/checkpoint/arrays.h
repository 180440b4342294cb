// Arrays in safetensors files, under the names of Python's package.
//
//   checkpoint::save_file({{"w", w}, {"b", b}}, "model.safetensors");
//   auto tensors = checkpoint::load_file("model.safetensors");
//   if (!tensors) return fail(tensors.status());
//   Array w = tensors->at("w");
#pragma once

#include <map>
#include <string>

#include "strata/api/array.h"
#include "strata/base/result.h"

namespace strata::checkpoint {

/// Writes the arrays, and their metadata. The old file or the whole new one is there,
/// whatever happens. Code::unsupported for dtypes that the format has no name for (c128, i4, ...),
/// before anything is written. Throws Error for traced arrays, which have no elements yet.
Status save_file(const std::map<std::string, Array>& tensors, const std::string& filename,
                 const std::map<std::string, std::string>& metadata = {});

/// The arrays of a file; as everywhere, 64-bit elements become 32-bit ones unless x64 is on. Codes
/// of read_safetensors.
Result<std::map<std::string, Array>> load_file(const std::string& filename);

}  // namespace strata::checkpoint
