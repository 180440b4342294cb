#include "strata/train/evaluate/stop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace strata::train {
namespace {

TEST(StopStrings, HoldsBackWhatMayBecomeOne) {
  StopStrings stop({"\n\n", "END"});
  EXPECT_EQ(stop.add("one EN"), "one ");
  EXPECT_EQ(stop.add("TRY\n"), "ENTRY");
  EXPECT_EQ(stop.add("more E"), "\nmore ");
  EXPECT_FALSE(stop.found());
  EXPECT_EQ(stop.add("NDLESS"), "");
  EXPECT_TRUE(stop.found());
  EXPECT_EQ(stop.add("nothing more"), "");
  EXPECT_EQ(stop.finish(), "");
}

TEST(StopStrings, TheEndHandsOutWhatIsHeld) {
  StopStrings stop({"abc"});
  EXPECT_EQ(stop.add("xab"), "x");
  EXPECT_EQ(stop.finish(), "ab");
}

TEST(StopStrings, EmptyOnesAreNone) {
  StopStrings stop({""});
  EXPECT_EQ(stop.add("text"), "text");
  EXPECT_FALSE(stop.found());
}

/// However a text is cut, what comes out is the text up to the first stop string.
TEST(StopStrings, CutsMakeNoDifference) {
  std::uint64_t random = 1;
  auto next = [&](std::uint64_t n) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 33) % n;
  };
  for (int round = 0; round < 3000; ++round) {
    auto word = [&](std::uint64_t most) {
      std::string out;
      for (std::uint64_t n = next(most + 1); n > 0; --n) out += static_cast<char>('a' + next(2));
      return out;
    };
    const std::vector<std::string> strings = {word(3), word(4), "é"};
    const std::string text = word(12) + "è" + word(3);
    std::size_t end = text.size();  // the definition: the first place at which a string is
                                    // complete, less the longest that is
    for (std::size_t n = 1; n <= text.size() && end == text.size(); ++n)
      for (const std::string& s : strings)
        if (!s.empty() && text.substr(0, n).ends_with(s)) end = std::min(end, n - s.size());
    StopStrings stop(strings);
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t n = 1 + next(4);
      out += stop.add(text.substr(at, n));
      at += n;
      ASSERT_EQ(out, text.substr(0, out.size()));
    }
    out += stop.finish();
    ASSERT_EQ(out, text.substr(0, end)) << text << " until " << strings[0] << " or " << strings[1];
    ASSERT_EQ(stop.found(), end < text.size()) << text;
  }
}

}  // namespace
}  // namespace strata::train
