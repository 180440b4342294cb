// Rules by name, and what users are told about wrong ones.
#include "strata/optim/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/optim/optim.h"

namespace strata::optim {
namespace {

using testing::HasSubstr;

class RegistryTest : public testing::Test {
 protected:
  RegistryTest() { compile::register_cpu(); }
  static Tree params() {
    return Tree({{"a", array({1.0f, -2.0f, 3.0f})}, {"b/w", numpy::ones({2, 2})}});
  }
  /// The message of what f throws; empty where it throws nothing.
  template <class F>
  static std::string message(F f) {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
};

TEST_F(RegistryTest, EveryRuleIsDescribed) {
  EXPECT_GT(described_rules().size(), 100u);
  for (const Described& d : described_rules()) {
    EXPECT_FALSE(d.sentence.empty()) << d.name;
    EXPECT_EQ(describe(d.name).name, d.name);
  }
  EXPECT_GE(described_schedules().size(), 14u);
}

TEST_F(RegistryTest, RulesThatNeedNoOptionsStepAndKeepTheirStructure) {
  int made = 0;
  for (const Described& d : described_rules()) {
    bool free = true, rate = false;
    for (const Parameter& p : d.parameters) {
      if (p.name == "learning_rate")
        rate = true;
      else
        free &= !p.default_text.empty();
    }
    if (!free) continue;
    Options options;
    if (rate) options["learning_rate"] = 0.01;
    const GradientTransformation tx = make(d.name, options);
    const Needs needs = tx.rule().needs();
    if (needs.value_fn || needs.obj_fn || needs.grad_fn) continue;
    if (d.name.starts_with("experimental.") || d.name == "contrib.scale_by_muon") continue;
    SCOPED_TRACE(d.name);
    const Tree p = params(), state = tx.init(p);
    const auto [u, next] = tx.update(p, state, p, taken({.value = Array(1.0f), .grad = p}, needs));
    EXPECT_EQ(u.names(), p.names());
    EXPECT_EQ(differences(state, next), "");
    ++made;
  }
  EXPECT_GT(made, 60);
}

TEST_F(RegistryTest, NamesEqualCalls) {
  const GradientTransformation named =
      make("adamw", {{"learning_rate", 0.1}, {"weight_decay", 0.05}, {"nesterov", true}});
  const GradientTransformation called = adamw(0.1, {.weight_decay = 0.05, .nesterov = true});
  EXPECT_EQ(named.text(), called.text());
  const Tree p = params();
  EXPECT_TRUE(tree::equal(named.update(p, named.init(p), p).first,
                          called.update(p, called.init(p), p).first));
  EXPECT_EQ(make("ademamix", {{"learning_rate", 0.1}}).text(),
            make("contrib.ademamix", {{"learning_rate", 0.1}}).text());
}

TEST_F(RegistryTest, OptionsNest) {
  const GradientTransformation tx = make(
      "chain",
      {{"transforms",
        std::vector<Option>{Options{{"name", "clip_by_global_norm"}, {"max_norm", 1.0}},
                            Options{{"name", "sgd"},
                                    {"learning_rate", Options{{"name", "cosine_decay_schedule"},
                                                              {"init_value", 0.1},
                                                              {"decay_steps", 10}}}}}}});
  EXPECT_EQ(tx.init(params()).names(), (std::vector<std::string>{"1/1/count"}));
  const GradientTransformation text =
      make("sgd", {{"learning_rate", "linear 0 -> 0.1 over 4, constant"}});
  EXPECT_EQ(text.init(params()).names(), (std::vector<std::string>{"1/count"}));
}

TEST_F(RegistryTest, GroupsTakeLeavesByPatterns) {
  const GradientTransformation tx = groups({{"**/w", set_to_zero()}, {"**", scale(2.0)}});
  const Tree p = params();
  const Tree u = tx.update(p, tx.init(p), p).first;
  EXPECT_EQ(u["a"].to_vector<float>(), (std::vector<float>{2, -4, 6}));
  EXPECT_EQ(u["b/w"].to_vector<float>(), (std::vector<float>{0, 0, 0, 0}));
}

TEST_F(RegistryTest, MasksOfBooleansTakeTheirLeaves) {
  const Tree p = params();
  const Tree by_tree({{"a", numpy::full({}, false)}, {"b/w", numpy::full({}, true)}});
  for (const tree::Filter& mask : {mask_by_path({{"a", false}, {"b/w", true}}), mask_of(by_tree)}) {
    const GradientTransformation tx = masked(scale(2.0), mask);
    const Tree u = tx.update(p, tx.init(p), p).first;
    EXPECT_EQ(u["a"].to_vector<float>(), (std::vector<float>{1, -2, 3}));
    EXPECT_EQ(u["b/w"].to_vector<float>(), (std::vector<float>{2, 2, 2, 2}));
  }
}

TEST_F(RegistryTest, WrongProgramsAreTold) {
  const Tree p = params(), other({{"a", numpy::ones({3})}, {"c", numpy::ones({2})}});
  const auto expect = [](const std::string& got, const char* said) {
    EXPECT_THAT(got, HasSubstr(said));
  };
  expect(message([&] { make("adamv", {}); }), "there is no transformation adamv");
  expect(message([&] { make("adamw", {{"learning_rate", 0.1}, {"wd", 0.1}}); }),
         "adamw has no parameter wd; it has learning_rate, b1");
  expect(message([&] { make("adam", {}); }), "adam needs learning_rate");
  expect(message([&] { make("adam", {{"learning_rate", true}}); }),
         "adam: learning_rate is a number or a schedule, got true");
  expect(message([&] { make("adam", {{"learning_rate", 0.1}, {"nesterov", 1}}); }),
         "adam: nesterov is true or false, got 1");
  expect(message([&] { make("adam", {{"learning_rate", 0.1}, {"mu_dtype", "f33"}}); }),
         "adam: mu_dtype is a dtype");
  expect(message([&] { make("sgd", {{"learning_rate", "linear 0 to 1"}}); }), "sgd: learning_rate");
  expect(message([&] { make("masked", {{"inner", "adam"}, {"mask", "**"}}); }),
         "adam needs learning_rate");
  expect(message([&] {
           make_schedule("cosine_decay_schedule", {{"init_value", 0.1}, {"decay_steps", 0}});
         }),
         "needs a step or more to decay, got 0");
  expect(message([&] {
           make_schedule("piecewise_constant_schedule",
                         {{"init_value", 1.0}, {"boundaries_and_scales", Options{{"3", -0.5}}}});
         }),
         "the factor -0.5 at step 3 is negative");
  expect(message([&] { scale_by_trust_ratio().update(p, Tree()); }),
         "scale_by_trust_ratio() needs the parameters");
  expect(message([&] { polyak_sgd().update(p, polyak_sgd().init(p), p); }), "needs the loss");
  expect(message([&] { adam(0.1).update(other, adam(0.1).init(p), p); }), "other leaves");
  expect(
      message([&] {
        partition({{"x", sgd(0.1)}}, [](const tree::Entry&, const Array&) { return "y"; }).init(p);
      }),
      "the label y of a has no transformation; there are x");
  expect(message([&] { groups({{"**/bias", sgd(0.1)}, {"**", sgd(0.1)}}).init(p); }),
         "the pattern **/bias takes no leaf");
  expect(message([&] { groups({{"**/w", sgd(0.1)}}).init(p); }), "no pattern fits a");
  expect(message([&] { named_chain({{"x", sgd(0.1)}, {"x", sgd(0.1)}}); }),
         "two members are called x");
  expect(message([&] { scale_by_lion({.mode = "soft"}); }), "mode is hard, smooth or refined");
  expect(message([&] { lookahead(sgd(0.1), 0, 0.5); }), "sync_period is a step or more, got 0");
  expect(message([&] { multi_steps(sgd(0.1), 0); }), "an update has a step or more, got 0");
  expect(message([&] { reduce_on_plateau({.factor = 2.0}); }),
         "factor lies between 0 and 1, got 2");
  expect(message([&] { inject_hyperparams("sgd", {}, {.static_args = {"b1"}}); }),
         "sgd has no parameter b1 to keep static");
  expect(message([&] { optimistic_adam(cosine_decay_schedule(0.1, 3)); }), "takes no schedule");
  expect(message([&] { scale_by_lbfgs(0); }), "memory_size is 1 or more, got 0");
  expect(message([&] { masked(sgd(0.1), mask_by_path({{"a", true}, {"c", false}})).init(p); }),
         "the mask is of another structure: it says nothing of b/w; it has a, c");
  expect(message([&] { mask_of(Tree({{"a", numpy::ones({3}, DType::i1)}})); }),
         "a mask has a boolean for each leaf; that of a is i1[3]");
  expect(message([&] { linear_schedule(0.1, 0.0, -5); }),
         "a schedule has a count of steps, got -5");
  expect(message([&] { warmup_cosine_decay_schedule(0.0, 0.1, 10, 5); }),
         "needs a step or more to decay, got -5");
  expect(message([&] { piecewise_constant_schedule(0.1, {{-3, 0.5}}); }),
         "the boundary -3 lies before the first step, which is 0");
  const GradientTransformation both = chain(clip(1.0), adam(0.1));
  expect(message([&] {
           both.update(p, both.init(p), p, {.value = Array(1.0f), .more = Tree({{"x", p["a"]}})});
         }),
         "no member of chain(clip(1), chain(scale_by_adam(), scale(-0.1))) uses "
         "what it is given: Extra's value, more");
}

}  // namespace
}  // namespace strata::optim
