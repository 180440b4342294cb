// Propagation beside Shardy's own tests: programs of testdata/shardy (Apache License 2.0,
// unchanged; see NOTICE there), propagated and printed, compared with their CHECK lines. Functions
// that come out otherwise stand in testdata/shardy/differs.txt with why; one that stands there and
// agrees fails too.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "strata/base/error.h"
#include "strata/base/text.h"
#include "strata/ir/read.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/op/catalog.h"
#include "strata/partition/propagate.h"
#include "strata/partition/rule.h"
#include "strata/partition/split_constants.h"

namespace strata::spmd {
namespace {

namespace fs = std::filesystem;

fs::path folder() { return fs::path(__FILE__).parent_path() / "testdata" / "shardy"; }
std::string read(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One blank for several, as FileCheck reads.
std::string single_spaced(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != ' ' || out.empty() || out.back() != ' ') out += c;
  return out;
}

/// A CHECK line: literal pieces with anything between them.
struct Check {
  std::string kind;  // "", "NEXT", "SAME", "LABEL", "NOT"
  std::vector<std::string> pieces;
};

Check parse_check(std::string_view kind, std::string_view pattern) {
  Check out{std::string(kind), {""}};
  for (std::size_t i = 0; i < pattern.size();) {
    std::string_view close = pattern.substr(i, 2) == "[["   ? "]]"
                             : pattern.substr(i, 2) == "{{" ? "}}"
                                                            : "";
    std::size_t end = close.empty() ? std::string_view::npos : pattern.find(close, i);
    if (end == std::string_view::npos) {
      out.pieces.back() += pattern[i++];
      continue;
    }
    i = end + 2;
    while (close == "]]" && i < pattern.size() && pattern[i] == ']') ++i;
    out.pieces.emplace_back();
  }
  return out;
}

/// Where the check's pieces end within [from, to) in order; npos when they are not there.
std::size_t match(const Check& check, std::string_view text, std::size_t from, std::size_t to) {
  for (const std::string& piece : check.pieces) {
    std::size_t at = text.find(piece, from);
    if (at == std::string_view::npos || at + piece.size() > to) return std::string_view::npos;
    from = at + piece.size();
  }
  return from;
}

/// "" when the printed function is what the checks say, else the first that does not match.
std::string compare(const std::vector<Check>& checks, std::string_view text) {
  std::size_t at = 0;
  auto line_end = [&](std::size_t from) { return std::min(text.find('\n', from), text.size()); };
  for (const Check& c : checks) {
    std::size_t end = std::string_view::npos;
    if (c.kind == "NOT") {
      if (match(c, text, at, line_end(at)) != std::string_view::npos)
        return "NOT " + c.pieces.front();
      continue;
    }
    if (c.kind == "SAME") {
      end = match(c, text, at, line_end(at));
    } else if (c.kind == "NEXT") {
      std::size_t next = line_end(at) + 1;
      end = next < text.size() ? match(c, text, next, line_end(next)) : end;
    } else {
      for (std::size_t line = at; line < text.size() && end == std::string_view::npos;
           line = line_end(line) + 1)
        end = match(c, text, line, line_end(line));
    }
    if (end == std::string_view::npos) {
      std::string all;
      for (const std::string& p : c.pieces) all += p + "..";
      return c.kind + ": " + all;
    }
    at = end;
  }
  return "";
}

std::string name_after(std::string_view text) {
  std::size_t at = text.find('@');
  if (at == std::string_view::npos) return "";
  std::size_t end = text.find_first_of("( {", at);
  return std::string(text.substr(at + 1, end == std::string_view::npos ? end : end - at - 1));
}

/// The checks of each function of a part.
std::map<std::string, std::vector<Check>> checks_of(std::string_view part) {
  std::map<std::string, std::vector<Check>> out;
  std::string name;
  std::istringstream in{std::string(part)};
  for (std::string line; std::getline(in, line);) {
    std::size_t at = line.find("// CHECK");
    if (at == std::string::npos) continue;
    std::string_view rest = std::string_view(line).substr(at + 8);
    std::string_view kind;
    if (rest.starts_with("-")) {
      kind = rest.substr(1, rest.find(':') - 1);
    } else if (!rest.starts_with(":")) {
      continue;
    }
    std::string pattern = single_spaced(rest.substr(rest.find(':') + 1));
    while (!pattern.empty() && pattern.front() == ' ') pattern.erase(0, 1);
    while (!pattern.empty() && pattern.back() == ' ') pattern.pop_back();
    if (kind == "LABEL") {
      name = name_after(pattern);
      if (pattern.starts_with("func @")) pattern.erase(0, 5);  // printed: func.func private @...
    }
    out[name].push_back(parse_check(kind, pattern));
  }
  return out;
}

struct Suite {
  const char* file;
  PropagationOptions options;
  bool constraints = false;  // whether what constraints say is applied first, as the pipeline does
};
void PrintTo(const Suite& s, std::ostream* out) { *out << s.file; }

/// What the pipeline does in the end.
void close(Shardings& s) {
  auto close_dims = [](Sharding& x) {
    for (DimSharding& d : x.dims) {
      d.is_closed = true;
      d.priority.reset();
    }
  };
  for (auto& [v, x] : s.values) close_dims(x);
  for (auto& x : s.results)
    if (x) close_dims(*x);
}

class Shardy : public ::testing::TestWithParam<Suite> {};

TEST_P(Shardy, propagates_alike) {
  op::catalog();
  std::map<std::string, std::string> differs;
  std::istringstream list(read(folder() / "differs.txt"));
  for (std::string line; std::getline(list, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::size_t space = line.find(' ');
    differs[line.substr(0, space)] = line.substr(std::min(space, line.size() - 1) + 1);
  }
  std::string file = GetParam().file, text = read(folder() / file);
  for (std::size_t at; (at = text.find("sdy.constant")) != std::string::npos;)
    text.replace(at, 3, "stablehlo");  // its name within Shardy
  ASSERT_FALSE(text.empty()) << file;
  int alike = 0, otherwise = 0;
  for (const ir::TextPart& part : ir::split_parts(text)) {
    Result<std::unique_ptr<ir::Module>> module = ir::parse(part.text, file);
    std::string wrong_all = module ? "" : module.status().message();
    std::string printed;
    if (module) {
      try {
        Meshes meshes(**module);
        for (auto& f : (*module)->functions) {
          if (GetParam().constraints) f = split_constants(*f);
          Shardings s = read_shardings(*f, meshes);
          if (GetParam().constraints) apply_constraints(*f, s);
          propagate(*f, meshes, s, GetParam().options);
          if (GetParam().constraints) close(s);
          write_shardings(*f, meshes, s);
        }
        printed = single_spaced(ir::print(**module));
      } catch (const Error& e) {
        wrong_all = e.what();
      }
    }
    for (const auto& [name, checks] : checks_of(part.text)) {
      std::string wrong = wrong_all;
      if (wrong.empty()) {
        std::size_t first = printed.find(name.empty() ? "func.func" : "@" + name + "(");
        wrong = first == std::string::npos
                    ? "no such function"
                    : compare(checks, std::string_view(printed).substr(first));
      }
      std::string id = file.substr(0, file.find('.')) + ":" +
                       (name.empty() ? fmt::format("line-{}", part.first_line) : name);
      bool listed = differs.count(id) > 0;
      if (wrong.empty() && listed) ADD_FAILURE() << id << " agrees now: strike it off differs.txt";
      if (!wrong.empty() && !listed) ADD_FAILURE() << id << "\n  " << wrong << "\n";
      ++(wrong.empty() ? alike : otherwise);
    }
  }
  std::cout << file << ": " << alike << " of " << alike + otherwise << " functions as Shardy\n";
}

TEST(Rule, reads_what_programs_state) {
  Rule r = parse_rule(
      "#sdy.op_sharding_rule<([i, jk])->([i, j], [k, z_1]) {i=2, j=3, k=4, l=1, m=1, n=1, o=1, "
      "p=1, "
      "q=1, r=1, s=1, t=1, u=1, v=1, w=1, x=1, y=1, z=1, z_1=5} reduction={i} need_replication={j} "
      "permutation={k} blocked_propagation={j}, custom>");
  EXPECT_EQ(r.factors.operands[0][1], (std::vector<int>{1, 2}));
  EXPECT_EQ(r.factors.results[1][1], (std::vector<int>{18}));
  EXPECT_EQ(r.factors.kinds.substr(0, 4), "rnmp");
  EXPECT_TRUE(r.blocked[1]);
  std::string text =
      "#sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=2, j=3, k=4} reduction={k}>";
  EXPECT_EQ(parse_rule(text).factors.sizes, (std::vector<std::int64_t>{2, 3, 4}));
  for (std::size_t n = 0; n < text.size(); ++n)
    EXPECT_THROW(parse_rule(text.substr(0, n)), Error) << text.substr(0, n);
  EXPECT_THROW(parse_rule("#sdy.op_sharding_rule<([a])->([i]) {i=2}>"), Error);
  EXPECT_THROW(parse_rule("#sdy.op_sharding_rule<([j])->([i]) {i=2}>"), Error);
  EXPECT_THROW(parse_rule("#sdy.op_sharding_rule<([k])->([i]) {i=2, k=2}>"), Error);
}

const Suite kSuites[] = {
    {"basic_propagation.mlir", {false, false, {Strategy::basic}}},
    {"basic_propagation_manual_computation.mlir", {false, false, {Strategy::basic}}},
    {"aggressive_propagation.mlir", {false, false, {Strategy::aggressive}}},
    {"op_priority_propagation.mlir", {false, true, {Strategy::basic, Strategy::aggressive}}},
    {"user_priority_propagation.mlir", {true, true, {Strategy::basic, Strategy::aggressive}}},
    {"sharding_group_propagation.mlir", {false, false, {Strategy::basic}}},
    {"basic_propagation_token.mlir", {false, false, {Strategy::basic}}},
    {"propagation_pipeline.mlir", {}, true},
    {"propagation_pipeline_data_flow_edges.mlir", {}, true},
};
INSTANTIATE_TEST_SUITE_P(Propagation, Shardy, ::testing::ValuesIn(kSuites));

}  // namespace
}  // namespace strata::spmd
