#include "strata/train/report/step_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "strata/base/presence.h"

namespace strata::train {
namespace {

constexpr const char* kLoss = "learning/lm_loss";
constexpr std::array<std::string_view, 4> kCompared = {kLoss, "learning/current_learning_rate",
                                                       "learning/grad_norm", "learning/param_norm"};

float global_norm(const std::vector<float>& norms) {
  double sum = 0;
  for (float n : norms) sum += static_cast<double>(n) * n;
  return static_cast<float>(std::sqrt(sum));
}

/// What differs between a line and figures, compared as the line prints them, behind the loss of
/// both; empty where nothing does.
std::string differences(const MetricsLine& line, const Scalars& figures) {
  std::string out;
  bool differs = false;
  for (const auto& [name, value] : figures) {
    const auto then = line.values.find(name);
    if (then == line.values.end() || !std::ranges::count(kCompared, name)) continue;
    const std::string now = fmt::format("{}", value);
    const bool same = std::strtod(now.c_str(), nullptr) == then->second;
    differs = differs || !same;
    if (same && name != kLoss) continue;
    out += fmt::format("{}{} is {} (the run had {})", out.empty() ? "" : ", ", name, now,
                       then->second);
  }
  return differs ? out : "";
}

}  // namespace

Scalars step_figures(const Outcome& outcome, float rate) {
  const float loss = outcome.loss.item<float>();
  return {{kLoss, loss},
          {"learning/perplexity", std::exp(loss)},
          {"learning/total_weights", static_cast<float>(outcome.total_weights.item<double>())},
          {"learning/current_learning_rate", rate},
          {"learning/grad_norm", global_norm(outcome.gradient_norms.to_vector<float>())},
          {"learning/param_norm", global_norm(outcome.parameter_norms.to_vector<float>())}};
}

Result<StepRecord> StepRecord::read(const std::string& path) {
  StepRecord out;
  const auto there = is_there(path);
  if (!there) return there.status();
  if (!*there) return out;
  auto lines = read_metrics(path);
  if (!lines) return lines.status();
  for (MetricsLine& line : *lines)
    if (line.values.count(kLoss)) out.lines_[line.step].push_back(std::move(line));
  return out;
}

std::string StepRecord::check(std::int64_t step, const Scalars& figures) const {
  const auto at = lines_.find(step);
  if (at == lines_.end()) return {};
  std::string out;
  for (const MetricsLine& line : at->second) {
    out = differences(line, figures);
    if (out.empty()) return {};
  }
  return out;
}

}  // namespace strata::train
