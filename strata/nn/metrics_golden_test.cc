// Metrics beside Flax's: state and value behind each update, and behind a reset.
#include "strata/api/testing.h"
#include "strata/nn/metrics.h"
#include "strata/nn/nnx_golden.h"

namespace strata::nn {
namespace {

/// Numbers and arrays of an update.
Array value_of(const json& described) {
  if (described.is_number_integer()) return Array(described.get<std::int64_t>());
  if (described.is_number()) return Array(described.get<double>());
  return golden_array(described);
}

MetricInputs inputs_of(const json& update) {
  MetricInputs out;
  for (const auto& [name, value] : update.items())
    if (name != "mask") out[name] = value_of(value);
  return out;
}

template <class M>
void apply(M& metric, const json& update) {
  MetricCall call;
  if (update.contains("mask")) call.mask = golden_array(update["mask"]);
  metric.update(inputs_of(update), call);
}
void apply(MultiMetric& metric, const json& update) {
  MultiMetricCall call;
  if (update.contains("mask") && update["mask"].contains("dtype"))
    call.mask = golden_array(update["mask"]);
  else if (update.contains("mask"))
    for (const auto& [name, mask] : update["mask"].items()) call.masks[name] = golden_array(mask);
  metric.update(inputs_of(update), call);
}

/// The values below a place in what upstream answers: one, or several by name.
void expect_values(const tree::Tree& got, const std::string& path, const json& want) {
  if (!want.contains("dtype")) {
    for (const auto& [name, below] : want.items())
      expect_values(got, path.empty() ? name : path + "/" + name, below);
    return;
  }
  ASSERT_TRUE(got.contains(path)) << "there is no value of " << path;
  expect_near(got[path], want, {.ulp = 2}, "value of " + path);
}
void expect_value(const Array& got, const json& want) {
  expect_near(got, want, {.ulp = 2}, "value");
}
template <class T>
void expect_value(const T& got, const json& want) {
  expect_values(tree::of(got), "", want);
}

template <class M>
void check(M metric, const json& c) {
  std::size_t number = 0;
  for (const json& step : c["steps"]) {
    const std::string what = fmt::format("step {}", number++);
    SCOPED_TRACE(what);
    if (step.contains("update")) apply(metric, step["update"]);
    expect_leaves(tree::of(metric), step["state"], {.ulp = 2}, what);
    expect_value(metric.compute(), step["compute"]);
  }
  metric.reset();
  expect_leaves(tree::of(metric), c["reset"], {.ulp = 2}, "reset");
}

TEST(NnxMetrics, AreFlaxs) {
  testing::shows_names(
      "nnx.Metric nnx.Metric.update nnx.Metric.compute nnx.Metric.reset nnx.MultiMetric "
      "nnx.MultiMetric.update nnx.MultiMetric.compute nnx.MultiMetric.reset nnx.metrics.Average "
      "nnx.metrics.Average.update nnx.metrics.Average.compute nnx.metrics.Average.reset "
      "nnx.metrics.Accuracy nnx.metrics.Accuracy.update nnx.metrics.Statistics nnx.metrics.Welford "
      "nnx.metrics.Welford.update nnx.metrics.Welford.compute nnx.metrics.Welford.reset");
  const NnxGolden golden("metrics");
  ASSERT_FALSE(golden.cases().empty());
  for (const json& c : golden.cases()) {
    SCOPED_TRACE(c["name"].get<std::string>());
    const std::string metric = c["metric"];
    if (metric == "Average()") {
      check(Average(), c);
    } else if (metric == "Average('loss')") {
      check(Average("loss"), c);
    } else if (metric == "Accuracy()") {
      check(Accuracy(), c);
    } else if (metric == "Accuracy(threshold=0.25)") {
      check(Accuracy(0.25), c);
    } else if (metric == "Welford()") {
      check(Welford(), c);
    } else if (metric == "Welford('loss')") {
      check(Welford("loss"), c);
    } else if (metric.starts_with("MultiMetric(accuracy=Accuracy(), loss=Average('loss')")) {
      std::map<std::string, Metric> metrics{{"accuracy", Accuracy()}, {"loss", Average("loss")}};
      if (metric.find("spread=Welford('loss')") != std::string::npos)
        metrics["spread"] = Welford("loss");
      check(MultiMetric(metrics), c);
    } else {
      ADD_FAILURE() << "nothing is registered for " << metric;
    }
  }
}

}  // namespace
}  // namespace strata::nn
