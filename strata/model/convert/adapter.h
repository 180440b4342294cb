// An adapter of low rank that is added to tensors while they are converted, row by row. Private to
// strata/model/convert.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/base/result.h"

namespace strata::model::conversion {

struct Plan;

/// What an adapter adds to one published matrix: scale A B, in parts where several of our weights
/// are published as one.
class Update {
 public:
  struct Part {
    std::int64_t begin = 0, in = 0, out = 0, rank = 0;  // outputs begin .. begin + out - 1
    std::vector<float> a, b;                            // (in, rank), (rank, out)
    double scale = 1;
  };
  std::vector<Part> parts;
  /// Whether the rows are inputs instead of outputs (GPT-2's).
  bool rows_are_inputs = false;
  /// Outputs of so many heads stand in the order of neighbouring pairs; 0: not.
  std::int64_t paired_heads = 0;

  /// Adds to row i.
  void add_to(std::int64_t i, float* row) const;

 private:
  std::int64_t output_of(std::int64_t i) const;
};

/// Adds the adapter of a folder (lora/peft.h) to the tensors of a plan, which is of a model with
/// this config.json. Codes of lora::load_peft.
Status add_adapter(Plan& plan, const std::string& folder, const std::string& config, bool to_gguf);

}  // namespace strata::model::conversion
