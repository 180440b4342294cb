// The optimizer beside a model: the transformation's own steps, state of its kinds, and mistakes.
#include "strata/optim/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/state.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"
#include "strata/optim/rules/adam.h"
#include "strata/optim/rules/sgd.h"

namespace strata::optim {
namespace {

class OptimizerTest : public testing::Test {
 protected:
  OptimizerTest() { compile::register_cpu(); }
};

nn::Linear layer() {
  nn::Rngs rngs(0);
  return nn::Linear(3, 2, rngs);
}
Array loss_of(nn::Linear& layer, const Array& x) {
  return numpy::mean(numpy::square(layer(x) - 1.0f));
}
Array inputs() { return numpy::reshape(numpy::linspace(-1.0, 1.0, 12), {4, 3}); }

std::vector<GradientTransformation> transformations() {
  return {sgd(0.1, {.momentum = 0.9, .nesterov = true}), adamw(1e-2, {.nesterov = true}),
          chain(add_noise(0.1, 0.5), adam(1e-2))};
}

TEST_F(OptimizerTest, MovesAModelAsItsTransformationMovesATree) {
  for (const GradientTransformation& tx : transformations()) {
    SCOPED_TRACE(tx.text());
    nn::Linear model = layer(), other = model;
    Optimizer optimizer(model, tx);
    Tree state = tx.init(tree::of(other));
    for (int i = 0; i < 3; ++i) {
      optimizer.update(model, nn::grad(loss_of)(model, inputs()));
      auto [updates, next] = tx.update(nn::grad(loss_of)(other, inputs()), state, tree::of(other));
      tree::assign(other, apply_updates(tree::of(other), updates));
      state = next;
    }
    EXPECT_TRUE(tree::equal(tree::of(model), tree::of(other)));
    EXPECT_EQ(optimizer.step.item<int>(), 3);
    EXPECT_FALSE(tree::equal(tree::of(model), tree::of(layer())));
  }
}

TEST_F(OptimizerTest, IsCarriedByJit) {
  for (const GradientTransformation& tx : transformations()) {
    SCOPED_TRACE(tx.text());
    nn::Linear model = layer(), other = model;
    Optimizer optimizer(model, tx), beside(other, tx);
    auto step = nn::jit([](nn::Linear& model, Optimizer& optimizer, const Array& x) {
      auto [loss, grads] = nn::value_and_grad(loss_of)(model, x);
      optimizer.update(model, grads);
      return loss;
    });
    for (int i = 0; i < 3; ++i) {
      (void)step(model, optimizer, inputs());
      beside.update(other, nn::grad(loss_of)(other, inputs()));
    }
    EXPECT_EQ(step.cache_size(), 1u);
    EXPECT_EQ(optimizer.step.item<int>(), 3);
    EXPECT_TRUE(
        numpy::allclose(model.kernel, other.kernel, {.rtol = 1e-5, .atol = 1e-6}).item<bool>());
  }
}

TEST_F(OptimizerTest, ItsStateIsOfItsKinds) {
  const nn::Linear model = layer();
  const Optimizer optimizer(model, adam(1e-2));
  const Tree moments = nn::state(optimizer, nn::of<nn::OptVariable>());
  EXPECT_EQ(moments.names(),
            (std::vector<std::string>{"opt_state/0/mu/kernel", "opt_state/0/mu/bias",
                                      "opt_state/0/nu/kernel", "opt_state/0/nu/bias"}));
  EXPECT_TRUE(nn::state(optimizer, nn::of<nn::Param>()).empty());
  EXPECT_EQ(tree::of(optimizer)["opt_state/0/count"].dtype(), DType::i32);
}

TEST_F(OptimizerTest, NamesGradientsThatAreNotItsParameters) {
  nn::Linear model = layer();
  Optimizer of_kernels(model, adam(1e-2), tree::path("**/kernel"));
  const Tree grads = nn::grad(loss_of)(model, inputs());
  try {
    of_kernels.update(model, grads);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.message(), ::testing::HasSubstr("bias"));
  }
  EXPECT_THROW((void)Optimizer(model, adam(1e-2), nn::of<nn::BatchStat>()), Error);
}

}  // namespace
}  // namespace strata::optim
