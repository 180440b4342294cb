#include "strata/train/maxtext/yaml.h"

#include <gtest/gtest.h>

#include "strata/train/maxtext/rules.h"

namespace strata::train::maxtext {
namespace {

std::string read(const std::string& text) { return repr(read_yaml(text)); }

TEST(MaxTextYaml, WordsAreWhatOmegaConfTakesThemFor) {
  EXPECT_EQ(read("1e-05"), "1e-05");
  EXPECT_EQ(read("1.e+2"), "100.0");
  EXPECT_EQ(read("150_001"), "150001");
  EXPECT_EQ(read("0x10"), "16");
  EXPECT_EQ(read("010"), "8");
  EXPECT_EQ(read("1:30"), "90");
  EXPECT_EQ(read("yes"), "True");
  EXPECT_EQ(read("Off"), "False");
  EXPECT_EQ(read("'yes'"), "'yes'");
  EXPECT_EQ(read(""), "None");
  EXPECT_EQ(read("~"), "None");
  EXPECT_EQ(read("none"), "'none'");
  EXPECT_EQ(read("v5e-16"), "'v5e-16'");
  EXPECT_EQ(read("[silu, linear]"), "['silu', 'linear']");
  EXPECT_EQ(read("-.inf"), "-inf");
}

TEST(MaxTextYaml, DamagedTextIsRefused) {
  for (const char* text : {"[1", "{a: [}", "a: b: c", "\"\\x\""})
    EXPECT_THROW((void)read_yaml(text), Refused) << text;
  EXPECT_THROW((void)read_yaml(std::string(80, '[') + std::string(80, ']')), Refused);
  std::string aliases = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    aliases += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) aliases += (k ? ", *a" : "*a") + std::to_string(i - 1);
    aliases += "]\n";
  }
  EXPECT_THROW((void)read_yaml(aliases), Refused);
}

TEST(MaxTextYaml, ArgumentsNestByDotsAndBrackets) {
  Dict root;
  for (const char* argument : {"a.b=1", "a.c[d]=x", "e=f=g", "h"}) {
    const auto [key, value] = read_argument(argument);
    update(root, key, value);
  }
  EXPECT_EQ(repr(root), "{'a': {'b': 1, 'c': {'d': 'x'}}, 'e': 'f=g', 'h': None}");
  EXPECT_THROW(update(root, "e.f", 1), Refused);
}

TEST(MaxTextYaml, MergedTablesKeepWhatIsNotSaidAgain) {
  const Value merged =
      merge(read_yaml("{a: {b: 1, c: 2}, d: [1, 2]}"), read_yaml("{a: {c: 3}, d: [4]}"));
  EXPECT_EQ(repr(merged), "{'a': {'b': 1, 'c': 3}, 'd': [4]}");
}

}  // namespace
}  // namespace strata::train::maxtext
