// Steps of tiny models beside MaxText's own (tools/goldens/maxtext_optimizers.py), by its keys of
// the optimizer and the loss.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/maxtext/weights.h"
#include "strata/model/published/family.h"
#include "strata/train/maxtext/curves_testing.h"

namespace strata::train::maxtext {
namespace {

using nlohmann::json;

const json& golden() {
  static const json out = curves::read("optimizers.json");
  return out;
}

/// The weights under MaxText's names, in its numbers.
model::maxtext::Arrays stored(const std::string& config, const tree::Tree& weights) {
  const auto described = model::published::Config::parse(config);
  const auto options = model::published::family(described.text("model_type")).options(described);
  return model::maxtext::to_maxtext(options, weights, {.scanned = false});
}

/// Norm of what the numbers moved by, its products with the first ones and with hashed ones.
std::vector<double> moved(const Literal& first, const Literal& last) {
  double norm = 0, with_first = 0, with_probe = 0;
  const std::int64_t n = first.count();
  for (std::int64_t i = 0; i < n; ++i) {
    const double w = first.number(i), d = last.number(i) - w;
    const auto probe =
        static_cast<double>(curves::hashed(7, static_cast<std::uint64_t>(i)) % 1000) / 1000 - 0.5;
    norm += d * d, with_first += d * w, with_probe += d * probe;
  }
  return {std::sqrt(norm), with_first, with_probe};
}

double norm_of(const Literal& l) {
  double out = 0;
  for (std::int64_t i = 0; i < l.count(); ++i) out += l.number(i) * l.number(i);
  return std::sqrt(out);
}

class MaxTextOptimizers : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_P(MaxTextOptimizers, StepsAreMaxTexts) {
  const json& want = golden()["cases"][GetParam()];
  const auto line = want["keys"].get<std::vector<std::string>>();
  curves::Trained run(want["family"].get<std::string>(), line);
  const std::string config = model_config(curves::resolved(line));
  const auto first = stored(config, run.state.params);
  double furthest = 0, furthest_move = 0;
  for (std::size_t i = 0; i < want["loss"].size(); ++i) {
    const Outcome outcome = run(curves::batch_of(golden(), i));
    const auto compare = [&](const char* key, double got, double expected) {
      const double far = std::abs(got - expected) / std::max(std::abs(expected), 1e-6);
      furthest = std::max(furthest, far);
      EXPECT_LE(far, 2e-5) << "step " << i << ": " << key << " " << got << ", MaxText " << expected;
    };
    compare("lm_loss", outcome.loss.item<float>(), want["lm_loss"][i]);
    // What MaxText logs is the sum over micro-batches.
    const auto parts = static_cast<double>(run.config.gradient_accumulation_steps);
    compare("z_loss", outcome.z_loss ? outcome.z_loss->item<float>() : 0.0,
            want["z_loss"][i].get<double>() / parts);
  }
  for (const auto& [name, last] : stored(config, run.state.params)) {
    if (!want["moved"].contains(name)) continue;  // a bias that experts are chosen by
    const std::vector<double> got = moved(first.at(name), last);
    const double norm = want["moved"][name][0], whole = norm_of(first.at(name));
    const double scale[] = {norm, norm * whole,
                            norm * std::sqrt(static_cast<double>(last.count()) / 12.0)};
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double expected = want["moved"][name][i];
      const double far = std::abs(got[i] - expected) / std::max(scale[i], 1e-12);
      furthest_move = std::max(furthest_move, far);
      EXPECT_LE(far, 1e-3) << name << " " << i << ": " << got[i] << ", MaxText " << expected;
    }
  }
  std::cout << fmt::format("  {}: losses within {:.1e} of MaxText's, what moved within {:.1e}\n",
                           GetParam(), furthest, furthest_move);
}

INSTANTIATE_TEST_SUITE_P(Cases, MaxTextOptimizers,
                         testing::Values("adam_pax", "adamw_eps_root", "adamw_mask", "z_loss",
                                         "z_loss_experts", "z_loss_accumulated", "muon", "muon_rms",
                                         "muon_gemma3", "muon_experts", "muon_no_routers",
                                         "muon_of_maxtext", "muon_latent", "muon_gpt_oss",
                                         "trainable", "trainable_layers", "mu_dtype",
                                         "mu_dtype_muon", "adam_pax_mask"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace strata::train::maxtext
