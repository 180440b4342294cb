// Steps that stand out are passed over: against a loop, and by a configuration's keys.
#include "strata/train/step/spikes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "strata/api/numpy.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/config/config.h"
#include "strata/train/config/optimizer.h"
#include "strata/train/step/rules.h"

namespace strata::train {
namespace {

using tree::Tree;

/// Mean and deviation of what is remembered, by a loop; `skip_spikes`' slow twin.
class Slow {
 public:
  Slow(int interval, double factor) : interval_(interval), factor_(factor) {}
  bool skips(double loss, double norm) {
    const bool known = static_cast<int>(steps_.size()) + 1 >= std::max(2, interval_ / 2);
    const bool usual = is_usual(loss, false) && is_usual(norm, true);
    steps_.emplace_back(loss, norm);
    return known && !usual;
  }

 private:
  bool is_usual(double value, bool of_norm) const {
    const std::size_t n = std::min<std::size_t>(steps_.size(), static_cast<std::size_t>(interval_));
    double mean = 0, square = 0;
    const auto at = [&](std::size_t i) {
      const auto& step = steps_[steps_.size() - 1 - i];
      return of_norm ? step.second : step.first;
    };
    for (std::size_t i = 0; i < n; ++i) mean += at(i) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) square += (at(i) - mean) * (at(i) - mean);
    return value - mean <= factor_ * std::sqrt(square / std::max(1., static_cast<double>(n) - 1));
  }
  int interval_;
  double factor_;
  std::vector<std::pair<double, double>> steps_;
};

class SpikesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_F(SpikesTest, IsTheLoopOverStepsAndTheRuleStays) {
  const Tree params({{"w", array({1.f, 2.f})}});
  const optim::GradientTransformation plain = adamw(0.1);
  const auto rule = skip_spikes(plain, {.interval = 4, .factor = 3});
  Slow slow(4, 3);
  Tree state = rule.init(params);
  const auto step = jit([&](const Tree& g, const Tree& s, const Array& loss) {
    return rule.update(g, s, params, {.value = loss});
  });
  // A spike of the loss, one of the gradients, and a new level that becomes usual.
  const std::vector<std::pair<double, double>> steps = {
      {3, 1},    {3.1, 1.1}, {2.9, 0.9}, {3.05, 1}, {9, 1},     {3, 1.05}, {3.02, 1}, {2.95, 0.97},
      {3, 1.02}, {3, 40},    {3, 1},     {3.1, 1},  {20, 1.01}, {20.1, 1}, {20, 1},   {20.2, 1.02}};
  int skipped = 0;
  for (const auto& [loss, norm] : steps) {
    const Tree g({{"w", array({static_cast<float>(norm), 0.f})}});
    const auto [updates, next] = step(g, state, Array(static_cast<float>(loss)));
    const bool skips = slow.skips(loss, norm);
    EXPECT_EQ(next["is_skipped"].item<bool>(), skips) << loss << " " << norm;
    skipped += skips;
    const Tree inside = state.subtree("inner_state");
    const auto [want, then] = plain.update(g, inside, params);
    EXPECT_EQ(updates["w"].to_vector<float>(),
              skips ? std::vector<float>(2, 0) : want["w"].to_vector<float>());
    EXPECT_TRUE(tree::equal(next.subtree("inner_state"), skips ? inside : then));
    state = next;
  }
  EXPECT_GE(skipped, 3);
  EXPECT_LT(skipped, 8);
  EXPECT_EQ(state["count"].item<int>(), static_cast<int>(steps.size()));
}

TEST_F(SpikesTest, ALossThatIsNoNumberIsOne) {
  const Tree params({{"w", array({1.f})}});
  const auto rule = skip_spikes(sgd(0.1), {.interval = 2, .factor = 6});
  Tree state = rule.init(params);
  for (const float loss : {1.f, 1.f, std::nanf("")})
    state = rule.update(Tree({{"w", array({1.f})}}), state, params, {.value = Array(loss)}).second;
  EXPECT_TRUE(state["is_skipped"].item<bool>());
  EXPECT_THROW((void)skip_spikes(sgd(0.1), {.interval = 0}), Error);
}

TEST_F(SpikesTest, KeysMakeIt) {
  const Config c =
      read_config({}, {"skip_step_on_spikes=true", "skip_step_interval=16"}, Data::optional);
  const Tree weights({{"w", zeros({3})}});
  const Tree state = make_optimizer(c, weights, {}).rule.init(weights);
  EXPECT_EQ(state["losses"].shape(0), 16);
  EXPECT_TRUE(state.contains("inner_state/0/mu/w"));
  EXPECT_FALSE(make_optimizer(read_config({}, {}, Data::optional), weights, {})
                   .rule.init(weights)
                   .contains("losses"));
}

}  // namespace
}  // namespace strata::train
