// What each step came to: JSON lines for programs, event files for TensorBoard. Names are
// MaxText's.
//
//   auto metrics = Metrics::open({.lines = "run/metrics/metrics.jsonl", .events =
//   "run/tensorboard"}, 40); metrics->add(41, {{"learning/loss", 3.21f}, {"perf/step_time_seconds",
//   0.22f}});
//   // {"step":41,"learning/loss":3.21,"perf/step_time_seconds":0.22}
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "strata/base/file.h"
#include "strata/base/result.h"

namespace strata::train {

using Scalars = std::vector<std::pair<std::string, float>>;

struct MetricsPlaces {
  /// The file of JSON lines.
  std::string lines;
  /// The folder of the event file.
  std::string events;
};

class Metrics {
 public:
  /// Opens the files for a run that has completed `step` steps: what tells of later steps, and a
  /// last line or record that was cut by a crash, is taken away first, so that a run that goes on
  /// repeats nothing.
  static Result<Metrics> open(const MetricsPlaces& places, std::int64_t step);
  /// One line and one event. Numbers are written with all their digits, so equal text is equal
  /// bits; what is no number is null in JSON.
  Status add(std::int64_t step, const Scalars& scalars);
  /// What was added survives a crash of the machine.
  Status sync();

 private:
  Metrics(LineWriter lines, LineWriter events)
      : lines_(std::move(lines)), events_(std::move(events)) {}
  LineWriter lines_, events_;
};

/// One line of the file.
struct MetricsLine {
  std::int64_t step = 0;
  std::map<std::string, double> values;
};
/// The lines that are whole, in order; what is no line of metrics is passed over.
Result<std::vector<MetricsLine>> read_metrics(const std::string& path);

}  // namespace strata::train
