// Every schedule and transformation beside what released Optax computes over 20 steps
// (tools/goldens/optimizers.py).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "strata/compile/cpu_client.h"
#include "strata/optim/typed/adamw.h"
#include "strata/optim/typed/sgd.h"

namespace strata::optim::typed {
namespace {

using nlohmann::json;

constexpr double kTolerance =
    2e-6;  // of the largest number of a case: some 20 f32 roundings, one for each step

struct Params {
  Array bias, kernel;
  STRATA_FIELDS(bias, kernel)
};

/// The script's `numbers` and `tree`, to the last bit.
Array numbers(std::int64_t seed, const Sizes& shape) {
  std::vector<float> out(static_cast<std::size_t>(Shape::of(shape).count()));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] =
        static_cast<float>((seed * 7919 + static_cast<std::int64_t>(i) * 104729) % 2003 - 1001) /
        1024.0f;
  return array(out, shape);
}
Params tree_of(std::int64_t seed) { return {numbers(seed, {3}), numbers(seed + 100, {2, 3})}; }

class OptimizerGoldenTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    compile::register_cpu();
    std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "optimizers.json");
    golden_ = json::parse(file);
  }

  /// The greatest distance, printed, is within the tolerance of the greatest number.
  static void expect_near(const std::string& name, const std::vector<double>& got,
                          const std::vector<double>& want) {
    ASSERT_EQ(got.size(), want.size()) << name;
    double distance = 0, size = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      distance = std::max(distance, std::abs(got[i] - want[i]));
      size = std::max(size, std::abs(want[i]));
    }
    std::cout << fmt::format("{:32} {:.1e} of {:.3g}\n", name, distance, size);
    EXPECT_LE(distance, kTolerance * size) << name;
  }

  static void check_schedule(const std::string& name, const Schedule& schedule) {
    std::vector<double> got;
    const std::vector<double> want = golden_["schedules"].at(name);
    for (std::size_t step = 0; step < want.size(); ++step)
      got.push_back(schedule(Array(static_cast<int>(step))).item<float>());
    expect_near(name, got, want);
    ++checked_;
  }

  template <class Optimizer>
  static void check(const std::string& name, const Optimizer& optimizer) {
    Params params = tree_of(1);
    auto state = optimizer.init(params);
    std::vector<double> got, want;
    std::int64_t step = 0;
    for (const json& after : golden_["transformations"].at(name)) {
      auto [updates, next] = optimizer.update(tree_of(10 + step++), state, params);
      params = apply_updates(params, updates);
      state = next;
      tree::for_each_path(params, [&](const std::string& leaf, const Array& array) {
        for (const json& v : after.at(leaf)) want.push_back(v);
        const auto values = array.to_vector<float>();
        got.insert(got.end(), values.begin(), values.end());
      });
    }
    expect_near(name, got, want);
    ++checked_;
  }

  static json golden_;
  static std::size_t checked_;
};
json OptimizerGoldenTest::golden_;
std::size_t OptimizerGoldenTest::checked_ = 0;

TEST_F(OptimizerGoldenTest, Schedules) {
  checked_ = 0;
  check_schedule("constant", constant_schedule(0.25));
  check_schedule("linear", linear_schedule(0.1, 0.7, 12));
  check_schedule("linear_down", linear_schedule(0.7, 0.1, 7));
  check_schedule("cosine_decay", cosine_decay_schedule(0.5, 15, 0.1));
  check_schedule("join", join_schedules({linear_schedule(0.0, 0.4, 5), constant_schedule(0.4),
                                         cosine_decay_schedule(0.4, 6)},
                                        {5, 11}));
  check_schedule("warmup_cosine_decay", warmup_cosine_decay_schedule(0.0, 0.3, 4, 16, 0.03));
  EXPECT_EQ(checked_, golden_["schedules"].size());
}

TEST_F(OptimizerGoldenTest, Transformations) {
  checked_ = 0;
  const Schedule warmup = warmup_cosine_decay_schedule(0.0, 0.3, 4, 16, 0.03);
  check("scale", scale(-0.1));
  check("scale_by_schedule", scale_by_schedule([=](const Array& count) { return -warmup(count); }));
  check("scale_by_learning_rate", scale_by_learning_rate(warmup));
  check("clip_by_global_norm", chain(clip_by_global_norm(0.5), scale(-0.1)));
  check("clip_by_global_norm_wide", chain(clip_by_global_norm(50.0), scale(-0.1)));
  check("add_decayed_weights", chain(add_decayed_weights(0.2), scale(-0.1)));
  check("add_decayed_weights_matrices",
        chain(add_decayed_weights(0.2, mask_by_ndim()), scale(-0.1)));
  check("scale_by_adam", chain(scale_by_adam(0.9, 0.95, 1e-8), scale(-0.01)));
  check("trace", chain(trace(0.9), scale(-0.01)));
  check("trace_nesterov", chain(trace(0.9, true), scale(-0.01)));
  check("sgd", sgd(constant_schedule(0.05)));
  check("sgd_momentum", sgd(warmup, {.momentum = 0.9}));
  check("sgd_nesterov", sgd(constant_schedule(0.05), {.momentum = 0.8, .nesterov = true}));
  check("adam", adam(constant_schedule(0.02)));
  check("adamw", adamw(warmup, {.b1 = 0.9, .b2 = 0.95, .eps = 1e-8, .weight_decay = 0.1}));
  check(
      "adamw_clipped",
      adamw(warmup,
            {.b1 = 0.9, .b2 = 0.95, .weight_decay = 0.1, .max_norm = 1.0, .mask = mask_by_ndim()}));
  EXPECT_EQ(checked_, golden_["transformations"].size());
}

}  // namespace
}  // namespace strata::optim::typed
