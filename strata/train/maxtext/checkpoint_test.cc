#include "strata/train/maxtext/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "strata/api/numpy.h"
#include "strata/checkpoint/any_format.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/decoder/model.h"
#include "strata/model/decoder/multi_token.h"
#include "strata/model/published/family.h"
#include "strata/train/config/optimizer.h"
#include "strata/train/maxtext/import.h"
#include "strata/train/maxtext/models.h"
#include "strata/train/maxtext/translate.h"
#include "strata/train/state.h"
#include "strata/train/step/rules.h"
#include "strata/train/step/step.h"

namespace strata::train::maxtext {
namespace {

using model::decoder::Options;
using nlohmann::json;
namespace fs = std::filesystem;
namespace weights = model::maxtext;
using weights::is_checkpoint;
using weights::open_checkpoint;
using weights::params_of;
using weights::write_params;

class MaxTextCheckpoint : public testing::Test {
 protected:
  MaxTextCheckpoint() { compile::register_cpu(); }

  static fs::path data() { return fs::path(__FILE__).parent_path() / "testdata" / "checkpoints"; }
  static json losses() {
    std::ifstream file(data() / "losses.json");
    return json::parse(file);
  }
  static std::vector<std::string> line(const json& keys) {
    std::vector<std::string> out = losses()["keys"].get<std::vector<std::string>>();
    for (const json& key : keys) out.push_back(key.get<std::string>());
    // MaxText takes a key once.
    std::map<std::string, std::string> once;
    for (const std::string& key : out) once[key.substr(0, key.find('='))] = key;
    out.clear();
    for (const auto& [name, key] : once) out.push_back(key);
    return out;
  }
  static Options options_of(const json& keys) {
    const Surroundings nothing = {[](const std::string&) -> const char* { return nullptr; }, 1};
    const auto config = model::published::Config::parse(model_config(resolve(line(keys), nothing)));
    return model::published::family(config.text("model_type")).options(config);
  }
  static Array ints(const json& rows, std::int64_t begin) {
    std::vector<std::int32_t> out;
    for (const json& row : rows)
      for (std::size_t i = 0; i + 1 < row.size(); ++i)
        out.push_back(row[i + static_cast<std::size_t>(begin)].get<std::int32_t>());
    const auto b = static_cast<std::int64_t>(rows.size());
    return reshape(array(out), {b, static_cast<std::int64_t>(out.size()) / b});
  }
  static Batch batch_of(const json& rows) { return {ints(rows, 0), ints(rows, 1)}; }
  static float loss(const Options& o, const tree::Tree& params, const json& rows) {
    const Batch b = batch_of(rows);
    return mean(model::decoder::model(o)->token_losses(params, b.tokens, b.targets)).item<float>();
  }
  static State first_state(const tree::Tree& params) {
    return init(params, make_optimizer(config(), params));
  }
  /// The golden's run.
  static Config config() {
    const Surroundings nothing = {[](const std::string&) -> const char* { return nullptr; }, 1};
    Config c;
    const json all = losses();
    const Resolved resolved = resolve(line(all["families"]["llama"]["keys"]), nothing);
    for (const std::string& key : translate(resolved).keys) {
      const std::size_t end = key.find('=');
      set(c, key.substr(0, end), key.substr(end + 1));
    }
    c.optimizer.erase("stored_as");  // these weights are as MaxText stores them
    return c;
  }
  fs::path folder() const {
    const fs::path out = fs::path(testing::TempDir()) /
                         testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(out);
    fs::create_directories(out);
    return out;
  }
};

std::map<std::string, std::vector<std::int64_t>> shapes_of(const weights::Arrays& arrays) {
  std::map<std::string, std::vector<std::int64_t>> out;
  for (const auto& [name, value] : arrays) out[name] = value.shape().sizes();
  return out;
}

weights::Arrays arrays_of(const checkpoint::Checkpoint& c) {
  return weights::arrays_below(c, weights::kParams);
}

/// Of equal shapes and f32; how far apart relative to the largest.
double distance(const Literal& a, const Literal& b) {
  double far = 0, most = 1e-30;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    far = std::max(far, std::abs(a.number(i) - b.number(i)));
    most = std::max(most, std::abs(b.number(i)));
  }
  return far / most;
}

TEST_F(MaxTextCheckpoint, LossesOfWhatMaxTextSavedAreMaxTexts) {
  const json all = losses();
  ASSERT_EQ(all["families"].size(), 22u);
  for (const auto& [family, row] : all["families"].items()) {
    SCOPED_TRACE(family);
    const Options o = options_of(row["keys"]);
    const auto saved = open_checkpoint((data() / family).string());
    ASSERT_TRUE(saved.ok()) << saved.status().message();
    const auto params = params_of(*saved, o);
    ASSERT_TRUE(params.ok()) << params.status().message();
    const double theirs = row["loss"].get<double>();
    // MaxText rounds an embedding that gives logits too to bf16 for them (attend_on_embedding).
    const double bound = family.starts_with("gemma") ? 2e-4 : 3e-6;
    EXPECT_NEAR(loss(o, *params, row["tokens"]), theirs, bound * theirs);
  }
}

TEST_F(MaxTextCheckpoint, FurtherTokensCostAndAreAcceptedAsMaxTextHasIt) {
  const json all = losses();
  for (const char* family : {"llama_mtp", "deepseek_mtp"}) {
    SCOPED_TRACE(family);
    const json row = all["families"][family], further = row["further"];
    const Options o = options_of(row["keys"]);
    const auto saved = open_checkpoint((data() / family).string());
    ASSERT_TRUE(saved.ok()) << saved.status().message();
    const auto params = params_of(*saved, o);
    ASSERT_TRUE(params.ok()) << params.status().message();
    Options none = o;
    none.mtp_layers = 0;
    EXPECT_THAT(params_of(*saved, none).status().message(),
                testing::HasSubstr("mtp_num_layers=0: the arrays have"));
    const model::ModelPtr m = model::decoder::model(o);
    const bool experts = o.experts.count > 0;
    const double factor = experts ? 0.1 : 0.3;
    const auto whole_of = [](const json& rows) {
      json longer = rows;
      for (json& r : longer) r.push_back(0);
      return ints(longer, 0);
    };
    for (const char* kind : {"whole", "packed"}) {
      // From the second layer on MaxText asks the end of a document for the next one's tokens.
      if (o.mtp_layers > 1 && std::string_view(kind) == "packed") continue;
      SCOPED_TRACE(kind);
      Batch b = batch_of(row["tokens"]);
      if (std::string_view(kind) == "packed") {
        b.segments = whole_of(further["inputs_segmentation"]);
        b.positions = whole_of(further["inputs_position"]);
        b.weights =
            astype(not_equal(whole_of(further["targets_segmentation"]), Array(0)), DType::f32);
      } else {
        b.weights = ones({2, 8});
      }
      const auto l = model::decoder::multi_token_losses(*m, *params, b.tokens, b.targets,
                                                        documents_of(b), b.weights);
      const auto count = model::decoder::further_count(*b.weights, b.segments, o.mtp_layers);
      const json& theirs = further[kind];
      const auto near = [](double ours, double his) { EXPECT_NEAR(ours, his, 2e-6 * his); };
      near((sum(l.losses * *b.weights) / sum(*b.weights)).item<float>(),
           theirs["lm_loss"].get<double>());
      near(factor * l.further->item<float>() / count.item<float>(),
           theirs["mtp_loss"].get<double>());
      const auto [accepted, asked] = model::decoder::further_accepted(
          *m, *params, b.tokens, b.targets, documents_of(b), b.weights, o.mtp_layers);
      EXPECT_NEAR(100 * accepted.item<float>() / asked.item<float>(),
                  theirs["acceptance_rate"].get<double>(), 1e-4);
      if (!experts || b.segments) continue;
      Optimizer optimizer{.rule = sgd(0.1)};
      const Step step = make_step(m, optimizer, {.routers = RouterOptions{.load_balance = 0.01}});
      const auto [outcome, next] =
          step(init(params->map([](const Array& a) { return a + 0; }), optimizer), b);
      near(outcome.routers->load_balance.item<float>(), theirs["moe_lb_loss"].get<double>());
    }
  }
}

TEST_F(MaxTextCheckpoint, BiasesThatAreNoParametersAreFound) {
  const Options o = options_of(losses()["families"]["deepseek_mtp"]["keys"]);
  const auto saved = open_checkpoint((data() / "deepseek_mtp").string());
  ASSERT_TRUE(saved.ok()) << saved.status().message();
  // As MaxText 0.2.5 saves a whole state: below nnx_aux, layers first.
  std::vector<checkpoint::orbax::Leaf> leaves;
  int moved = 0;
  for (const auto& [name, value] : arrays_of(*saved)) {
    const bool is_bias = name.ends_with(weights::kChoiceBias);
    moved += is_bias;
    leaves.push_back(weights::leaf_at(
        (is_bias ? weights::kNoParameters : weights::kParams) + name,
        is_bias && value.shape().rank() == 2 ? Array(value).T().literal() : value));
  }
  EXPECT_EQ(moved, 2);
  const std::string path = (folder() / "0").string();
  ASSERT_TRUE(weights::write_leaves(path, std::move(leaves), true).ok());
  const auto again = open_checkpoint(path);
  ASSERT_TRUE(again.ok()) << again.status().message();
  const auto want = params_of(*saved, o), got = params_of(*again, o);
  ASSERT_TRUE(got.ok()) << got.status().message();
  for (std::size_t i = 0; i < want->size(); ++i)
    EXPECT_EQ(got->value(i).to_vector<float>(), want->value(i).to_vector<float>())
        << want->entry(i).name;
}

TEST_F(MaxTextCheckpoint, WhatIsWrittenIsWhatMaxTextSaved) {
  const json all = losses();
  ASSERT_EQ(all["families"].size(), 22u);
  for (const auto& [family, row] : all["families"].items()) {
    SCOPED_TRACE(family);
    const Options o = options_of(row["keys"]);
    const auto saved = open_checkpoint((data() / family / "0" / "items").string());
    ASSERT_TRUE(saved.ok()) << saved.status().message();
    const auto params = params_of(*saved, o);
    ASSERT_TRUE(params.ok()) << params.status().message();
    const std::string path = (folder() / family).string();
    const bool scanned = !family.ends_with("unscanned") && o.shared_kv.layers == 0;
    ASSERT_TRUE(write_params(path, *params, o, {.scanned = scanned}).ok());
    const auto again = open_checkpoint(path);
    ASSERT_TRUE(again.ok()) << again.status().message();
    const weights::Arrays theirs = arrays_of(*saved), ours = arrays_of(*again);
    ASSERT_EQ(shapes_of(ours), shapes_of(theirs));
    for (const auto& [name, value] : theirs)
      EXPECT_LE(distance(ours.at(name), value), 2e-7) << name;
  }
}

/// Losses of the steps that follow.
std::vector<double> go_on(const Options& o, State state, const Config& config, const json& batches,
                          std::size_t first, const std::function<Batch(const json&)>& batch_of) {
  const Step step = make_step(model::decoder::model(o), make_optimizer(config, state.params));
  std::vector<double> out;
  for (std::size_t i = first; i < batches.size(); ++i) {
    auto [outcome, next] = step(std::move(state), batch_of(batches[i]));
    state = std::move(next);
    out.push_back(outcome.loss.item<float>());
  }
  return out;
}

TEST_F(MaxTextCheckpoint, StepsGoOnWhereMaxTextStopped) {
  const json all = losses();
  Options o = options_of(all["families"]["llama"]["keys"]);
  o.attention_scale = 1;  // its queries hold the factor, and it is them that Adam steps
  const auto saved = open_checkpoint((data() / "state").string());
  ASSERT_TRUE(saved.ok()) << saved.status().message();
  EXPECT_EQ(step_of(*saved), 3);
  const auto params = params_of(*saved, o);
  ASSERT_TRUE(params.ok()) << params.status().message();
  const auto state = state_of(*saved, o, first_state(*params));
  ASSERT_TRUE(state.ok()) << state.status().message();
  const auto batch = [](const json& rows) { return batch_of(rows); };
  const auto ours = go_on(o, *state, config(), all["step_tokens"], 3, batch);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double theirs = all["steps"][3 + i].get<double>();
    EXPECT_NEAR(ours[i], theirs, 1e-6 * theirs) << "step " << 3 + i;
  }
  // The same from what is written of it, to the bit.
  const std::string path = (folder() / "3").string();
  ASSERT_TRUE(write_state(path, *state, 3, o).ok());
  const auto again = open_checkpoint(path);
  ASSERT_TRUE(again.ok()) << again.status().message();
  const auto read = state_of(*again, o, first_state(*params));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(go_on(o, *read, config(), all["step_tokens"], 3, batch), ours);
}

TEST_F(MaxTextCheckpoint, StepsOfAdamPaxGoOnToo) {
  const json all = losses();
  Options o = options_of(all["families"]["llama"]["keys"]);
  o.attention_scale = 1;
  Config c = config();
  set(c, "opt_type", "adam_pax");
  const auto saved = open_checkpoint((data() / "state_adam_pax").string());
  ASSERT_TRUE(saved.ok()) << saved.status().message();
  const auto params = params_of(*saved, o);
  ASSERT_TRUE(params.ok()) << params.status().message();
  const State first = init(*params, make_optimizer(c, *params));
  const auto state = state_of(*saved, o, first);
  ASSERT_TRUE(state.ok()) << state.status().message();
  const auto batch = [](const json& rows) { return batch_of(rows); };
  const auto ours = go_on(o, *state, c, all["step_tokens"], 3, batch);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double theirs = all["rules"]["adam_pax"][3 + i].get<double>();
    EXPECT_NEAR(ours[i], theirs, 2e-6 * theirs) << "step " << 3 + i;
  }
  const std::string path = (folder() / "3").string();
  ASSERT_TRUE(write_state(path, *state, 3, o).ok());
  const auto again = open_checkpoint(path);
  ASSERT_TRUE(again.ok()) << again.status().message();
  const auto read = state_of(*again, o, first);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(tree::equal(read->optimizer, state->optimizer));
  // AdamW's state is another one, both ways.
  EXPECT_FALSE(state_of(*saved, o, first_state(*params)).ok());
  const auto adamw = open_checkpoint((data() / "state").string());
  EXPECT_FALSE(state_of(*adamw, o, first).ok());
}

TEST_F(MaxTextCheckpoint, ARunBeginsFromWhatMaxTextSaved) {
  const Surroundings nothing = {[](const std::string&) -> const char* { return nullptr; }, 1};
  const json all = losses();
  const auto begin = [&](const std::string& name, const std::string& key) {
    std::vector<std::string> keys = line(all["families"]["llama"]["keys"]);
    std::erase_if(keys, [](const std::string& k) {
      return k.starts_with("run_name=") || k.starts_with("base_output_directory=");
    });
    const std::string root = (fs::path(testing::TempDir()) / "maxtext_runs").string();
    for (const std::string& k : {"run_name=" + name, "base_output_directory=" + root, key})
      keys.push_back(k);
    fs::remove_all(root + "/" + name);
    const Resolved resolved = resolve(keys, nothing);
    const Translation t = translate(resolved);
    fs::create_directories(fs::path(t.synthetic->first).parent_path());
    std::ofstream(t.synthetic->first) << t.synthetic->second;
    const Config c = read_config({}, t.keys);
    const Status first = import_checkpoint(resolved, c), again = import_checkpoint(resolved, c);
    EXPECT_TRUE(first.ok()) << first.message();
    EXPECT_TRUE(again.ok()) << again.message();  // there is a checkpoint now
    return c;
  };
  const Config whole = begin("whole", "load_full_state_path=" + (data() / "state" / "2").string());
  auto latest = checkpoint::any_format::load_latest(run_folder(whole) + "/checkpoints");
  ASSERT_TRUE(latest.ok() && latest->checkpoint);
  EXPECT_EQ(latest->checkpoint->step, 3);
  auto state = from_checkpoint(*latest->checkpoint, whole);
  ASSERT_TRUE(state.ok()) << state.status().message();
  Options o = options_of(all["families"]["llama"]["keys"]);
  o.attention_scale = 1;
  const auto ours = go_on(o, *state, whole, all["step_tokens"], 3,
                          [](const json& rows) { return batch_of(rows); });
  EXPECT_NEAR(ours.back(), all["steps"].back().get<double>(), 1e-5);
  const Config params = begin("params", "load_parameters_path=" + (data() / "llama").string());
  latest = checkpoint::any_format::load_latest(run_folder(params) + "/checkpoints");
  ASSERT_TRUE(latest.ok() && latest->checkpoint);
  EXPECT_EQ(latest->checkpoint->step, 0);
}

TEST_F(MaxTextCheckpoint, AWholeStateGoesBackAsItCame) {
  const Surroundings nothing = {[](const std::string&) -> const char* { return nullptr; }, 1};
  std::vector<std::string> keys = line(losses()["families"]["llama"]["keys"]);
  std::erase_if(keys, [](const std::string& k) {
    return k.starts_with("run_name=") || k.starts_with("base_output_directory=");
  });
  const std::string root = folder().string();
  for (const std::string& k : {std::string("run_name=a"), "base_output_directory=" + root,
                               "load_full_state_path=" + (data() / "state" / "2").string()})
    keys.push_back(k);
  const Resolved resolved = resolve(keys, nothing);
  const Translation t = translate(resolved);
  fs::create_directories(fs::path(t.synthetic->first).parent_path());
  std::ofstream(t.synthetic->first) << t.synthetic->second;
  const Config c = read_config({}, t.keys);
  ASSERT_TRUE(import_checkpoint(resolved, c).ok());
  auto latest = checkpoint::any_format::load_latest(run_folder(c) + "/checkpoints");
  ASSERT_TRUE(latest.ok() && latest->checkpoint);
  const Status written = export_checkpoint(*latest->checkpoint, root + "/3");
  ASSERT_TRUE(written.ok()) << written.message();
  const auto theirs = open_checkpoint((data() / "state").string()),
             ours = open_checkpoint(root + "/3");
  ASSERT_TRUE(ours.ok()) << ours.status().message();
  for (const std::string prefix : {"params/", "opt_state/", "step"}) {
    const weights::Arrays a = weights::arrays_below(*theirs, prefix),
                          b = weights::arrays_below(*ours, prefix);
    EXPECT_GT(a.size(), 0u);
    ASSERT_EQ(shapes_of(a), shapes_of(b));
    for (const auto& [name, value] : a) EXPECT_TRUE(value.same_bits(b.at(name))) << prefix << name;
  }
}

// A run that steps weights as MaxText stores them, and one that holds them so, write one state.
TEST_F(MaxTextCheckpoint, MomentsOfStoredWeightsAreWrittenAsTheyAre) {
  const json all = losses();
  const json& row = all["families"]["llama"];
  Options published = options_of(row["keys"]), folded = published;
  folded.attention_scale = 1;
  const auto saved = open_checkpoint((data() / "llama").string());
  const auto three = [&](const Options& o, const Config& c) {
    State state = init(*params_of(*saved, o), make_optimizer(c, *params_of(*saved, o)));
    const Step step = make_step(model::decoder::model(o), make_optimizer(c, state.params));
    for (std::size_t i = 0; i < 3; ++i)
      state = step(std::move(state), batch_of(all["step_tokens"][i])).second;
    return state;
  };
  Config as_stored = config();
  as_stored.optimizer["stored_as"] = Table::parse(stored_as(
      resolve(line(row["keys"]), {[](const std::string&) -> const char* { return nullptr; }, 1})));
  const std::string a = (folder() / "a").string(), b = (folder() / "b").string();
  ASSERT_TRUE(write_state(a, three(folded, config()), 3, folded).ok());
  ASSERT_TRUE(
      write_state(b, three(published, as_stored), 3, published, {}, Moments::as_stored).ok());
  const auto first = open_checkpoint(a), second = open_checkpoint(b);
  ASSERT_TRUE(first.ok() && second.ok());
  for (const std::string prefix : {"params/", "opt_state/"}) {
    const weights::Arrays x = weights::arrays_below(*first, prefix),
                          y = weights::arrays_below(*second, prefix);
    ASSERT_EQ(shapes_of(x), shapes_of(y));
    for (const auto& [name, value] : x) EXPECT_LE(distance(y.at(name), value), 1e-4) << name;
  }
}

// Gemma's embedding and norms are stored otherwise than they were published: a run that goes on
// from MaxText's state steps what MaxText steps, as a run from first weights does.
TEST_F(MaxTextCheckpoint, GemmasStateGoesOnAsItWasStepped) {
  const json all = losses();
  const json& row = all["families"]["gemma3"];
  const Options o = options_of(row["keys"]);
  const Surroundings nothing = {[](const std::string&) -> const char* { return nullptr; }, 1};
  const Resolved resolved = resolve(line(row["keys"]), nothing);
  EXPECT_EQ(stored_as(resolved, true), stored_as(resolved));
  Config c = config();
  c.optimizer["stored_as"] = Table::parse(stored_as(resolved, true));
  const auto saved = open_checkpoint((data() / "gemma3").string());
  State state = init(*params_of(*saved, o), make_optimizer(c, *params_of(*saved, o)));
  const Step step = make_step(model::decoder::model(o), make_optimizer(c, state.params));
  for (std::size_t i = 0; i < 2; ++i)
    state = step(std::move(state), batch_of(all["step_tokens"][i])).second;
  const std::string path = (folder() / "state").string();
  ASSERT_TRUE(write_state(path, state, 2, o, {}, Moments::as_stored).ok());
  const auto read = open_checkpoint(path);
  ASSERT_TRUE(read.ok());
  const State like = init(*params_of(*read, o), make_optimizer(c, *params_of(*read, o)));
  const auto again = state_of(*read, o, like, 1, Moments::as_stored);
  ASSERT_TRUE(again.ok()) << again.status().message();
  for (std::size_t i = 0; i < state.optimizer.size(); ++i)
    EXPECT_LE(distance(again->optimizer.value(i).literal(), state.optimizer.value(i).literal()),
              1e-6)
        << state.optimizer.entry(i).name;
  const auto after = [&](State from) {
    const Array loss = step(std::move(from), batch_of(all["step_tokens"][2])).first.loss;
    return loss.item<float>();
  };
  EXPECT_NEAR(after(*again), after(state), 1e-6);
}

TEST_F(MaxTextCheckpoint, WhatIsNotTheModelsIsRefusedByItsName) {
  const json all = losses();
  const auto saved = open_checkpoint((data() / "llama").string());
  ASSERT_TRUE(saved.ok());
  const auto other = params_of(*saved, options_of(all["families"]["qwen3"]["keys"]));
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.status().message(),
              testing::HasSubstr("decoder/layers/self_attention/key_norm/scale [8, 2] is missing"));
  const Options o = options_of(all["families"]["llama"]["keys"]);
  const auto params = params_of(*saved, o);
  ASSERT_TRUE(params.ok());
  const auto state = state_of(*saved, o, first_state(*params));
  ASSERT_FALSE(state.ok());
  EXPECT_THAT(state.status().message(), testing::HasSubstr("parameters alone"));
  EXPECT_EQ(open_checkpoint((data() / "nothing").string()).status().code(), Code::not_found);
  EXPECT_TRUE(is_checkpoint((data() / "llama").string()).value());
  EXPECT_FALSE(is_checkpoint(data().string()).value());
}

TEST_F(MaxTextCheckpoint, LayersThatShareKeysAreNeverScanned) {
  const Options o = options_of(losses()["families"]["gemma4_small"]["keys"]);
  try {
    (void)weights::stored_shapes(o);
    ADD_FAILURE() << "layers that share keys were scanned";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("--unscanned"));
  }
  const auto shapes = weights::stored_shapes(o, {.scanned = false});
  EXPECT_EQ(shapes.at("decoder/per_layer_embedder/embed_tokens_per_layer"),
            (std::vector<std::int64_t>{64, 60}));
  EXPECT_EQ(shapes.at("decoder/layers_4/self_attention/key/kernel"),
            (std::vector<std::int64_t>{16, 1, 12}));
  EXPECT_FALSE(shapes.contains("decoder/layers_5/self_attention/key/kernel"));
  EXPECT_EQ(shapes.at("decoder/layers_5/mlp/wo/kernel"), (std::vector<std::int64_t>{48, 16}));
}

TEST_F(MaxTextCheckpoint, BlocksThatMaxTextDoesNotScanAreRefusedAndGoUnscanned) {
  Options o = options_of(losses()["families"]["qwen3_next"]["keys"]);
  EXPECT_EQ(weights::stored_shapes(o).size(), 36u);
  o.delta.layers = {1, 2, 3, 5, 6, 7};  // full attention comes first
  try {
    (void)weights::stored_shapes(o);
    ADD_FAILURE() << "layers of another order were scanned";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("8 layers of qwen3_next, of which 6"));
    EXPECT_THAT(e.what(), testing::HasSubstr("--unscanned"));
  }
  const auto shapes = weights::stored_shapes(o, {.scanned = false});
  EXPECT_TRUE(shapes.contains("decoder/layers_0/attention/attention/query/kernel"));
  EXPECT_TRUE(shapes.contains("decoder/layers_1/attention/in_proj_qkvz/kernel"));
}

TEST_F(MaxTextCheckpoint, FamiliesThatMaxTextDoesNotConvertAreRefusedByName) {
  Options o = options_of(losses()["families"]["llama"]["keys"]);
  o.family = "llama4_text";
  try {
    (void)weights::stored_shapes(o);
    ADD_FAILURE() << "Llama 4 has a mapping";
  } catch (const Error& e) {
    EXPECT_TRUE(e.is_unsupported());
    EXPECT_THAT(e.what(), testing::HasSubstr("llama4_text: MaxText 0.2.5 converts no weights"));
    EXPECT_THAT(e.what(), testing::HasSubstr("strata convert"));
  }
}

}  // namespace
}  // namespace strata::train::maxtext
