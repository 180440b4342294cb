// strata evaluate --model: how well published models predict a text, and questions of evaluation
// harnesses.
#pragma once

#include <cstdint>
#include <string>

namespace strata::cli {

struct EvaluateText {
  std::string model, adapter, activations = "float";
  /// A file whose perplexity is asked for.
  std::string perplexity;
  /// Whether stdin holds questions, a line of JSON each.
  bool requests = false;
  std::int64_t context = 2048, stride = 0;
  bool json = false;
};

/// Gives the exit status.
int evaluate_text(const EvaluateText& options);

}  // namespace strata::cli
