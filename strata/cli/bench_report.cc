#include "strata/cli/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <random>

namespace strata::cli {
namespace {

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Of the values themselves, not of what they are a sample of.
double deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (double x : values) sum += (x - middle) * (x - middle);
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

void add_times(BenchNumbers& to, const std::string& name, std::vector<double> seconds,
               const std::vector<double>& percents) {
  for (double& x : seconds) x *= 1000;
  to.emplace_back("mean_" + name + "_ms", mean(seconds));
  to.emplace_back("median_" + name + "_ms", percentile(seconds, 50));
  to.emplace_back("std_" + name + "_ms", deviation(seconds));
  for (double p : percents)
    to.emplace_back(fmt::format("p{}_{}_ms", p, name), percentile(seconds, p));
}

}  // namespace

double percentile(std::vector<double> values, double percent) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

BenchNumbers bench_numbers(const std::vector<BenchRequest>& all, double duration,
                           const std::vector<double>& percents,
                           const std::vector<std::pair<std::string, double>>& goodput) {
  std::vector<double> ttft, tpot, itl, e2el;
  double completed = 0, good = 0, read = 0, drawn = 0;
  for (const BenchRequest& r : all) {
    if (!r.error.empty()) continue;
    ++completed;
    read += static_cast<double>(r.prompt_tokens);
    drawn += static_cast<double>(r.output_tokens);
    ttft.push_back(r.ttft);
    if (r.output_tokens > 1) tpot.push_back(r.tpot());
    itl.insert(itl.end(), r.itl.begin(), r.itl.end());
    e2el.push_back(r.latency);
    good += std::all_of(goodput.begin(), goodput.end(), [&](const auto& most) {
      const double is = most.first == "ttft" ? r.ttft : most.first == "tpot" ? r.tpot() : r.latency;
      return is * 1000 <= most.second;
    });
  }
  const double failed = static_cast<double>(all.size()) - completed;
  const double seconds = std::max(duration, 1e-9);
  BenchNumbers out = {{"duration", duration},
                      {"completed", completed},
                      {"failed", failed},
                      {"total_input_tokens", read},
                      {"total_output_tokens", drawn},
                      {"request_throughput", completed / seconds}};
  if (!goodput.empty()) out.emplace_back("request_goodput", good / seconds);
  out.emplace_back("output_throughput", drawn / seconds);
  out.emplace_back("total_token_throughput", (read + drawn) / seconds);
  add_times(out, "ttft", ttft, percents);
  add_times(out, "tpot", tpot, percents);
  add_times(out, "itl", itl, percents);
  add_times(out, "e2el", e2el, percents);
  return out;
}

std::string bench_table(const BenchNumbers& numbers) {
  const std::vector<std::pair<std::string, std::string>> words = {
      {"duration", "Duration (s)"},
      {"completed", "Requests answered"},
      {"failed", "Requests failed"},
      {"total_input_tokens", "Tokens read"},
      {"total_output_tokens", "Tokens drawn"},
      {"request_throughput", "Requests per second"},
      {"request_goodput", "Good requests per second"},
      {"output_throughput", "Tokens drawn per second"},
      {"total_token_throughput", "Tokens read and drawn per second"}};
  std::string out;
  for (const auto& [key, value] : numbers) {
    const auto found =
        std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.first == key; });
    if (found == words.end()) continue;
    const bool whole = value == std::floor(value) && key != "duration";
    out +=
        fmt::format("{:<34}{:>12}\n", found->second, fmt::format("{:.{}f}", value, whole ? 0 : 2));
  }
  // One line for each kind of time, one column for each statistic.
  std::string heads, line;
  for (const char* kind : {"ttft", "tpot", "itl", "e2el"}) {
    const std::string end = fmt::format("_{}_ms", kind);
    heads = fmt::format("{:<34}", "Milliseconds");
    line = kind;
    for (char& c : line) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    line = fmt::format("{:<34}", line);
    for (const auto& [key, value] : numbers) {
      if (!key.ends_with(end)) continue;
      heads += fmt::format("{:>12}", key.substr(0, key.size() - end.size()));
      line += fmt::format("{:>12.2f}", value);
    }
    out += (std::string(kind) == "ttft" ? heads + "\n" : "") + line + "\n";
  }
  return out;
}

std::vector<double> bench_arrivals(std::int64_t n, double rate, double burstiness,
                                   std::uint64_t seed) {
  std::vector<double> out(static_cast<std::size_t>(n), 0.0);
  if (std::isinf(rate) || n == 0) return out;
  std::mt19937_64 bits(seed);
  std::gamma_distribution<double> gap(burstiness, 1 / (rate * burstiness));
  double at = 0;
  for (double& x : out) x = at += gap(bits);
  const double stretch = at > 0 ? static_cast<double>(n) / rate / at : 0;
  for (double& x : out) x *= stretch;
  return out;
}

}  // namespace strata::cli
