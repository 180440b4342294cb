#include "strata/partition/addends/exact_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "strata/base/error.h"

namespace strata::spmd {
namespace {

/// exact_sums() where the variable says that.
bool when(const char* text) {
  const char* had = std::getenv("STRATA_EXACT_SUMS");
  const std::optional<std::string> before =
      had == nullptr ? std::nullopt : std::optional<std::string>(had);
  struct Back {
    const std::optional<std::string>& to;
    ~Back() {
      if (to)
        ::setenv("STRATA_EXACT_SUMS", to->c_str(), 1);
      else
        ::unsetenv("STRATA_EXACT_SUMS");
    }
  } back{before};
  if (text == nullptr)
    ::unsetenv("STRATA_EXACT_SUMS");
  else
    ::setenv("STRATA_EXACT_SUMS", text, 1);
  return exact_sums();
}

TEST(ExactSums, AreAskedForByOneAndTrue) {
  EXPECT_TRUE(when("1"));
  EXPECT_TRUE(when("true"));
  for (const char* text : {"0", "false", ""}) EXPECT_FALSE(when(text));
  EXPECT_FALSE(when(nullptr));
}

TEST(ExactSums, OtherWordsAreRefused) {
  for (const char* text : {"yes", "2", "TRUE", " 1"}) try {
      when(text);
      FAIL() << text;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), ::testing::HasSubstr("STRATA_EXACT_SUMS"));
      EXPECT_THAT(e.what(), ::testing::HasSubstr(text));
    }
}

}  // namespace
}  // namespace strata::spmd
