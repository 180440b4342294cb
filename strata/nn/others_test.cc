// Dropout, Sequential, layers of any type, stacks, views: laws and what errors say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/nn.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/conv/pool.h"
#include "strata/nn/dropout.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/sequential.h"
#include "strata/nn/stack.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"
#include "strata/nn/view.h"

namespace strata::nn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class F>
void expect_error(F f, const std::vector<std::string>& says) {
  try {
    (void)f();
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    for (const std::string& part : says) EXPECT_THAT(std::string(e.what()), HasSubstr(part));
  }
}
Array numbers(const Sizes& shape) {
  std::int64_t count = 1;
  for (std::int64_t n : shape) count *= n;
  return numpy::reshape(numpy::sin(numpy::arange(count).astype(float32)), shape);
}
const auto rectify = [](const Array& x) { return nn::relu(x); };

/// A block with weights, notes and a stream.
struct Block {
  Linear linear;
  Dropout drop;
  STRATA_FIELDS(linear, drop)
  Block() = default;
  explicit Block(Rngs& rngs, std::optional<double> rate = 0.5)
      : linear(4, 4, rngs, {.kernel_metadata = {.out_sharding = {"in", "out"}}}),
        drop(*rate, rngs) {}
  Array operator()(const Array& x) {
    const ModuleScope scope(*this, "Block");
    return drop(nn::tanh(linear(x)));
  }
};

class Others : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  Rngs rngs{0};
};

TEST_F(Others, DropoutKeepsTheMean) {
  Dropout drop(0.25, rngs);
  const Array y = drop(numpy::ones({200, 100}));
  EXPECT_NEAR(numpy::mean(y).item<float>(), 1, 0.02);
  EXPECT_EQ(drop.rngs->count.item<int>(), 1);
  EXPECT_EQ(drop(y, {.deterministic = true}).to_vector<float>(), y.to_vector<float>());
  EXPECT_EQ(drop.rngs->count.item<int>(), 1);
}

TEST_F(Others, DropoutSaysWhatIsMissing) {
  Dropout drop(0.5);
  expect_error([&] { return drop(numpy::ones({2})); }, {"Dropout", "stream"});
  Dropout undecided(0.5, rngs, {.deterministic = std::nullopt});
  expect_error([&] { return undecided(numpy::ones({2})); }, {"deterministic", "nn::view"});
  expect_error([&] { return Dropout(1.5); }, {"1.5"});
  Dropout far(0.5, rngs, {.broadcast_dims = {2}});
  expect_error([&] { return far(numpy::ones({2})); }, {"f32[2]", "axis 2"});
  Rngs named(std::initializer_list<std::pair<std::string, std::int64_t>>{{"params", 1}});
  expect_error([&] { return Dropout(0.5, named); }, {"dropout", "params"});
}

TEST_F(Others, SequentialIsItsLayersInTurn) {
  Sequential net(Linear(4, 8, rngs), rectify, Linear(8, 2, rngs));
  const Array x = numbers({3, 4});
  const Array want = std::get<2>(net.layers)(rectify(std::get<0>(net.layers)(x)));
  EXPECT_EQ(net(x).to_vector<float>(), want.to_vector<float>());
  EXPECT_THAT(tree::of(net).names(),
              ElementsAre("layers/0/kernel", "layers/0/bias", "layers/2/kernel", "layers/2/bias"));
  Layers many{{std::get<0>(net.layers), rectify, std::get<2>(net.layers)}};
  EXPECT_EQ(many(x).to_vector<float>(), want.to_vector<float>());
  EXPECT_EQ(tree::of(many).names(), tree::of(net).names());
}

TEST_F(Others, SequentialSpreadsTuplesAndLendsStreams) {
  Sequential pair([](const Array& x) { return std::pair(x, 2 * x); },
                  [](const Array& a, const Array& b) { return a * b; });
  EXPECT_EQ(pair(array({3.0f})).to_vector<float>(), (std::vector<float>{18}));
  Sequential net(Linear(4, 4, rngs), Dropout(0.5));
  Rngs lent(7), same(7);
  const Array x = numbers({3, 4});
  const Array got = net.with_rngs(lent, x);
  Dropout drop(0.5);
  EXPECT_EQ(got.to_vector<float>(),
            drop(std::get<0>(net.layers)(x), {.rngs = same}).to_vector<float>());
}

TEST_F(Others, AnyLayerIsAValueAndATree) {
  AnyLayer a = Linear(4, 2, rngs);
  AnyLayer b = a;
  b.as<Linear>()->kernel = b.as<Linear>()->kernel * 2;
  EXPECT_NE(a.as<Linear>()->kernel.to_vector<float>(), b.as<Linear>()->kernel.to_vector<float>());
  EXPECT_EQ(a.as<Dropout>(), nullptr);
  EXPECT_THAT(tree::of(a).names(), ElementsAre("kernel", "bias"));
  EXPECT_EQ(tree::of(a).entry(0).kind, &tree::kinds::param);
  EXPECT_NE(tree::structure(AnyLayer(Dropout(0.5))), tree::structure(AnyLayer(Dropout(0.25))));
  expect_error([&] { return a(numbers({4}), numbers({4})); }, {"2 arrays"});
  // Under grad and jit as the layer itself.
  Dict net{{"first", a}};
  const auto loss = [](Dict& m, const Array& x) {
    return numpy::sum(numpy::square(m["first"](x)));
  };
  const auto typed = [](Linear& m, const Array& x) { return numpy::sum(numpy::square(m(x))); };
  const Array x = numbers({3, 4});
  const tree::Tree grads = nn::grad(loss)(net, x), want = nn::grad(typed)(*a.as<Linear>(), x);
  EXPECT_THAT(grads.names(), ElementsAre("first/kernel", "first/bias"));
  EXPECT_EQ(grads["first/kernel"].to_vector<float>(), want["kernel"].to_vector<float>());
}

TEST_F(Others, AConstModelOfAnyLayersIsForInference) {
  const Layers fixed{{Linear(4, 4, rngs), rectify}};
  Layers same = fixed;
  const Array x = numbers({3, 4});
  EXPECT_EQ(fixed(x).to_vector<float>(), same(x).to_vector<float>());
  const Layers drops{{Dropout(0.5, rngs)}};
  expect_error([&] { return drops(x); }, {"may change the layer"});
}

TEST_F(Others, JitTellsFunctionsApart) {
  const auto call = nn::jit([](List& l, const Array& x) { return l[0](x); });
  List squares{[](const Array& x) { return x * x; }}, doubles{[](const Array& x) { return x + x; }};
  const Array x = array({3.0f});
  EXPECT_EQ(call(squares, x).item<float>(), 9);
  EXPECT_EQ(call(doubles, x).item<float>(), 6);
  // Of one type, holding different numbers.
  const auto times = [](float factor) {
    return List{[factor](const Array& v) { return v * factor; }};
  };
  List by_two = times(2), by_five = times(5), copy = by_five;
  EXPECT_EQ(call(by_two, x).item<float>(), 6);
  EXPECT_EQ(call(by_five, x).item<float>(), 15);
  EXPECT_EQ(call.cache_size(), 4u);
  EXPECT_EQ(call(copy, x).item<float>(), 15);
  EXPECT_EQ(call.cache_size(), 4u);
}

TEST_F(Others, StackIsTheLoop) {
  Rngs again(0);
  auto stack = Stack<Block>::make(3, rngs, [](Rngs& r) { return Block(r); });
  EXPECT_EQ(stack.stacked.linear.kernel.shape(), Shape({3, 4, 4}));
  EXPECT_EQ(rngs["default"].count.item<int>(), 1);
  const Array x = numbers({2, 4});
  std::vector<Block> blocks;
  for (std::int64_t i = 0; i < 3; ++i) blocks.push_back(stack.layer(i));
  Array want = x;
  for (Block& block : blocks) want = block(want);
  for (const bool remat : {false, true}) {
    Stack<Block> copy = stack;
    if (remat) copy.options.remat = "nothing";
    EXPECT_EQ(copy(x).to_vector<float>(), want.to_vector<float>());
    EXPECT_EQ(copy.stacked.drop.rngs->count.to_vector<int>(), (std::vector<int>{1, 1, 1}));
  }
  // Block i is what the streams split gave it.
  Rngs split = again.split(3);
  for (std::int64_t i = 0; i < 3; ++i) {
    RngStream one = split["default"];
    one.key = one.key[i];
    one.count = one.count[i];
    Rngs streams(std::vector<std::pair<std::string, RngStream>>{{"default", one}});
    EXPECT_EQ(Block(streams).linear.kernel.to_vector<float>(),
              blocks[static_cast<std::size_t>(i)].linear.kernel.to_vector<float>());
  }
}

TEST_F(Others, StackNamesItsAxis) {
  struct Model {
    Stack<Block> layers;
    STRATA_FIELDS(layers)
  };
  Model model{
      Stack<Block>::make(2, rngs, [](Rngs& r) { return Block(r); }, {.axis_name = "layers"})};
  EXPECT_THAT(model.layers.stacked.linear.kernel.metadata().out_sharding,
              ElementsAre("layers", "in", "out"));
  EXPECT_THAT(model.layers.layer(1).linear.kernel.metadata().out_sharding,
              ElementsAre("in", "out"));
  EXPECT_TRUE(tree::of(model).contains("layers/linear/kernel"));
  const auto loss = [](Model& m, const Array& x) { return numpy::sum(m.layers(x)); };
  const tree::Tree grads = nn::grad(loss)(model, numbers({2, 4}));
  EXPECT_EQ(grads["layers/linear/kernel"].shape(), Shape({2, 4, 4}));
  expect_error([&] { return model.layers.layer(2); }, {"layer 2 of 2"});
}

TEST_F(Others, ViewTellsTheLayersThatKnow) {
  struct Model {
    Block block;
    List more;
    STRATA_FIELDS(block, more)
  };
  Model model{Block(rngs), {Dropout(0.5, rngs), rectify}};
  const Model quiet = nn::view(model, {.deterministic = true});
  EXPECT_EQ(quiet.block.drop.deterministic, true);
  EXPECT_EQ(quiet.more[0].as<Dropout>()->deterministic, true);
  EXPECT_EQ(model.block.drop.deterministic, false);
  eval(model);
  EXPECT_EQ(model.more[0].as<Dropout>()->deterministic, true);
  train(model);
  EXPECT_EQ(model.more[0].as<Dropout>()->deterministic, false);
  const Model part = nn::view(model, {.deterministic = true, .only = tree::path_contains("more")});
  EXPECT_EQ(part.block.drop.deterministic, false);
  EXPECT_EQ(part.more[0].as<Dropout>()->deterministic, true);
  expect_error([&] { return nn::view(model, {.decode = true, .numbers = {{"max_length", 3}}}); },
               {"decode, max_length"});
}

TEST_F(Others, AnyReductionPools) {
  RecordProperty("api", "nnx.pool");
  const Array x = numbers({2, 6, 5, 3});
  const PoolOptions options{.strides = {2, 1}, .padding = {{1, 0}, {0, 1}}};
  const auto greater = [](const Array& a, const Array& b) { return numpy::maximum(a, b); };
  const Array least = Array(-std::numeric_limits<float>::infinity());
  EXPECT_EQ(pool(x, least, greater, {3, 2}, options).to_vector<float>(),
            max_pool(x, {3, 2}, options).to_vector<float>());
  const auto add = [](const Array& a, const Array& b) { return a + b; };
  const Array sums = pool(x, Array(0.0f), add, {3, 2}, options);
  const Array means = avg_pool(x, {3, 2}, options);
  EXPECT_LT(numpy::max(numpy::abs(sums / 6.0f - means)).item<float>(), 1e-6f);
  // A product has no pool of its own.
  const auto multiply = [](const Array& a, const Array& b) { return a * b; };
  EXPECT_EQ(pool(array({{1.0f}, {2.0f}, {3.0f}}), Array(1.0f), multiply, {2}).to_vector<float>(),
            (std::vector<float>{2, 6}));
}

TEST_F(Others, PoolsRefuseWhatDoesNotFit) {
  expect_error([&] { return max_pool(numbers({3, 2}), {2, 2}); }, {"f32[3,2]", "2 axes"});
  expect_error([&] { return max_pool(numbers({5, 5, 2}), {2, 2}, {.padding = {1}}); }, {"2 axes"});
  EXPECT_EQ(max_pool(array({{1}, {5}, {3}}), {2}).to_vector<int>(), (std::vector<int>{5, 5}));
  EXPECT_EQ(min_pool(array({{1}, {5}, {3}}), {2}, {.padding = {{1, 0}}}).to_vector<int>(),
            (std::vector<int>{1, 1, 3}));
}

}  // namespace
}  // namespace strata::nn
