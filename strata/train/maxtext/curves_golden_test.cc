// Training of tiny models beside MaxText's own (tools/goldens/maxtext_curves.py): its command
// lines, its first weights and batches, fifty steps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "strata/api/array.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/maxtext/curves_testing.h"
#include "strata/train/report/report.h"

namespace strata::train::maxtext {
namespace {

using curves::Trained;
using nlohmann::json;

const json& golden() {
  static const json out = curves::read("curves.json");
  return out;
}

double norm_of(const Array& norms) {
  double sum = 0;
  for (float n : norms.to_vector<float>()) sum += static_cast<double>(n) * n;
  return std::sqrt(sum);
}

/// A line of the log without times, and with its numbers taken out.
std::string shape_of(const std::string& line) {
  return std::regex_replace(line, std::regex("[0-9]+(\\.[0-9]+)?|#"), "N");
}

class MaxTextCurves : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_P(MaxTextCurves, FiftyStepsAreMaxTexts) {
  const json& want = golden()["families"][GetParam()];
  Trained run(GetParam(), want["keys"].get<std::vector<std::string>>());
  const std::size_t steps = want["loss"].size();
  ASSERT_EQ(steps, 50U);
  double furthest = 0, norms = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    const Outcome outcome = run(curves::batch_of(golden(), i));
    StepReport report{.step = static_cast<std::int64_t>(i), .loss = outcome.loss.item<float>()};
    report.seconds = report.flops = 1;
    report.total_weights = outcome.total_weights.item<float>();
    if (outcome.routers) report.routers = figures_of(*outcome.routers);
    const auto compare = [&](const char* key, double got, double bound, double& most) {
      const double expected = want[key][i], far = std::abs(got - expected) / expected;
      most = std::max(most, far);
      EXPECT_LE(far, bound) << "step " << i << ": " << key << " " << got << ", MaxText "
                            << expected;
    };
    compare("lm_loss", report.loss, 1e-4, furthest);
    compare("loss", report.total_loss(), 1e-4, furthest);
    if (want.contains("moe_lb_loss"))
      compare("moe_lb_loss", report.routers->load_balance, 1e-4, furthest);
    if (i == 0) EXPECT_EQ(shape_of(log_line(report)), shape_of(want["line"]));
    if (run.config.optimizer.contains("stored_as")) continue;  // norms are of other numbers
    compare("raw_grad_norm", norm_of(outcome.gradient_norms), 1e-3, norms);
    compare("param_norm", norm_of(outcome.parameter_norms), 1e-4, norms);
  }
  std::cout << fmt::format("  {}: losses within {:.1e} of MaxText's, norms within {:.1e}\n",
                           GetParam(), furthest, norms);
}

INSTANTIATE_TEST_SUITE_P(Families, MaxTextCurves,
                         testing::Values("llama", "gemma2", "gemma3", "gemma4", "gemma4_small",
                                         "qwen3", "mixtral", "qwen3_moe", "deepseek", "gpt_oss"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace strata::train::maxtext
