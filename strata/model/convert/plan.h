// What a conversion writes: tensors in their order, how each is changed, files beside them. Private
// to strata/model/convert and strata/model/surgery.
#pragma once

#include <functional>

#include "strata/model/convert/adapter.h"
#include "strata/model/convert/convert.h"
#include "strata/model/convert/keys.h"
#include "strata/model/convert/tensors.h"

namespace strata::model::conversion {

/// A tensor to be written.
struct Planned {
  std::string name;
  Sizes shape;
  GgufType type = DType::f32;
  /// The tensor that it comes from, in the source; none: `numbers`.
  std::string from;
  Change change;
  std::vector<float> numbers;
  /// Of a tensor of all experts (E, out, in): the tensors of the others, which follow `from`.
  std::vector<std::string> more = {};
  /// Makes row i, of shape's last size, from whatever it is of; none: `from` or `numbers`.
  std::function<Status(std::int64_t row, float* out)> make = {};
  /// What is added to its rows; null: nothing.
  std::shared_ptr<const Update> update = nullptr;
};

struct Plan {
  StoredTensors source;
  std::vector<Planned> tensors;
  /// Of a GGUF file.
  GgufMetadata metadata;
  /// Of a directory: names and contents.
  std::map<std::string, std::string> files;
  std::vector<std::string> notes;
};

/// From a GGUF file to a Hugging Face directory, and back; with the adapter that the options name.
Result<Plan> plan_to_hugging_face(const std::string& file, const ConvertOptions& options);
Result<Plan> plan_to_gguf(const std::string& folder, const ConvertOptions& options);
/// From a Hugging Face directory to another: the same tensors, and what stands beside them.
Result<Plan> plan_directory(const std::string& folder, const ConvertOptions& options);

/// Write it.
Status write_hugging_face(const std::string& folder, const Plan& plan,
                          const ConvertOptions& options, std::vector<std::string>& files);
Status write_gguf(const std::string& file, const Plan& plan);

}  // namespace strata::model::conversion
