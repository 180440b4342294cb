// Training of tiny models beside MaxText's own (tools/goldens/maxtext_curves.py): its command
// lines, its first weights and batches, fifty steps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "strata/api/array.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/pretrained.h"
#include "strata/train/config/router_options.h"
#include "strata/train/maxtext/models.h"
#include "strata/train/maxtext/translate.h"
#include "strata/train/report/report.h"
#include "strata/train/state.h"

namespace strata::train::maxtext {
namespace {

using nlohmann::json;

const std::filesystem::path kData =
    std::filesystem::path(__FILE__).parent_path() / "testdata/curves";

const json& golden() {
  static const json out = json::parse(std::ifstream(kData / "curves.json"));
  return out;
}

/// SplitMix64's output function at seed * 2^40 + i.
std::uint64_t hashed(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t x = ((seed << 40) + i + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

Batch batch_of(std::size_t step) {
  const json& g = golden();
  const auto batch = g["batch"].get<std::int64_t>(), length = g["length"].get<std::int64_t>();
  const auto seed = g["seed"].get<std::uint64_t>() + step % 5;
  const auto vocabulary = g["vocabulary"].get<std::uint64_t>();
  std::vector<std::int32_t> tokens, targets;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t s = 0; s <= length; ++s) {
      const auto at = static_cast<std::uint64_t>(b * (length + 1) + s);
      const auto token = static_cast<std::int32_t>(hashed(seed, at) % vocabulary);
      if (s < length) tokens.push_back(token);
      if (s > 0) targets.push_back(token);
    }
  return {array(tokens, Sizes{batch, length}), array(targets, Sizes{batch, length})};
}

double norm_of(const Array& norms) {
  double sum = 0;
  for (float n : norms.to_vector<float>()) sum += static_cast<double>(n) * n;
  return std::sqrt(sum);
}

/// A run of a golden's command line from its weights.
struct Trained {
  Config config;
  Base base;
  State state;
  Step step;

  explicit Trained(const std::string& family) {
    const Surroundings nothing = {[](const std::string&) -> const char* { return nullptr; }, 1};
    auto line = golden()["families"][family]["keys"].get<std::vector<std::string>>();
    line.insert(line.end(), {"run_name=r", "base_output_directory=out", "dataset_type=synthetic",
                             "attention=dot_product"});
    const Resolved resolved = resolve(line, nothing);
    config = read_config({}, translate(resolved).keys);
    auto source = model::published::open_directory((kData / family).string()).value();
    model::Pretrained loaded = model::load(model_config(resolved), *source).value();
    base.model = loaded.model;
    base.weights = loaded.params;
    const Optimizer optimizer = make_optimizer(config, base);
    state = init(loaded.params, optimizer);
    step = make_step(base.model, optimizer, step_options(config, *base.model));
  }
};

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
  Trained run(GetParam());
  const std::size_t steps = want["loss"].size();
  ASSERT_EQ(steps, 50U);
  double furthest = 0, norms = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    auto [outcome, next] = run.step(std::move(run.state), batch_of(i));
    run.state = std::move(next);
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
