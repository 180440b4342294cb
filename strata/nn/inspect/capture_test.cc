// What layers put aside comes out of every transform.
#include "strata/nn/inspect/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/stack.h"
#include "strata/nn/transform/control.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"

namespace strata::nn {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

Array numbers(const Sizes& shape) {
  std::int64_t count = 1;
  for (std::int64_t n : shape) count *= n;
  return numpy::reshape(numpy::sin(numpy::arange(count).astype(float32)), shape);
}
struct Block {
  Linear linear;
  STRATA_FIELDS(linear)
  Array operator()(const Array& x) const {
    const ModuleScope scope(*this, "Block");
    const Array y = perturb("change", linear(x));
    sow("seen", y);
    return scope.returns(y, x);
  }
};
struct Model {
  Block first, second;
  STRATA_FIELDS(first, second)
  Array operator()(const Array& x) const {
    const ModuleScope scope(*this, "Model");
    return scope.returns(second(first(x)), x);
  }
};

class Capture : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  Capture() : model{{Linear(3, 3, rngs)}, {Linear(3, 3, rngs)}}, x(numbers({2, 3})) {
    std::tie(y, seen) = nn::capture<Intermediate>(model)(x);
  }
  /// A function of model and x that calls the model, under a capture, puts aside what the plain
  /// call does.
  template <class F>
  void expect_same(F f) {
    Model copy = model;
    const auto [out, got] = nn::capture<Intermediate>(f)(copy, x);
    EXPECT_EQ(out.template to_vector<float>(), y.to_vector<float>());
    EXPECT_TRUE(tree::equal(got.sorted(), seen.sorted())) << got.to_string() << seen.to_string();
  }
  Rngs rngs{0};
  Model model;
  Array x, y;
  tree::Tree seen;
};
const auto call = [](const Model& m, const Array& v) { return m(v); };

TEST_F(Capture, IsByPath) {
  RecordProperty("api", "nnx.capture nnx.Module.sow nnx.Intermediate");
  EXPECT_THAT(seen.names(), ElementsAre("first/seen/0", "second/seen/0"));
  EXPECT_EQ(seen["second/seen/0"].to_vector<float>(), y.to_vector<float>());
  EXPECT_EQ(seen.entry(0).kind, &Intermediate::kind());
}

TEST_F(Capture, NothingIsDoneWithoutOne) {
  EXPECT_EQ(model(x).to_vector<float>(), y.to_vector<float>());
  const auto [out, none] = nn::capture<Cache>(model)(x);
  EXPECT_TRUE(none.empty());
}

TEST_F(Capture, ComesOutOfJit) {
  const auto jitted = nn::jit(call);
  EXPECT_EQ(jitted(model, x).to_vector<float>(), y.to_vector<float>());
  expect_same(jitted);
  expect_same(jitted);
  EXPECT_EQ(jitted.cache_size(), 2u);  // without a capture, and with it
}

TEST_F(Capture, ComesOutOfRematAndBranches) {
  expect_same(nn::remat(call));
  expect_same([](Model& m, const Array& v) { return nn::cond(Array(true), call, call, m, v); });
  const auto nothing = [](const Model&, const Array& v) { return v; };
  EXPECT_THROW((void)nn::capture<Intermediate>([&](Model& m, const Array& v) {
                 return nn::cond(Array(true), call, nothing, m, v);
               })(model, x),
               Error);
}

TEST_F(Capture, ComesOutOfDerivatives) {
  const auto loss = [](const Model& m, const Array& v) { return numpy::sum(numpy::square(m(v))); };
  Model copy = model;
  const tree::Tree plain = nn::grad(loss)(copy, x);
  const auto [grads, got] = nn::capture<Intermediate>(nn::grad(loss))(copy, x);
  EXPECT_TRUE(tree::equal(grads, plain));
  EXPECT_TRUE(tree::equal(got, seen));
  const auto [both, of_vjp] =
      nn::capture<Intermediate>([&](Model& m) { return nn::vjp(call, m, x).first; })(copy);
  EXPECT_TRUE(tree::equal(of_vjp, seen));
}

TEST_F(Capture, IsStackedByVmap) {
  const Array xs = numpy::stack({x, x + 1, x - 1});
  Model copy = model;
  const auto [ys, got] =
      nn::capture<Intermediate>(nn::vmap(call, {.in_axes = {std::nullopt, 0}}))(copy, xs);
  ASSERT_EQ(got["second/seen/0"].shape(), Shape({3, 2, 3}));
  EXPECT_EQ(got["first/seen/0"][0].to_vector<float>(), seen["first/seen/0"].to_vector<float>());
}

TEST_F(Capture, PerturbationsOfAVmapHaveItsAxis) {
  const Array xs = numpy::stack({x, x + 1, x - 1});
  Model copy = model;
  auto mapped = nn::vmap(call, {.in_axes = {std::nullopt, 0}});
  const auto [ys, zeros] = nn::capture<Perturbation>(mapped)(copy, xs);
  ASSERT_EQ(zeros["second/change"].shape(), Shape({3, 2, 3}));
  tree::Tree added = zeros;
  added.set("second/change", numbers({3, 2, 3}));
  const auto [moved, same] = nn::capture<Perturbation>(mapped, {.init = added})(copy, xs);
  EXPECT_EQ(moved.to_vector<float>(), (ys + numbers({3, 2, 3})).to_vector<float>());
}

TEST_F(Capture, WhatItBeginsWithIsNoConstantOfAProgram) {
  RecordProperty("api", "nnx.Module.perturb nnx.Perturbation");
  const auto jitted = nn::jit(call);
  auto [out, added] = nn::capture<Perturbation>(jitted)(model, x);
  for (const float by : {1.0f, 2.0f}) {
    added.set("second/change", numpy::full({2, 3}, by));
    const auto [moved, same] = nn::capture<Perturbation>(jitted, {.init = added})(model, x);
    EXPECT_EQ(moved.to_vector<float>(), (out + by).to_vector<float>());
  }
}

/// A model with a stack of layers.
struct Tower {
  Linear embed;
  Stack<Block> layers;
  STRATA_FIELDS(embed, layers)
  Array operator()(const Array& x) const {
    const ModuleScope scope(*this, "Tower");
    return scope.returns(layers(embed(x)), x);
  }
};

TEST_F(Capture, IsStackedByScan) {
  Tower tower{Linear(3, 3, rngs),
              Stack<Block>::make(3, rngs, [](Rngs& r) { return Block{Linear(3, 3, r)}; })};
  Array want = tower.embed(x);
  std::vector<Array> all;
  for (std::int64_t i = 0; i < 3; ++i) all.push_back(want = tower.layers.layer(i)(want));
  for (const bool remat : {false, true}) {
    if (remat) tower.layers.options.remat = "nothing";
    // A Perturbation is an Intermediate, too: the first kind takes it.
    const auto [out, zeros, got] = nn::capture<Perturbation, Intermediate>(tower)(x);
    EXPECT_THAT(got.names(), ElementsAre("layers/seen/0"));
    EXPECT_EQ(got["layers/seen/0"].to_vector<float>(), numpy::stack(all).to_vector<float>());
    ASSERT_EQ(zeros["layers/change"].shape(), Shape({3, 2, 3}));
    // The gradients of what each layer adds are those of the loop.
    tree::Tree at = zeros;
    const tree::Tree grads = nn::grad(
        [&](tree::Tree& added) {
          const auto [o, same] = nn::capture<Perturbation>(tower, {.init = added})(x);
          return numpy::sum(o);
        },
        everything())(at);
    EXPECT_EQ(grads["layers/change"][2].to_vector<float>(), std::vector<float>(6, 1));
    const Array by_second =
        numpy::matmul(numpy::ones({2, 3}), tower.layers.layer(2).linear.kernel.T());
    EXPECT_LT(numpy::max(numpy::abs(grads["layers/change"][1] - by_second)).item<float>(), 1e-5f);
  }
}

TEST_F(Capture, PathsHoldWhereAModuleCallsATransform) {
  struct Caller {
    std::vector<Block> blocks;
    STRATA_FIELDS(blocks)
    Array operator()(const Array& v) {
      const ModuleScope scope(*this, "Caller");
      Array h = v;
      for (Block& block : blocks)
        h = nn::remat([](const Block& b, const Array& u) { return b(u); })(block, h);
      return h;
    }
  };
  Caller caller{{model.first, model.second}};
  const auto [out, got] = nn::capture<Intermediate>(caller)(x);
  EXPECT_THAT(got.names(), ElementsAre("blocks/0/seen/0", "blocks/1/seen/0"));
}

TEST_F(Capture, OutputsOfCallsArePutAsideToo) {
  const auto [out, got] =
      nn::capture<Intermediate>(model, {.method_outputs = &Intermediate::kind()})(x);
  EXPECT_THAT(got.names(),
              UnorderedElementsAre("__call__/0", "first/__call__/0", "first/linear/__call__/0",
                                   "first/seen/0", "second/__call__/0", "second/linear/__call__/0",
                                   "second/seen/0"));
}

TEST_F(Capture, AnotherShapeOfAPerturbationIsRefused) {
  auto [out, zeros] = nn::capture<Perturbation>(model)(x);
  try {
    (void)nn::capture<Perturbation>(model, {.init = zeros})(numbers({4, 3}));
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("first/change is f32[4,3]"));
    EXPECT_THAT(e.what(), testing::HasSubstr("f32[2,3]"));
  }
}

}  // namespace
}  // namespace strata::nn
