// Counters and histograms in Prometheus' text form, under vLLM's names.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace strata::serve {

/// May be used by several threads at once.
class Metrics {
 public:
  /// A number that goes up and down; one that only grows ("_total" is put behind its name).
  /// `labels` beside those that all have: "reason=\"capacity\"".
  void set(const std::string& name, double value, const std::string& labels = "");
  void add(const std::string& name, double by = 1, const std::string& labels = "");
  /// A time in seconds, or a size, of a histogram with the buckets that its name has.
  void observe(const std::string& name, double value);
  /// `model` is the label model_name.
  std::string text(const std::string& model) const;

 private:
  struct Histogram {
    std::vector<double> bounds;
    std::vector<std::uint64_t> counts;
    double sum = 0;
    std::uint64_t count = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, double>> gauges_, counters_;
  std::map<std::string, Histogram> histograms_;
};

}  // namespace strata::serve
