// Tensors that a conversion writes, and how each is changed. Private to strata/model/convert and
// strata/model/surgery.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/model/convert/keys.h"
#include "strata/model/convert/tensors.h"
#include "strata/model/convert/update.h"

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

}  // namespace strata::model::conversion
