// Every optimizer of the registry trains, and goes on from a checkpoint with the bits that an
// unbroken run has; groups of weights; states of earlier releases.
#include "strata/train/config/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "strata/checkpoint/checkpoint.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/state.h"

namespace strata::train {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;
using Keys = std::vector<std::string>;

/// Options of those that need some.
const std::map<std::string_view, Keys>& needed() {
  static const std::string kAdam = "{name: adam}", kTwo = "{a: {name: adam}, b: {name: sgd}}";
  static const std::map<std::string_view, Keys> all = {
      {"MultiSteps", {"optimizer.opt=adam", "optimizer.every_k_schedule=2"}},
      {"apply_if_finite", {"optimizer.inner=adam", "optimizer.max_consecutive_errors=2"}},
      {"chain", {"optimizer.transforms=[{name: clip, max_delta: 0.1}, adam]"}},
      {"flatten", {"optimizer.inner=" + kAdam}},
      {"inject_hyperparams", {"optimizer.inner_factory=adam", "optimizer.arguments.b1=0.8"}},
      {"inject_stateful_hyperparams", {"optimizer.inner_factory=adam"}},
      {"masked", {"optimizer.inner=adam", "optimizer.mask=layers/query"}},
      {"mechanize", {"optimizer.base_optimizer=adam"}},
      {"multi_transform",
       {"optimizer.transforms=" + kTwo, "optimizer.param_labels={layers: a, '': b}"}},
      {"named_chain", {"optimizer.transforms=[[first, {name: adam}], [second, {name: identity}]]"}},
      {"partition", {"optimizer.transforms=" + kTwo, "optimizer.param_labels={layers: a, '': b}"}},
      {"optimistic_adam", {"lr_schedule_type=constant"}},
      {"quantized_state", {"optimizer.inner=adam"}},
      {"rprop", {"lr_schedule_type=constant"}},
      {"sm3", {"lr_schedule_type=constant"}},
      {"sam", {"optimizer.optimizer=adam", "optimizer.adv_optimizer=sgd"}},
      {"schedule_free", {"optimizer.base_optimizer=sgd", "optimizer.learning_rate=0.01"}},
      {"selective_transform", {"optimizer.optimizer=adam", "optimizer.freeze_mask=layers/query"}},
      {"split_real_and_imaginary", {"optimizer.inner=adam"}},
  };
  return all;
}
/// They take functions of C++, which no configuration has.
const std::set<std::string_view> kOfFunctions = {"conditionally_mask", "conditionally_transform"};

class OptimizerTest : public testing::Test {
 protected:
  OptimizerTest() {
    compile::register_cpu();
    std::string name = testing::TempDir() + "optimizer_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::string text;
    for (int i = 0; i < 100; ++i)
      text += "verse " + std::to_string(i * i % 97) + " of a little book.\n";
    std::ofstream(folder_ + "/text.txt") << text;
  }
  ~OptimizerTest() override { fs::remove_all(folder_); }
  Config tiny(const Keys& more) const {
    Keys keys = {"base_emb_dim=16",
                 "base_num_query_heads=2",
                 "base_num_kv_heads=1",
                 "head_dim=8",
                 "base_mlp_dim=24",
                 "base_num_decoder_layers=1",
                 "max_target_length=16",
                 "per_device_batch_size=2",
                 "steps=4",
                 "warmup_steps_fraction=0",
                 "learning_rate=1e-2",
                 "train_files=" + folder_ + "/text.txt"};
    keys.insert(keys.end(), more.begin(), more.end());
    return read_config({}, keys);
  }
  /// One step on the batch of its number.
  static float step(const Step& f, State& state, const data::Dataset& data, std::int64_t number) {
    auto [outcome, next] = f(std::move(state), to_batch(data.batch(number)));
    state = std::move(next);
    return outcome.loss.item<float>();
  }
  /// What a process that was killed behind a save finds.
  State saved_and_loaded(const State& state, std::int64_t number, const Config& c,
                         const data::Dataset& data) const {
    const std::string root = folder_ + "/" + c.opt_type;
    Status saved = checkpoint::save(root, to_checkpoint(state, number, c, data), {.newest = 1});
    EXPECT_TRUE(saved.ok()) << saved.message();
    auto latest = checkpoint::load_latest(root);
    EXPECT_TRUE(latest.ok() && latest->checkpoint);
    auto loaded = from_checkpoint(*latest->checkpoint, c);
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    return *loaded;
  }
  std::string message(const Keys& keys) const {
    try {
      (void)make_optimizer(tiny(keys));
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "accepted";
  }
  static std::vector<std::string> names(const tree::Tree& t) { return t.names(); }
  std::string folder_;
};

/// Of the registry's optimizers those that are due: all, but where STRATA_SAMPLE=N is set, as by
/// `make test`, every sixth from the N-th on.
bool is_due(std::size_t i) {
  const char* day = std::getenv("STRATA_SAMPLE");
  return !day || !*day || (i + static_cast<std::size_t>(std::atoll(day))) % 6 == 0;
}

TEST_F(OptimizerTest, EachTrainsAndGoesOnWithTheSameBits) {
  const std::vector<std::string_view> all = optimizer_names();
  EXPECT_GT(all.size(), 60u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (kOfFunctions.contains(all[i]) || !is_due(i)) continue;
    SCOPED_TRACE(all[i]);
    Keys keys = {fmt::format("opt_type={}", all[i])};
    if (const auto more = needed().find(all[i]); more != needed().end())
      keys.insert(keys.end(), more->second.begin(), more->second.end());
    const Config c = tiny(keys);
    auto data = open_data(c);
    ASSERT_TRUE(data.ok()) << data.status().message();
    const Step f = make_step(make_model(c), make_optimizer(c));
    State whole = init_state(c);
    const tree::Tree first = whole.params;
    step(f, whole, *data, 0);
    State broken = saved_and_loaded(whole, 1, c, *data);
    EXPECT_TRUE(tree::equal(broken.optimizer, whole.optimizer));
    const float loss = step(f, whole, *data, 1);
    EXPECT_EQ(step(f, broken, *data, 1), loss);
    EXPECT_TRUE(std::isfinite(loss));
    EXPECT_TRUE(tree::equal(broken.params, whole.params));
    EXPECT_TRUE(tree::equal(broken.optimizer, whole.optimizer));
    EXPECT_FALSE(tree::equal(first, whole.params)) << "nothing was learnt";
  }
}

TEST_F(OptimizerTest, StatesHaveUpstreamsNames) {
  const auto has = [&](const Keys& keys, const std::string& name) {
    return init_state(tiny(keys)).optimizer.contains(name);
  };
  EXPECT_TRUE(has({}, "0/count"));
  EXPECT_TRUE(has({}, "0/mu/layers/query"));
  EXPECT_TRUE(has({}, "2/count"));
  EXPECT_TRUE(has({"opt_type=sgd"}, "1/count"));
  EXPECT_TRUE(has({"opt_type=sgd", "optimizer.momentum=0.9"}, "0/trace/decoder_norm"));
  EXPECT_TRUE(has({"optimizer.groups=[{match: '*norm*', opt_type: sgd}]"},
                  "inner_states/rest/inner_state/0/mu/layers/query"));
  EXPECT_FALSE(has({"optimizer.groups=[{match: '*norm*', frozen: true}]"}, "0/mu/decoder_norm"));
}

TEST_F(OptimizerTest, GroupsHaveTheirOwnRules) {
  const Config c =
      tiny({"lr_schedule_type=constant", "gradient_clipping_threshold=0", "opt_type=sgd",
            "optimizer.groups=[{match: '*norm', frozen: true}, "
            "{match: [layers.query, layers/key], lr_multiplier: 0.5}, "
            "{match: logits_dense, opt_type: sign_sgd}, "
            "{match: layers/*, opt_type: adamw, optimizer: {b1: 0.5}, "
            "weight_decay: 0}]"});
  auto data = open_data(c);
  const Config plain =
      tiny({"lr_schedule_type=constant", "gradient_clipping_threshold=0", "opt_type=sgd"});
  State grouped = init_state(c), all = init_state(plain);
  const tree::Tree before = all.params.map([](const Array& w) { return asarray(w.literal()); });
  step(make_step(make_model(c), make_optimizer(c)), grouped, *data, 0);
  step(make_step(make_model(plain), make_optimizer(plain)), all, *data, 0);
  const auto moved = [&](const State& s, const char* name) {
    std::vector<float> to = s.params[name].to_vector<float>(),
                       from = before[name].to_vector<float>();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] -= from[i];
    return to;
  };
  const auto largest = [](const std::vector<float>& v) {
    float out = 0;
    for (float x : v) out = std::max(out, std::abs(x));
    return out;
  };
  for (const char* frozen : {"decoder_norm", "layers/mlp_norm", "layers/attention_norm"})
    EXPECT_EQ(largest(moved(grouped, frozen)), 0) << frozen;
  EXPECT_NEAR(largest(moved(grouped, "layers/query")) / largest(moved(all, "layers/query")), 0.5,
              1e-3);
  EXPECT_NEAR(largest(moved(grouped, "logits_dense")), 1e-2, 1e-6);
  EXPECT_NEAR(largest(moved(grouped, "layers/up")), 1e-2, 1e-4);
  EXPECT_EQ(moved(grouped, "token_embedder"), moved(all, "token_embedder"));
}

TEST_F(OptimizerTest, GroupsThatMatchNothingAreRefused) {
  EXPECT_THAT(message({"optimizer.groups=[{match: '*bias', frozen: true}]"}),
              HasSubstr("optimizer.groups.0.match=[\"*bias\"]: it matches no weight; allowed is a "
                        "pattern of one of token_embedder, "));
  EXPECT_THAT(message({"optimizer.groups=[{match: '*', opt_type: sgd}, {match: '*norm'}]"}),
              HasSubstr("it matches no weight that the groups before it leave"));
  EXPECT_THAT(message({"optimizer.groups=[{match: '*', frozen: true}]"}),
              HasSubstr("nothing is left to train"));
  EXPECT_EQ(message({"optimizer.groups=[{match: '*norm', weight_decay: 0}]"}), "accepted");
}

TEST_F(OptimizerTest, AnotherOptimizerIsRefusedByBothNames) {
  const Config c = tiny({"opt_type=nadam"});
  auto data = open_data(c);
  const checkpoint::Checkpoint saved = to_checkpoint(init_state(c), 3, c, *data);
  const auto refused = [&](const Keys& keys) -> std::string {
    try {
      (void)from_checkpoint(saved, tiny(keys)).ok();
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refused({"opt_type=adam"}),
              HasSubstr("of another optimizer: opt_type=\"adam\" (the checkpoint has \"nadam\")"));
  EXPECT_THAT(refused({"opt_type=nadam", "optimizer.mu_dtype=bfloat16"}),
              HasSubstr("optimizer={\"mu_dtype\":\"bfloat16\"} (the checkpoint has {})"));
  EXPECT_EQ(refused({"opt_type=nadam", "optimizer.b1=0.8", "lr_schedule_type=constant"}),
            "accepted");
}

// Before the trainer took any rule, the state was a part of a variant, below the place of a chain.
TEST_F(OptimizerTest, StatesOfEarlierReleasesAreRead) {
  for (const char* type : {"adamw", "sgd"}) {
    const Config c = tiny({std::string("opt_type=") + type});
    auto data = open_data(c);
    checkpoint::Checkpoint saved = to_checkpoint(init_state(c), 3, c, *data);
    checkpoint::Tensors then;
    for (auto& [name, tensor] : saved.parts["optimizer"]) {
      std::string old = name;
      if (c.opt_type == "sgd")
        old = "[1][1]" + name;
      else
        old = name.starts_with("[2]") ? "[0][3]" + name.substr(3) : "[0][1]" + name.substr(3);
      then.emplace(old, tensor);
    }
    saved.parts["optimizer"] = then;
    auto loaded = from_checkpoint(saved, c);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_TRUE(tree::equal(loaded->optimizer, init_state(c).optimizer));
  }
}

TEST_F(OptimizerTest, WeightsOutsideTheMaskStayAndHaveNoState) {
  const Config c = tiny({"trainable_parameters_mask=layers/query;*norm", "opt_type=adam_pax"});
  auto data = open_data(c);
  State state = init_state(c);
  const tree::Tree before = state.params.map([](const Array& w) { return asarray(w.literal()); });
  EXPECT_TRUE(state.optimizer.contains("inner_states/trainable/inner_state/mu/layers/query"));
  EXPECT_FALSE(state.optimizer.contains("inner_states/trainable/inner_state/mu/layers/key"));
  step(make_step(make_model(c), make_optimizer(c)), state, *data, 0);
  for (const std::string& name : before.names()) {
    const bool trained = name == "layers/query" || name.ends_with("norm");
    EXPECT_EQ(state.params[name].literal().same_bits(before[name].literal()), !trained) << name;
  }
  EXPECT_THAT(message({"trainable_parameters_mask=*query;nothing"}),
              HasSubstr("trainable_parameters_mask=nothing: it matches no weight"));
}

TEST_F(OptimizerTest, SomeLayersOfAWeightAreTrained) {
  const Config c = tiny({"trainable_parameters_mask=layers/query:1;layers/key:0,1;*norm",
                         "base_num_decoder_layers=2"});
  auto data = open_data(c);
  State state = init_state(c);
  const std::vector<float> before = state.params["layers/query"].to_vector<float>();
  step(make_step(make_model(c), make_optimizer(c)), state, *data, 0);
  const std::vector<float> after = state.params["layers/query"].to_vector<float>();
  const auto half = static_cast<std::ptrdiff_t>(after.size() / 2);
  EXPECT_TRUE(std::equal(after.begin(), after.begin() + half, before.begin()));
  EXPECT_NE(after[static_cast<std::size_t>(half)], before[static_cast<std::size_t>(half)]);
  for (const auto& [mask, why] : {std::pair{"layers/query:2", "layers/query has 2 layers"},
                                  {"decoder_norm:0", "decoder_norm has 0 layers"},
                                  {"layers/query:", "allowed are numbers of layers"},
                                  {"layers/query:-1", "allowed are numbers of layers"},
                                  {"layers/query:1,", "allowed are numbers of layers"}})
    EXPECT_THAT(
        message({fmt::format("trainable_parameters_mask={}", mask), "base_num_decoder_layers=2"}),
        HasSubstr(why))
        << mask;
}

TEST_F(OptimizerTest, MatricesOfMuonAreNamed) {
  const Keys muon = {"opt_type=muon",
                     "optimizer.muon_weight_dimension_numbers=[{match: '*query'}]"};
  const tree::Tree state = init_state(tiny(muon)).optimizer;
  EXPECT_TRUE(state.contains("inner_states/muon/inner_state/0/mu/layers/query"));
  EXPECT_TRUE(state.contains("inner_states/adam/inner_state/0/mu/layers/key"));
  for (const char* wrong : {"1", "[1]", "[{reduction_axis: [0]}]", "[{match: a, axis: [0]}]",
                            "[{match: a, output_axis: []}]", "[{match: a, output_axis: [a]}]"})
    EXPECT_THAT(message({"opt_type=muon",
                         fmt::format("optimizer.muon_weight_dimension_numbers={}", wrong)}),
                testing::AllOf(HasSubstr("optimizer.muon_weight_dimension_numbers="),
                               HasSubstr("allowed is")))
        << wrong;
}

}  // namespace
}  // namespace strata::train
