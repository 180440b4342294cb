// Functions of modules under jit, grad, vmap, scan, cond, remat: what goes in comes out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/state.h"
#include "strata/nn/transform/control.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"
#include "strata/nn/transform/jit_partial.h"
#include "strata/nn/transform/scan.h"
#include "strata/nn/transform/vmap.h"

namespace strata::nn {
namespace {

/// A layer that counts its calls and keeps a running mean.
struct Counter {
  Linear linear;
  BatchStat mean;
  Variable<VariableStateKind> calls;
  STRATA_FIELDS(linear, mean, calls)
  Array operator()(const Array& x) {
    calls = calls + 1;
    const Array y = linear(x);
    mean = 0.5f * mean + 0.5f * numpy::mean(y);
    return y;
  }
};
Counter counter() {
  Rngs rngs(0);
  return {Linear(3, 3, rngs), Array(numpy::zeros({})), Array(numpy::zeros({}, DType::i32))};
}
const Array kInput = array({{0.0f, 1.0f, 2.0f}, {3.0f, 4.0f, 5.0f}});

class ModuleTransforms : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_F(ModuleTransforms, JitWritesBackWhatChanged) {
  Counter eager = counter(), jitted = counter();
  const auto step = nn::jit([](Counter& c, const Array& x) { return c(x); });
  for (int i = 0; i < 3; ++i) {
    const Array want = eager(kInput), got = step(jitted, kInput);
    EXPECT_EQ(got.to_vector<float>(), want.to_vector<float>());
  }
  EXPECT_TRUE(tree::equal(tree::of(eager), tree::of(jitted)));
  EXPECT_EQ(jitted.calls.item<int>(), 3);
  EXPECT_EQ(step.cache_size(), 1u);
}

TEST_F(ModuleTransforms, JitTakesVoidConstAndDonated) {
  Counter c = counter();
  const auto touch = nn::jit([](Counter& m) { m.calls = m.calls + 5; }, {.donate_argnums = {0}});
  touch(c);
  touch(c);
  EXPECT_EQ(c.calls.item<int>(), 10);
  EXPECT_TRUE(c.linear.kernel.has_value());
  const Counter fixed = c;
  const auto read = nn::jit([](const Counter& m, const Array& s) { return m.linear.kernel * s; });
  EXPECT_EQ(read(fixed, 2.0f).to_vector<float>(), (fixed.linear.kernel * 2).to_vector<float>());
}

TEST_F(ModuleTransforms, JitCompilesAgainForOtherNotes) {
  Counter c = counter();
  const auto step = nn::jit([](Counter& m, const Array& x) { return m(x); });
  (void)step(c, kInput);
  c.linear.kernel.set_metadata({.out_sharding = {"embed", "mlp"}});
  (void)step(c, kInput);
  EXPECT_EQ(step.cache_size(), 2u);
  EXPECT_EQ(c.linear.kernel.metadata().out_sharding.size(), 2u);
}

TEST_F(ModuleTransforms, GradIsByTheFilterAndKeepsState) {
  Counter c = counter();
  const auto loss = [](Counter& m, const Array& x) { return numpy::sum(numpy::square(m(x))); };
  const auto [value, grads] = nn::value_and_grad(loss)(c, kInput);
  EXPECT_THAT(grads.names(), testing::ElementsAre("linear/kernel", "linear/bias"));
  EXPECT_EQ(c.calls.item<int>(), 1);
  Counter d = counter();
  const Array y = d(kInput);
  EXPECT_EQ(value.item<float>(), numpy::sum(numpy::square(y)).item<float>());
  const Array want = numpy::matmul(kInput.T(), 2 * y);
  EXPECT_EQ(grads["linear/kernel"].to_vector<float>(), want.to_vector<float>());
  // Under jit the same bits.
  Counter e = counter();
  const auto step = nn::jit([&](Counter& m, const Array& x) { return nn::grad(loss)(m, x); });
  EXPECT_TRUE(tree::equal(step(e, kInput), grads));
  EXPECT_EQ(e.calls.item<int>(), 1);
}

TEST_F(ModuleTransforms, GradNamesTheLeafThatHasNone) {
  Counter c = counter();
  const auto loss = [](Counter& m, const Array& x) { return numpy::sum(m(x)); };
  try {
    (void)nn::grad(loss, everything())(c, kInput);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("argument 0, calls"));
  }
  EXPECT_THROW((void)nn::grad(loss, of<LoRAParam>())(c, kInput), Error);
}

TEST_F(ModuleTransforms, VmapStacksState) {
  Rngs rngs(0);
  RngStream streams = rngs["params"].split(4);
  auto make = nn::vmap([](RngStream& s) {
    Rngs r(std::vector<std::pair<std::string, RngStream>>{{"params", s}});
    Counter c{Linear(3, 3, r), Array(numpy::zeros({})), Array(numpy::zeros({}, DType::i32))};
    s = r["params"];
    return c;
  });
  Counter stack = make(streams);
  EXPECT_EQ(stack.linear.kernel.shape(), Shape({4, 3, 3}));
  EXPECT_EQ(streams.count.to_vector<int>(), (std::vector<int>{2, 2, 2, 2}));
  const Array ys = nn::vmap([](Counter& c, const Array& x) { return c(x); },
                            {.in_axes = {0, std::nullopt}})(stack, kInput);
  EXPECT_EQ(ys.shape(), Shape({4, 2, 3}));
  EXPECT_EQ(stack.calls.to_vector<int>(), (std::vector<int>{1, 1, 1, 1}));
  EXPECT_EQ(stack.mean.shape(), Shape({4}));
}

TEST_F(ModuleTransforms, VmapRefusesStateThatWouldDiffer) {
  Counter c = counter();
  auto f =
      nn::vmap([](Counter& m, const Array& x) { return m(x); }, {.in_axes = {std::nullopt, 0}});
  try {
    (void)f(c, numpy::reshape(kInput, {2, 1, 3}));
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("argument 0, mean"));
  }
  auto counts = nn::vmap(
      [](Counter& m, const Array& x) {
        m.calls = m.calls + 1;
        return x;
      },
      {.in_axes = {std::nullopt, 0}});
  (void)counts(c, kInput);
  EXPECT_EQ(c.calls.item<int>(), 1);
}

TEST_F(ModuleTransforms, VmapTakesAxesLeafByLeaf) {
  RecordProperty("api", "nnx.prefix");
  Counter c = counter();
  // A bias and a mean for each place, one kernel and one count for all.
  c.linear.bias = numpy::stack({*c.linear.bias, *c.linear.bias + 1.0f});
  c.mean = numpy::zeros({2});
  const tree::Tree before = tree::of(c);
  auto f =
      nn::vmap([](Counter& m, const Array& x) { return m(x); },
               {.in_axes = {nn::prefix({{tree::path("**/bias"), 0}, {of<BatchStat>(), 0}}), none}});
  const Array ys = f(c, kInput);
  EXPECT_EQ(ys.shape(), Shape({2, 2, 3}));
  EXPECT_EQ(c.calls.item<int>(), 1);
  EXPECT_EQ(c.mean.shape(), Shape({2}));
  for (std::int64_t i = 0; i < 2; ++i) {
    Counter one = counter();
    one.linear.bias = before["linear/bias"][i];
    EXPECT_EQ(ys[i].to_vector<float>(), one(kInput).to_vector<float>());
    EXPECT_EQ(c.mean[i].item<float>(), one.mean.item<float>());
  }
  EXPECT_THROW((void)nn::prefix({{everything(), 0}, {of<Param>(), 1}}), Error);
  // One axis for all arguments.
  const Array a = numpy::reshape(numpy::arange(6).astype(float32), {2, 3});
  const auto add =
      nn::vmap([](const Array& x, const Array& y) { return x + 2 * y; }, {.in_axes = 1});
  auto copy = add;
  EXPECT_EQ(copy(a, a).shape(), Shape({3, 2}));
}

TEST_F(ModuleTransforms, ScanOverLayersIsTheLoop) {
  std::vector<Counter> layers;
  for (int i = 0; i < 3; ++i) {
    Rngs rngs(i);
    layers.push_back(
        {Linear(3, 3, rngs), Array(numpy::zeros({})), Array(numpy::zeros({}, DType::i32))});
  }
  Counter stack = layers[0];
  const tree::Tree of = tree::of(stack);
  tree::assign(stack, of.map([&](const tree::Entry& e, const Array&) {
    std::vector<Array> parts;
    for (const Counter& layer : layers) parts.push_back(tree::of(layer)[e.name]);
    return numpy::stack(parts);
  }));
  Array want = kInput;
  for (Counter& layer : layers) want = layer(want);
  for (const bool remat : {false, true}) {
    Counter copy = stack;
    ScanOptions options{.in_axes = {0, Carry}, .out_axes = {Carry}};
    if (remat) options.remat = "nothing";
    const Array got =
        nn::scan([](Counter& c, const Array& x) { return c(x); }, options)(copy, kInput);
    EXPECT_EQ(got.to_vector<float>(), want.to_vector<float>());
    EXPECT_EQ(copy.calls.to_vector<int>(), (std::vector<int>{1, 1, 1}));
    for (std::size_t i = 0; i < layers.size(); ++i)
      EXPECT_EQ(copy.mean[static_cast<std::int64_t>(i)].item<float>(),
                layers[i].mean.item<float>());
  }
}

TEST_F(ModuleTransforms, ScanCarriesStateThatIsTheSameForAll) {
  Counter c = counter(), loop = counter();
  const Array xs = numpy::stack({kInput, kInput + 1, kInput - 1});
  auto run = nn::scan([](Counter& m, const Array& x) { return m(x); },
                      {.in_axes = {std::nullopt, 0}, .out_axes = {0}});
  const Array ys = run(c, xs);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ys[i].to_vector<float>(), loop(xs[i]).to_vector<float>());
  EXPECT_EQ(c.calls.item<int>(), 3);
  EXPECT_EQ(c.mean.item<float>(), loop.mean.item<float>());
}

TEST_F(ModuleTransforms, BranchesReturnTheStateOfAll) {
  const auto yes = [](Counter& m, const Array& x) { return m(x); };
  const auto no = [](Counter& m, const Array& x) {
    m.mean = m.mean + 7;
    return x;
  };
  for (const bool take : {true, false}) {
    Counter c = counter();
    (void)nn::cond(Array(take), yes, no, c, kInput);
    EXPECT_EQ(c.calls.item<int>(), take ? 1 : 0);
    Counter d = counter();
    if (take)
      (void)d(kInput);
    else
      d.mean = d.mean + 7;
    EXPECT_EQ(c.mean.item<float>(), d.mean.item<float>());
  }
}

TEST_F(ModuleTransforms, RematChangesStateOnce) {
  Counter c = counter(), plain = counter();
  auto block = nn::remat([](Counter& m, const Array& x) { return m(x); });
  const auto loss = [&](Counter& m, const Array& x) {
    return numpy::sum(numpy::square(block(m, x)));
  };
  const tree::Tree grads = nn::grad(loss)(c, kInput);
  const tree::Tree want = nn::grad(
      [](Counter& m, const Array& x) { return numpy::sum(numpy::square(m(x))); })(plain, kInput);
  EXPECT_TRUE(tree::equal(grads, want));
  EXPECT_EQ(c.calls.item<int>(), 1);
}

TEST_F(ModuleTransforms, VjpAndJvpAgree) {
  RecordProperty("api", "nnx.vjp nnx.jvp");
  Counter c = counter();
  const auto f = [](Counter& m, const Array& x) { return m(x); };
  const auto [y, pullback] = nn::vjp(f, c, kInput);
  EXPECT_EQ(c.calls.item<int>(), 1);
  const auto [dm, dx] = pullback(numpy::ones_like(y));
  EXPECT_EQ(dx.shape(), kInput.shape());
  EXPECT_EQ(dm.linear.kernel.shape(), Shape({3, 3}));
  Counter d = counter();
  Counter zeros = tree::map([](const Array& a) { return numpy::zeros_like(a); }, d);
  const auto [z, dz] =
      nn::jvp(f, std::tuple(d, kInput), std::tuple(zeros, numpy::ones_like(kInput)));
  EXPECT_NEAR(numpy::sum(dz).item<float>(), numpy::sum(dx).item<float>(), 1e-4);
}

TEST_F(ModuleTransforms, FirstArgumentsAreBound) {
  RecordProperty("api", "nnx.jit_partial");
  Counter bound = counter(), plain = counter();
  const auto f = [](Counter& m, Array& total, const Array& x) {
    total = total + 1;
    return m(x);
  };
  Array total = Array(0), other = Array(0);
  const auto step = nn::jit_partial(f, bound, total);
  const auto whole = nn::jit(f);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(step(kInput).to_vector<float>(), whole(plain, other, kInput).to_vector<float>());
  EXPECT_EQ(bound.calls.item<int>(), 3);
  EXPECT_EQ(total.item<int>(), 3);
  EXPECT_EQ(step.cache_size(), 1u);
  EXPECT_TRUE(tree::equal(tree::of(bound), tree::of(plain)));
  // What is written between calls is what the next one reads.
  bound.calls = Array(100);
  (void)step(kInput);
  EXPECT_EQ(bound.calls.item<int>(), 101);
}

TEST_F(ModuleTransforms, DerivativesOfOnesOwnAreModules) {
  RecordProperty("api", "nnx.custom_vjp");
  Rngs rngs(0);
  const Linear layer(3, 3, rngs);
  const auto f = [](const Linear& m, const Array& x) { return m(x); };
  // The gradient of the kernel alone, doubled.
  const auto doubled = nn::custom_vjp(
      f, [](const Linear& m, const Array& x) { return std::pair(m(x), std::pair(m, x)); },
      [](const std::pair<Linear, Array>& kept, const Array& ct) {
        Linear of_layer =
            tree::map([](const Array& a) { return numpy::zeros_like(a); }, kept.first);
        of_layer.kernel = 2.0f * numpy::matmul(kept.second.T(), ct);
        return std::tuple(of_layer, numpy::zeros_like(kept.second));
      });
  Linear m = layer;
  const auto loss = [&](const auto& g) {
    return [&](Linear& l, const Array& x) { return numpy::sum(g(l, x)); };
  };
  const tree::Tree plain = nn::grad(loss(f))(m, kInput), own = nn::grad(loss(doubled))(m, kInput);
  EXPECT_EQ(own["kernel"].to_vector<float>(), (2.0f * plain["kernel"]).to_vector<float>());
  EXPECT_EQ(numpy::sum(numpy::abs(own["bias"])).item<float>(), 0);
}

TEST_F(ModuleTransforms, ChangedStructureIsRefused) {
  struct Grows {
    std::vector<Param> all;
    STRATA_FIELDS(all)
  };
  Grows g{{Array(1.0f)}};
  const auto f = nn::jit([](Grows& m) {
    m.all.push_back(Array(2.0f));
    return m.all[0];
  });
  EXPECT_THROW((void)f(g), Error);
}

}  // namespace
}  // namespace strata::nn
