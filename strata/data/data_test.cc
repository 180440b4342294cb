#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "strata/base/error.h"
#include "strata/data/batches.h"
#include "strata/data/corpus.h"
#include "strata/data/shuffle.h"
#include "strata/data/tokenizer.h"

namespace strata::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "data_XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << bytes;
    return path_ + "/" + name;
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::vector<std::uint64_t> images(std::uint64_t n, std::uint32_t seed, std::uint64_t count) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < count; ++i) out.push_back(index_shuffle(i, n - 1, seed));
  return out;
}

TEST(ByteTokenizer, TokensAreBytes) {
  ByteTokenizer t;
  EXPECT_THAT(t.encode("A\xc3\xa9"), ElementsAre(65, 0xc3, 0xa9));
  EXPECT_EQ(t.decode({72, 105, 0, 33}), "Hi\n!");
  EXPECT_THROW(t.decode({256}), Error);
}

TEST(IndexShuffle, GivesGrainsNumbers) {
  EXPECT_THAT(images(10, 42, 10), ElementsAre(8, 6, 7, 9, 0, 5, 1, 2, 4, 3));
  EXPECT_THAT(images(10, 0, 10), ElementsAre(0, 4, 6, 7, 8, 3, 1, 9, 5, 2));
  EXPECT_THAT(images(5, 1, 5), ElementsAre(1, 2, 3, 0, 4));
  EXPECT_THAT(images(1000, 42, 8), ElementsAre(394, 591, 809, 524, 88, 975, 241, 664));
  EXPECT_THAT(images(1000000, 42, 8), ElementsAre(42268, 341132, 759687, 923295, 377951, 21919, 980580, 751404));
  EXPECT_THAT(images(1234567892, 27, 3), ElementsAre(103931463, 222438862, 118128102));
  EXPECT_THAT(images((std::uint64_t{1} << 40) + 5, 7, 2), ElementsAre(438306820087, 562939060878));
}

TEST(IndexShuffle, IsAPermutation) {
  for (std::uint64_t n : {1, 2, 3, 255, 256, 257, 5000}) {
    std::vector<std::uint64_t> all = images(n, 9, n);
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), n);
  }
}

TEST(Corpus, JoinsFilesWithSeparatorsAndKeepsTheEndForEvaluation) {
  Folder folder;
  folder.write("b.txt", "second");
  folder.write("a.txt", "first");
  auto corpus = read_corpus({folder / "*.txt"}, {.eval_fraction = 0.25});
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  EXPECT_EQ(corpus->tokens(), std::string_view("first\0second", 12));
  EXPECT_EQ(corpus->train(), std::string_view("first\0sec", 9));
  EXPECT_EQ(corpus->eval(), "ond");
}

TEST(Corpus, ChecksumTellsTextsApart) {
  Folder folder;
  auto a = read_corpus({folder.write("a.txt", "one text")}), b = read_corpus({folder.write("b.txt", "one test")});
  EXPECT_NE(a->checksum(), b->checksum());
}

TEST(Corpus, RefusesWhatIsNoText) {
  Folder folder;
  auto message = [&](const std::string& path) { return read_corpus({path}).status().message(); };
  EXPECT_THAT(message(folder.write("empty.txt", "")), HasSubstr("empty.txt: the file is empty"));
  EXPECT_THAT(message(folder.write("nul.bin", std::string("text\0text", 9))), HasSubstr("nul.bin: not a text file: byte 4 of 9 is NUL"));
  EXPECT_THAT(message(folder.write("latin.bin", "\xff\xfe\x80 ab")), HasSubstr("3 of 6 bytes are not UTF-8"));
  EXPECT_THAT(message(folder / "absent.txt"), HasSubstr("absent.txt: cannot open"));
  EXPECT_THAT(message(folder / "*.absent"), HasSubstr("*.absent: no file matches"));
  EXPECT_THAT(message(folder / ""), HasSubstr("is a folder"));
}

TEST(Corpus, AFewBadBytesAreStillText) {
  Folder folder;
  EXPECT_TRUE(read_corpus({folder.write("a.txt", std::string(500, 'x') + "\xe9")}).ok());
}

TEST(Batches, TargetsAreTheNextTokens) {
  auto batches = Batches::make("abcdefghijk", {.batch = 2, .length = 5, .in_order = true});
  ASSERT_TRUE(batches.ok());
  EXPECT_EQ(batches->windows(), 2);
  Batch b = batches->at(0);
  EXPECT_EQ(b.tokens.shape(), (Shape{2, 5}));
  EXPECT_THAT(b.tokens.span<std::int32_t>(), ElementsAre('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'));
  EXPECT_THAT(b.targets.span<std::int32_t>(), ElementsAre('b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'));
}

TEST(Batches, EachEpochVisitsEachWindowOnceInItsOwnOrder) {
  const std::string text(1001, 'x');
  auto batches = Batches::make(text, {.batch = 4, .length = 10, .seed = 3});
  std::vector<std::int64_t> first, second;
  for (std::int64_t k = 0; k < 100; ++k) first.push_back(batches->window(k)), second.push_back(batches->window(100 + k));
  EXPECT_NE(first, second);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 100u);
  EXPECT_EQ(std::set(second.begin(), second.end()).size(), 100u);
}

TEST(Batches, ABatchDependsOnItsNumberAndTheSeedOnly) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text.push_back(static_cast<char>('a' + i * i % 26));
  const BatchOptions o{.batch = 3, .length = 17, .seed = 5};
  auto batches = Batches::make(text, o), again = Batches::make(text, o);
  for (std::int64_t step = 0; step < 40; ++step) (void)batches->at(step);
  EXPECT_TRUE(batches->at(37).tokens.same_bits(again->at(37).tokens));
  auto other = Batches::make(text, {.batch = 3, .length = 17, .seed = 6});
  EXPECT_FALSE(batches->at(37).tokens.same_bits(other->at(37).tokens));
}

TEST(Batches, SayWhenTheTextIsTooShort) {
  EXPECT_THAT(Batches::make("abc", {.batch = 1, .length = 8}).status().message(),
              HasSubstr("3 tokens hold 0 windows of 8 + 1, at least 1"));
  EXPECT_THAT(Batches::make("", {.batch = 1, .length = 8}).status().message(), HasSubstr("too short"));
  EXPECT_THAT(Batches::make("abcdefghi", {.batch = 2, .length = 8, .in_order = true}).status().message(), HasSubstr("at least 2"));
}

}  // namespace
}  // namespace strata::data
