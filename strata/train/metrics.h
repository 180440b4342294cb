// What each step came to, as JSON lines: {"step":12,"loss":3.21,"tokens_per_second":9120.5,"seconds":0.22}.
#pragma once

#include <cstdint>
#include <string>

#include "strata/base/file.h"
#include "strata/base/result.h"

namespace strata::train {

class Metrics {
 public:
  /// Opens the file for a run that has completed `step` steps: lines of later steps, and a last line that was cut by a
  /// crash, are taken away first.
  static Result<Metrics> open(const std::string& path, std::int64_t step);
  /// Losses are written with all their digits, so equal text is equal bits.
  Status add_step(std::int64_t step, float loss, double tokens_per_second, double seconds);
  Status add_eval(std::int64_t step, float loss);
  /// What was added survives a crash of the machine.
  Status sync() { return writer_.sync(); }

 private:
  explicit Metrics(LineWriter writer) : writer_(std::move(writer)) {}
  LineWriter writer_;
};

}  // namespace strata::train
