// Where the value of each key comes from, asked of every key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "strata/train/maxtext/effects.h"
#include "strata/train/maxtext/translate.h"
#include "strata/train/maxtext/upstream.h"

namespace strata::train::maxtext {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using Variables = std::map<std::string, std::string>;

Resolved of(std::vector<std::string> line, const Variables& variables = {}, int devices = 1) {
  const Surroundings around = {[&](const std::string& name) -> const char* {
                                 const auto found = variables.find(name);
                                 return found == variables.end() ? nullptr : found->second.c_str();
                               },
                               devices};
  line.insert(line.end(), {"run_name=r", "base_output_directory=out"});
  return resolve(line, around);
}

/// A folder with files of the test's own; gone at its end.
class MaxTextSources : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / "maxtext_sources";
    std::filesystem::create_directories(folder_ / "models");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    std::ofstream(path) << text;
    return path;
  }
  std::filesystem::path folder_;
};

/// Holds of every key: what stands on the line comes from it unless it was derived, what stands in
/// no file of a person's is a default or derived, and a value that is not the default's has a
/// source.
void expect_sound(const Resolved& r, const std::map<std::string, std::string>& given) {
  static const Resolved usual = of({});
  for (const std::string& key : key_names()) {
    const std::string& source = r.sources.at(key);
    const bool derived = source.starts_with("derived");
    const auto want = given.find(key);
    if (effect_of(key).effect == Effect::derived) {
      // Those of a pipeline stay as they are where there is none.
      EXPECT_TRUE(derived || r.values.at(key) == default_of(key)) << key << ": " << source;
    } else if (want != given.end()) {
      EXPECT_TRUE(source == want->second || source.find("(" + want->second + ")") != source.npos)
          << key << ": " << source;
    } else {
      EXPECT_TRUE(derived || source == "default") << key << ": " << source;
      if (!derived) {
        // "none" in base.yml is no value, and dtypes and lists have their own spelling.
        EXPECT_TRUE(r.values.at(key) == usual.values.at(key)) << key;
      }
    }
    EXPECT_THAT(explain(key, r), HasSubstr(" (" + source + ")\n")) << key;
  }
}

std::map<std::string, std::string> keys_of(const std::string& own_file, const std::string& source) {
  std::map<std::string, std::string> out;
  for (const auto& [key, unused] : upstream()["files"][own_file].items()) out[key] = source;
  return out;
}

TEST_F(MaxTextSources, EveryKeyOfTheDefaults) {
  expect_sound(of({}), {{"run_name", "command line"}, {"base_output_directory", "command line"}});
}

TEST_F(MaxTextSources, EveryKeyOfAModel) {
  for (const char* model : {"llama3.1-8b", "mixtral-8x7b", "deepseek3-671b", "gemma3-4b"}) {
    const std::string name = model;
    auto given = keys_of("models/" + name + ".yml", "models/" + name + ".yml");
    for (const char* key : {"run_name", "base_output_directory", "model_name", "steps"})
      given[key] = "command line";
    expect_sound(of({"model_name=" + name, "steps=7"}), given);
  }
}

TEST_F(MaxTextSources, EveryKeyOfAFileOfOnesOwn) {
  const std::string beside =
      write("below.yml", "base_config: base.yml\nsteps: 5\ndropout_rate: 0\n");
  const std::string mine =
      write("mine.yml",
            "base_config: below.yml\nmodel_name: llama2-7b\nlearning_rate: 1e-4\n"
            "sa_block_q: 64\nlogical_axis_rules: [['norm', []]]\n");
  const std::string model = write("models/llama2-7b.yml", "base_emb_dim: 64\nbase_mlp_dim: 2048\n");
  const Resolved r = of({mine, "adam_b1=0.8"}, {{"M_ADAM_B2", "0.9"}});
  expect_sound(r, {{"run_name", "command line"},
                   {"base_output_directory", "command line"},
                   {"adam_b1", "command line"},
                   {"adam_b2", "environment: M_ADAM_B2"},
                   {"base_config", mine},
                   {"model_name", mine},
                   {"learning_rate", mine},
                   {"sa_block_q", mine},
                   {"logical_axis_rules", mine},
                   {"steps", beside},
                   {"dropout_rate", beside},
                   {"base_emb_dim", model},
                   {"base_mlp_dim", model}});
  // A key counts as given, and is noted where it has no effect, also when a file sets it.
  EXPECT_TRUE(r.given.contains("sa_block_q"));
  EXPECT_FALSE(r.given.contains("adam_eps"));
}

TEST_F(MaxTextSources, DerivedKeysNameWhatTheyComeFrom) {
  const Resolved r = of({"global_parameter_scale=8", "steps=3", "compile_topology=v5e-16",
                         "compile_topology_num_slices=1", "ici_fsdp_parallelism=-1"});
  EXPECT_EQ(r.sources.at("emb_dim"), "derived from base_emb_dim, global_parameter_scale");
  EXPECT_EQ(r.sources.at("learning_rate_schedule_steps"), "derived from steps");
  EXPECT_THAT(r.sources.at("num_target_devices"),
              AllOf(HasSubstr("compile_topology"), HasSubstr("compile_topology_num_slices")));
  EXPECT_THAT(r.sources.at("global_batch_size_to_train_on"), HasSubstr("per_device_batch_size"));
  EXPECT_EQ(r.sources.at("steps"), "command line");
  const Resolved schedule = of({"steps=-1", "learning_rate_schedule_steps=9"});
  EXPECT_EQ(schedule.sources.at("steps"),
            "derived from learning_rate_schedule_steps, in place of -1 (command line)");
}

TEST_F(MaxTextSources, WhatIsAroundTheCommandIsNamed) {
  const Surroundings around = {[](const std::string& name) -> const char* {
                                 return name == "HF_TOKEN" ? "hf_secret" : nullptr;
                               },
                               4};
  const Resolved r = resolve({"model_name=llama2-7b"}, around);
  EXPECT_EQ(r.sources.at("hf_access_token"), "environment: HF_TOKEN");
  EXPECT_EQ(r.sources.at("base_output_directory"), "derived from the working directory");
  EXPECT_THAT(r.sources.at("run_name"), AllOf(HasSubstr("the time"), HasSubstr("$JOBSET_NAME")));
  EXPECT_THAT(r.sources.at("num_target_devices"), HasSubstr("the devices of this process"));
  EXPECT_THAT(r.sources.at("tokenizer_path"), StartsWith("derived from "));
}

TEST_F(MaxTextSources, MergedTablesNameBoth) {
  EXPECT_EQ(of({"logical_axis_rules=[['norm', []]]"}).sources.at("logical_axis_rules"),
            "command line over default");
  EXPECT_EQ(of({"logical_axis_rules=[['norm', []]]", "override_logical_axis_rules=true"})
                .sources.at("logical_axis_rules"),
            "command line");
  EXPECT_THAT(of({"custom_mesh_and_rule=pure-fsdp"}).sources.at("mesh_axes"),
              HasSubstr("custom_mesh_and_rule"));
}

}  // namespace
}  // namespace strata::train::maxtext
