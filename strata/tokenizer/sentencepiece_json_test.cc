#include "strata/tokenizer/sentencepiece_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "strata/base/file.h"
#include "strata/tokenizer/huggingface.h"
#include "strata/tokenizer/sentencepiece.h"

namespace strata::tokenizer {
namespace {

using testing::HasSubstr;

std::string book() {
  std::string out;
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    for (int syllable = 0; syllable < 12; ++syllable)
      for (const char* letters : {"bcdfglmnprst", "aeiou", "nrst "})
        out += letters[random() % std::char_traits<char>::length(letters)];
    out += "Verse " + std::to_string(i * i % 97) +
           " of a little book, wherein the waters were divided.\n";
    out += "def method_" + std::to_string(i % 13) +
           "(self, value):\n        return self.value + value\n";
    if (i % 20 == 0) out += "na\xc3\xafve caf\xc3\xa9 \xe2\x86\x92 \xce\xb1\xce\xb2\xce\xb3\n";
  }
  return out;
}

/// Words, runs of spaces, other alphabets, and what no piece has.
std::vector<std::string> texts() {
  std::vector<std::string> out = {"",
                                  " ",
                                  "  a",
                                  "a  ",
                                  "\n\n",
                                  "a\n  b",
                                  "caf\xc3\xa9",
                                  "\xf0\x9f\x8c\x8d world",
                                  "A\xcc\x81",
                                  "\xef\xbc\xa1\xef\xbc\xa2"};
  std::mt19937 random(7);
  const std::string all = book();
  for (int i = 0; i < 200; ++i) {
    std::string text = all.substr(random() % (all.size() - 200), random() % 160);
    while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xc0) == 0x80)
      text.erase(0, 1);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80) != 0) text.pop_back();
    out.push_back(text);
  }
  return out;
}

/// Both give the same tokens and texts.
void expect_alike(const std::string& model, const std::string& name) {
  const bool unigram = name.starts_with("unigram");
  auto ours = make_sentencepiece(model, name);
  auto files = huggingface_files(model, name);
  ASSERT_TRUE(ours && files) << files.status().message();
  auto special = read_special_tokens(files->at("tokenizer_config.json"), name);
  ASSERT_TRUE(special) << special.status().message();
  auto theirs = make_huggingface(files->at("tokenizer.json"), name, *special);
  ASSERT_TRUE(theirs) << theirs.status().message();
  EXPECT_EQ((*theirs)->vocab_size(), (*ours)->vocab_size());
  EXPECT_EQ((*theirs)->separator(), (*ours)->separator());
  for (const std::string& text : texts()) {
    const auto tokens = (*ours)->encode(text);
    auto others = (*theirs)->encode(text), sorted = tokens;
    if (unigram) {  // of equal scores another order
      std::sort(others.begin(), others.end());
      std::sort(sorted.begin(), sorted.end());
    }
    EXPECT_EQ(others, sorted) << name << ": '" << text << "'";
    // What is unknown is written in other ways.
    if (std::find(tokens.begin(), tokens.end(), 0) != tokens.end()) continue;
    EXPECT_EQ((*theirs)->decode(tokens), (*ours)->decode(tokens)) << name << ": '" << text << "'";
  }
}

TEST(SentencePieceJson, GivesTheModelsTokens) {
  const std::string text = book();
  for (const char* algorithm : {"bpe", "unigram"}) {
    auto model = train_tokenizer({text}, {.algorithm = algorithm, .vocab_size = 520});
    ASSERT_TRUE(model) << model.status().message();
    expect_alike(*model, algorithm);
  }
}

TEST(SentencePieceJson, ReadsOthersModels) {
  for (const char* name : {"bpe.model", "unigram.model", "other.model"}) {
    auto model =
        read_file((std::filesystem::path(__FILE__).parent_path() / "testdata" / name).string());
    ASSERT_TRUE(model) << model.status().message();
    expect_alike(*model, name);
  }
}

TEST(SentencePieceJson, SaysWhatIsNone) {
  auto none = huggingface_files("no model", "x.model");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.status().code(), Code::corrupt);
  EXPECT_THAT(none.status().message(), HasSubstr("x.model: no SentencePiece model"));
}

}  // namespace
}  // namespace strata::tokenizer
