// Axis names and rules beside Flax's, and their errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/testing.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/nnx_golden.h"
#include "strata/nn/random/streams.h"
#include "strata/nn/sharding/sharding.h"
#include "strata/nn/transform/metadata.h"
#include "strata/nn/transform/vmap.h"

namespace strata::nn {
namespace {

struct Sharded {
  Linear first, second, third;
  STRATA_FIELDS(first, second, third)
};
Sharded sharded(Rngs& rngs) {
  return {Linear(4, 4, rngs,
                 {.kernel_metadata = {.out_sharding = {"features", "hidden"}},
                  .bias_metadata = {.out_sharding = {"hidden"}}}),
          Linear(4, 2, rngs, {.kernel_metadata = {.out_sharding = {"hidden", ""}}}),
          Linear(2, 2, rngs)};
}
Sharded stack_of_sharded() {
  Rngs rngs(0);
  Rngs parts = split_rngs(rngs, {.splits = 3});
  return add_axis(nn::vmap(sharded)(parts), 0, "layers");
}

/// A list of names as goldens have it: one, several, or null.
std::vector<std::string> axes_of(const json& axis) {
  if (axis.is_null()) return {};
  if (axis.is_array()) return axis.get<std::vector<std::string>>();
  return {axis.get<std::string>()};
}

TEST(NnxSharding, IsFlaxs) {
  testing::shows_names("nnx.logical_axis_rules nnx.get_partition_spec nnx.spmd.get_var_pspec");
  NnxGolden golden("sharding");
  for (const json& c : golden.cases()) {
    const std::string name = c["name"];
    SCOPED_TRACE(name);
    Rngs rngs(0);
    const Sharded model = name.starts_with("stack") ? stack_of_sharded() : sharded(rngs);
    const tree::Tree state = nn::state(model, of<Param>());
    for (const tree::Entry& entry : state.entries()) {
      const json& names = c["names"][entry.name];
      const std::vector<std::string> got =
          entry.metadata ? entry.metadata->out_sharding : std::vector<std::string>();
      ASSERT_EQ(got.size(), names.size()) << entry.name;
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_EQ(got[i], names[i].is_null() ? "" : names[i].get<std::string>()) << entry.name;
    }
    std::vector<AxisRule> rules;
    for (const json& rule : c["rules"]) rules.push_back({rule[0], axes_of(rule[1])});
    const LogicalAxisRules scope(std::move(rules));
    const std::map<std::string, PartitionSpec> specs = get_partition_spec(state);
    EXPECT_EQ(specs.size(), c["specs"].size());
    for (const auto& [path, spec] : c["specs"].items()) {
      PartitionSpec want;
      for (const json& axis : spec) want.push_back(axes_of(axis));
      EXPECT_EQ(specs.at(path), want) << path;
    }
  }
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

TEST(NnxSharding, AxesComeAndGo) {
  testing::shows_names(
      "nnx.spmd.add_axis nnx.spmd.remove_axis nnx.Variable.add_axis nnx.Variable.remove_axis");
  compile::register_cpu();
  const Sharded stack = stack_of_sharded();
  const Sharded one = remove_axis(stack, 0, "layers");
  EXPECT_EQ(one.first.kernel.metadata().out_sharding,
            (std::vector<std::string>{"features", "hidden"}));
  EXPECT_EQ(add_axis(one, -1, "layers").first.kernel.metadata().out_sharding.back(), "layers");
  EXPECT_EQ(add_axis(one, 3, "layers").first.bias->metadata().out_sharding,
            (std::vector<std::string>{"hidden", "", "", "layers"}));
  EXPECT_EQ(add_axis(one, 0, "layers").third.kernel.metadata().out_sharding.size(), 0u);
  EXPECT_THAT(
      message([&] { (void)remove_axis(stack, 1, "layers"); }),
      ::testing::AllOf(::testing::HasSubstr("first/kernel"), ::testing::HasSubstr("number 1")));
}

TEST(NnxSharding, TransformsNameTheirAxis) {
  testing::shows_names("nnx.transform_metadata");
  compile::register_cpu();
  const Sharded want = stack_of_sharded();
  Rngs rngs(0);
  Rngs parts = split_rngs(rngs, {.splits = 3});
  const Sharded stack = nn::vmap(transform_metadata(sharded, {.partition = "layers"}))(parts);
  EXPECT_TRUE(tree::equal(tree::of(stack), tree::of(want)));
  EXPECT_TRUE(same_structure(tree::of(stack), tree::of(want)));
  // The body of a scan sees the variables of one layer; what it assigns keeps the stack's names.
  Sharded changed = stack;
  std::vector<std::string> seen;
  const auto body = [&](Sharded& one, const Array& x) {
    seen = one.first.kernel.metadata().out_sharding;
    one.third.kernel = one.third.kernel + 1.0f;
    return one.first(x);
  };
  const ScanOptions loop{.in_axes = {0, Carry}, .out_axes = {Carry}};
  const Array x = numpy::ones({2, 4});
  const Array y = nn::scan(
      transform_metadata(
          body, {.in_axes = loop.in_axes, .out_axes = loop.out_axes, .partition = "layers"}),
      loop)(changed, x);
  EXPECT_EQ(seen, (std::vector<std::string>{"features", "hidden"}));
  EXPECT_TRUE(same_structure(tree::of(changed), tree::of(want)));
  EXPECT_EQ(y.to_vector<float>(),
            nn::scan([](Sharded& one, const Array& v) { return one.first(v); }, loop)(changed, x)
                .to_vector<float>());
  // Along another axis, and of const arguments.
  const Sharded last = add_axis(remove_axis(stack, 0, "layers"), -1, "layers");
  const auto reads = transform_metadata(
      [&](const Sharded& one, const Array&) {
        seen = one.first.kernel.metadata().out_sharding;
        return one.first.kernel;
      },
      {.in_axes = {-1, std::nullopt}, .partition = "layers"});
  auto call = reads;
  (void)call(last, x);
  EXPECT_EQ(seen, (std::vector<std::string>{"features", "hidden"}));
  EXPECT_EQ(last.first.kernel.metadata().out_sharding.back(), "layers");
  auto wrong = transform_metadata([](const Sharded& one) { return one.first.kernel; },
                                  {.partition = "stages"});
  EXPECT_THAT(message([&] { (void)wrong(stack); }),
              ::testing::AllOf(::testing::HasSubstr("first/kernel"),
                               ::testing::HasSubstr("layers, features, hidden"),
                               ::testing::HasSubstr("stages")));
}

TEST(NnxSharding, ShardingsAreOfAMesh) {
  testing::shows_names("nnx.get_named_sharding nnx.get_abstract_model");
  compile::register_cpu();
  const Mesh mesh = {{"data", 2}, {"model", 4}};
  const LogicalAxisRules rules({{"features", {"model"}}, {"hidden", {"data"}}});
  const auto [model, shardings] = get_abstract_model(
      [] {
        Rngs rngs(0);
        return sharded(rngs);
      },
      mesh);
  EXPECT_TRUE(model.first.kernel.is_traced());
  EXPECT_EQ(shardings.at("first/kernel"), (NamedSharding{mesh, {{"model"}, {"data"}}}));
  EXPECT_EQ(shardings.at("second/kernel"), (NamedSharding{mesh, {{"data"}, {}}}));
  EXPECT_EQ(shardings.at("third/bias"), (NamedSharding{mesh, {}}));
  EXPECT_THAT(message([&, &m = model] {
                (void)get_named_sharding(tree::of(m), {{"data", 2}, {"stage", 4}});
              }),
              ::testing::AllOf(::testing::HasSubstr("first/kernel"), ::testing::HasSubstr("model"),
                               ::testing::HasSubstr("data, stage")));
}

TEST(NnxSharding, MistakesAreNamed) {
  compile::register_cpu();
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  const LogicalAxisRules rules({{"features", {"model"}}, {"hidden", {"model"}}});
  EXPECT_THAT(message([] { const LogicalAxisRules again({{"features", {"data"}}}); }),
              AllOf(HasSubstr("features stands for model and for data")));
  EXPECT_EQ(current_axis_rules().size(), 2u);
  {
    const LogicalAxisRules same({{"features", {"model"}}, {"batch", {"data"}}});
  }
  EXPECT_EQ(current_axis_rules().size(), 2u);
  Rngs rngs(0);
  const Sharded model = sharded(rngs);
  EXPECT_THAT(message([&] { (void)get_partition_spec(tree::of(model)); }),
              AllOf(HasSubstr("axis model"), HasSubstr("first/kernel")));
  Linear linear(2, 2, rngs, {.bias_metadata = {.out_sharding = {"a", "b"}}});
  EXPECT_THAT(message([&] { (void)get_partition_spec(tree::of(linear)); }),
              AllOf(HasSubstr("bias is f32[2]"), HasSubstr("2 axes")));
}

}  // namespace
}  // namespace strata::nn
