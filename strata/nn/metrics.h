// Metrics: sums over batches, of which a number is made at the end.
//
//   nn::MultiMetric metrics({{"accuracy", nn::Accuracy()}, {"loss", nn::Average("loss")}});
//   auto step = nn::jit([](nn::MultiMetric& m, const Batch& b) {
//     m.update({{"logits", b.logits}, {"labels", b.labels}, {"loss", b.loss}}, {.mask = b.valid});
//   });
//   tree::Tree now = metrics.compute();        // now["accuracy"], now["loss"]
//   metrics.reset();
//
// A metric is a tree of MetricStates, so that transforms carry it. An update takes arrays by name;
// a metric reads those it knows. Source: flax/nnx/training/metrics.py (0.12.8).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "strata/nn/compiled_visit.h"
#include "strata/nn/variable.h"

namespace strata::nn {

/// What an update is made of, by name.
using MetricInputs = std::map<std::string, Array>;

struct MetricCall {
  strata::internal::Named named = strata::internal::Named();
  /// Multiplies the values to which it broadcasts; its sum is how many they are.
  std::optional<Array> mask = std::nullopt;
};

/// The mean of all values seen: total / count, NaN before the first.
struct Average {
  MetricState count, total;  // i32, f32
  /// Under which name an update has the values.
  std::string argname = "values";
  STRATA_FIELDS(count, total, argname)

  explicit Average(std::string argname = "values");
  /// total += sum(values mask), count += their number or sum(mask). Throws Error where there are no
  /// values of that name.
  void update(const MetricInputs& inputs, const MetricCall& call = {});
  /// The mean, an f32 scalar; NaN before the first value.
  Array compute() const;
  /// Forgets all values.
  void reset();
};

/// Which part of predictions is right.
struct Accuracy {
  MetricState count, total;  // i32, f32
  /// Logits from here on say yes, and labels above 0; none: the greatest logit along the last axis
  /// names the class.
  std::optional<double> threshold;
  STRATA_FIELDS(count, total, threshold)

  explicit Accuracy(std::optional<double> threshold = std::nullopt);
  /// Reads "logits" and "labels" (i32; i64 is cast). Throws Error where one is missing, for labels
  /// of another dtype, and unless logits have one axis more than labels (with a threshold as many).
  void update(const MetricInputs& inputs, const MetricCall& call = {});
  /// The part that was right, an f32 scalar; NaN before the first prediction.
  Array compute() const;
  /// Forgets all predictions.
  void reset();
};

/// What Welford knows of a stream of values.
struct Statistics {
  Array mean, standard_error_of_mean, standard_deviation;  // f32
  STRATA_FIELDS(mean, standard_error_of_mean, standard_deviation)
};

/// Mean and standard deviation of all values seen, batch by batch. Source: Welford (1962); Chan et
/// al. (1983).
struct Welford {
  MetricState count, m2, mean;  // i32, f32, f32
  /// Under which name an update has the values.
  std::string argname = "values";
  STRATA_FIELDS(count, m2, mean, argname)

  explicit Welford(std::string argname = "values");
  /// Throws Error where there are no values of that name, and for a mask, which upstream takes and
  /// does not read.
  void update(const MetricInputs& inputs, const MetricCall& call = {});
  /// Before the first value the mean is 0 and the rest NaN.
  Statistics compute() const;
  /// Forgets all values.
  void reset();
};

/// Any of the above.
using Metric = std::variant<Average, Accuracy, Welford>;

struct MultiMetricCall {
  strata::internal::Named named = strata::internal::Named();
  /// For all metrics, or by their names; a metric that is not named has none.
  std::optional<Array> mask = std::nullopt;
  std::map<std::string, Array> masks = {};
};

/// Several metrics, by name; each gets every update.
struct MultiMetric {
  std::map<std::string, Metric> metrics;

  MultiMetric() = default;
  explicit MultiMetric(std::map<std::string, Metric> by_name) : metrics(std::move(by_name)) {}

  /// Throws Error as the metrics do, for a mask of a name that no metric has, and for both kinds of
  /// masks at once.
  void update(const MetricInputs& inputs, const MultiMetricCall& call = {});
  /// The value of each by its name; of a Welford "name/mean" and so on.
  tree::Tree compute() const;
  /// Resets every metric.
  void reset();
  Metric& operator[](const std::string& name) { return metrics.at(name); }
  const Metric& operator[](const std::string& name) const { return metrics.at(name); }
};

/// Upstream's module of that name.
namespace metrics {
using nn::Accuracy;
using nn::Average;
using nn::MetricState;
using nn::Statistics;
using nn::Welford;
}  // namespace metrics

}  // namespace strata::nn

/// A child for each metric, by name.
template <>
struct strata::tree::Node<strata::nn::MultiMetric> : Node<std::map<std::string, nn::Metric>> {
  template <class U, class F>
  static void visit(U& t, F&& f) {
    Node<std::map<std::string, nn::Metric>>::visit(t.metrics, std::forward<F>(f));
  }
};

STRATA_COMPILED_VISIT(strata::nn::MultiMetric)
