// What jsonschema, Python's re and xgrammar say of texts (tools/goldens/grammars.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "strata/engine/grammar/automaton.h"
#include "strata/engine/grammar/ebnf.h"
#include "strata/engine/grammar/json_schema.h"
#include "strata/engine/grammar/regex.h"

namespace strata::engine::grammar {
namespace {

using Json = nlohmann::ordered_json;

const Json& goldens() {
  static const Json out = [] {
    std::ifstream in(std::filesystem::path(__FILE__).parent_path().parent_path() /
                     "testdata/grammars.json");
    return Json::parse(in);
  }();
  return out;
}

TEST(BesideUpstream, TextsOfASchemaAreValid) {
  int taken = 0, valid = 0, same = 0, all = 0;
  for (const Json& one : goldens()["schemas"]) {
    Automaton a(read_json_schema(one["schema"]));
    for (const Json& t : one["texts"]) {
      const std::string text = t[0];
      const bool mine = a.accepts(text);
      if (mine) EXPECT_EQ(t[1], true) << one["schema"] << " does not take " << text;
      taken += mine, valid += t[1] == true, same += mine == (t[2] == true), ++all;
    }
  }
  // Of valid texts, those are refused that write the same value in another order or style.
  EXPECT_GT(taken, valid * 8 / 10);
  EXPECT_GT(same, all * 93 / 100) << "as xgrammar";
}

TEST(BesideUpstream, RegularExpressionsMatchAsInPython) {
  int all = 0;
  for (const Json& one : goldens()["regexes"]) {
    Grammar g;
    g.define(g.root(), regex(g, one["pattern"].get<std::string>()));
    Automaton a(g);
    for (const Json& t : one["texts"]) {
      const std::string text = t[0];
      // \w and \d are of ASCII here, as in ECMA-262.
      const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return c > 0; });
      const bool mine = a.accepts(text);
      if (ascii || mine) EXPECT_EQ(mine, t[1] == true) << one["pattern"] << " of " << text;
      ++all;
    }
  }
  EXPECT_GT(all, 300);
}

TEST(BesideUpstream, GrammarsTakeWhatXgrammarTakes) {
  int all = 0;
  for (const Json& one : goldens()["grammars"]) {
    Automaton a(read_ebnf(one["grammar"].get<std::string>()));
    for (const Json& t : one["texts"]) {
      EXPECT_EQ(a.accepts(t[0].get<std::string>()), t[1] == true)
          << one["grammar"] << " of " << t[0];
      ++all;
    }
  }
  EXPECT_GT(all, 150);
}

}  // namespace
}  // namespace strata::engine::grammar
