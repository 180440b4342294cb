#include "strata/train/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/state.h"

namespace strata::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const bool kRegistered = (compile::register_cpu(), true);
const std::vector<std::string> kNeeded = {"train_files=a.txt"};

Config with(std::vector<std::string> overrides) {
  overrides.insert(overrides.begin(), kNeeded.begin(), kNeeded.end());
  return read_config({}, overrides);
}

std::string refusal(const std::vector<std::string>& overrides,
                    std::optional<std::string> file = {}) {
  try {
    std::vector<std::string> all = kNeeded;
    all.insert(all.end(), overrides.begin(), overrides.end());
    (void)read_config(file, all);
    return "accepted";
  } catch (const ConfigError& e) {
    return e.what();
  }
}

std::string write(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(Config, KeysReadLikeMaxTexts) {
  const Config c = with({"base_emb_dim=64", "learning_rate=3e-4", "enable_checkpointing=false",
                         "dtype=bfloat16", "steps=1e4", "train_files=a.txt,0.5;b/*.txt"});
  EXPECT_EQ(c.model.at("base_emb_dim"), "64");
  EXPECT_EQ(c.learning_rate, 3e-4);
  EXPECT_FALSE(c.enable_checkpointing);
  EXPECT_EQ(c.model.at("dtype"), "bfloat16");
  EXPECT_EQ(c.steps, 10000);
  EXPECT_THAT(c.train_files, ElementsAre("a.txt,0.5", "b/*.txt"));
}

TEST(Config, LaterValuesWin) {
  const std::string file =
      write("later.yml", "steps: 5\nlog_period: 7\ntrain_files: [x.txt, y.txt]\n");
  const Config c = read_config(file, {"steps=6", "steps=8"});
  EXPECT_EQ(c.steps, 8);
  EXPECT_EQ(c.log_period, 7);
  EXPECT_THAT(c.train_files, ElementsAre("x.txt", "y.txt"));
}

TEST(Config, WhatIsPrintedIsRead) {
  const Config c = with({"learning_rate=0.00123", "run_name=a b", "metrics_file=m.jsonl",
                         "train_files=a.txt,2;b.txt"});
  EXPECT_EQ(to_yaml(read_config(write("printed.yml", to_yaml(c)), {})), to_yaml(c));
}

TEST(Config, KeysNest) {
  const std::string file = write("nested.yml",
                                 "model: {base_emb_dim: 64, dtype: bfloat16}\n"
                                 "opt_type: lion\n"
                                 "optimizer:\n  b2: 0.98\n  mask: \"**/query\"\n"
                                 "  groups:\n    - {match: \"*norm*\", frozen: true}\n"
                                 "lr_schedule_type: exponential_decay\n"
                                 "lr_schedule: {init_value: 1e-2, transition_steps: 1e1}\n");
  const Config c = read_config(
      file, {"train_files=a.txt", "model.head_dim=16", "optimizer.b1=0.8",
             "optimizer.groups.0.match=[token_embedder, '*scale']", "optimizer.mask='007'",
             "lr_schedule.decay_rate=0.5", "optimizer={weight_decay: 0}"});
  EXPECT_EQ(c.model.at("base_emb_dim"), "64");
  EXPECT_EQ(c.model.at("head_dim"), "16");
  EXPECT_EQ(c.optimizer.dump(),
            R"({"b2":0.98,"mask":"007","groups":[{"match":["token_embedder","*scale"],)"
            R"("frozen":true}],"b1":0.8,"weight_decay":0})");
  EXPECT_EQ(c.lr_schedule.dump(), R"({"init_value":0.01,"transition_steps":10,"decay_rate":0.5})");
  EXPECT_EQ(make_schedule(c)(Array(10)).item<float>(), 0.005f);
  EXPECT_EQ(to_yaml(read_config(write("nested_printed.yml", to_yaml(c)), {})), to_yaml(c));
  EXPECT_EQ(to_yaml(parse_config(to_json(c), "json")), to_yaml(c));
  // What chooses may stand behind what it chooses, and below `lr_schedule` MaxText's own keys too.
  EXPECT_EQ(with({"optimizer.momentum=0.5", "opt_type=sgd"}).optimizer["momentum"], 0.5);
  EXPECT_EQ(with({"lr_schedule.wsd_decay_style=cosine", "lr_schedule_type=wsd"}).wsd_decay_style,
            "cosine");
  EXPECT_EQ(with({"opt_type=contrib.muon"}).opt_type, "muon");
}

TEST(Config, TheRepositorysFilesAreRead) {
  const auto configs =
      std::filesystem::path(__FILE__).parent_path().parent_path().parent_path().parent_path() /
      "configs";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(configs)) {
    if (entry.path().extension() != ".yml") continue;
    ++files;
    const Config c = read_config(entry.path().string(), kNeeded);
    EXPECT_NO_THROW((void)make_optimizer(c)) << entry.path();
    EXPECT_EQ(to_yaml(read_config(write("configs.yml", to_yaml(c)), {})), to_yaml(c));
  }
  EXPECT_GE(files, 3);
}

TEST(Config, EachFieldHasOneNameAndItsDefaultIsAllowed) {
  std::set<std::string_view> names;
  Config c;
  for (const Field& f : fields()) {
    EXPECT_TRUE(names.insert(f.name).second) << f.name;
    std::string value = json_value(c, f);
    if (value.front() == '"') value = value.substr(1, value.size() - 2);
    if (value.front() == '[') continue;
    Config one = c;
    if (f.name == "config") one.decoder_block = "published";
    EXPECT_NO_THROW(set(one, std::string(f.name), value)) << f.name;
  }
}

TEST(Config, AnUnknownKeyNamesTheNearest) {
  EXPECT_EQ(refusal({"stesp=4"}), "unknown key 'stesp'; did you mean 'steps'?");
  EXPECT_EQ(refusal({"emb_dim=4"}), "unknown key 'emb_dim'; did you mean 'base_emb_dim'?");
  EXPECT_THAT(refusal({"zzzzzzzz=4"}), HasSubstr("--help"));
}

TEST(Config, AWrongValueNamesKeyValueAndWhatIsAllowed) {
  EXPECT_EQ(refusal({"steps=many"}), "steps=many: allowed is an integer from 1 to 1000000000");
  EXPECT_EQ(refusal({"steps=0"}), "steps=0: allowed is an integer from 1 to 1000000000");
  EXPECT_EQ(refusal({"steps=2.5"}), "steps=2.5: allowed is an integer from 1 to 1000000000");
  EXPECT_EQ(refusal({"steps="}), "steps=: allowed is an integer from 1 to 1000000000");
  EXPECT_EQ(refusal({"learning_rate=nan"}), "learning_rate=nan: allowed is a number from 0 to 100");
  EXPECT_EQ(refusal({"learning_rate=1e-3x"}),
            "learning_rate=1e-3x: allowed is a number from 0 to 100");
  EXPECT_EQ(refusal({"dtype=float16"}), "dtype=float16: allowed is float32 or bfloat16");
  EXPECT_EQ(refusal({"enable_checkpointing=yes"}),
            "enable_checkpointing=yes: allowed is true or false");
  EXPECT_EQ(refusal({"steps"}), "'steps' is neither a .yml file nor key=value");
  EXPECT_EQ(refusal({"steps=4", "a.yml"}),
            "'a.yml': there is one file of keys, and it stands before each key=value");
}

TEST(Config, ValuesMustFitEachOther) {
  EXPECT_THAT(refusal({"base_num_kv_heads=4"}),
              HasSubstr("base_num_kv_heads=4 does not divide base_num_query_heads=6"));
  EXPECT_THAT(refusal({"head_dim=33"}), HasSubstr("head_dim=33 must be even"));
  EXPECT_EQ(refusal({"run_name=../x"}), "run_name=../x: allowed is a folder's name without '/'");
  EXPECT_THAT(refusal({"train_files="}), HasSubstr("train_files is not set"));
  EXPECT_THAT(refusal({"eval_interval=5", "eval_steps=0"}),
              HasSubstr("eval_steps=0: allowed is -1"));
}

TEST(Config, SchedulesMayBeWrittenInPieces) {
  const std::string file = write("pieces.yml",
                                 "train_files: a.txt\nlr_pieces: [linear 0 → 3e-4 over 100, "
                                 "constant 1000, cosine → 3e-5 over 400]\n");
  const Config c = read_config(file, {});
  ASSERT_EQ(c.lr_pieces.size(), 3u);
  const Config same =
      with({"lr_pieces=linear 0 -> 3e-4 over 100, constant 1000, cosine -> 3e-5 over 400"});
  for (int step : {0, 50, 100, 600, 1100, 1300, 1500}) {
    EXPECT_EQ(make_schedule(c)(Array(step)).item<float>(),
              make_schedule(same)(Array(step)).item<float>())
        << step;
  }
  EXPECT_FLOAT_EQ(make_schedule(c)(Array(50)).item<float>(), 1.5e-4f);
  EXPECT_FLOAT_EQ(make_schedule(c)(Array(1500)).item<float>(), 3e-5f);
  EXPECT_THAT(refusal({"lr_pieces=linear 0 upto 3"}), HasSubstr("lr_pieces"));
}

TEST(Config, SchedulesAreMaxTexts) {
  auto rate = [](const std::vector<std::string>& keys, int step) {
    return make_schedule(with(keys))(Array(step)).item<float>();
  };
  const std::vector<std::string> wsd = {"lr_schedule_type=wsd", "steps=100", "learning_rate=1",
                                        "learning_rate_final_fraction=0"};
  EXPECT_FLOAT_EQ(rate(wsd, 5), 0.5f);
  EXPECT_FLOAT_EQ(rate(wsd, 89), 1);
  EXPECT_FLOAT_EQ(rate(wsd, 95), 4 / 9.0f);  // of ten steps the last one is at the end
  EXPECT_NEAR(rate(wsd, 99), 0, 1e-7);
  EXPECT_FLOAT_EQ(rate({"steps=25", "learning_rate=1", "warmup_steps_fraction=0.1"}, 1), 0.5f);
  const std::vector<std::string> cosine = {"steps=100", "learning_rate=1",
                                           "learning_rate_schedule_steps=50"};
  EXPECT_FLOAT_EQ(rate(cosine, 5), 1);
  EXPECT_FLOAT_EQ(rate(cosine, 49), 0.1f);
  EXPECT_EQ(rate(cosine, 50), 0);
}

TEST(Config, WhatNestsIsRefusedByKeyAndValueToo) {
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"opt_type=adamv"}, "opt_type=adamv: allowed is "},
      {{"opt_type=adamww"}, "; did you mean 'adamw'?"},
      {{"opt_type=scale_by_adam"}, "opt_type=scale_by_adam: allowed is "},
      {{"opt_type=dpsgd"}, "opt_type=dpsgd: allowed is "},
      {{"opt_type=sgd", "optimizer.b1=0.9"},
       "optimizer.b1=0.9: opt_type=sgd has no option 'b1'; allowed is learning_rate, momentum"},
      {{"opt_type=muon", "optimizer.bta=0.9"}, "did you mean 'beta'?"},
      {{"optimizer.nesterov=maybe"},
       "optimizer.nesterov=\"maybe\": adamw: nesterov is true or false, got"},
      {{"opt_type=galore", "optimizer.rank=2.5"}, "optimizer.rank=2.5: "},
      {{"opt_type=chain"}, "opt_type=chain: it needs optimizer.transforms"},
      {{"opt_type=rprop"}, "rprop takes no schedule; allowed is lr_schedule_type=constant"},
      {{"lr_schedule_type=cosin"}, "lr_schedule_type=cosin: allowed is cosine or wsd or constant"},
      {{"lr_schedule_type=exponential_decay"},
       "lr_schedule_type=exponential_decay: it needs lr_schedule.init_value, "
       "lr_schedule.transition_steps, lr_schedule.decay_rate"},
      {{"lr_schedule.decay_steps=3"},
       "lr_schedule.decay_steps=3: lr_schedule_type=cosine has no option 'decay_steps'"},
      {{"lr_schedule_type=cosine_decay_schedule", "lr_schedule.init_value=1",
        "lr_schedule.decay_steps=0"},
       "needs a step or more to decay, got 0"},
      {{"optimizer.groups=3"}, "optimizer.groups=3: allowed is a list of tables"},
      {{"optimizer.groups=[{frozen: true}]"}, "optimizer.groups.0: it needs match"},
      {{"optimizer.groups=[{match: x, lr: 2}]"},
       "optimizer.groups.0.lr=2: a group has no option 'lr'"},
      {{"optimizer.groups=[{match: x, frozen: true, weight_decay: 0}]"},
       "optimizer.groups.0.frozen=true: allowed beside it is match alone"},
      {{"optimizer.groups=[{match: x, opt_type: sgd, weight_decay: 0}]"},
       "optimizer.groups.0.weight_decay=0: optimizer.groups.0.opt_type=sgd has no weight decay"},
      {{"optimizer.groups=[{match: x, opt_type: adamm}]"},
       "optimizer.groups.0.opt_type=adamm: allowed is "},
      {{"optimizer.groups=[{match: x, lr_multiplier: -1}]"},
       "optimizer.groups.0.lr_multiplier=-1: allowed is a number from 0"},
      {{"optimizer.groups.1.match=x"}, "'1' is no place in a list of 0"},
      {{"model.base_emb=3"}, "unknown key 'model.base_emb'; did you mean 'base_emb_dim'?"},
      {{"optimiser.b1=3"}, "unknown key 'optimiser.b1'; did you mean 'optimizer'?"},
      {{"optimizer=adam"}, "unknown key 'optimizer'; did you mean 'opt_type'?"},
      {{"optimizer.b1=[1"}, "optimizer.b1=[1: not YAML"},
      {{"optimizer..b1=1"}, "a name between dots is empty"}};
  for (const auto& [keys, said] : wrong) EXPECT_THAT(refusal(keys), HasSubstr(said));
}

TEST(Config, FilesAreCheckedTheSameWay) {
  EXPECT_THAT(refusal({}, write("unknown.yml", "step: 3\n")),
              HasSubstr("unknown.yml: unknown key 'step'; did you mean 'steps'?"));
  EXPECT_THAT(refusal({}, write("wrong.yml", "steps: [1, 2]\n")),
              HasSubstr("steps: allowed is an integer"));
  EXPECT_THAT(refusal({}, write("list.yml", "- 1\n")), HasSubstr("no list of 'key: value'"));
  EXPECT_THAT(refusal({}, write("broken.yml", "a: [\n")), HasSubstr("not YAML"));
  EXPECT_THAT(refusal({}, "/absent.yml"), HasSubstr("/absent.yml: cannot open"));
  EXPECT_EQ(refusal({}, write("nothing.yml", "# nothing\n")), "accepted");
}

}  // namespace
}  // namespace strata::train
