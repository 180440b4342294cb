// What a conversion writes: tensors in their order, how each is changed, files beside them. Private
// to strata/model/convert and strata/model/surgery.
#pragma once

#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/model/convert/conversion.h"
#include "strata/model/convert/planned.h"

namespace strata::model::conversion {

/// From a GGUF file to a Hugging Face directory, and back; with the adapter that the options name.
Result<Plan> plan_to_hugging_face(const std::string& file, const ConvertOptions& options);
Result<Plan> plan_to_gguf(const std::string& folder, const ConvertOptions& options);
/// From a Hugging Face directory to another: the same tensors, and what stands beside them.
Result<Plan> plan_directory(const std::string& folder, const ConvertOptions& options);

/// config.json as others read it: with the class's name, and the dtype of its tensors.
std::string completed(const std::string& config, DType dtype);

/// Write it.
Status write_hugging_face(const std::string& folder, const Plan& plan,
                          const ConvertOptions& options, std::vector<std::string>& files);
Status write_gguf(const std::string& file, const Plan& plan);

}  // namespace strata::model::conversion
