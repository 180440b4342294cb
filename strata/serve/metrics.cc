#include "strata/serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace strata::serve {
namespace {

std::vector<double> bounds_of(const std::string& name) {
  if (name == "time_to_first_token_seconds")
    return {.001, .005, .01, .02, .04, .06, .08, .1, .25, .5,  .75,
            1,    2.5,  5,   7.5, 10,  20,  40,  80, 160, 640, 2560};
  if (name == "inter_token_latency_seconds" || name == "request_time_per_output_token_seconds")
    return {.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80};
  if (name.ends_with("_seconds"))
    return {.3, .5, .8, 1,  1.5, 2,   2.5, 5,   10,   15,  20,
            30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680};
  if (name == "iteration_tokens_total")
    return {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
  if (name == "request_params_n") return {1, 2, 5, 10, 20};
  return {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000};
}

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

}  // namespace

void Metrics::set(const std::string& name, double value, const std::string& labels) {
  const std::lock_guard lock(mutex_);
  gauges_[name][labels] = value;
}

void Metrics::add(const std::string& name, double by, const std::string& labels) {
  const std::lock_guard lock(mutex_);
  counters_[name][labels] += by;
}

void Metrics::observe(const std::string& name, double value) {
  const std::lock_guard lock(mutex_);
  Histogram& h = histograms_[name];
  if (h.bounds.empty()) {
    h.bounds = bounds_of(name);
    h.counts.resize(h.bounds.size());
  }
  for (std::size_t i = 0; i < h.bounds.size(); ++i) h.counts[i] += value <= h.bounds[i];
  h.sum += value;
  ++h.count;
}

std::string Metrics::text(const std::string& model) const {
  const std::lock_guard lock(mutex_);
  const std::string of = fmt::format("engine=\"0\",model_name=\"{}\"", escaped(model));
  std::string out;
  for (const auto& [name, all] : gauges_) {
    out += fmt::format("# TYPE vllm:{} gauge\n", name);
    for (const auto& [labels, value] : all)
      out +=
          fmt::format("vllm:{}{{{}{}{}}} {}\n", name, of, labels.empty() ? "" : ",", labels, value);
  }
  for (const auto& [name, all] : counters_) {
    out += fmt::format("# TYPE vllm:{}_total counter\n", name);
    for (const auto& [labels, value] : all)
      out += fmt::format("vllm:{}_total{{{}{}{}}} {}\n", name, of, labels.empty() ? "" : ",",
                         labels, value);
  }
  for (const auto& [name, h] : histograms_) {
    out += fmt::format("# TYPE vllm:{} histogram\n", name);
    for (std::size_t i = 0; i < h.bounds.size(); ++i)
      out += fmt::format("vllm:{}_bucket{{{},le=\"{}\"}} {}\n", name, of, h.bounds[i], h.counts[i]);
    out += fmt::format(
        "vllm:{0}_bucket{{{1},le=\"+Inf\"}} {2}\nvllm:{0}_sum{{{1}}} {3}\n"
        "vllm:{0}_count{{{1}}} {2}\n",
        name, of, h.count, h.sum);
  }
  return out;
}

}  // namespace strata::serve
