// Pairs of answers: the prompt that both have, rows with masks, what is refused with file and line.
#include "strata/data/preferences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/base/file.h"
#include "strata/data/pipeline/pipeline.h"

namespace strata::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string path_of(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  EXPECT_TRUE(write_file_atomic(path, text).ok());
  return path;
}

Preference one(const std::string& line) { return preferences_of(line, "p.jsonl").value().at(0); }

TEST(Preferences, ThePromptIsGivenOrWhatBothBeginWith) {
  const Preference given = one(R"({"prompt": "sky", "chosen": " blue", "rejected": " red"})");
  EXPECT_EQ(given.chosen.prompt, "sky");
  EXPECT_EQ(given.rejected.completion, " red");
  // A space before the answers is theirs, and characters stay whole.
  const Preference found = one(R"({"chosen": "sky is blue", "rejected": "sky is bright"})");
  EXPECT_EQ(found.chosen.prompt, "sky is b");
  EXPECT_EQ(found.chosen.completion, "lue");
  const Preference spaced = one(R"({"chosen": "sky is blue", "rejected": "sky is red"})");
  EXPECT_EQ(spaced.rejected.prompt, "sky is");
  EXPECT_EQ(spaced.rejected.completion, " red");
  EXPECT_EQ(one(R"({"chosen": "xé", "rejected": "xè"})").chosen.completion, "é");
  const Preference chat = one(
      R"({"chosen": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],)"
      R"( "rejected": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "b"}]})");
  EXPECT_EQ(chat.chosen.prompt_messages, 1u);
  EXPECT_THAT(chat.rejected.messages, HasSubstr("\"b\""));
}

TEST(Preferences, RowsHaveTargetsAndMasksOfTheAnswers) {
  const std::string path =
      path_of("pairs.jsonl",
              "{\"prompt\": \"ab\", \"chosen\": \"cd\", \"rejected\": \"e\"}\n\n"
              "{\"prompt\": \"x\", \"chosen\": \"yz\", \"rejected\": \"z\"}\n");
  const auto source = PreferenceSource::open({path}, {.length = 6}).value();
  ASSERT_EQ(source->size(), 2);
  const Element batch = MapDataset::source(source).batch(2)[0];
  const auto ints = [&](const char* half, const char* key) {
    const auto all = batch.at(half).at(key).array().span<std::int32_t>();
    return std::vector<std::int32_t>(all.begin(), all.end());
  };
  EXPECT_THAT(ints("chosen", "tokens"),
              ElementsAre('a', 'b', 'c', 'd', 0, 0, 'x', 'y', 'z', 0, 0, 0));
  EXPECT_THAT(ints("rejected", "targets"), ElementsAre('b', 'e', 0, 0, 0, 0, 'z', 0, 0, 0, 0, 0));
  EXPECT_THAT(ints("rejected", "segments"), ElementsAre(1, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0));
  const auto weights = batch.at("chosen").at("weights").array().span<float>();
  // Both letters of the answer and the token that ends it.
  EXPECT_THAT(std::vector<float>(weights.begin(), weights.end()),
              ElementsAre(0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0));
  EXPECT_EQ(source->origin(1).record, 1);
  EXPECT_EQ(source->origin(1).file, path);
}

TEST(Preferences, LongPairsAreCutAsTold) {
  const std::string path =
      path_of("long.jsonl", R"({"prompt": "abcdef", "chosen": "gh", "rejected": "i"})"
                            "\n"
                            R"({"prompt": "a", "chosen": "b", "rejected": "c"})"
                            "\n");
  const auto opened = [&](Truncation how) {
    return PreferenceSource::open({path}, {.length = 5, .truncation = how});
  };
  EXPECT_EQ(opened(Truncation::keep_start).value()->size(), 1);  // of the first no answer is left
  EXPECT_EQ(opened(Truncation::keep_end).value()->size(), 2);
  EXPECT_EQ(opened(Truncation::drop).value()->left_out(), 1);
  EXPECT_THAT(opened(Truncation::refuse).status().message(),
              HasSubstr("long.jsonl:1: 9 tokens are more than a row of 5"));
  EXPECT_THROW((void)PreferenceSource::open({path}, {.length = 1}), Error);
}

TEST(Preferences, WhatIsWrongIsSaidWithFileAndLine) {
  const auto said = [](const std::string& line) {
    return preferences_of("\n" + line, "p.jsonl").status().message();
  };
  EXPECT_THAT(said("{"), HasSubstr("p.jsonl:2: no JSON"));
  EXPECT_THAT(said(R"({"chosen": "a"})"), HasSubstr("must be texts, or both lists"));
  EXPECT_THAT(said(R"({"chosen": "a", "rejected": [1]})"), HasSubstr("must be texts"));
  EXPECT_THAT(said(R"({"chosen": "a", "rejected": "a"})"), HasSubstr("are the same"));
  EXPECT_THAT(said(R"({"prompt": "p", "chosen": "a", "rejected": ""})"),
              HasSubstr("\"completion\" is empty (of \"rejected\")"));
  EXPECT_THAT(said(R"({"prompt": "p", "chosen": [{"role": "user"}], "rejected": []})"),
              HasSubstr("p.jsonl:2"));
  EXPECT_THAT(PreferenceSource::open({path_of("none.jsonl", "\n")}, {}).status().message(),
              HasSubstr("no pair to learn from"));
}

}  // namespace
}  // namespace strata::data
