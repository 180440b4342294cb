#include "strata/tokenizer/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/tokenizer/huggingface.h"

namespace strata::tokenizer {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

std::string testdata(const std::string& name) {
  return *read_file((std::filesystem::path(__FILE__).parent_path() / "testdata" / name).string());
}

/// The metadata that a conversion of a byte-level tokenizer.json would write.
GgufVocabulary byte_level(const std::string& file, const std::string& pre) {
  const json all = json::parse(testdata("huggingface/" + file + ".json"));
  GgufVocabulary v;
  v.model = "gpt2", v.pre = pre;
  v.tokens.resize(all["model"]["vocab"].size() + 1);
  v.types.resize(v.tokens.size(), 1);
  for (const auto& [token, id] : all["model"]["vocab"].items())
    v.tokens[id.get<std::size_t>()] = token;
  for (const json& added : all["added_tokens"]) {
    if (!added["special"]) continue;
    const auto id = added["id"].get<std::size_t>();
    v.tokens[id] = added["content"];
    v.types[id] = 3;
  }
  for (const json& m : all["model"]["merges"])
    v.merges.push_back(m[0].get<std::string>() + " " + m[1].get<std::string>());
  v.bos = 0;
  return v;
}

class GgufByteLevel : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(GgufByteLevel, EqualsTokenizerJson) {
  const auto [file, pre] = GetParam();
  auto t = make_gguf(byte_level(file, pre), "x.gguf");
  ASSERT_TRUE(t.ok()) << t.status().message();
  const json golden = json::parse(testdata("huggingface/golden.json"));
  int compared = 0;
  for (std::size_t i = 0; i < golden["texts"].size(); ++i) {
    const std::string text = golden["texts"][i];
    bool added = false;  // tokens that a GGUF cannot say
    for (const char* other : {"[LS]", "[RS]", "Word", "Norm"})
      added = added || text.find(other) != text.npos;
    if (added || (file == std::string("smollm") && text != (*t)->decode((*t)->encode(text))))
      continue;
    if (file == std::string("smollm") && golden["tokenizers"][file][i]["decoded"] != 1) continue;
    ++compared;
    EXPECT_EQ((*t)->encode(text), golden["tokenizers"][file][i]["ids"].get<Ids>()) << text;
  }
  EXPECT_GT(compared, 90);
}

INSTANTIATE_TEST_SUITE_P(All, GgufByteLevel,
                         testing::Values(std::pair("gpt2", "gpt-2"), std::pair("smollm", "smollm"),
                                         std::pair("llama3", "llama-bpe"),
                                         std::pair("gpt4o", "gpt-4o"),
                                         std::pair("deepseek", "deepseek-v3")),
                         [](const auto& info) { return std::string(info.param.first); });

GgufVocabulary sentencepiece_vocabulary(const std::string& file, const std::string& model,
                                        sentencepiece::SentencePieceProcessor& processor) {
  EXPECT_TRUE(processor.LoadFromSerializedProto(testdata(file)).ok());
  GgufVocabulary v;
  v.model = model;
  for (int i = 0; i < processor.GetPieceSize(); ++i) {
    v.tokens.push_back(processor.IdToPiece(i));
    v.scores.push_back(processor.GetScore(i));
    v.types.push_back(processor.IsUnknown(i)           ? 2
                      : processor.IsControl(i)         ? 3
                      : processor.IsByte(i)            ? 6
                      : processor.IdToPiece(i) == "\n" ? 4
                                                       : 1);
  }
  v.unknown = processor.unk_id(), v.eos = processor.eos_id();
  v.add_space_prefix = false, v.remove_extra_whitespaces = false, v.add_eos = false;
  return v;
}

TEST(GgufLlama, EqualsSentencePiece) {
  sentencepiece::SentencePieceProcessor processor;
  auto t = make_gguf(sentencepiece_vocabulary("bpe.model", "llama", processor), "x.gguf").value();
  const json golden = json::parse(testdata("tokenizers.json"));
  for (const json& one : golden["models"]["bpe"]["cases"]) {
    const std::string text = one["text"];
    if (text.find("</s>") != text.npos) continue;
    EXPECT_EQ(t->encode(text), one["tokens"].get<Ids>()) << text;
    EXPECT_EQ(t->decode(t->encode(text)), one["decoded"].get<std::string>());
  }
  // What users typed is no control token and no byte.
  const std::vector<Span> typed = {{0, 10}};
  const Ids ids = t->encode_with("</s><0x41>", {.literal = typed});
  EXPECT_EQ(std::count(ids.begin(), ids.end(), processor.eos_id()), 0);
  EXPECT_EQ(t->decode(ids), "</s><0x41>");
}

TEST(GgufLlama, PutsASpaceInFront) {
  GgufVocabulary v;
  v.model = "llama";
  v.tokens = {"<unk>",
              "<s>",
              "</s>",
              "\xe2\x96\x81",
              "a",
              "b",
              "\xe2\x96\x81"
              "a",
              "ab"};
  v.types = {2, 3, 3, 1, 1, 1, 1, 1};
  v.scores = {0, 0, 0, -9, -9, -9, -1, -2};
  v.unknown = 0, v.bos = 1, v.eos = 2;
  const auto t = make_gguf(v, "x").value();
  EXPECT_EQ(t->encode_with("ab", {.add_special = true}), (Ids{1, 6, 5}));
  EXPECT_EQ(t->decode(Ids{6, 5}), "ab");
  EXPECT_EQ(t->special_id("bos_token"), 1);
}

TEST(GgufT5, EqualsSentencePiece) {
  sentencepiece::SentencePieceProcessor processor;
  auto t = make_gguf(sentencepiece_vocabulary("unigram.model", "t5", processor), "x.gguf").value();
  const json golden = json::parse(testdata("tokenizers.json"));
  for (const json& one : golden["models"]["unigram"]["cases"]) {
    const std::string text = one["text"];
    if (text.find("</s>") != text.npos || text.find("\n") != text.npos) continue;
    // The library's unigram joins spaces to what follows across a text; Metaspace cuts before each.
    if (text.find("  ") != text.npos) continue;
    EXPECT_EQ(t->encode(text), one["tokens"].get<Ids>()) << text;
  }
}

TEST(GgufBert, Words) {
  GgufVocabulary v;
  v.model = "bert";
  v.tokens = {"[PAD]",
              "[UNK]",
              "[CLS]",
              "[SEP]",
              "\xe2\x96\x81hello",
              "\xe2\x96\x81"
              "x",
              "ing"};
  v.types = {3, 3, 3, 3, 1, 1, 1};
  v.bos = 2, v.separator = 3, v.unknown = 1;
  const auto t = make_gguf(v, "x").value();
  EXPECT_EQ(t->encode_with("Hello XING y", {.add_special = true}), (Ids{2, 4, 5, 6, 1, 3}));
}

/// Published pre-tokenizers, by the names that GGUF files have for them.
TEST(GgufPre, CutsAsTheTokenizerJsonOfThatName) {
  const auto split = [](const std::string& expression) {
    return json{{"type", "Split"}, {"pattern", {{"Regex", expression}}}, {"behavior", "Isolated"}};
  };
  const auto bytes = [](bool cuts) {
    return json{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", cuts}};
  };
  const json digits = {{"type", "Digits"}, {"individual_digits", false}},
             single = {{"type", "Digits"}, {"individual_digits", true}};
  const std::vector<std::pair<const char*, json>> all = {
      {"falcon", json::array({{{"type", "Punctuation"}, {"behavior", "Contiguous"}},
                              bytes(true),
                              digits,
                              split("[0-9][0-9][0-9]")})},
      {"deepseek-coder",
       json::array({split("[\r\n]"), split("\\s?\\p{L}+"), split("\\s?\\p{P}+"),
                    split("[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"), single, bytes(false)})},
      {"exaone", json::array({single, bytes(true)})},
      {"gigachat", json::array({bytes(true)})}};
  for (const auto& [name, steps] : all) {
    json file = json::parse(testdata("huggingface/gpt2.json"));
    file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", steps}};
    const auto want = make_huggingface(file.dump(), "t").value();
    const auto got = make_gguf(byte_level("gpt2", name), "g").value();
    for (const char* text :
         {"Hello, world! 12 345 6789", "x==1 && (y<2)\r\n\tz", "a \u4e2d\u6587 b\u00e9 3\u00b2",
          "don't  stop...   ", "`$5.00` costs 1234567", "\n\n  \uac00 q"})
      EXPECT_EQ(got->encode(text), want->encode(text)) << name << ": " << text;
  }
  for (const char* name : {"glm4", "lfm2", "stablelm2", "hunyuan-dense", "minerva-7b", "kormo"})
    EXPECT_TRUE(make_gguf(byte_level("gpt2", name), "g").ok()) << name;
}

TEST(GgufDamaged, SaysWhatIsWrong) {
  const auto message = [](const GgufVocabulary& v) { return make_gguf(v, "f").status().message(); };
  GgufVocabulary v = byte_level("gpt2", "gpt-2");
  const GgufVocabulary good = v;
  v.pre = "who-knows";
  EXPECT_THAT(message(v), HasSubstr("pre 'who-knows' is unknown"));
  v = good, v.model = "rwkv";
  EXPECT_THAT(message(v), HasSubstr("rwkv is unknown"));
  v = good, v.types.pop_back();
  EXPECT_THAT(message(v), HasSubstr("types"));
  v = good, v.bos = 100000;
  EXPECT_THAT(message(v), HasSubstr("special token 100000"));
  v = good, v.tokens[5] = v.tokens[6];
  EXPECT_THAT(message(v), HasSubstr("has the numbers"));
  v = good, v.tokens[7] = "\xc2~";
  EXPECT_THAT(message(v), HasSubstr("token 7 is not UTF-8"));
  v = good, v.merges[0] = "ab";
  EXPECT_THAT(message(v), HasSubstr("no pair"));
  v = good, v.tokens.clear(), v.types.clear();
  EXPECT_THAT(message(v), HasSubstr("0 tokens"));
  v = good, v.scores.assign(v.tokens.size(), NAN);
  EXPECT_THAT(message(v), HasSubstr("finite"));
}

}  // namespace
}  // namespace strata::tokenizer
