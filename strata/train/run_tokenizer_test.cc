#include "strata/train/run_tokenizer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "strata/base/file.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/evaluate/generate.h"
#include "strata/train/run.h"

namespace strata::train {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;
namespace fs = std::filesystem;

class RunTokenizerTest : public testing::Test {
 protected:
  RunTokenizerTest() {
    compile::register_cpu();
    std::string name = testing::TempDir() + "run_tokenizer_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::ofstream text(folder_ + "/text.txt");
    for (int i = 0; i < 200; ++i) text << "verse " << i * i % 97 << " of a little book.\n";
  }
  ~RunTokenizerTest() override { fs::remove_all(folder_); }
  /// A folder as `transformers` writes it: the end of a text is its second special token.
  std::string published() const {
    const std::string out = folder_ + "/tokenizer";
    fs::create_directory(out);
    fs::copy_file(fs::path(__FILE__).parent_path().parent_path() /
                      "tokenizer/testdata/huggingface/smollm.json",
                  out + "/tokenizer.json");
    std::ofstream(out + "/tokenizer_config.json") << R"({"eos_token": "<|sp|>"})";
    return out;
  }
  Config tiny(const std::string& tokenizer) const {
    return read_config(
        {}, {"base_emb_dim=16", "base_num_query_heads=2", "base_num_kv_heads=1", "head_dim=8",
             "base_mlp_dim=24", "base_num_decoder_layers=1", "vocab_size=512",
             "max_target_length=16", "per_device_batch_size=2", "steps=2",
             "tokenizer_type=huggingface", "tokenizer_path=" + tokenizer, "run_name=a",
             "train_files=" + folder_ + "/text.txt", "base_output_directory=" + folder_});
  }
  Result<RunResult> train(const Config& c) {
    const int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    Progress progress(quiet);
    auto result = run(c, progress);
    ::close(quiet);
    return result;
  }
  std::string folder_;
};

TEST_F(RunTokenizerTest, AFolderOfHuggingFaceIsTrainedOnAndKept) {
  for (const bool whole : {true, false}) {
    const std::string path = whole ? published() : folder_ + "/kept/tokenizer.json";
    const Config c = tiny(path);
    auto result = train(c);
    ASSERT_TRUE(result) << result.status().message();
    // What it learned is read without the folder that it was given.
    if (whole) {
      fs::copy(path, folder_ + "/kept", fs::copy_options::recursive);
      fs::remove_all(path);
    } else {
      fs::remove_all(folder_ + "/kept");
    }
    auto generator = Generator::load(folder_ + "/a");
    ASSERT_TRUE(generator) << generator.status().message();
    auto kept = tokenizer_of_run(result->checkpoint, c);
    ASSERT_TRUE(kept) << kept.status().message();
    EXPECT_EQ((*kept)->token_of((*kept)->separator()), "<|sp|>");
    EXPECT_TRUE(file_exists(folder_ + "/a/tokenizer_config.json"));
    fs::remove_all(folder_ + "/a");
  }
}

TEST_F(RunTokenizerTest, WhatIsNoTokenizerIsNamed) {
  auto missing = train(tiny(folder_ + "/nowhere"));
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.status().message(), HasSubstr("nowhere"));
  auto text = train(tiny(folder_ + "/text.txt"));
  ASSERT_FALSE(text);
  EXPECT_THAT(text.status().message(), HasSubstr("text.txt"));
}

}  // namespace
}  // namespace strata::train
