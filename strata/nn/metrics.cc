#include "strata/nn/metrics.h"

#include <fmt/ranges.h>

#include "strata/api/numpy.h"

namespace strata::nn {

namespace {

const Array& input(const char* metric, const MetricInputs& inputs, const std::string& name) {
  const auto found = inputs.find(name);
  if (found != inputs.end()) return found->second;
  std::vector<std::string> have;
  for (const auto& [other, value] : inputs) have.push_back(other);
  strata::internal::fail(metric, "the update has no {}, only [{}]", name, fmt::join(have, ", "));
}

MetricState zero(DType dtype) { return MetricState(numpy::zeros(Sizes(), dtype)); }
void set_zero(MetricState& state) { state = numpy::zeros_like(state); }

/// Another value in the dtype that the state has.
void set(MetricState& state, const Array& value) { state = astype(value, state.dtype()); }

void add_to_average(MetricState& count, MetricState& total, const Array& values,
                    const std::optional<Array>& mask) {
  if (!mask) {
    set(total, total + numpy::sum(values));
    set(count, count + values.size());
    return;
  }
  set(total, total + numpy::sum(values * astype(*mask, values.dtype())));
  set(count, count + astype(numpy::sum(*mask), count.dtype()));
}

}  // namespace

Average::Average(std::string argname)
    : count(zero(DType::i32)), total(zero(DType::f32)), argname(std::move(argname)) {}

void Average::update(const MetricInputs& inputs, const MetricCall& call) {
  add_to_average(count, total, input("Average", inputs, argname), call.mask);
}
Array Average::compute() const { return total / count; }
void Average::reset() {
  set_zero(total);
  set_zero(count);
}

Accuracy::Accuracy(std::optional<double> threshold)
    : count(zero(DType::i32)), total(zero(DType::f32)), threshold(threshold) {}

void Accuracy::update(const MetricInputs& inputs, const MetricCall& call) {
  using strata::internal::describe;
  using strata::internal::fail;
  const Array& logits = input("Accuracy", inputs, "logits");
  Array labels = input("Accuracy", inputs, "labels");
  if (logits.ndim() != labels.ndim() + (threshold ? 0 : 1))
    fail("Accuracy", "{} labels have {} of the logits: logits {}, labels {}",
         threshold ? "two classes'" : "several classes'",
         threshold ? "the axes" : "the axes but the last", describe(logits.type()),
         describe(labels.type()));
  if (labels.dtype() != DType::i32 && labels.dtype() != DType::i64)
    fail("Accuracy", "labels are i32, got {}", describe(labels.type()));
  labels = astype(labels, DType::i32);
  const Array right =
      threshold ? (logits >= *threshold) == (labels > 0) : numpy::argmax(logits, -1) == labels;
  add_to_average(count, total, right, call.mask);
}
Array Accuracy::compute() const { return total / count; }
void Accuracy::reset() {
  set_zero(total);
  set_zero(count);
}

Welford::Welford(std::string argname)
    : count(zero(DType::i32)),
      m2(zero(DType::f32)),
      mean(zero(DType::f32)),
      argname(std::move(argname)) {}

void Welford::update(const MetricInputs& inputs, const MetricCall& call) {
  if (call.mask) strata::internal::fail("Welford", "takes no mask; select the values before");
  const Array& values = input("Welford", inputs, argname);
  const std::int64_t fresh = values.size();
  const Array before = count;
  set(count, count + fresh);
  const Array delta = numpy::mean(values) - mean;
  set(mean, mean + delta * fresh / count);
  set(m2, m2 + (numpy::var(values) * fresh + delta * delta * fresh * before / count));
}
Statistics Welford::compute() const {
  const Array deviation = numpy::sqrt(m2 / count);
  return {mean, deviation / numpy::sqrt(count), deviation};
}
void Welford::reset() {
  set_zero(count);
  set_zero(m2);
  set_zero(mean);
}

void MultiMetric::update(const MetricInputs& inputs, const MultiMetricCall& call) {
  using strata::internal::fail;
  if (call.mask && !call.masks.empty()) fail("MultiMetric", "both mask and masks are given");
  for (const auto& [name, mask] : call.masks)
    if (!metrics.contains(name)) {
      std::vector<std::string> have;
      for (const auto& [other, metric] : metrics) have.push_back(other);
      fail("MultiMetric", "there is a mask for {}, but the metrics are [{}]", name,
           fmt::join(have, ", "));
    }
  for (auto& [name, metric] : metrics) {
    MetricCall one{.mask = call.mask};
    if (const auto mask = call.masks.find(name); mask != call.masks.end()) one.mask = mask->second;
    std::visit([&](auto& of) { of.update(inputs, one); }, metric);
  }
}

tree::Tree MultiMetric::compute() const {
  std::vector<tree::Entry> entries;
  std::vector<Array> values;
  for (const auto& [name, metric] : metrics) {
    const auto result = std::visit(
        [](const auto& of) -> std::variant<Array, Statistics> { return of.compute(); }, metric);
    if (const Array* number = std::get_if<Array>(&result)) {
      entries.emplace_back(name, tree::kinds::variable);
      values.push_back(*number);
      continue;
    }
    const tree::Tree several = tree::of(std::get<Statistics>(result)).below(name);
    for (std::size_t i = 0; i < several.size(); ++i) {
      entries.emplace_back(several.entry(i).path, tree::kinds::variable);
      values.push_back(several.value(i));
    }
  }
  return tree::Tree(std::move(entries), std::move(values));
}

void MultiMetric::reset() {
  for (auto& [name, metric] : metrics) std::visit([](auto& of) { of.reset(); }, metric);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::MultiMetric)
