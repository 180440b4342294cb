#include "strata/base/text.h"

#include <gtest/gtest.h>

#include <random>

#include "strata/base/checksum.h"

namespace strata {
namespace {

TEST(EditDistance, CountsInsertionsRemovalsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("steps", "steps"), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("step", "steps"), 1u);
  EXPECT_EQ(edit_distance("setps", "steps"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, FindsWhatWasMeant) {
  const std::string_view names[] = {"steps", "learning_rate", "base_emb_dim"};
  EXPECT_EQ(nearest("stesp", names), "steps");
  EXPECT_EQ(nearest("learning-rate", names), "learning_rate");
  EXPECT_EQ(nearest("emb_dim", names), "base_emb_dim");
  EXPECT_EQ(nearest("batch", names), "");
}

TEST(DidYouMean, EndsAMessage) {
  const std::string_view names[] = {"steps", "learning_rate"};
  EXPECT_EQ(did_you_mean("stesp", names), "; did you mean 'steps'?");
  EXPECT_EQ(did_you_mean("batch", names), "");
}

TEST(HumanCount, KeepsThreeDigits) {
  EXPECT_EQ(human_count(950), "950");
  EXPECT_EQ(human_count(12345), "12.3 k");
  EXPECT_EQ(human_count(1836544), "1.84 M");
}

TEST(HumanTime, HasHoursWhenNeeded) {
  EXPECT_EQ(human_time(7), "0:07");
  EXPECT_EQ(human_time(754.4), "12:34");
  EXPECT_EQ(human_time(3723), "1:02:03");
  EXPECT_EQ(human_time(-1), "?");
}

TEST(InvalidUtf8, CountsBadBytes) {
  EXPECT_EQ(invalid_utf8("plain"), 0u);
  EXPECT_EQ(invalid_utf8("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), 0u);
  EXPECT_EQ(invalid_utf8("\xff"), 1u);
  EXPECT_EQ(invalid_utf8("\xc0\xaf"), 2u) << "overlong";
  EXPECT_EQ(invalid_utf8("\xed\xa0\x80"), 3u) << "surrogate";
  EXPECT_EQ(invalid_utf8("ab\xe2\x82"), 2u) << "cut";
}

TEST(Crc32c, HasTheExamplesOfTheStandard) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(hex32(0x8a9136aa), "8a9136aa");
}

TEST(Crc32c, InstructionAndTableAgreeAndContinue) {
  std::mt19937 random(1);
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(crc32c(bytes), crc32c_by_table(bytes));
    const std::size_t cut = bytes.size() / 3;
    EXPECT_EQ(crc32c(bytes.substr(cut), crc32c(bytes.substr(0, cut))), crc32c(bytes));
    bytes.push_back(static_cast<char>(random()));
  }
}

}  // namespace
}  // namespace strata
