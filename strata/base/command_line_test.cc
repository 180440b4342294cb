#include "strata/base/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/base/version.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Values {
  std::string word = "a", choice = "x";
  std::vector<std::string> list, rest;
  int width = 80;
  std::uint64_t seed = 0;
  double heat = 1;
  bool json = false;
};

/// The exit status of `draw ARGUMENTS...`, -1 to go on; what was printed goes to `said`.
int parsed(Values& v, std::vector<std::string> arguments, std::string* said = nullptr) {
  CommandLine line("Draws.", "draw");
  line.add_option("--word", v.word, "a word");
  line.add_option("--choice", v.choice, "one of two").one_of({"x", "y"});
  line.add_option("--list", v.list, "a list").delimiter(',');
  line.add_option("--width", v.width, "columns").in_range(8, 400).show_default();
  line.add_option("--seed", v.seed, "a seed");
  line.add_option("--heat", v.heat, "a number").in_range(0.0, 2.0);
  line.add_option("--even", v.word, "even letters").check([](const std::string& s) {
    return s.size() % 2 == 0 ? "" : "'" + s + "' is odd";
  });
  line.add_flag("--json", v.json, "for programs");
  line.add_option("rest", v.rest, "the rest").required();
  arguments.insert(arguments.begin(), "draw");
  std::vector<char*> pointers;
  for (std::string& a : arguments) pointers.push_back(a.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  std::optional<int> status = line.parse(static_cast<int>(pointers.size()), pointers.data());
  std::string all = testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
  if (said != nullptr) *said = all;
  return status.value_or(-1);
}

TEST(CommandLine, values_of_each_kind) {
  Values v;
  EXPECT_EQ(parsed(v, {"--word", "b", "--choice=y", "--list", "p,q", "--width", "9", "--seed",
                       "18446744073709551615", "--heat", "0.5", "--json", "1", "2"}),
            -1);
  EXPECT_EQ(v.word, "b");
  EXPECT_EQ(v.choice, "y");
  EXPECT_THAT(v.list, ElementsAre("p", "q"));
  EXPECT_EQ(v.width, 9);
  EXPECT_EQ(v.seed, ~std::uint64_t{0});
  EXPECT_EQ(v.heat, 0.5);
  EXPECT_TRUE(v.json);
  EXPECT_THAT(v.rest, ElementsAre("1", "2"));
}

TEST(CommandLine, mistakes_name_the_option_and_what_is_allowed) {
  Values v;
  std::string said;
  for (const auto& [arguments, message] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "rest is required"},
           {{"--width", "7", "r"}, "--width: Value 7 not in range"},
           {{"--width", "wide", "r"}, "--width"},
           {{"--heat", "3", "r"}, "--heat: Value 3 not in range"},
           {{"--choice", "z", "r"}, "--choice: z not in {x,y}"},
           {{"--even", "abc", "r"}, "'abc' is odd"},
           {{"--colour", "red"}, "unknown option '--colour'\n"},
           {{"--widht", "9", "r"}, "unknown option '--widht'; did you mean '--width'?"},
           {{"--wdith=9"}, "unknown option '--wdith'; did you mean '--width'?"},
           {{"--word", "--widht", "--sed", "1"}, "unknown option '--sed'; did you mean '--seed'?"},
           {{"r", "-x"}, "unknown option '-x'"}}) {
    EXPECT_EQ(parsed(v, arguments, &said), 2) << message;
    EXPECT_THAT(said, HasSubstr(message));
  }
}

TEST(CommandLine, version_is_the_programs) {
  Values v;
  std::string said;
  EXPECT_EQ(parsed(v, {"--version"}, &said), 0);
  EXPECT_EQ(said, "draw " STRATA_VERSION "\n");
}

TEST(CommandLine, words_behind_a_dash_that_are_no_options_are_values) {
  Values v;
  EXPECT_EQ(parsed(v, {"--word", "--widht", "r"}), -1);
  EXPECT_EQ(v.word, "--widht");
  EXPECT_EQ(parsed(v, {"--", "--widht"}), -1);
  EXPECT_THAT(v.rest, ElementsAre("--widht"));
}

TEST(CommandLine, an_unknown_option_may_have_a_hint) {
  CommandLine line("Does things.", "do");
  CommandLine& command = line.add_subcommand("one", "does one");
  command.hint([](const std::string& name) { return "; " + name + " is no option"; });
  std::string program = "do", one = "one", option = "--steps=3";
  char* arguments[] = {program.data(), one.data(), option.data(), nullptr};
  testing::internal::CaptureStderr();
  EXPECT_EQ(line.parse(3, arguments), 2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("unknown option '--steps'; steps is no option"));
}

TEST(CommandLine, help_shows_defaults_that_are_asked_for) {
  Values v;
  std::string said;
  EXPECT_EQ(parsed(v, {"--help"}, &said), 0);
  EXPECT_THAT(said, HasSubstr("Draws."));
  EXPECT_THAT(said, HasSubstr("=80"));
}

TEST(CommandLine, subcommands_have_a_line_in_the_list_and_a_page_of_their_own) {
  CommandLine line("Does things.", "do");
  line.require_subcommand();
  std::string ran;
  for (const char* name : {"one", "two"}) {
    CommandLine& command = line.add_subcommand(name, std::string("does ") + name);
    command.description(std::string("A long text about ") + name + ".");
    command.callback([&ran, name] { ran = name; });
  }
  EXPECT_THAT(line.help(), HasSubstr("does two"));
  EXPECT_THAT(line.help(), Not(HasSubstr("A long text")));
  std::string program = "do", two = "two", help = "--help";
  char* arguments[] = {program.data(), two.data(), nullptr};
  EXPECT_EQ(line.parse(2, arguments), std::nullopt);
  EXPECT_EQ(ran, "two");
  char* asks[] = {program.data(), two.data(), help.data(), nullptr};
  testing::internal::CaptureStdout();
  EXPECT_EQ(line.parse(3, asks), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("A long text about two."));
  testing::internal::CaptureStderr();
  EXPECT_EQ(line.parse(1, arguments), 2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("subcommand"));
}

TEST(CommandLine, an_unknown_subcommand_is_named_with_what_was_meant) {
  CommandLine line("Does things.", "do");
  line.require_subcommand();
  for (const char* name : {"first", "second"}) line.add_subcommand(name, "does it");
  std::string program = "do", swapped = "frist", other = "elephant", first = "first",
              option = "--many";
  auto said = [&](std::string& word) {
    char* arguments[] = {program.data(), word.data(), nullptr};
    testing::internal::CaptureStderr();
    EXPECT_EQ(line.parse(2, arguments), 2);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(said(swapped), HasSubstr("unknown subcommand 'frist'; did you mean 'first'?"));
  EXPECT_THAT(said(other), HasSubstr("unknown subcommand 'elephant'; there are first, second"));
  EXPECT_THAT(said(option), Not(HasSubstr("unknown subcommand")));
  char* behind[] = {program.data(), first.data(), option.data(), nullptr};
  testing::internal::CaptureStderr();
  EXPECT_EQ(line.parse(3, behind), 2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("unknown subcommand")));
}

}  // namespace
}  // namespace strata
