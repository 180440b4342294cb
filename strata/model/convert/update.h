// What is added to the rows of a tensor while they are converted. Private to strata/model/convert.
#pragma once

#include <cstdint>
#include <vector>

namespace strata::model::conversion {

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

}  // namespace strata::model::conversion
