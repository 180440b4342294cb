#include "strata/tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/tokenizer/sentencepiece.h"
#include "strata/tokenizer/utf8.h"

namespace strata::tokenizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Some pages of text with repeated words, indentation and other alphabets.
std::string little_book() {
  std::string out;
  std::mt19937 random(3);
  for (int i = 0; i < 400; ++i) {
    for (int syllable = 0; syllable < 12; ++syllable) {
      for (const char* letters : {"bcdfglmnprst", "aeiou", "nrst "})
        out += letters[random() % std::char_traits<char>::length(letters)];
    }
    out += "Verse " + std::to_string(i * i % 97) +
           " of a little book, wherein the waters were divided.\n";
    out += "def method_" + std::to_string(i % 13) +
           "(self, value):\n        return self.value + value\n";
    if (i % 20 == 0) out += "na\xc3\xafve caf\xc3\xa9 \xe2\x86\x92 \xce\xb1\xce\xb2\xce\xb3\n";
  }
  return out;
}

std::shared_ptr<const Tokenizer> little_tokenizer(const std::string& algorithm) {
  const std::string text = little_book();
  auto model = train_tokenizer({text}, {.algorithm = algorithm, .vocab_size = 520});
  EXPECT_TRUE(model.ok()) << model.status().message();
  auto tokenizer = make_sentencepiece(*model, "little");
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return *tokenizer;
}

std::string random_bytes(std::mt19937& random, std::size_t n, bool zero) {
  std::string out;
  while (out.size() < n)
    out.push_back(static_cast<char>(random() % (zero ? 256 : 255) + (zero ? 0 : 1)));
  return out;
}

std::string random_text(std::mt19937& random, std::size_t n) {
  static const char* kCharacters[] = {"a",
                                      "e",
                                      " ",
                                      "  ",
                                      "\n",
                                      "\t",
                                      "\r\n",
                                      "\xc3\xa9",
                                      "\xe2\x96\x81",
                                      "\xe2\x81\x87",
                                      "\xf0\x9f\x8c\x8d",
                                      "\xef\xbb\xbf",
                                      "\xcc\x81",
                                      "the ",
                                      "value",
                                      "\x7f",
                                      "\x01",
                                      "<0x41>",
                                      "</s>",
                                      "<unk>",
                                      "\xe3\x80\x80",
                                      "\xef\xbc\xa1"};
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += kCharacters[random() % std::size(kCharacters)];
  return out;
}

TEST(Utf8, KnowsWholeCharacters) {
  EXPECT_EQ(character("a"), 1u);
  EXPECT_EQ(character("\xc3\xa9x"), 2u);
  EXPECT_EQ(character("\xf0\x9f\x8c\x8d"), 4u);
  for (const char* bad : {"", "\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"})
    EXPECT_EQ(character(bad), 0u) << bad;
  EXPECT_TRUE(may_become_character("\xf0\x9f\x8c"));
  for (const char* never : {"", "\x80", "\xe0\x80", "\xf0\x80", "\xff"})
    EXPECT_FALSE(may_become_character(never)) << never;
  EXPECT_EQ(first_invalid("0123456789\xc3\xa9 \xff"), 13u);
  EXPECT_EQ(first_invalid("0123456789\xc3\xa9 01234567"), std::string::npos);
}

TEST(ByteTokenizer, TokensAreBytes) {
  ByteTokenizer t;
  EXPECT_THAT(t.encode("A\xc3\xa9"), ElementsAre(65, 0xc3, 0xa9));
  EXPECT_EQ(t.decode(std::vector<std::int32_t>{72, 105, 0, 33}), "Hi\n!");
  EXPECT_THROW(t.bytes(256), Error);
  EXPECT_THROW(t.bytes(-1), Error);
}

/// Law: what is decoded is what was encoded, whole or in parts, and a stream says the same.
TEST(Tokenizer, DecodesWhatItEncodes) {
  std::vector<std::shared_ptr<const Tokenizer>> all = {
      std::make_shared<ByteTokenizer>(), little_tokenizer("bpe"), little_tokenizer("unigram")};
  std::mt19937 random(7);
  for (const auto& t : all) {
    for (int i = 0; i < 300; ++i) {
      const std::string text = i % 3 == 0 ? random_bytes(random, random() % 60, t->type() != "byte")
                                          : random_text(random, random() % 60);
      const auto tokens = t->encode(text);
      ASSERT_EQ(t->decode(tokens), text) << t->fingerprint();
      for (std::int32_t token : tokens)
        ASSERT_TRUE(token >= 0 && token < t->vocab_size() && token != t->separator());
      if (first_invalid(text) != std::string::npos) continue;
      StreamDecoder stream(*t);
      std::string said;
      for (std::int32_t token : tokens) {
        const std::string piece = stream.add(token);
        ASSERT_EQ(first_invalid(piece), std::string::npos);
        said += piece;
      }
      ASSERT_EQ(said + stream.finish(), text);
    }
  }
}

std::string testdata(const std::string& name) {
  auto bytes =
      read_file((std::filesystem::path(__FILE__).parent_path() / "testdata" / name).string());
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return *bytes;
}

/// What the Python package makes of texts: tools/goldens/sentencepiece_models.py.
TEST(Tokenizer, GivesThePythonPackagesTokens) {
  const auto golden = nlohmann::json::parse(testdata("tokenizers.json"));
  for (const auto& [name, expected] : golden["models"].items()) {
    auto t = make_sentencepiece(testdata(name + ".model"), name);
    ASSERT_TRUE(t.ok()) << t.status().message();
    EXPECT_EQ((*t)->vocab_size(), expected["vocab_size"].get<std::int64_t>());
    for (const auto& c : expected["cases"]) {
      const auto tokens = (*t)->encode(c["text"].get<std::string>());
      EXPECT_EQ(tokens, c["tokens"].get<std::vector<std::int32_t>>()) << name << ": " << c["text"];
      // A token for what is unknown is U+FFFD here and " \u2047 " there.
      const bool unknown = std::find(tokens.begin(), tokens.end(), 0) != tokens.end();
      if (!unknown) {
        EXPECT_EQ((*t)->decode(tokens), c["decoded"].get<std::string>()) << name;
      }
    }
  }
}

/// A model that puts a space in front of each text and has no bytes: other people's models need not
/// keep texts whole, but spaces and known characters come back.
TEST(Tokenizer, KeepsWhatOthersModelsKnow) {
  auto t = make_sentencepiece(testdata("other.model"), "other");
  EXPECT_EQ((*t)->decode((*t)->encode("def method_7(self, value):")), "def method_7(self, value):");
  EXPECT_EQ((*t)->encode("def").size() + (*t)->encode("value").size(),
            (*t)->encode("def value").size());
  StreamDecoder stream(**t);
  std::string said;
  for (std::int32_t token : (*t)->encode("self")) said += stream.add(token);
  EXPECT_EQ(said, " self");  // a stream goes on after other text
}

TEST(Tokenizer, PartsOfATextAreEncodedAlike) {
  std::string text;
  while (text.size() < 150000) text += little_book();
  for (const auto& t : {little_tokenizer("bpe"), little_tokenizer("unigram")}) {
    const std::size_t part = t->part(text);
    EXPECT_LT(part, text.size());
    std::vector<std::int32_t> joined;
    for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(t->part(rest))) {
      const auto tokens = t->encode(rest.substr(0, t->part(rest)));
      joined.insert(joined.end(), tokens.begin(), tokens.end());
    }
    EXPECT_EQ(joined, t->encode(text));
  }
}

TEST(StreamDecoder, HoldsBackUnfinishedCharacters) {
  ByteTokenizer t;
  StreamDecoder stream(t);
  EXPECT_EQ(stream.add(0xf0), "");
  EXPECT_EQ(stream.add(0x9f), "");
  EXPECT_EQ(stream.add(0x8c), "");
  EXPECT_EQ(stream.add(0x8d), "\xf0\x9f\x8c\x8d");
  EXPECT_EQ(stream.add(0xc3), "");
  EXPECT_EQ(stream.add('a'),
            "\xef\xbf\xbd"
            "a");
  EXPECT_EQ(stream.add(0x80), "\xef\xbf\xbd");
  EXPECT_EQ(stream.add(0xe2), "");
  EXPECT_EQ(stream.finish(), "\xef\xbf\xbd");
  EXPECT_EQ(stream.finish(), "");
}

TEST(TrainTokenizer, GivesTheSameFileForTheSameTexts) {
  const std::string text = little_book();
  for (const char* algorithm : {"bpe", "unigram"}) {
    const TokenizerTraining o{.algorithm = algorithm, .vocab_size = 600};
    auto first = train_tokenizer({text}, o), second = train_tokenizer({text}, o);
    ASSERT_TRUE(first.ok()) << first.status().message();
    EXPECT_EQ(*first, *second);
    auto t = make_sentencepiece(*first, "t");
    EXPECT_EQ((*t)->vocab_size(), 600);
    EXPECT_EQ((*t)->encode("\n").size(), 1u);
    EXPECT_LT((*t)->encode(text).size(), text.size() * 2 / 3);
  }
}

TEST(TrainTokenizer, SaysWhatCannotBe) {
  const std::string book = little_book();
  auto message = [](std::vector<std::string_view> texts, TokenizerTraining o) {
    return train_tokenizer(texts, o).status().message();
  };
  EXPECT_THAT(message({book}, {.algorithm = "words"}),
              HasSubstr("algorithm words: allowed is bpe or unigram"));
  EXPECT_THAT(message({book}, {.vocab_size = 100}),
              HasSubstr("vocab_size=100: allowed is 512 to 1000000"));
  EXPECT_THAT(message({}, {}), HasSubstr("no text"));
  EXPECT_THAT(message({"\n\n"}, {}), HasSubstr("no text"));
  for (const char* algorithm : {"bpe", "unigram"})
    EXPECT_THAT(message({"a few words"}, {.algorithm = algorithm}),
                AllOf(HasSubstr("no tokenizer of 8192 tokens can be trained on 11 bytes of text"),
                      HasSubstr("and vocab_size is 512 at least: give more text")));
  EXPECT_THAT(message({book}, {.vocab_size = 900000}),
              HasSubstr("set vocab_size to at most that, or give more text"));
  std::string characters;
  for (char third = '\x80'; third <= '\xbf'; ++third)
    for (char second = '\x80'; second <= '\x9f'; ++second)
      characters += std::string("\xe4") + second + third;
  EXPECT_THAT(message({characters}, {.vocab_size = 512}),
              HasSubstr("its characters alone take 2306: set vocab_size to at least that"));
}

TEST(LoadTokenizer, SaysWhatIsWrong) {
  auto message = [](const std::string& type, const std::string& path) {
    return load_tokenizer(type, path).status().message();
  };
  const std::string path = testing::TempDir() + "broken.model";
  const std::string model = little_tokenizer("bpe")->model();
  EXPECT_THAT(message("tiktoken", ""),
              HasSubstr("tokenizer_type=tiktoken: allowed is byte, sentencepiece or huggingface"));
  EXPECT_THAT(message("byte", path), HasSubstr("needs no file"));
  EXPECT_THAT(message("sentencepiece", ""), HasSubstr("tokenizer_path is not set"));
  EXPECT_THAT(message("sentencepiece", testing::TempDir() + "absent.model"),
              HasSubstr("absent.model: cannot open"));
  for (const std::string& bytes : {std::string("no model"), std::string(),
                                   model.substr(0, model.size() / 2), model.substr(1)}) {
    std::ofstream(path, std::ios::binary) << bytes;
    EXPECT_THAT(message("sentencepiece", path), HasSubstr("broken.model"));
  }
}

}  // namespace
}  // namespace strata::tokenizer
