// Times of requests to a server become statistics: what `strata bench serve` tells, by the formulas
// of `vllm bench serve`.
//
//   TTFT   first piece of text - the request sent
//   TPOT   (latency - TTFT) / (tokens - 1), of requests with more than one token
//   ITL    the gaps between pieces, of all requests together
//   E2EL   last piece - the request sent
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace strata::cli {

/// One request as its client saw it; seconds.
struct BenchRequest {
  /// Why it failed; empty for one that was answered.
  std::string error = {};
  std::int64_t prompt_tokens = 0, output_tokens = 0;
  double ttft = 0, latency = 0;
  std::vector<double> itl = {};
  std::string text = {};

  double tpot() const {
    return output_tokens > 1 ? (latency - ttft) / static_cast<double>(output_tokens - 1) : 0;
  }
};

/// Between the two nearest of sorted values, as numpy.percentile; 0 of none.
double percentile(std::vector<double> values, double percent);

/// Names and numbers in their order: mean_ttft_ms, p99_ttft_ms, request_throughput ...
using BenchNumbers = std::vector<std::pair<std::string, double>>;

/// What all requests amount to. `duration` is in seconds, from the first request to the last
/// answer. `goodput`: the most milliseconds of "ttft", "tpot" and "e2el" that a good request takes.
BenchNumbers bench_numbers(const std::vector<BenchRequest>& all, double duration,
                           const std::vector<double>& percents,
                           const std::vector<std::pair<std::string, double>>& goodput);

/// The numbers as people read them.
std::string bench_table(const BenchNumbers& numbers);

/// Seconds after the start at which each of n requests is sent: all at once for an infinite rate;
/// else gamma-distributed gaps with mean 1 / rate (burstiness 1: a Poisson process), stretched so
/// that the last is sent at n / rate.
std::vector<double> bench_arrivals(std::int64_t n, double rate, double burstiness,
                                   std::uint64_t seed);

}  // namespace strata::cli
