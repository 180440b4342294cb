// Command lines and what MaxText's own code made of them (tools/goldens/maxtext_config.py).
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "strata/train/maxtext/config.h"

namespace strata::train::maxtext {
namespace {

using Json = nlohmann::ordered_json;

Json read_group(const std::string& group) {
  const auto folder = std::filesystem::path(__FILE__).parent_path() / "testdata";
  gzFile file = gzopen((folder / (group + ".json.gz")).c_str(), "rb");
  std::string text;
  char piece[1 << 16];
  for (int n; file && (n = gzread(file, piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(n));
  if (file) gzclose(file);
  return Json::parse(text);
}

Json read_cases(const std::string& group) { return read_group(group)["cases"]; }

/// The values of a command line that says next to nothing.
const Json& reference_values() {
  static const Json all = read_cases("ways")[0]["values"];
  return all;
}

/// Errors of YAML have one class here.
std::string class_of(const std::string& name) {
  return name == "ParserError" || name == "ScannerError" ? "YAMLError" : name;
}

struct Got {
  Json values;
  std::string error_class, text;
};

Got run(const Json& line) {
  const std::map<std::string, std::string> env = line["env"];
  const Surroundings around = {[&](const std::string& name) -> const char* {
                                 const auto found = env.find(name);
                                 return found == env.end() ? nullptr : found->second.c_str();
                               },
                               1, line.value("distributed", false)};
  try {
    const Resolved resolved = resolve(line["line"], around);
    Json out = Json::object();
    for (const auto& [key, value] : resolved.values) out[key] = to_json(value);
    return {out, "", ""};
  } catch (const Invalid& e) {
    Got out{{}, e.error_class(), ""};
    for (const Misfit& m : e.misfits()) out.text += m.key + "|" + m.kind + "|" + m.message + "\n";
    return out;
  } catch (const Refused& e) {
    return {{}, e.error_class(), e.what()};
  }
}

/// Texts of errors that are compared: those of rules and of types, each on a line.
std::string wanted_text(const Json& line) {
  std::string out;
  for (const Json& e : line["text"])
    out += e[0].get<std::string>() + "|" + e[1].get<std::string>() + "|" + e[2].get<std::string>() +
           "\n";
  return out;
}

std::string shown(const Json& line) { return line["line"].dump() + " " + line["env"].dump(); }

void compare_values(const Json& line, const Got& got) {
  ASSERT_EQ(got.error_class, "") << got.text;
  const std::string here = std::filesystem::current_path().string();
  for (const auto& [key, usual] : reference_values().items()) {
    const Json& want = line["values"].contains(key) ? line["values"][key] : usual;
    ASSERT_TRUE(got.values.contains(key)) << key;
    std::string have = got.values[key].dump();
    for (std::size_t at; (at = have.find(here)) != std::string::npos;)
      have.replace(at, here.size(), "CWD");
    // Keys of nested tables have no order here.
    EXPECT_TRUE(have == want.dump() || nlohmann::json(Json::parse(have)) == nlohmann::json(want))
        << key << ": " << have << ", MaxText has " << want.dump();
  }
}

/// Messages that are worded otherwise here, by the last argument of the line; why in each case:
/// class names of pydantic, the whole list of topologies, a number of Python's, Jinja's own words.
const std::map<std::string, std::string> kOtherWords = {
    {"dpo=3", "dpo|model_type|Input should be a valid dictionary or instance\n"},
    {"compile_topology=v9-1", "|value_error|Value error, Invalid compile topology: v9-1.\n"},
    {"dropout_rate=1.5",
     "dropout_rate|less_than_equal|Input should be less than or equal to 1.0\n"},
    {"chat_template=\"{% if %}\"",
     "|value_error|Value error, Specified chat_template is invalid: chat template, line 1: "
     "expected an expression, got the end of the tag\n"},
    {"chat_template='{% if %}'",
     "|value_error|Value error, Specified chat_template is invalid: chat template, line 1: "
     "expected "
     "an expression, got the end of the tag\n"},
};

void compare_text(const Json& line, const std::string& text) {
  const std::string wanted = wanted_text(line);
  const auto other = kOtherWords.find(line["line"].back());
  if (other == kOtherWords.end()) {
    EXPECT_EQ(text, wanted);
  } else {
    EXPECT_NE(text, wanted) << "says what MaxText says by now: no longer an exception";
    EXPECT_EQ(text, other->second);
  }
}

void compare_group(const std::string& group) {
  int count = 0;
  for (const Json& line : read_cases(group)) {
    SCOPED_TRACE(shown(line));
    ++count;
    const Got got = run(line);
    if (!line.contains("error")) {
      compare_values(line, got);
      continue;
    }
    EXPECT_EQ(class_of(got.error_class), class_of(line["error"])) << got.text;
    if (line["error"] == "ValidationError") compare_text(line, got.text);
  }
  EXPECT_GT(count, 50) << group;
}

TEST(MaxTextConfig, Ways) {
  compare_group("ways");
  std::size_t listed = 0;
  for (const char* group : {"ways", "rest"})
    for (const Json& line : read_cases(group)) listed += kOtherWords.contains(line["line"].back());
  EXPECT_EQ(listed, kOtherWords.size());
}
TEST(MaxTextConfig, PairsOfValues) { compare_group("pairs"); }
TEST(MaxTextConfig, EveryModelFile) { compare_group("models"); }
TEST(MaxTextConfig, RulesThatASearchFound) { compare_group("rules"); }
TEST(MaxTextConfig, TheOtherRules) { compare_group("rest"); }

/// Each `raise` and `assert` of upstream's has a case, but for those that no command line reaches.
TEST(MaxTextConfig, EveryRuleHasACase) {
  const Json found = read_group("rules"), rest = read_group("rest");
  std::set<int> cases;
  for (const Json& group : {found, rest})
    for (const Json& line : group["cases"]) {
      EXPECT_EQ(line["code"], 2) << shown(line);
      cases.insert(line["rule"].get<int>());
    }
  EXPECT_EQ(cases.size() + rest["beyond"].size(), found["rules"].get<std::size_t>());
  EXPECT_EQ(rest["beyond"].size(), 6u);
}

}  // namespace
}  // namespace strata::train::maxtext
