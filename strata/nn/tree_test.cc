// tree::Tree by itself: filters, split, merge, assign, order, and as an argument of transforms.
#include "strata/api/tree/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/numpy.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/api/transform/vmap.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/variable.h"

namespace strata::nn {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct Layer {
  Param kernel;
  std::optional<Param> bias;
  STRATA_FIELDS(kernel, bias)
};
struct Model {
  std::vector<Layer> layers;
  BatchStat mean;
  std::map<std::string, Array> extra;
  std::variant<Layer, Cache> head;
  STRATA_FIELDS(layers, mean, extra, head)
};
Model model() {
  const auto layer = [](float x) { return Layer{array({x, x + 1}), Param(Array(x))}; };
  Model out{{layer(0), layer(10)}, array({5.0f}), {{"scale", array({2.0f})}}, Cache(Array(7.0f))};
  out.layers[1].bias.reset();
  out.layers[0].kernel.set_metadata({.out_sharding = {"embed"}, .tag = "first"});
  return out;
}
template <class F>
std::string message(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

class Trees : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_F(Trees, PathsKindsAndNotesAreTheModels) {
  const tree::Tree t = tree::of(model());
  // Optionals and variants add no step; a plain array counts as a Param.
  EXPECT_THAT(t.names(), ElementsAre("layers/0/kernel", "layers/0/bias", "layers/1/kernel", "mean",
                                     "extra/scale", "head"));
  EXPECT_EQ(t.entry(3).kind, &BatchStat::kind());
  EXPECT_EQ(t.entry(4).kind, &Param::kind());
  EXPECT_EQ(t.entry(5).kind, &Cache::kind());
  EXPECT_EQ(t.entry(0).metadata->tag, "first");
  EXPECT_EQ(t["layers/1/kernel"].to_vector<float>(), (std::vector<float>{10, 11}));
  EXPECT_THAT(t.to_string(), AllOf(HasSubstr("layers/0/kernel: Param f32[2]"),
                                   HasSubstr("out_sharding=(embed), tag=first")));
}

TEST_F(Trees, FiltersTakeByKindTagPathAndPattern) {
  const tree::Tree t = tree::of(model());
  const auto names = [&](const Filter& f) { return t.filter(f).names(); };
  EXPECT_THAT(names(of<Param>()),
              ElementsAre("layers/0/kernel", "layers/0/bias", "layers/1/kernel", "extra/scale"));
  EXPECT_THAT(names(of<Variable<VariableStateKind>>()).size(), 6u);
  EXPECT_THAT(names(tree::with_tag("first")), ElementsAre("layers/0/kernel"));
  EXPECT_THAT(names(tree::path_contains("0")), ElementsAre("layers/0/kernel", "layers/0/bias"));
  EXPECT_THAT(names(tree::path_contains("ern")), ElementsAre());
  EXPECT_THAT(names(tree::path_contains("ern", false)),
              ElementsAre("layers/0/kernel", "layers/1/kernel"));
  EXPECT_THAT(names(tree::path("**/kernel")), ElementsAre("layers/0/kernel", "layers/1/kernel"));
  EXPECT_THAT(names(tree::path("layers/?/b*")), ElementsAre("layers/0/bias"));
  EXPECT_THAT(names(tree::path("*")), ElementsAre("mean", "head"));
  EXPECT_THAT(names(tree::path("**")).size(), 6u);
  EXPECT_THAT(names(tree::regex("layers/[1-9]/.*")), ElementsAre("layers/1/kernel"));
  EXPECT_THAT(names(tree::path_in({"head", "mean", "nowhere"})), ElementsAre("mean", "head"));
  EXPECT_THAT(names(of<Param>() && !tree::path("**/kernel")),
              ElementsAre("layers/0/bias", "extra/scale"));
  EXPECT_THAT(names(of<Cache>() || tree::path("mean")), ElementsAre("mean", "head"));
  EXPECT_THAT(names(nothing()), ElementsAre());
  EXPECT_THAT(message([] { (void)tree::regex("a["); }), HasSubstr("a["));
}

TEST_F(Trees, SplitNamesWhatIsLeft) {
  const tree::Tree t = tree::of(model());
  const auto [params, rest] = t.split<2>({of<Param>(), everything()});
  EXPECT_EQ(params.size() + rest.size(), t.size());
  EXPECT_THAT(message([&] { (void)t.split<2>({of<Param>(), of<Cache>()}); }),
              AllOf(HasSubstr("mean (BatchStat)"), HasSubstr("[Param, Cache]")));
  EXPECT_THAT(message([&] { (void)t.split<2>({everything(), of<Param>()}); }),
              AllOf(HasSubstr("filter 0"), HasSubstr("Param")));
  // At most five are named.
  std::vector<tree::Entry> entries;
  std::vector<Array> values;
  for (int i = 0; i < 8; ++i) {
    entries.emplace_back(std::string_view(fmt::format("w{}", i)));
    values.emplace_back(1.0f);
  }
  const tree::Tree many(std::move(entries), std::move(values));
  EXPECT_THAT(message([&] { (void)many.split<1>({of<Cache>()}); }),
              AllOf(HasSubstr("w4"), Not(HasSubstr("w5")), HasSubstr("3 more")));
}

TEST_F(Trees, MergeIsTheInverseAndTheLaterValueHolds) {
  const Model m = model();
  const tree::Tree t = tree::of(m);
  const auto [params, rest] = t.split<2>({of<Param>(), everything()});
  EXPECT_TRUE(tree::equal(tree::merge({params, rest}), t));
  EXPECT_TRUE(tree::equal(tree::of(tree::as(m, tree::merge({rest, params}))), t));
  const tree::Tree later({{"mean", array({9.0f})}});
  EXPECT_EQ(tree::merge({t, later})["mean"].item<float>(), 9);
  EXPECT_EQ(tree::merge({later, t})["mean"].item<float>(), 5);
  EXPECT_FALSE(tree::equal(tree::merge({t, later}), t));
}

TEST_F(Trees, AssignWritesByPathAndNamesTheNearest) {
  Model m = model();
  tree::assign(m, tree::Tree({{"layers/1/kernel", array({3.0f, 4.0f})}}));
  EXPECT_EQ(m.layers[1].kernel.to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(m.layers[0].kernel.metadata().tag, "first");
  const tree::Tree before = tree::of(m);
  EXPECT_THAT(message([&] {
                tree::assign(m, tree::Tree({{"mean", array({1.0f})}, {"layers/1/kernal", 1.0f}}));
              }),
              AllOf(HasSubstr("layers/1/kernal"), HasSubstr("did you mean 'layers/1/kernel'")));
  EXPECT_TRUE(tree::equal(tree::of(m), before)) << "nothing is written where one path is wrong";
  EXPECT_THAT(message([&] { (void)tree::as(m, tree::Tree({{"mean", array({1.0f})}})); }),
              AllOf(HasSubstr("layers/0/kernel"), HasSubstr("head")));
  EXPECT_THAT(message([&] { (void)before["heat"]; }),
              AllOf(HasSubstr("heat"), HasSubstr("did you mean 'head'")));
  EXPECT_THAT(message([&] {
                tree::Tree copy = before;
                copy.set("haed", 1.0f);
              }),
              HasSubstr("did you mean 'head'"));
  EXPECT_THAT(message([] { tree::Tree({{"a", 1.0f}, {"a", 2.0f}}); }), HasSubstr("path a"));
  EXPECT_THAT(message([&] { (void)before.with_values({Array(1.0f)}); }),
              AllOf(HasSubstr("6 leaves"), HasSubstr("got 1")));
}

TEST_F(Trees, SortedPutsNumbersFirstAndBySize) {
  const tree::Tree t({{"b/10", 1.0f}, {"b/9", 2.0f}, {"b/x", 3.0f}, {"a/z", 4.0f}, {"B", 5.0f}});
  EXPECT_THAT(t.sorted().names(), ElementsAre("B", "a/z", "b/9", "b/10", "b/x"));
  EXPECT_EQ(t.sorted()["b/9"].item<float>(), 2);
}

TEST_F(Trees, SubtreesGoOutAndIn) {
  const tree::Tree t = tree::of(model());
  const tree::Tree layer = t.subtree("layers/0");
  EXPECT_THAT(layer.names(), ElementsAre("kernel", "bias"));
  EXPECT_EQ(layer.entry(0).metadata->tag, "first");
  EXPECT_THAT(layer.below("other/3").names(), ElementsAre("other/3/kernel", "other/3/bias"));
  EXPECT_TRUE(t.subtree("layers/7").empty());
  EXPECT_THAT(t.subtree("lay").names(), ElementsAre());
}

TEST_F(Trees, MapsMeetByPath) {
  const tree::Tree a({{"x", 1.0f}, {"y", 2.0f}}), b({{"y", 10.0f}, {"x", 20.0f}});
  const auto sum = [](const Array& p, const Array& q) { return p + q; };
  const tree::Tree c = a.map(b, sum);
  EXPECT_EQ(c["x"].item<float>(), 21);
  EXPECT_EQ(c["y"].item<float>(), 12);
  EXPECT_THAT(message([&] { (void)a.map(tree::Tree({{"x", 1.0f}, {"z", 1.0f}}), sum); }),
              AllOf(HasSubstr("only the first has y"), HasSubstr("z")));
  EXPECT_TRUE(same_structure(a, a.map([](const Array& x) { return x * 2; })));
  EXPECT_FALSE(same_structure(a, b));
}

TEST_F(Trees, AreArgumentsOfTransforms) {
  const tree::Tree t({{"w", array({1.0f, 2.0f, 3.0f})}, {"b", 0.5f}});
  const auto loss = [](const tree::Tree& p, const Array& x) {
    return numpy::sum(p["w"] * x + p["b"]);
  };
  const Array x = array({2.0f, 3.0f, 4.0f});
  const auto compiled = strata::jit(loss);
  EXPECT_EQ(compiled(t, x).item<float>(), loss(t, x).item<float>());
  EXPECT_EQ(compiled(t, x + 1).item<float>(), loss(t, x + 1).item<float>());
  EXPECT_EQ(compiled.cache_size(), 1u);
  // Other paths or notes are another program.
  (void)compiled(t.with_metadata([](const tree::Entry&) {
    return std::make_shared<const Metadata>(Metadata{.tag = "t"});
  }),
                 x);
  EXPECT_EQ(compiled.cache_size(), 2u);
  const tree::Tree grads = strata::grad(loss)(t, x);
  EXPECT_THAT(grads.names(), ElementsAre("w", "b"));
  EXPECT_EQ(grads["w"].to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(grads["b"].item<float>(), 3);
  const tree::Tree stacked =
      t.map([](const Array& leaf) { return numpy::stack({leaf, leaf * 2}); });
  const tree::Tree doubled = strata::vmap(
      [](const tree::Tree& p) { return p.map([](const Array& l) { return l * 2; }); })(stacked);
  EXPECT_THAT(doubled.names(), ElementsAre("w", "b"));
  EXPECT_EQ(doubled["b"].to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST_F(Trees, AnEmptyTreeIsOne) {
  const tree::Tree none;
  EXPECT_TRUE(none.empty());
  EXPECT_THAT(none.names(), ElementsAre());
  EXPECT_FALSE(none.contains("x"));
  EXPECT_TRUE(tree::merge({none, none}).empty());
  EXPECT_TRUE(tree::equal(none, tree::Tree()));
  EXPECT_EQ(none.split<1>({of<Param>()})[0].size(), 0u);
  EXPECT_THROW((void)none["x"], Error);
}

TEST_F(Trees, LeavesOfATemporaryOutliveIt) {
  const auto make = [] { return tree::Tree({{"a", array({1.0f, 2.0f})}, {"b", array({3.0f})}}); };
  float sum = 0;
  for (const Array& x : make().values())
    for (float v : x.to_vector<float>()) sum += v;
  EXPECT_EQ(sum, 6);
  std::string names;
  for (const tree::Entry& e : make().entries()) names += e.name;
  EXPECT_EQ(names, "ab");
}

}  // namespace
}  // namespace strata::nn
