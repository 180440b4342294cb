#include "strata/cli/bench_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace strata::cli {
namespace {

using testing::DoubleNear;
using testing::Each;

TEST(BenchReport, PercentilesAreNumpys) {
  // numpy.percentile([4, 1, 3, 2], p)
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 50), 2.5);
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 90), 3.7);
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 99), 3.97);
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 100), 4);
  EXPECT_DOUBLE_EQ(percentile({7}, 99), 7);
  EXPECT_EQ(percentile({}, 99), 0);
}

TEST(BenchReport, NumbersFollowTheFormulas) {
  const std::vector<BenchRequest> all = {
      {.prompt_tokens = 10, .output_tokens = 5, .ttft = 0.1, .latency = 0.5, .itl = {.1, .1, .2}},
      {.prompt_tokens = 20, .output_tokens = 1, .ttft = 0.3, .latency = 0.3},
      {.error = "status 503", .prompt_tokens = 7, .output_tokens = 3, .ttft = 9, .latency = 9}};
  const BenchNumbers list = bench_numbers(all, 2, {99}, {{"ttft", 150}, {"e2el", 1000}});
  std::map<std::string, double> is(list.begin(), list.end());
  EXPECT_EQ(is["completed"], 2);
  EXPECT_EQ(is["failed"], 1);
  EXPECT_EQ(is["total_input_tokens"], 30);
  EXPECT_EQ(is["total_output_tokens"], 6);
  EXPECT_DOUBLE_EQ(is["request_throughput"], 1);
  EXPECT_DOUBLE_EQ(is["request_goodput"], 0.5);
  EXPECT_DOUBLE_EQ(is["output_throughput"], 3);
  EXPECT_DOUBLE_EQ(is["total_token_throughput"], 18);
  EXPECT_DOUBLE_EQ(is["mean_ttft_ms"], 200);
  EXPECT_DOUBLE_EQ(is["std_ttft_ms"], 100);
  EXPECT_DOUBLE_EQ(is["p99_ttft_ms"], 298);
  EXPECT_DOUBLE_EQ(is["mean_tpot_ms"], 100);  // of the request with more than one token
  EXPECT_NEAR(is["mean_itl_ms"], 400. / 3, 1e-9);
  EXPECT_DOUBLE_EQ(is["median_e2el_ms"], 400);
  const std::string table = bench_table(list);
  EXPECT_THAT(table, testing::HasSubstr("Requests failed"));
  EXPECT_THAT(table, testing::HasSubstr("TTFT"));
}

TEST(BenchReport, ArrivalsKeepTheRate) {
  EXPECT_THAT(bench_arrivals(5, std::numeric_limits<double>::infinity(), 1, 0), Each(0.0));
  for (double burstiness : {0.2, 1.0, 50.0}) {
    const auto at = bench_arrivals(2000, 10, burstiness, 3);
    EXPECT_NEAR(at.back(), 200, 1e-9);
    double squares = 0, before = 0;
    for (double x : at) {
      ASSERT_GE(x, before);
      squares += std::pow(x - before - 0.1, 2);
      before = x;
    }
    // The coefficient of variation of gamma's gaps is 1 / sqrt(burstiness).
    EXPECT_THAT(std::sqrt(squares / 2000) / 0.1 * std::sqrt(burstiness), DoubleNear(1, 0.15));
  }
  EXPECT_EQ(bench_arrivals(9, 2, 1, 4), bench_arrivals(9, 2, 1, 4));
  EXPECT_NE(bench_arrivals(9, 2, 1, 4), bench_arrivals(9, 2, 1, 5));
}

}  // namespace
}  // namespace strata::cli
