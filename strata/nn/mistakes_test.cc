// Wrong programs of modules: each message names the module's path, what was given, and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/attention/multi_head_attention.h"
#include "strata/nn/conv/conv.h"
#include "strata/nn/dropout.h"
#include "strata/nn/ema.h"
#include "strata/nn/linear/einsum.h"
#include "strata/nn/linear/embed.h"
#include "strata/nn/linear/linear_general.h"
#include "strata/nn/linear/lora.h"
#include "strata/nn/norm/batch_norm.h"
#include "strata/nn/norm/group_norm.h"
#include "strata/nn/random/streams.h"
#include "strata/nn/recurrent/gru.h"
#include "strata/nn/recurrent/rnn.h"
#include "strata/nn/sharding/sharding.h"
#include "strata/nn/stack.h"
#include "strata/nn/tie.h"
#include "strata/nn/transform/control.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"
#include "strata/nn/view.h"

namespace strata::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A model around one layer: net.blocks[1].layer has the path blocks/1/layer.
template <class L>
struct Block {
  L layer;
  STRATA_FIELDS(layer)
  template <class... Args>
  auto operator()(const Args&... args) {
    const ModuleScope scope(*this, "Block");
    return layer(args...);
  }
};
template <class L>
struct Net {
  std::vector<Block<L>> blocks;
  STRATA_FIELDS(blocks)
  template <class... Args>
  auto operator()(const Args&... args) {
    const ModuleScope scope(*this, "Net");
    return blocks[1](args...);
  }
};
template <class L>
Net<L> net(const L& layer) {
  return {{{layer}, {layer}}};
}

class Mistakes : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  template <class F>
  static std::string message(F f) {
    try {
      (void)f();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
  /// Of a call of a layer within the model.
  template <class L, class... Args>
  static std::string of_call(const L& layer, const Args&... args) {
    Net<L> model = net(layer);
    return message([&] { return model(args...); });
  }
  static Array ones(const Sizes& shape) { return numpy::ones(shape); }
  static Linear square(Rngs& r) { return Linear(2, 2, r); }
  Rngs rngs{0};
};

TEST_F(Mistakes, InputsThatDoNotFitTheirLayer) {
  EXPECT_THAT(of_call(Linear(4, 3, rngs), ones({2, 5})),
              AllOf(HasSubstr("5 features (f32[2,5])"), HasSubstr("takes 4"),
                    HasSubstr("in blocks/1/layer (Linear)")));
  EXPECT_THAT(of_call(Conv(4, 3, {3}, rngs), ones({2, 8, 5})),
              AllOf(HasSubstr("5 features (f32[2,8,5])"), HasSubstr("f32[3,4,3] takes 4"),
                    HasSubstr("in blocks/1/layer (Conv)")));
  EXPECT_THAT(of_call(LinearGeneral({2, 3}, {4}, rngs, {.axis = {-2, -1}}), ones({5, 2, 4})),
              AllOf(HasSubstr("4 features along axis 2"), HasSubstr("takes 3"),
                    HasSubstr("in blocks/1/layer (LinearGeneral)")));
  EXPECT_THAT(
      of_call(Embed(5, 3, rngs), ones({2})),
      AllOf(HasSubstr("must be integers, got f32[2]"), HasSubstr("in blocks/1/layer (Embed)")));
  EXPECT_THAT(of_call(GroupNorm(6, rngs, {.num_groups = 3}), ones({2, 4})),
              AllOf(HasSubstr("f32[2,4] has 4 features"), HasSubstr("6 in 3 groups"),
                    HasSubstr("in blocks/1/layer (GroupNorm)")));
  EXPECT_THAT(of_call(BatchNorm(6, rngs), ones({2, 4})),
              AllOf(HasSubstr("4 features along axis 1"), HasSubstr("running mean has 6"),
                    HasSubstr("in blocks/1/layer (BatchNorm)")));
  EXPECT_THAT(of_call(LoRALinear(4, 3, 2, rngs), ones({2, 5})),
              AllOf(HasSubstr("5 features"), HasSubstr("in blocks/1/layer (LoRALinear)")));
  EXPECT_THAT(of_call(GRUCell(4, 3, rngs), ones({2, 4}), ones({2, 4})),
              AllOf(HasSubstr("carry f32[2,4] has 4 features, the cell 3"),
                    HasSubstr("in blocks/1/layer (GRUCell)")));
  EXPECT_THAT(of_call(RNN(GRUCell(4, 3, rngs)), ones({2, 7, 5})),
              AllOf(HasSubstr("f32[2,5] has 5 features, the cell takes 4"),
                    HasSubstr("in blocks/1/layer/cell (GRUCell)")));
  EXPECT_THAT(
      of_call(Einsum("ab,bc->ac", {4, 3}, rngs), ones({2, 5})),
      AllOf(HasSubstr("letter 'b' has sizes 5 and 4"), HasSubstr("in blocks/1/layer (Einsum)")));
}

TEST_F(Mistakes, SizesThatMakeNoLayer) {
  EXPECT_THAT(message([&] { return Conv(4, 3, {3}, rngs, {.feature_group_count = 3}); }),
              HasSubstr("4 input and 3 output features do not go into 3 groups"));
  EXPECT_THAT(message([&] { return GroupNorm(6, rngs, {.num_groups = 4}); }),
              AllOf(HasSubstr("6 features"), HasSubstr("num_groups is 4")));
  EXPECT_THAT(message([&] { return MultiHeadAttention(4, 6, rngs); }),
              HasSubstr("6 features cannot be shared among 4 heads"));
  EXPECT_THAT(message([&] { return Stack<Linear>::make(0, rngs, square); }),
              HasSubstr("one layer at least, got 0"));
  EXPECT_THAT(message([&] { return Stack<Linear>::make(2, rngs, square).layer(2); }),
              HasSubstr("no layer 2 of 2"));
}

TEST_F(Mistakes, MissingStreamsModesAndCaches) {
  EXPECT_THAT(of_call(Dropout(0.5), ones({2})),
              AllOf(HasSubstr("no stream"), HasSubstr("{.rngs = ...}"),
                    HasSubstr("in blocks/1/layer (Dropout)")));
  Rngs only({{"params", 0}});
  EXPECT_THAT(message([&] { return Dropout(0.5, only); }),
              AllOf(HasSubstr("no stream dropout"), HasSubstr("only [params]")));
  MultiHeadAttention m(2, 4, rngs);
  EXPECT_THAT(of_call(m, ones({1, 3, 4})),
              AllOf(HasSubstr("not said whether it decodes; set .decode"),
                    HasSubstr("in blocks/1/layer (MultiHeadAttention)")));
  m.decode = true;
  EXPECT_THAT(of_call(m, ones({1, 1, 4})),
              AllOf(HasSubstr("has no cache; call init_cache"), HasSubstr("in blocks/1/layer")));
  m.init_cache({1, 2, 4});
  EXPECT_THAT(of_call(m, ones({1, 3, 4})),
              AllOf(HasSubstr("one token for each sequence of the cache f32[1,2,2,2]"),
                    HasSubstr("[1,1,2,2], got f32[1,3,2,2]"), HasSubstr("in blocks/1/layer")));
  EXPECT_THAT(of_call(m, ones({2, 1, 4})), HasSubstr("[1,1,2,2], got f32[2,1,2,2]"));
  Net<MultiHeadAttention> full = net(m);
  for (int i = 0; i < 2; ++i) (void)full(ones({1, 1, 4}));
  EXPECT_THAT(message([&] { return full(ones({1, 1, 4})); }),
              AllOf(HasSubstr("f32[1,2,2,2] is full"), HasSubstr("token 2"),
                    HasSubstr("init_cache"), HasSubstr("in blocks/1/layer")));
}

TEST_F(Mistakes, FiltersAndStates) {
  Net<BatchNorm> model = net(BatchNorm(3, rngs));
  EXPECT_THAT(message([&] { return split(model, of<Param>()); }),
              AllOf(HasSubstr("[Param]"), HasSubstr("blocks/1/layer/var (BatchStat)"),
                    HasSubstr("end with everything()")));
  EXPECT_THAT(message([&] { return split(model, everything(), of<Param>()); }),
              AllOf(HasSubstr("filter 0 of 2"), HasSubstr("none is left for Param")));
  EXPECT_THAT(message([&] { return merge(model, state(model, of<Param>())); }),
              AllOf(HasSubstr("no value for blocks/0/layer/mean"),
                    HasSubstr("the trees of all parts"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(message([&] {
                update(model, tree::Tree({{"blocks/1/layer/scales", Array(1.0f)}}));
                return 0;
              }),
              AllOf(HasSubstr("no leaf at blocks/1/layer/scales"),
                    HasSubstr("did you mean 'blocks/1/layer/scale'")));
  tree::Tree other = tree::of(model);
  other.set("blocks/0/layer/scale", ones({4}));
  EXPECT_THAT(message([&] { return restore(model, other); }),
              HasSubstr("blocks/0/layer/scale is f32[3], the state has f32[4]"));
  EXPECT_THAT(message([&] {
                EMA(model, 0.9).update(BatchNorm(3, rngs));
                return 0;
              }),
              HasSubstr("the model has no blocks/0/layer/bias"));
  EXPECT_THAT(message([&] { return view(model, {.decode = true}); }),
              AllOf(HasSubstr("no layer that is meant has a field decode"),
                    HasSubstr("[axis, use_running_average]")));
  const std::vector<Tie> ties = {{"blocks/0/layer/scale", "blocks/1/layer/scael"}};
  EXPECT_THAT(message([&] {
                nn::tie(model, ties);
                return 0;
              }),
              AllOf(HasSubstr("blocks/1/layer/scael"), HasSubstr("'blocks/1/layer/scale'")));
  EXPECT_THAT(message([&] {
                Rngs streams = rngs.split(3);
                reseed(streams, Rngs(1));
                return 0;
              }),
              AllOf(HasSubstr("default is a stack of 3"), HasSubstr("match_shape()")));
}

TEST_F(Mistakes, AxesOfAMesh) {
  Net<BatchNorm> model = net(BatchNorm(3, rngs));
  model.blocks[1].layer.scale->set_metadata({.out_sharding = {"a", "b"}});
  EXPECT_THAT(message([&] { return get_partition_spec(tree::of(model)); }),
              HasSubstr("blocks/1/layer/scale is f32[3] and has names for 2 axes (a, b)"));
  model.blocks[1].layer.scale->set_metadata({.out_sharding = {"a"}});
  EXPECT_THAT(message([&] { return get_named_sharding(tree::of(model), {{"data", 2}}); }),
              AllOf(HasSubstr("blocks/1/layer/scale is cut along a"), HasSubstr("mesh (data)"),
                    HasSubstr("LogicalAxisRules")));
}

TEST_F(Mistakes, GradientsOfWhatHasNone) {
  const auto loss = [](auto& m, const Array& x) { return numpy::sum(m(x)); };
  const Array x = ones({4, 3});
  Net<Dropout> drops = net(Dropout(0.5, rngs));
  EXPECT_THAT(message([&] { return nn::grad(loss, everything())(drops, x); }),
              AllOf(HasSubstr("argument 0, blocks/0/layer/rngs/count is ui32[]"),
                    HasSubstr("nn::of<nn::Param>()")));
  Net<BatchNorm> norms = net(BatchNorm(3, rngs));
  EXPECT_THAT(message([&] { return nn::grad(loss, of<LoRAParam>())(norms, x); }),
              AllOf(HasSubstr("LoRAParam takes none of the 8 leaves of argument 0"),
                    HasSubstr("[BatchStat, Param]")));
  const auto call = [](auto& m, const Array& v) { return m(v); };
  EXPECT_THAT(message([&] { return nn::grad(call)(norms, x); }),
              HasSubstr("must return a float scalar, got f32[4,3]"));
}

TEST_F(Mistakes, StateThatHasNoPlace) {
  Net<BatchNorm> model = net(BatchNorm(3, rngs));
  const Array x = numpy::reshape(numpy::arange(12).astype(float32), {2, 2, 3});
  const auto call = [](Net<BatchNorm>& m, const Array& v) { return m(v); };
  const auto widens = [](Net<BatchNorm>& m, const Array& v) {
    m.blocks[0].layer.mean = numpy::zeros({4});
    return v;
  };
  EXPECT_THAT(message([&] { return nn::vmap(call, {.in_axes = {none, 0}})(model, x); }),
              AllOf(HasSubstr("argument 0, blocks/1/layer/mean is not mapped"),
                    HasSubstr("give it an axis")));
  EXPECT_THAT(message([&] { return nn::vmap(call)(model, x); }),
              AllOf(HasSubstr("argument 0, blocks/0/layer/bias (f32[3]) has size 3"),
                    HasSubstr("argument 1 (f32[2,2,3]) size 2"), HasSubstr("mapped with none")));
  EXPECT_THAT(
      message([&] { return nn::scan(widens, {.in_axes = {none, 0}, .out_axes = {0}})(model, x); }),
      AllOf(HasSubstr("argument 0, blocks/0/layer/mean is carried"),
            HasSubstr("f32[3] before a step and f32[4] after it")));
  EXPECT_THAT(message([&] { return nn::cond(Array(true), call, widens, model, x); }),
              AllOf(HasSubstr("argument 0, blocks/0/layer/mean is f32[4] after one branch"),
                    HasSubstr("f32[3] after another")));
  const auto grows = [](Net<BatchNorm>& m) {
    m.blocks.push_back(m.blocks[0]);
    return Array(0);
  };
  EXPECT_THAT(message([&] { return nn::jit(grows)(model); }),
              AllOf(HasSubstr("from 8 to 12"), HasSubstr("add a cache, an adapter or a layer")));
  EXPECT_THAT(message([&] {
                auto stack = Stack<Linear>::make(2, rngs, [](Rngs& r) { return Linear(2, 3, r); });
                return stack(ones({1, 2}));
              }),
              AllOf(HasSubstr("carried from step to step"), HasSubstr("f32[1,2]"),
                    HasSubstr("f32[1,3]"), HasSubstr("in Stack")));
}

TEST_F(Mistakes, ABatchNormThatMayNotChange) {
  struct Fixed {
    BatchNorm norm;
    STRATA_FIELDS(norm)
    Array operator()(const Array& x) const {
      const ModuleScope scope(*this, "Fixed");
      return norm(x);
    }
  };
  const Fixed fixed{BatchNorm(3, rngs)};
  const auto call = [](const Fixed& m, const Array& v) { return m(v); };
  for (const bool jits : {false, true})
    EXPECT_THAT(
        message([&] { return jits ? nn::jit(call)(fixed, ones({4, 3})) : fixed(ones({4, 3})); }),
        AllOf(HasSubstr("the layer is const"), HasSubstr("use_running_average = true"),
              HasSubstr("in norm (BatchNorm)")));
}

TEST_F(Mistakes, OneVariableAtTwoPlaces) {
  Net<BatchNorm> model = net(BatchNorm(3, rngs));
  const Array x = ones({4, 3});
  const auto both = [](Net<BatchNorm>& a, Net<BatchNorm>& b, const Array& v) {
    return numpy::sum(a(v) + b(v));
  };
  const auto part = [](Net<BatchNorm>& a, BatchNorm& b, const Array& v) {
    return numpy::sum(a(v) + b(v));
  };
  const auto shared = AllOf(HasSubstr("argument 0, blocks/1/layer/mean and argument 1"),
                            HasSubstr("one variable"), HasSubstr("pass it once"));
  EXPECT_THAT(message([&] { return nn::jit(both)(model, model, x); }), shared);
  EXPECT_THAT(message([&] { return nn::grad(both)(model, model, x); }), shared);
  EXPECT_THAT(message([&] { return nn::jit(part)(model, model.blocks[1].layer, x); }), shared);
  // What nobody changes may stand twice.
  const auto reads = [](Net<BatchNorm>& a, Net<BatchNorm>& b) {
    return a.blocks[0].layer.mean + b.blocks[0].layer.mean;
  };
  EXPECT_EQ(message([&] { return nn::jit(reads)(model, model); }), "no error");
}

TEST_F(Mistakes, AModelThatIsCapturedAndChanged) {
  Net<BatchNorm> model = net(BatchNorm(3, rngs));
  const Array x = ones({4, 3});
  const auto step = nn::jit([&](const Array& v) { return model(v); });
  EXPECT_THAT(message([&] {
                (void)step(x);
                return model(x);
              }),
              AllOf(HasSubstr("used after the function that was being traced has ended"),
                    HasSubstr("a model that it changes must be its argument"),
                    HasSubstr("in blocks/1/layer (BatchNorm)")));
}

}  // namespace
}  // namespace strata::nn
