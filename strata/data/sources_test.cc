#include "strata/data/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace strata::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

TEST(ParseSources, ReadsPatternsAndWeights) {
  auto s = parse_sources({"kjv/*.txt,0.5;python/**/*.py,0.3;metamath/*.mm,2e-1"});
  ASSERT_TRUE(s.ok());
  ASSERT_EQ(s->size(), 3u);
  EXPECT_EQ((*s)[0].name, "kjv");
  EXPECT_THAT((*s)[1].patterns, ElementsAre("python/**/*.py"));
  EXPECT_EQ((*s)[1].weight, 0.3);
  EXPECT_EQ((*s)[2].weight, 0.2);
}

TEST(ParseSources, AListSaysTheSame) {
  auto text = parse_sources({"a.txt,b.txt; c/*.md,3 ;"}),
       list = parse_sources({"a.txt, b.txt", "c/*.md,3"});
  for (const auto* s : {&text, &list}) {
    ASSERT_EQ((*s)->size(), 2u);
    EXPECT_THAT((**s)[0].patterns, ElementsAre("a.txt", "b.txt"));
    EXPECT_EQ((**s)[0].weight, 1);
    EXPECT_EQ((**s)[1].weight, 3);
  }
}

TEST(ParseSources, NamesMayHoldWhatSeparates) {
  auto s = parse_sources({R"(a\,b.txt,2;c\;d/*.md)"});
  ASSERT_TRUE(s.ok());
  ASSERT_EQ(s->size(), 2u);
  EXPECT_THAT((*s)[0].patterns, ElementsAre("a,b.txt"));
  EXPECT_EQ((*s)[0].weight, 2);
  EXPECT_THAT((*s)[1].patterns, ElementsAre("c;d/*.md"));
  EXPECT_THAT((*parse_sources({R"(\*.txt\)"}))[0].patterns, ElementsAre(R"(\*.txt\)"));
}

TEST(ParseSources, AFileThatIsThereIsNamedAsItStands) {
  const std::string name = testing::TempDir() + "one, two;[3].txt,0.5";
  std::ofstream(name) << "text";
  auto s = parse_sources({name});
  ASSERT_TRUE(s.ok());
  ASSERT_EQ(s->size(), 1u);
  EXPECT_THAT((*s)[0].patterns, ElementsAre(name));
  EXPECT_EQ((*s)[0].weight, 1);
  EXPECT_THAT(*expand_pattern(name), ElementsAre(name));
  fs::remove(name);
}

TEST(ParseSources, NamesAreShortAndUnlike) {
  auto s = parse_sources({"build/demo/kjv.txt;/data/kjv/*.txt;*.txt;../x;**/*.py;a/kjv.jsonl"});
  std::vector<std::string> names;
  for (const Source& source : *s) names.push_back(source.name);
  EXPECT_THAT(names, ElementsAre("kjv", "kjv-2", "source", "x", "source-2", "kjv-3"));
}

TEST(ExpandPattern, FindsFilesByPattern) {
  std::string name = testing::TempDir() + "sources_XXXXXX";
  const fs::path folder = ::mkdtemp(name.data());
  for (const char* file : {"a.txt", "b.txt", "c.md", ".hidden.txt", "x/a.txt", "x/y/a.txt",
                           "x/y/b.py", ".git/a.txt", "z [1]/q.txt"}) {
    fs::create_directories((folder / file).parent_path());
    std::ofstream(folder / file) << "text";
  }
  fs::create_directory_symlink(folder, folder / "x/up");  // a circle
  auto found = [&](const std::string& pattern) {
    std::vector<std::string> out;
    auto files = expand_pattern((folder / pattern).string());
    for (const std::string& file : files ? *files : std::vector<std::string>())
      out.push_back(fs::path(file).lexically_relative(folder).string());
    return out;
  };
  EXPECT_THAT(found("*.txt"), ElementsAre("a.txt", "b.txt"));
  EXPECT_THAT(found("[bc].*"), ElementsAre("b.txt", "c.md"));
  EXPECT_THAT(found("?.md"), ElementsAre("c.md"));
  EXPECT_THAT(found("*/a.txt"), ElementsAre("x/a.txt"));
  EXPECT_THAT(found("**/*.txt"),
              ElementsAre("a.txt", "b.txt", "x/a.txt", "x/y/a.txt", "z [1]/q.txt"));
  EXPECT_THAT(found("x/**/a.txt"), ElementsAre("x/a.txt", "x/y/a.txt"));
  EXPECT_THAT(found("x/**"), ElementsAre("x/a.txt", "x/y/a.txt", "x/y/b.py"));
  EXPECT_THAT(found(".h*"), ElementsAre(".hidden.txt"));
  EXPECT_THAT(found("z [[]1]/*"), ElementsAre("z [1]/q.txt"));
  EXPECT_THAT(found("absent.txt"), ElementsAre("absent.txt"));
  EXPECT_THAT(found("*.absent"), IsEmpty());
  EXPECT_THAT(expand_pattern((folder / "*.absent").string()).status().message(),
              HasSubstr("*.absent: no file matches"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace strata::data
