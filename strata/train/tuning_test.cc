// Tuning a published model: the loss and gradients of the first step beside PyTorch's
// (tools/goldens/tuning.py), runs that lower the loss on what was kept, that go on with the same
// bits, that hand on what they made, and what is refused.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/data/chat_tokens.h"
#include "strata/engine/language_model.h"
#include "strata/model/convert/convert.h"
#include "strata/model/pretrained.h"
#include "strata/train/report/metrics.h"
#include "strata/train/run.h"
#include "strata/train/state.h"

namespace strata::train {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;
using Keys = std::vector<std::string>;

const std::string kModel = (fs::path(__FILE__).parent_path() / "testdata/tuning").string();
constexpr std::int64_t kGoldenRows = 6;
constexpr double kGolden = 1e-4;

/// ||a - b|| / ||b||.
double distance(std::span<const float> a, std::span<const float> b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2);
    norm += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / norm);
}

checkpoint::TensorFile golden() {
  auto file = checkpoint::read_safetensors(kModel + "/golden.safetensors");
  EXPECT_TRUE(file) << (file ? "" : file.status().message());
  return std::move(*file);
}

std::vector<data::Conversation> first_chats() {
  auto all = data::read_conversations(kModel + "/chats.jsonl", "messages");
  EXPECT_TRUE(all) << (all ? "" : all.status().message());
  all->resize(static_cast<std::size_t>(kGoldenRows));
  return *all;
}

class TuningTest : public testing::Test {
 protected:
  TuningTest() {
    compile::register_cpu();
    std::string name = testing::TempDir() + "tuning_XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~TuningTest() override { fs::remove_all(folder_); }
  Keys keys(const std::string& name, const Keys& more = {}) const {
    Keys out = {"init=" + kModel,
                "train_files=" + kModel + "/chats.jsonl",
                "train_data_columns=messages",
                "max_target_length=96",
                "per_device_batch_size=4",
                "eval_fraction=0.125",
                "eval_steps=-1",
                "steps=6",
                "checkpoint_period=2",
                "learning_rate=1e-2",
                "base_output_directory=" + folder_,
                "run_name=" + name};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  Result<RunResult> tune(const std::string& name, const Keys& more = {}) const {
    const int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    Progress progress(quiet);
    auto out = run(read_config({}, keys(name, more)), progress);
    ::close(quiet);
    return out;
  }
  std::string refusal(const Keys& more) const {
    try {
      auto out = tune("refused", more);
      return out ? "accepted" : out.status().message();
    } catch (const Error& e) {
      return e.what();
    }
  }
  std::string folder_;
};

TEST_F(TuningTest, TokensAndAnswersAreThoseOfTransformersByMarkersAndByPrefixes) {
  const checkpoint::TensorFile file = golden();
  const Literal &tokens = file.tensors.at("tokens"), &mask = file.tensors.at("mask");
  auto lm = engine::load_language_model(kModel, {.packed = false});
  ASSERT_TRUE(lm) << lm.status().message();
  auto marked = tokenizer::ChatTemplate::parse(*read_file(kModel + "/with_markers.jinja"));
  ASSERT_TRUE(marked);
  const auto width = static_cast<std::size_t>(tokens.type().shape().sizes()[1]);
  for (const tokenizer::ChatTemplate* chat : {&*lm->chat_template, &*marked}) {
    std::size_t row = 0;
    for (const data::Conversation& c : first_chats()) {
      auto e = data::example_of(c, {.tokenizer = lm->tokenizer, .chat_template = chat});
      ASSERT_TRUE(e) << e.status().message();
      for (std::size_t i = 0; i < width; ++i) {
        const std::int32_t token = tokens.span<std::int32_t>()[row * width + i];
        ASSERT_EQ(i < e->tokens.size() ? e->tokens[i] : -1, token) << row << " " << i;
        if (token >= 0)
          ASSERT_EQ(e->learned[i], mask.span<std::int32_t>()[row * width + i]) << row << " " << i;
      }
      ++row;
    }
  }
}

/// Loss and gradients of the first conversations, packed or not, in so many parts, with a policy.
std::pair<float, tree::Tree> first_step(bool packing, std::int64_t parts, const Keys& more) {
  Keys all = {"init=" + kModel, "max_target_length=120"};
  all.insert(all.end(), more.begin(), more.end());
  auto base = open_base(read_config({}, all, Data::optional));
  EXPECT_TRUE(base) << (base ? "" : base.status().message());
  std::string lines;
  std::ifstream in(kModel + "/chats.jsonl");
  std::string folder = testing::TempDir() + "first_XXXXXX";
  const std::string path = std::string(::mkdtemp(folder.data())) + "/first.jsonl";
  std::ofstream out(path);
  for (std::int64_t i = 0; i < kGoldenRows && std::getline(in, lines); ++i) out << lines << "\n";
  out.close();
  const std::int64_t length = 120;  // of the longest
  data::DatasetOptions options{.train_files = {path},
                               .tokenizer = base->tokenizer,
                               .column = "messages",
                               .eval_fraction = 0,
                               .batch = 1,
                               .length = length,
                               .chat_template = base->chat_template,
                               .packing = packing,
                               .cache_folder = ""};
  const auto windows = data::Dataset::open(options)->sources()[0].windows;
  EXPECT_TRUE(packing ? windows < kGoldenRows : windows == kGoldenRows);
  options.batch = (windows + parts - 1) / parts * parts;
  EXPECT_EQ(options.batch, windows);
  auto data = data::Dataset::open(options);
  auto [loss, gradients] = loss_and_gradients(*base->weights, to_batch(data->batch(0)), base->model,
                                              {.micro_batches = parts});
  fs::remove_all(folder);
  return {loss.item<float>(), gradients};
}

void expect_golden(const std::pair<float, tree::Tree>& got, double most, const char* what) {
  const checkpoint::TensorFile file = golden();
  const float loss = file.tensors.at("loss").span<float>()[0];
  EXPECT_NEAR(got.first, loss, most * loss) << what;
  // Gradients under published names, as the weights would be written.
  std::string folder = testing::TempDir() + "gradients_XXXXXX";
  ::mkdtemp(folder.data());
  ASSERT_TRUE(model::save_pretrained(folder, *read_file(kModel + "/config.json"), got.second).ok());
  auto written = checkpoint::read_safetensors(folder + "/model.safetensors");
  ASSERT_TRUE(written);
  std::size_t compared = 0;
  double worst = 0;
  for (const auto& [name, tensor] : file.tensors) {
    if (!name.starts_with("gradient.")) continue;
    ++compared;
    const auto found = written->tensors.find(name.substr(9));
    ASSERT_NE(found, written->tensors.end()) << name;
    const double d = distance(found->second.span<float>(), tensor.span<float>());
    worst = std::max(worst, d);
    EXPECT_LE(d, most) << what << " " << name;
  }
  EXPECT_EQ(compared, written->tensors.size());
  std::cout << fmt::format("{}: loss {:.6f} (PyTorch {:.6f}), gradients within {:.1e}\n", what,
                           got.first, loss, worst);
  fs::remove_all(folder);
}

TEST_F(TuningTest, TheFirstStepsLossAndGradientsArePyTorchs) {
  expect_golden(first_step(false, 1, {}), kGolden, "one conversation a row");
  expect_golden(first_step(true, 1, {}), kGolden, "packed");
  expect_golden(first_step(false, 3, {}), kGolden, "in three parts");
  expect_golden(first_step(true, 1, {"remat_policy=full"}), kGolden, "nothing kept for backward");
}

TEST_F(TuningTest, LowersTheLossOnWhatWasKept) {
  auto tuned = tune("lower", {"steps=200", "checkpoint_period=1000"});
  ASSERT_TRUE(tuned) << tuned.status().message();
  ASSERT_TRUE(tuned->held_out_before && tuned->held_out_after);
  std::cout << fmt::format("held-out loss {:.4f} -> {:.4f}\n", *tuned->held_out_before,
                           *tuned->held_out_after);
  EXPECT_GT(*tuned->held_out_before, 5.0);
  EXPECT_LT(*tuned->held_out_after, 0.5);
}

/// Steps and values as written, without times.
std::vector<std::string> record(const std::string& folder) {
  std::vector<std::string> out;
  std::ifstream in(folder + "/metrics/metrics.jsonl");
  for (std::string line; std::getline(in, line);)
    out.push_back(line.substr(0, std::min(line.find(",\"perf/"), line.size())));
  return out;
}

TEST_F(TuningTest, GoesOnFromAnyStepWithTheSameBitsAndRecord) {
  const Keys how = {"checkpoint_period=1", "max_num_checkpoints_to_keep=0", "eval_interval=3"};
  auto whole = tune("whole", how);
  ASSERT_TRUE(whole) << whole.status().message();
  const std::string outcome = *read_file(folder_ + "/whole/model/model.safetensors");
  const auto lines = record(folder_ + "/whole");
  EXPECT_EQ(lines.size(), 6u + 3u);  // steps, evaluations before, at 3 and 6
  for (std::int64_t step = 0; step < 6; ++step) {
    const std::string name = fmt::format("killed{}", step), run = folder_ + "/" + name;
    fs::copy(folder_ + "/whole", run, fs::copy_options::recursive);
    fs::remove_all(run + "/model");
    for (std::int64_t later = step + 1; later <= 6; ++later)
      fs::remove_all(fmt::format("{}/checkpoints/{}", run, later));
    if (step == 0) fs::remove_all(run + "/checkpoints");
    // The folder's own configuration is enough.
    const int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    Progress progress(quiet);
    auto went_on = train::run(read_config(run + "/config.yml", {"run_name=" + name}), progress);
    ::close(quiet);
    ASSERT_TRUE(went_on) << went_on.status().message();
    EXPECT_EQ(*read_file(run + "/model/model.safetensors"), outcome) << step;
    EXPECT_EQ(record(run), lines) << step;
    EXPECT_EQ(went_on->held_out_before, whole->held_out_before);
    EXPECT_EQ(went_on->held_out_after, whole->held_out_after);
  }
}

TEST_F(TuningTest, AnotherBaseIsRefusedByName) {
  ASSERT_TRUE(tune("based", {"steps=2"}));
  const std::string other = folder_ + "/other";
  fs::copy(kModel, other, fs::copy_options::recursive);
  auto file = checkpoint::read_safetensors(other + "/model.safetensors");
  ASSERT_TRUE(file);
  auto& norm = file->tensors.at("model.norm.weight");
  norm = Literal(norm.type());
  ASSERT_TRUE(checkpoint::write_safetensors(other + "/model.safetensors", *file).ok());
  try {
    (void)tune("based", {"init=" + other, "steps=4"});
    ADD_FAILURE() << "another base was taken";
  } catch (const ConfigError& e) {
    EXPECT_THAT(e.what(), HasSubstr("init=" + other + ": its weights ("));
    EXPECT_THAT(e.what(), HasSubstr("stands on, " + kModel));
  }
  // The same weights elsewhere are the same base.
  fs::remove_all(other);
  fs::copy(kModel, other, fs::copy_options::recursive);
  EXPECT_TRUE(tune("based", {"init=" + other, "steps=4"}));
}

TEST_F(TuningTest, TheOutcomeIsAModelAndConvertsOn) {
  auto tuned = tune("out", {"steps=3", "optimizer.groups=[{match: \"*layers*\", frozen: true}]",
                            "weight_dtype=bfloat16", "eval_prompt=What colour is the sky?"});
  ASSERT_TRUE(tuned) << tuned.status().message();
  const std::string run = folder_ + "/out";
  EXPECT_EQ(tuned->model, run + "/model");
  auto lm = engine::load_language_model(run, {.packed = false});
  ASSERT_TRUE(lm) << lm.status().message();
  EXPECT_TRUE(lm->chat_template.has_value());
  EXPECT_TRUE(lm->chat(R"([{"role":"user","content":"What colour is the sky?"}])"));
  for (const char* name : {"config.json", "tokenizer.json", "tokenizer_config.json",
                           "generation_config.json", "chat_template.jinja"})
    EXPECT_TRUE(file_exists(run + "/model/" + name)) << name;
  const auto config = nlohmann::json::parse(*read_file(run + "/model/config.json"));
  EXPECT_EQ(config["dtype"], "bfloat16");
  // From the checkpoint, which lacks what was frozen, the same model.
  ASSERT_TRUE(model::convert(run, folder_ + "/converted"));
  EXPECT_EQ(*read_file(folder_ + "/converted/model.safetensors"),
            *read_file(run + "/model/model.safetensors"));
  EXPECT_EQ(*read_file(folder_ + "/converted/tokenizer.json"),
            *read_file(kModel + "/tokenizer.json"));
  // And as a GGUF file, which is read again.
  auto gguf = model::convert(run, folder_ + "/out.gguf");
  ASSERT_TRUE(gguf) << gguf.status().message();
  auto again = engine::load_language_model(folder_ + "/out.gguf", {.packed = false});
  ASSERT_TRUE(again) << again.status().message();
  // What was frozen is the base's still.
  auto base = model::load(kModel, {.weights = DType::bf16});
  ASSERT_TRUE(base);
  auto now = model::load(run, {.weights = DType::bf16});
  ASSERT_TRUE(now);
  bool changed = false;
  for (std::size_t i = 0; i < now->params.size(); ++i) {
    const std::string name = now->params.names()[i];
    const bool same = tree::equal(tree::Tree({{name, now->params.value(i)}}),
                                  tree::Tree({{name, base->params[name]}}));
    if (name.find("layers") != std::string::npos) EXPECT_TRUE(same) << name;
    changed |= !same;
  }
  EXPECT_TRUE(changed);
}

TEST_F(TuningTest, TrainsOnTextsOfThePublishedTokenizerToo) {
  std::ofstream text(folder_ + "/book.txt");
  for (int i = 0; i < 400; ++i) text << "The sea is blue. The rose is red.\n";
  text.close();
  auto tuned = tune("text", {"train_files=" + folder_ + "/book.txt", "train_data_columns=text",
                             "steps=20", "max_target_length=32"});
  ASSERT_TRUE(tuned) << tuned.status().message();
  EXPECT_LT(*tuned->held_out_after, *tuned->held_out_before - 1);
}

TEST_F(TuningTest, WhatCannotBeTunedIsRefused) {
  std::ofstream(folder_ + "/bad.jsonl") << "{\"messages\": 7}\n";
  std::ofstream(folder_ + "/bad.jinja") << "{% if %}";
  const std::pair<Keys, const char*> cases[] = {
      {{"base_emb_dim=64"}, "has hidden_size = 32"},
      {{"remat_policy=some"}, "allowed is full_save, minimal_with_context, minimal"},
      {{"init=" + folder_ + "/none"}, "none"},
      {{"init="}, "train_data_columns=messages: conversations need a model"},
      {{"tokenizer_path=a.model"}, "brings its own tokenizer"},
      {{"max_target_length=500"}, "made for sequences of at most 128"},
      {{"train_data_columns=prompt"}, "conversations are under messages or prompt,completion"},
      {{"train_data_columns=prompt,completion"}, "chats.jsonl:1: there is no \"prompt\""},
      {{"train_files=" + folder_ + "/bad.jsonl"}, "bad.jsonl:1: no list of messages"},
      {{"train_files=" + kModel + "/config.json"}, "whose names end in .jsonl"},
      {{"train_files=" + folder_ + "/no.jsonl"}, "no.jsonl"},
      {{"chat_template_path=" + folder_ + "/bad.jinja"}, "chat_template_path="},
      {{"chat_template_path=" + folder_ + "/none.jinja"}, "none.jinja"},
      {{"truncation_mode=some"}, "allowed is keep_start or keep_end or drop or refuse"},
      {{"truncation_mode=refuse", "max_target_length=16"}, "more than max_target_length=16"},
      {{"packing=maybe"}, "allowed is true or false"},
      {{"sft_train_on_completion_only=1"}, "allowed is true or false"},
      {{"assistant_only_loss=true"}, "did you mean 'sft_train_on_completion_only'"},
      {{"model_name_or_path=x"}, "did you mean 'init'"},
      {{"optimizer.groups=[{match: \"*\", frozen: true}]"}, "nothing is left to train"},
      {{"optimizer.groups=[{match: query, frozen: true}]"}, "it matches no weight"},
      {{"max_target_length=4", "truncation_mode=drop"}, "has no conversation to learn from"},
  };
  for (const auto& [more, message] : cases)
    EXPECT_THAT(refusal(more), HasSubstr(message)) << more[0];
}

}  // namespace
}  // namespace strata::train
