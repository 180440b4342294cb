// Collections of Flax Linen and what its models keep in them, beside Linen itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/testing.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/linear/embed.h"
#include "strata/nn/linen.h"
#include "strata/nn/nnx_golden.h"
#include "strata/nn/norm/batch_norm.h"
#include "strata/nn/view.h"

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

/// Upstream's variables with their collections, as a checkpoint has them.
tree::Tree variables_of(const json& c) { return golden_tree(c["variables"]); }

/// The model of the golden, with names of one's own and a list of layers.
struct Net {
  Embed tokens;
  std::vector<Linear> layers;
  BatchNorm norm;
  Linear head;
  STRATA_FIELDS(tokens, layers, norm, head)

  explicit Net(Rngs& rngs)
      : tokens(7, 4, rngs), norm(4, rngs, {.use_running_average = true}), head(4, 3, rngs) {
    for (int i = 0; i < 2; ++i) layers.emplace_back(4, 4, rngs);
  }
  Array operator()(const Array& x) {
    Array h = tokens(x);
    for (Linear& layer : layers) h = relu(layer(h));
    return head(norm(h));
  }
};
const LinenNames kNames = {{"Embed_0", "tokens"}, {"BatchNorm_0", "norm"}, {"Dense_0", "head"}};

class LinenNamesTest : public ::testing::Test {
 protected:
  LinenNamesTest() : golden("linen") { compile::register_cpu(); }
  const json& case_of(const std::string& name) const {
    for (const json& c : golden.cases())
      if (c["name"] == name) return c;
    throw std::runtime_error("no case " + name);
  }
  NnxGolden golden;
};

TEST_F(LinenNamesTest, CollectionsAreFlaxs) {
  testing::shows_names(
      "nnx.variable_name_from_type nnx.variable_type_from_name nnx.register_variable_name");
  const NnxGolden state("state");
  std::size_t seen = 0;
  for (const json& c : state.cases())
    if (c["name"] == "linen_names")
      for (const json& pair : c["kinds"]) {
        const tree::Kind& kind = variable_type_from_name(pair[1]);
        EXPECT_EQ(kind.name(), pair[0].get<std::string>());
        EXPECT_EQ(variable_name_from_type(kind), pair[1].get<std::string>());
        ++seen;
      }
  EXPECT_EQ(seen, 5u);
  EXPECT_EQ(variable_name_from_type<BatchStat>(), "batch_stats");
  EXPECT_THAT(message([] { (void)variable_type_from_name("adapters"); }),
              AllOf(HasSubstr("no collection adapters"), HasSubstr("params, batch_stats")));
  EXPECT_THAT(message([] { (void)variable_name_from_type<LoRAParam>(); }),
              HasSubstr("LoRAParam has no collection"));
  register_variable_name<LoRAParam>("adapters");
  register_variable_name<LoRAParam>("adapters");
  EXPECT_EQ(&variable_type_from_name("adapters"), &LoRAParam::kind());
  EXPECT_THAT(message([] { register_variable_name<Cache>("adapters"); }),
              AllOf(HasSubstr("adapters is the collection of LoRAParam"), HasSubstr("overwrite")));
  register_variable_name<Cache>("adapters", true);
  EXPECT_EQ(&variable_type_from_name("adapters"), &Cache::kind());
}

TEST_F(LinenNamesTest, VariablesBecomeAStateAsTheBridgeDoes) {
  const json& c = case_of("net");
  const tree::Tree state = from_linen(variables_of(c));
  ASSERT_EQ(state.size(), c["nnx"].size());
  for (const auto& [path, kind] : c["nnx"].items()) {
    ASSERT_TRUE(state.contains(path)) << path;
    EXPECT_EQ(state.entry(*state.find(path)).kind->name(), kind.get<std::string>()) << path;
  }
  EXPECT_TRUE(tree::equal(as_pure(to_linen(state)).sorted(), as_pure(variables_of(c)).sorted()));
}

TEST_F(LinenNamesTest, ACheckpointGivesTheModelsAnswers) {
  const json& c = case_of("net");
  Rngs rngs(0);
  Net net(rngs);
  const tree::Tree state = from_linen(variables_of(c), net, kNames);
  EXPECT_TRUE(state.contains("layers/1/kernel")) << state.to_string();
  net = restore(std::move(net), state);
  expect_near(net(golden_array(c["x"])), c["y"], {.relative_l2 = 1e-6}, "y");
  // And back under Linen's names; a list's own are said.
  LinenNames all = kNames;
  for (int i = 0; i < 2; ++i)
    all.emplace_back(fmt::format("layers_{}", i), fmt::format("layers/{}", i));
  EXPECT_TRUE(tree::equal(as_pure(to_linen(tree::of(net), all)).sorted(),
                          as_pure(variables_of(c)).sorted()));
}

TEST_F(LinenNamesTest, MistakesNameBothPaths) {
  const json& c = case_of("net");
  Rngs rngs(0);
  const Net net(rngs);
  EXPECT_THAT(message([&] { (void)from_linen(variables_of(c), net); }),
              HasSubstr("the model has no"));
  EXPECT_THAT(message([&] {
                (void)from_linen(
                    variables_of(c), net,
                    {{"Embed_0", "tokens"}, {"BatchNorm_0", "norm"}, {"Dense_0", "haed"}});
              }),
              HasSubstr("did you mean 'head/"));
  const tree::Tree twice({{"params/a/mean", Array(1.0f)}, {"batch_stats/a/mean", Array(1.0f)}});
  EXPECT_THAT(message([&] { (void)from_linen(twice); }),
              AllOf(HasSubstr("params/a/mean and batch_stats/a/mean"), HasSubstr("become a/mean")));
  EXPECT_THAT(message([] { (void)from_linen(tree::Tree({{"kernel", Array(1.0f)}})); }),
              HasSubstr("no collection in front"));
  EXPECT_THAT(message([] { (void)from_linen(tree::Tree({{"weights/kernel", Array(1.0f)}})); }),
              HasSubstr("no collection weights"));
}

}  // namespace
}  // namespace strata::nn
