#include "strata/tokenizer/huggingface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/tokenizer/pipeline/decoder.h"
#include "strata/tokenizer/pipeline/normalizer.h"
#include "strata/tokenizer/pipeline/pre_tokenizer.h"

namespace strata::tokenizer {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

std::string folder() {
  return (std::filesystem::path(__FILE__).parent_path() / "testdata/huggingface").string();
}
std::string file(const std::string& name) { return folder() + "/" + name + ".json"; }
json read(const std::string& name) { return json::parse(read_file(file(name)).value()); }
std::shared_ptr<const Tokenizer> little(const std::string& name) {
  return load_huggingface(file(name)).value();
}

/// What `tokenizers` makes of texts: tools/goldens/tokenizers_golden.py.
class HuggingFace : public testing::TestWithParam<std::string> {
 protected:
  static const json& golden() {
    static const json all = read("golden");
    return all;
  }
  std::shared_ptr<const Tokenizer> tokenizer_ = little(GetParam());
  const json& cases_ = golden()["tokenizers"][GetParam()];
  const std::vector<std::string> texts_ = golden()["texts"];
};

TEST_P(HuggingFace, Encodes) {
  ASSERT_EQ(cases_.size(), texts_.size());
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const Ids ids = cases_[i]["ids"];
    EXPECT_EQ(tokenizer_->encode(texts_[i]), ids) << i << ": " << texts_[i];
    Ids around = ids;
    if (cases_[i].contains("around")) {
      const Ids before = cases_[i]["around"][0], behind = cases_[i]["around"][1];
      around.insert(around.begin(), before.begin(), before.end());
      around.insert(around.end(), behind.begin(), behind.end());
    }
    EXPECT_EQ(tokenizer_->encode_with(texts_[i], {.add_special = true}), around) << texts_[i];
  }
}

TEST_P(HuggingFace, Decodes) {
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const Ids ids = cases_[i]["ids"];
    for (bool skip : {false, true}) {
      const json& expected = cases_[i][skip ? "plain" : "decoded"];
      EXPECT_EQ(tokenizer_->decode_with(ids, skip),
                expected.is_number() ? texts_[i] : expected.get<std::string>())
          << i;
    }
  }
}

TEST_P(HuggingFace, DecodesStreams) {
  int streams = 0;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if (!cases_[i].contains("stream") || cases_[i]["stream"].is_null()) continue;
    ++streams;
    DecodeStream stream(*tokenizer_);
    std::vector<std::string> pieces;
    for (std::int32_t id : cases_[i]["ids"].get<Ids>()) pieces.push_back(stream.step(id));
    EXPECT_EQ(pieces, cases_[i]["stream"].get<std::vector<std::string>>()) << texts_[i];
  }
  EXPECT_GT(streams, 20);
}

INSTANTIATE_TEST_SUITE_P(Golden, HuggingFace,
                         testing::Values("gpt2", "smollm", "llama3", "gpt4o", "deepseek", "roberta",
                                         "llama2", "metaspace", "suffixed", "prefixed", "unigram",
                                         "bert", "wordlevel"),
                         [](const auto& info) { return info.param; });

TEST(HuggingFaceParts, GiveWhatThePackageGives) {
  const json golden = read("parts");
  const std::vector<std::string> texts = golden["texts"], tokens = golden["tokens"];
  for (const json& item : golden["parts"]) {
    const json& part = item["part"];
    const std::string kind = item["kind"];
    for (std::size_t i = 0; i < item["given"].size(); ++i) {
      const json& given = item["given"][i];
      if (kind == "normalizer") {
        EXPECT_EQ(read_normalizer(part)->apply(texts[i]), given.get<std::string>())
            << part << texts[i];
      } else if (kind == "pre_tokenizer") {
        Splits splits{texts[i], {{0, texts[i].size(), true}}};
        read_pre_tokenizer(part)->apply(splits);
        std::vector<std::string> out;
        for (const auto& s : splits.splits) {
          if (s.begin < s.end) out.emplace_back(splits.of(s));
        }
        EXPECT_EQ(out, given.get<std::vector<std::string>>()) << part << texts[i];
      } else {
        std::string out;
        for (const std::string& t :
             read_decoder(part)->apply({tokens.begin() + static_cast<int>(i), tokens.end()}))
          out += t;
        EXPECT_EQ(out, given.get<std::string>()) << part << i;
      }
    }
  }
}

TEST(HuggingFaceOptions, TypedSpansHoldNoSpecialToken) {
  const auto t = little("smollm");
  const std::string prompt = "<|sp|>user Hi <|sp|> there<|sp|>";
  const std::int32_t special = t->id_of("<|sp|>").value();
  EXPECT_TRUE(t->is_special(special));
  const std::vector<Span> typed = {{11, 26}};
  const Ids ids = t->encode_with(prompt, {.literal = typed});
  EXPECT_EQ(std::count(ids.begin(), ids.end(), special), 2);
  EXPECT_EQ(t->decode(ids), prompt);
  const Ids all = t->encode(prompt), none = t->encode_with(prompt, {.match_special = false});
  EXPECT_EQ(std::count(all.begin(), all.end(), special), 3);
  EXPECT_EQ(std::count(none.begin(), none.end(), special), 0);
  EXPECT_EQ(t->decode(none), prompt);
}

TEST(HuggingFaceOptions, AMergeMayCrossATypedSpan) {
  const auto t = little("smollm");
  const std::vector<Span> typed = {{3, 6}};
  EXPECT_EQ(t->encode_with("Hello world", {.literal = typed}), t->encode("Hello world"));
}

TEST(HuggingFaceOptions, LongTextsKeepTheirAddedTokens) {
  const auto t = little("llama3");
  const Ids all = t->encode_with("Hello world, hello", {.add_special = true});
  const Ids cut = t->encode_with("Hello world, hello", {.add_special = true, .max_length = 3});
  EXPECT_EQ(cut, Ids(all.begin(), all.begin() + 3));
}

TEST(HuggingFaceOptions, NamesOfSpecialTokens) {
  auto names = read_special_tokens(
      R"({"bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": false}, "pad_token": null})",
      "x");
  ASSERT_TRUE(names.ok());
  const auto t = make_huggingface(*read_file(file("unigram")), "x", *names).value();
  EXPECT_EQ(t->special_id("eos_token"), t->id_of("</s>"));
  EXPECT_EQ(t->special_id("pad_token"), std::nullopt);
  EXPECT_EQ(t->separator(), t->id_of("</s>"));
  EXPECT_EQ(t->bytes(t->separator()), "\n");
}

TEST(HuggingFaceOptions, BytesOutsideUtf8BecomeReplacements) {
  const auto t = little("gpt2");
  EXPECT_EQ(t->encode("a\xff\xe2\x82z"), t->encode("a\uFFFD\uFFFD\uFFFDz"));
  EXPECT_THROW(t->token_of(100000), Error);
  EXPECT_THROW(t->token_of(-1), Error);
}

TEST(HuggingFaceOptions, AWordOfAMebibyteTakesSeconds) {
  const auto t = little("llama2");  // no pre-tokenizer: one split
  const std::string text(std::size_t{1} << 20, 'a');
  EXPECT_EQ(t->decode(t->encode(text)), text);
}

std::string damaged(const std::string& pointer, const json& value,
                    const std::string& name = "gpt2") {
  json file = read(name);
  file[json::json_pointer(pointer)] = value;
  auto t = make_huggingface(file.dump(), "t.json");
  EXPECT_FALSE(t.ok()) << pointer;
  return t.ok() ? "" : t.status().message();
}

TEST(HuggingFaceDamaged, SaysWhatIsWrong) {
  EXPECT_THAT(damaged("/version", "2.0"), HasSubstr("version is 2.0"));
  EXPECT_THAT(damaged("/model/type", "GPT"), HasSubstr("model GPT is unknown"));
  EXPECT_THAT(damaged("/model/vocab/a", 1), HasSubstr("have the same number 1"));
  EXPECT_THAT(damaged("/model/vocab/a", -1), HasSubstr("has the number -1"));
  EXPECT_THAT(damaged("/model/vocab/a", 1 << 30), HasSubstr("allowed is 0 to"));
  EXPECT_THAT(damaged("/model/vocab/a", "b"), HasSubstr("has the number \"b\""));
  EXPECT_THAT(damaged("/model/merges/0", "a b c"), HasSubstr("no pair"));
  EXPECT_THAT(damaged("/model/merges/0", "a zzzz"), HasSubstr("needs a token"));
  EXPECT_THAT(damaged("/pre_tokenizer/type", "X"), HasSubstr("pre_tokenizer X is unknown"));
  EXPECT_THAT(damaged("/decoder/type", "X"), HasSubstr("decoder X is unknown"));
  EXPECT_THAT(damaged("/normalizer", json{{"type", "X"}}), HasSubstr("normalizer X is unknown"));
  EXPECT_THAT(damaged("/added_tokens/0/content", std::string(5000, 'x')), HasSubstr("5000 bytes"));
  EXPECT_THAT(damaged("/added_tokens/0/content", "x1"), HasSubstr("same number"));
  EXPECT_THAT(damaged("/pre_tokenizer/pretokenizers/0/pattern/Regex", "(", "llama3"),
              HasSubstr("no regular expression"));
  EXPECT_THAT(
      damaged("/pre_tokenizer/pretokenizers/0/pattern/Regex", std::string(5000, 'x'), "llama3"),
      HasSubstr("5000 bytes"));
  EXPECT_THAT(damaged("/model/unk_id", 100000, "unigram"), HasSubstr("unk_id is 100000"));
  EXPECT_THAT(damaged("/normalizer/normalizers/0/precompiled_charsmap", "AAAA", "unigram"),
              HasSubstr("precompiled_charsmap"));
  EXPECT_THAT(damaged("/normalizer/normalizers/0/precompiled_charsmap", "////////", "unigram"),
              HasSubstr("trie"));
  EXPECT_THAT(make_huggingface(R"({"model": {}, "model": {}})", "t").status().message(),
              HasSubstr("key 'model' twice"));
  EXPECT_THAT(make_huggingface(std::string(1000, '['), "t").status().message(),
              HasSubstr("nests beyond 64"));
  EXPECT_EQ(load_huggingface("/nowhere/at/all").status().code(), Code::not_found);
}

/// What transformers makes of vocab.json and merges.txt: tools/goldens/vocab_merges.py.
TEST(VocabAndMerges, EqualTransformers) {
  for (const char* kind : {"gpt2", "qwen2"}) {
    const std::string at = folder() + "/../vocab_merges/" + kind;
    const auto t = load_huggingface(at);
    ASSERT_TRUE(t.ok()) << t.status().message();
    for (const json& one : json::parse(read_file(at + "/golden.json").value())) {
      const std::string text = one["text"];
      EXPECT_EQ((*t)->encode(text), one["tokens"].get<Ids>()) << kind << ": " << text;
      EXPECT_EQ((*t)->decode_with(one["tokens"].get<Ids>(), false), one["back"].get<std::string>());
    }
  }
}

TEST(VocabAndMerges, SayWhatIsWrong) {
  const std::filesystem::path at = testing::TempDir() + "vocab_merges";
  std::filesystem::create_directories(at);
  const auto message = [&](const std::string& vocabulary, const std::string& merges,
                           const std::string& config) {
    std::ofstream(at / "vocab.json") << vocabulary;
    std::ofstream(at / "merges.txt") << merges;
    std::ofstream(at / "tokenizer_config.json") << config;
    return load_huggingface(at.string()).status().message();
  };
  const std::string good = R"({"a": 0, "b": 1, "ab": 2})";
  EXPECT_EQ(message(good, "a b\n", "{}"), "");
  EXPECT_THAT(message("[1]", "a b\n", "{}"), HasSubstr("vocab.json: no object"));
  EXPECT_THAT(message(good, "a c\n", "{}"), HasSubstr("c"));
  EXPECT_THAT(message(good, "ab\n", "{}"), HasSubstr("ab"));
  EXPECT_THAT(message(good, "a b\n", R"({"tokenizer_class": "CLIPTokenizer"})"),
              HasSubstr("tokenizer_class CLIPTokenizer is unknown without a tokenizer.json"));
  EXPECT_THAT(message(good, "a b\n", R"({"added_tokens_decoder": {"x": {}}})"),
              HasSubstr("added_tokens_decoder has 'x'"));
  EXPECT_THAT(message(good, "a b\n", R"({"added_tokens_decoder": {"3": {"content": 7}}})"),
              testing::Not(testing::IsEmpty()));
  std::filesystem::remove_all(at);
}

TEST(HuggingFaceDamaged, TruncatedFilesAreRefused) {
  const std::string whole = *read_file(file("bert"));
  for (std::size_t n = 0; n + 2 < whole.size(); n += 97)
    EXPECT_FALSE(make_huggingface(whole.substr(0, n), "t").ok()) << n;
}

TEST(HuggingFaceDamaged, AnExpressionWithoutBoundGivesUp) {
  json file = read("llama3");
  file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "(a+)+$";
  const auto t = make_huggingface(file.dump(), "t").value();
  EXPECT_THROW(t->encode(std::string(64, 'a') + "b"), Error);
}

}  // namespace
}  // namespace strata::tokenizer
