// The step as a program, beside the step that the trainer takes.
#include "strata/train/step/step_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "strata/api/program.h"
#include "strata/api/random.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/state.h"

namespace strata::train {
namespace {

using testing::HasSubstr;

Config tiny(std::vector<std::string> more = {}) {
  std::vector<std::string> keys = {"base_emb_dim=16",      "base_num_query_heads=2",
                                   "base_num_kv_heads=1",  "head_dim=8",
                                   "base_mlp_dim=24",      "base_num_decoder_layers=2",
                                   "max_target_length=12", "per_device_batch_size=4"};
  keys.insert(keys.end(), more.begin(), more.end());
  return read_config({}, keys, Data::optional);
}

Batch batch_of(const Config& c) {
  const Sizes shape = {sequences(c), c.max_target_length};
  return {random::randint(random::key(1), shape, 0, 256),
          random::randint(random::key(2), shape, 0, 256)};
}

template <class T>
std::vector<Array> leaves(const T& tree) {
  std::vector<Array> out;
  tree::for_each(tree, [&](const Array& x) { out.push_back(x); });
  return out;
}

/// Largest difference beside the largest element.
double distance(const Array& a, const Array& b) {
  const std::vector<double> x = a.to_vector<double>(), y = b.to_vector<double>();
  double far = 0, most = 1e-30;
  for (std::size_t i = 0; i < x.size(); ++i) {
    far = std::max(far, std::abs(x[i] - y[i]));
    most = std::max(most, std::abs(y[i]));
  }
  return far / most;
}

class StepProgramTest : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  StepProgramTest() { compile::register_cpu(); }
};

TEST_P(StepProgramTest, HasTheBitsOfTheStepThatIsRun) {
  const Config c = tiny(GetParam());
  const StepProgram p = step_program(c);
  auto program = Program::read(p.text());
  ASSERT_TRUE(program.ok()) << program.status().message();
  State state = init_state(c);
  const Batch batch = batch_of(c);
  std::vector<Array> arguments = leaves(state);
  ASSERT_EQ(p.arguments.size(), arguments.size() + 2);
  for (const Array& x : leaves(batch)) arguments.push_back(x);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    EXPECT_EQ(p.arguments[i].type, arguments[i].type()) << p.arguments[i].name;
  const std::vector<Array> made = (*program)(arguments);
  const Step step =
      make_step(make_model(c), make_optimizer(c), {.micro_batches = c.gradient_accumulation_steps});
  const auto [outcome, next] = step(std::move(state), batch);
  std::vector<Array> want = leaves(outcome);
  for (const Array& x : leaves(next)) want.push_back(x);
  ASSERT_EQ(made.size(), want.size());
  ASSERT_EQ(p.results.size(), want.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (c.gradient_accumulation_steps == 1)
      EXPECT_TRUE(made[i].literal().same_bits(want[i].literal())) << p.results[i].name;
    else  // sums that the step carries on from part to part
      EXPECT_LE(distance(made[i], want[i]), 1e-6) << p.results[i].name;
  }
}
INSTANTIATE_TEST_SUITE_P(Keys, StepProgramTest,
                         testing::Values(std::vector<std::string>{},
                                         std::vector<std::string>{"gradient_accumulation_steps=2",
                                                                  "opt_type=lion",
                                                                  "remat_policy=full"}));

TEST(StepProgram, SaysWhatItsArgumentsAre) {
  const StepProgram p = step_program(tiny());
  EXPECT_EQ(p.arguments[0].name, "params.token_embedder");
  EXPECT_EQ(p.arguments[0].donated_to, 4);
  EXPECT_EQ(p.results[4].name, "params.token_embedder");
  EXPECT_EQ(p.results[0].name, "outcome.loss");
  EXPECT_EQ(p.arguments.back().name, "batch.targets");
  EXPECT_EQ(p.arguments.back().donated_to, -1);
  EXPECT_EQ(p.devices(), 1);
  EXPECT_THAT(p.text(), HasSubstr("tensor<256x16xf32> {tf.aliasing_output = 4 : i32}"));
}

TEST(StepProgram, SaysHowTheyLieOnAMesh) {
  const auto mesh = std::make_shared<const nn::LogicalMesh>(
      mesh::Mesh(std::vector<mesh::MeshAxis>{{"fsdp", 2}, {"tensor", 2}}),
      std::vector<nn::AxisRule>{{"embed", {"fsdp"}},
                                {"mlp", {"tensor"}},
                                {"activation_embed_and_logits_batch", {"fsdp"}}});
  const StepProgram p = step_program(tiny(), mesh);
  EXPECT_EQ(p.devices(), 4);
  const auto spec_of = [&](const std::string& name) {
    for (const StepValue& a : p.arguments)
      if (a.name == name) return a.sharding->spec().to_string();
    return std::string("no such argument");
  };
  EXPECT_EQ(spec_of("params.layers.gate"), "P(None, 'fsdp', 'tensor')");
  EXPECT_EQ(spec_of("params.layers.down"), "P(None, 'tensor', 'fsdp')");
  EXPECT_EQ(spec_of("batch.tokens"), "P('fsdp',)");
  for (const StepValue& a : p.arguments)  // moments as their weights
    if (a.name.ends_with(".layers.gate")) EXPECT_EQ(spec_of(a.name), "P(None, 'fsdp', 'tensor')");
  const std::string text = p.text();
  EXPECT_THAT(text, HasSubstr(R"(mhlo.num_partitions = 4 : i32)"));
  EXPECT_THAT(text, HasSubstr(R"(sdy.mesh @mesh = <["fsdp"=2, "tensor"=2]>)"));
  EXPECT_THAT(text, HasSubstr(R"(#sdy.sharding<@mesh, [{}, {"fsdp"}, {"tensor"}]>)"));
}

}  // namespace
}  // namespace strata::train
