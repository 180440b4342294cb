// What is done to states and modules beyond upstream's goldens: copies, notes, abstract models,
// ties.
#include "strata/nn/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/testing.h"
#include "strata/api/transform/grad.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/golden_models.h"
#include "strata/nn/modules.h"
#include "strata/nn/tie.h"

namespace strata::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class F>
std::string message(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}
class States : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_F(States, SplitThenMergeIsTheIdentity) {
  testing::shows_names("nnx.merge");
  GoldenNet net = golden_net();
  const tree::Tree before = tree::of(net);
  auto [params, keys, rest] = split(net, of<Param>(), of<RngState>(), everything());
  EXPECT_TRUE(tree::equal(tree::of(merge(net, params, keys, rest)), before));
  EXPECT_TRUE(tree::equal(tree::of(merge(net, rest, params, keys)), before));
  EXPECT_THAT(message([&] { (void)merge(net, params, rest); }), HasSubstr("blocks/0/drop/rngs"));
  EXPECT_THAT(message([&] { update(net, tree::Tree({{"heads/kernel", Array(1.0f)}})); }),
              AllOf(HasSubstr("heads/kernel"), HasSubstr("did you mean 'head/kernel'")));
  map_state(net, tree::path("head/kernel"),
            [](const tree::Entry&, const Array& x) { return numpy::zeros_like(x); });
  EXPECT_EQ(numpy::sum(numpy::abs(net.head.kernel)).item<float>(), 0);
}

TEST_F(States, CloneHasItsOwnMemory) {
  const GoldenNet net = golden_net();
  const GoldenNet copy = clone(net);
  EXPECT_TRUE(tree::equal(tree::of(net), tree::of(copy)));
  EXPECT_NE(net.head.kernel.state(), copy.head.kernel.state());
  EXPECT_NE(net.head.kernel.literal().data(), nullptr);
  struct Two {
    GoldenNet a, b;
    STRATA_FIELDS(a, b)
  };
  for (const auto& group : find_duplicates(tree::of(Two{net, copy})))
    for (const std::string& name : group) EXPECT_TRUE(name.starts_with(group[0].substr(0, 2)));
  EXPECT_FALSE(find_duplicates(tree::of(Two{net, net})).empty());
}

TEST_F(States, NotesAreJoined) {
  testing::shows_names("nnx.set_metadata nnx.Variable.set_metadata nnx.Variable.get_metadata");
  Linear linear = golden_linear();
  set_metadata(linear, {.out_sharding = {"in", "out"}}, tree::path("kernel"));
  set_metadata(linear, {.tag = "t", .notes = {{"from", "here"}}});
  EXPECT_EQ(linear.kernel.metadata().out_sharding, (std::vector<std::string>{"in", "out"}));
  EXPECT_EQ(linear.kernel.metadata().tag, "t");
  EXPECT_TRUE(linear.bias->metadata().out_sharding.empty());
  EXPECT_EQ(linear.bias->metadata().notes.at("from"), "here");
}

TEST_F(States, AnAbstractModelTakesAState) {
  const GoldenNet net = golden_net();
  const GoldenNet shapes = abstract(golden_net);
  EXPECT_TRUE(shapes.head.kernel.is_traced());
  GoldenNet loaded = restore(shapes, tree::of(net));
  EXPECT_TRUE(tree::equal(tree::of(loaded), tree::of(net)));
  GoldenNet same = net;
  const Array x = numpy::ones({2, 3});
  EXPECT_EQ(loaded(x).to_vector<float>(), same(x).to_vector<float>());
  tree::Tree other = tree::of(net);
  other.set("head/kernel", numpy::zeros({3, 4}));
  EXPECT_THAT(message([&] { (void)restore(shapes, other); }),
              AllOf(HasSubstr("head/kernel is f32[3,2]"), HasSubstr("f32[3,4]")));
  EXPECT_THAT(message([&] { (void)restore(shapes, state(net, of<Param>())); }),
              HasSubstr("norm/mean"));
}

struct Tied {
  Linear embed, head;
  STRATA_FIELDS(embed, head)
  Array operator()(const Array& x) const { return head(embed(x)); }
};
Tied tied_model() {
  Rngs rngs(0);
  return {Linear(2, 3, rngs, {.use_bias = false}), Linear(3, 2, rngs, {.use_bias = false})};
}

TEST_F(States, TiesLetGradientsMeet) {
  Tied m = tied_model();
  const std::vector<Tie> ties = {{"head/kernel", "embed/kernel", true}};
  nn::tie(m, ties);
  EXPECT_EQ(m.head.kernel.to_vector<float>(), Array(m.embed.kernel.T()).to_vector<float>());
  const tree::Tree once = untied(tree::of(m), ties);
  EXPECT_EQ(once.names(), (std::vector<std::string>{"embed/kernel"}));
  const Array x = array({{1.0f, 2.0f}});
  const auto loss = [&](const tree::Tree& params) {
    const Tied full = merge(m, tied(params, ties));
    return numpy::sum(numpy::square(full(x)));
  };
  const Array meets = strata::grad(loss)(once)["embed/kernel"];
  // Of both uses by themselves, and their sum.
  const tree::Tree apart = strata::grad([&](const tree::Tree& params) {
    return numpy::sum(numpy::square(merge(m, params)(x)));
  })(tree::of(m));
  const Array sum = apart["embed/kernel"] + apart["head/kernel"].T();
  EXPECT_LT(numpy::max(numpy::abs(meets - sum)).item<float>(), 1e-5);
}

TEST_F(States, TiesThatDoNotFitAreNamed) {
  Tied m = tied_model();
  const std::vector<Tie> straight = {{"head/kernel", "embed/kernel"}};
  EXPECT_THAT(message([&] { nn::tie(m, straight); }),
              AllOf(HasSubstr("head/kernel is f32[3,2]"), HasSubstr("f32[2,3]")));
  const std::vector<Tie> wrong = {{"head/kernel", "embed/kernle", true}};
  EXPECT_THAT(message([&] { nn::tie(m, wrong); }), HasSubstr("did you mean 'embed/kernel'"));
  const std::vector<Tie> chain = {{"a", "b"}, {"b", "c"}};
  EXPECT_THAT(message([&] { (void)tied(tree::of(m), chain); }),
              AllOf(HasSubstr("a is tied to b"), HasSubstr("tied to c")));
  const std::vector<Tie> good = {{"head/kernel", "embed/kernel", true}};
  EXPECT_THAT(message([&] { (void)tied(tree::of(m), good); }), HasSubstr("there is a value"));
}

TEST_F(States, ModulesAreFoundByTypeAndMayBeChanged) {
  GoldenNet net = golden_net();
  std::size_t drops = 0;
  for (const ModuleAt& at : iter_modules(net))
    if (auto* drop = at.as<Dropout>()) {
      ++drops;
      drop->rate = 0;
    }
  EXPECT_EQ(drops, 2u);
  EXPECT_EQ(net.blocks[1].drop.rate, 0);
  EXPECT_EQ(iter_modules(net).back().name(), "");
}

}  // namespace
}  // namespace strata::nn
