#include "strata/serve/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace strata::serve {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Metrics, TextIsPrometheus) {
  Metrics m;
  m.set("num_requests_running", 3);
  m.set("num_requests_running", 2);
  m.set("num_requests_waiting_by_reason", 1, "reason=\"capacity\"");
  m.add("request_success", 1, "finished_reason=\"stop\"");
  m.add("request_success", 2, "finished_reason=\"length\"");
  m.add("generation_tokens", 40);
  const std::string text = m.text("a \"model\"\\");
  const std::string of = "engine=\"0\",model_name=\"a \\\"model\\\"\\\\\"";
  EXPECT_THAT(text, HasSubstr("# TYPE vllm:num_requests_running gauge\n"
                              "vllm:num_requests_running{" +
                              of + "} 2\n"));
  EXPECT_THAT(text, HasSubstr("waiting_by_reason{" + of + ",reason=\"capacity\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE vllm:request_success_total counter\n"
                              "vllm:request_success_total{" +
                              of + ",finished_reason=\"length\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("vllm:generation_tokens_total{" + of + "} 40\n"));
}

TEST(Metrics, BucketsCountWhatIsNoLarger) {
  Metrics m;
  for (double seconds : {0.0005, 0.001, 0.03, 5000.0})
    m.observe("time_to_first_token_seconds", seconds);
  const std::string text = m.text("m");
  const std::string bucket = "time_to_first_token_seconds_bucket{engine=\"0\",model_name=\"m\",le=";
  EXPECT_THAT(text, HasSubstr(bucket + "\"0.001\"} 2\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "\"0.02\"} 2\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "\"0.04\"} 3\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "\"2560\"} 3\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "\"+Inf\"} 4\n"));
  EXPECT_THAT(text,
              HasSubstr("time_to_first_token_seconds_count{engine=\"0\",model_name=\"m\"} 4"));
  EXPECT_THAT(text,
              HasSubstr("time_to_first_token_seconds_sum{engine=\"0\",model_name=\"m\"} 5000.03"));
  m.observe("iteration_tokens_total", 9);
  EXPECT_THAT(
      m.text("m"),
      HasSubstr("iteration_tokens_total_bucket{engine=\"0\",model_name=\"m\",le=\"16\"} 1"));
  EXPECT_THAT(m.text("m"), Not(HasSubstr("inter_token")));
}

TEST(Metrics, ThreadsAddUp) {
  Metrics m;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) m.add("generation_tokens"), m.observe("request_params_n", 1);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_THAT(m.text("m"),
              HasSubstr("generation_tokens_total{engine=\"0\",model_name=\"m\"} 4000"));
  EXPECT_THAT(m.text("m"), HasSubstr("request_params_n_count{engine=\"0\",model_name=\"m\"} 4000"));
}

}  // namespace
}  // namespace strata::serve
