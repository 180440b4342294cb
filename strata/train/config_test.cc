#include "strata/train/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "strata/compile/cpu_client.h"
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
  EXPECT_EQ(c.base_emb_dim, 64);
  EXPECT_EQ(c.learning_rate, 3e-4);
  EXPECT_FALSE(c.enable_checkpointing);
  EXPECT_EQ(c.dtype, "bfloat16");
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

TEST(Config, EachFieldHasOneNameAndItsDefaultIsAllowed) {
  std::set<std::string_view> names;
  Config c;
  for (const Field& f : fields()) {
    EXPECT_TRUE(names.insert(f.name).second) << f.name;
    std::string value = json_value(c, f);
    if (value.front() == '"') value = value.substr(1, value.size() - 2);
    if (value.front() == '[') continue;
    EXPECT_NO_THROW(set(c, std::string(f.name), value)) << f.name;
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
  EXPECT_EQ(refusal({"base_num_kv_heads=4"}),
            "base_num_kv_heads=4: allowed is a divisor of base_num_query_heads=6");
  EXPECT_EQ(refusal({"head_dim=33"}), "head_dim=33: allowed is an even number");
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
  EXPECT_FLOAT_EQ(rate(wsd, 95), 0.5f);
  const std::vector<std::string> cosine = {"steps=100", "learning_rate=1",
                                           "learning_rate_schedule_steps=50"};
  EXPECT_FLOAT_EQ(rate(cosine, 5), 1);
  EXPECT_NEAR(rate(cosine, 49), 0.1, 0.01);
  EXPECT_EQ(rate(cosine, 50), 0);
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
