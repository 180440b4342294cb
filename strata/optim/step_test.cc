// Transformations in compiled steps: loops, branches, models.
#include <gtest/gtest.h>

#include "strata/api/transform/control.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/optim/optim.h"

namespace strata::optim {
namespace {

struct Params {
  Array bias;
  std::vector<Array> matrices;
  STRATA_FIELDS(bias, matrices)
};
Array loss(const Params& p) {
  return numpy::sum(numpy::square(p.bias - 1.0)) +
         numpy::sum(numpy::square(p.matrices[0] * p.matrices[1] - 0.5));
}

class StepTest : public testing::Test {
 protected:
  StepTest() { compile::register_cpu(); }
  static Params start() {
    return {array({0.5f, -0.25f}), {numpy::ones({2, 2}), numpy::full({2, 2}, 0.25)}};
  }
  /// Ten steps as one loop in one program, and one by one.
  static std::pair<Params, Params> both(const GradientTransformation& tx) {
    const auto step = [&](const std::pair<Params, Tree>& at) {
      auto [updates, next] = tx.update(grad(loss)(at.first), at.second, at.first);
      return std::pair(apply_updates(at.first, updates), next);
    };
    const std::pair<Params, Tree> begin(start(), tx.init(start()));
    const auto loop = jit([&](const std::pair<Params, Tree>& from) {
      return fori_loop(
          std::int64_t{0}, std::int64_t{10},
          [&](const Array&, const std::pair<Params, Tree>& at) { return step(at); }, from);
    });
    std::pair<Params, Tree> eager = begin;
    for (int i = 0; i < 10; ++i) eager = step(eager);
    return {loop(begin).first, eager.first};
  }
};

TEST_F(StepTest, LoopsAndSingleStepsAgree) {
  for (const GradientTransformation& tx :
       {adamw(0.1), sgd(cosine_decay_schedule(0.1, 10), {.momentum = 0.9}), lion(0.05),
        adafactor(0.1, {.min_dim_size_to_factor = 2, .momentum = 0.9}), contrib::muon(0.05),
        multi_steps(adam(0.1), 2), apply_if_finite(adam(0.1), 2),
        inject_hyperparams("adam", {{"learning_rate", 0.1}}),
        groups({{"**/matrices/*|matrices/*", adam(0.1)}, {"**", sgd(0.1)}}),
        chain(clip_by_global_norm(0.5), schedule_free_adamw(0.1))}) {
    SCOPED_TRACE(tx.text());
    const auto [looped, eager] = both(tx);
    const Tree a = tree::of(looped), b = tree::of(eager);
    EXPECT_TRUE(trees::allclose(a, b, 1e-4, 1e-5).item<bool>());
    EXPECT_LT(loss(eager).item<float>(), loss(start()).item<float>());
  }
}

TEST_F(StepTest, LineSearchesCompile) {
  const GradientTransformation tx = lbfgs();
  const auto of_tree = [](const Tree& t) { return loss(tree::as(start(), t)); };
  const auto step = jit([&](const Tree& p, const Tree& s) {
    const auto [value, slope] = value_and_grad(of_tree)(p);
    auto [u, next] = tx.update(slope, s, p, {.value = value, .grad = slope, .value_fn = of_tree});
    return std::pair(apply_updates(p, u), next);
  });
  Tree p = tree::of(start()), s = tx.init(p);
  for (int i = 0; i < 12; ++i) std::tie(p, s) = step(p, s);
  EXPECT_LT(of_tree(p).item<float>(), 1e-6f);
}

}  // namespace
}  // namespace strata::optim
