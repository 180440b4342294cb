// Sharding rules beside Shardy's: each rule in the CHECK lines of testdata/shardy/
// op_sharding_rule_registry.mlir and what `rule_of` gives for its operation, equal up to the names
// of factors. Those that differ stand in testdata/shardy/differs.txt with why.
#include "strata/partition/rule.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "strata/base/error.h"
#include "strata/ir/text/parser.h"
#include "strata/op/catalog.h"

namespace strata::spmd {
namespace {

namespace fs = std::filesystem;

std::string read(const char* name) {
  std::ifstream in(fs::path(__FILE__).parent_path() / "testdata" / "shardy" / name);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// "" when both are the same up to the numbers of factors, else what differs.
std::string difference(const Rule& ours, const Rule& theirs) {
  std::map<int, int> to, from;
  auto tensors = [&](const auto& a, const auto& b, const char* what) -> std::string {
    if (a.size() != b.size()) return fmt::format("{} {} instead of {}", a.size(), what, b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t d = 0; d < a[i].size() && d < b[i].size(); ++d) {
        if (a[i][d].size() != b[i][d].size())
          return fmt::format("dimension {} of {} {} has {} factors instead of {}", d, what, i,
                             a[i][d].size(), b[i][d].size());
        for (std::size_t k = 0; k < a[i][d].size(); ++k) {
          int x = a[i][d][k], y = b[i][d][k];
          if (to.try_emplace(x, y).first->second != y || from.try_emplace(y, x).first->second != x)
            return fmt::format("dimension {} of {} {} shares other factors", d, what, i);
        }
      }
    return "";
  };
  std::string out = tensors(ours.factors.operands, theirs.factors.operands, "operands");
  if (out.empty()) out = tensors(ours.factors.results, theirs.factors.results, "results");
  for (const auto& [x, y] : to) {
    auto a = static_cast<std::size_t>(x), b = static_cast<std::size_t>(y);
    if (!out.empty()) break;
    if (ours.factors.kinds[a] != theirs.factors.kinds[b])
      out = fmt::format("factor {} is {} instead of {}", y, ours.factors.kinds[a],
                        theirs.factors.kinds[b]);
    else if (ours.factors.sizes[a] != theirs.factors.sizes[b])
      out = fmt::format("factor {} has size {} instead of {}", y, ours.factors.sizes[a],
                        theirs.factors.sizes[b]);
    else if (ours.blocked[a] != theirs.blocked[b])
      out = fmt::format("factor {} is {}blocked", y, ours.blocked[a] ? "" : "not ");
  }
  return out;
}

bool same_ranks(const op::Op& op, const Rule& r) {
  auto fits = [](const auto& dims, const op::Value* v) {
    return v->type().is_tensor() && static_cast<int>(dims.size()) == v->rank();
  };
  op::Values results = op.results();
  return std::equal(r.factors.operands.begin(), r.factors.operands.end(), op.operands.begin(),
                    op.operands.end(), fits) &&
         std::equal(r.factors.results.begin(), r.factors.results.end(), results.begin(),
                    results.end(), fits);
}

/// The rules in the CHECK lines of each function.
std::map<std::string, std::vector<std::string>> stated_rules(const std::string& text) {
  std::map<std::string, std::vector<std::string>> out;
  std::istringstream in(text);
  std::string name;
  constexpr std::string_view kRule = "#sdy.op_sharding_rule<";
  for (std::string line; std::getline(in, line);) {
    if (line.find("// CHECK-LABEL:") != std::string::npos) {
      name = line.substr(line.find('@') + 1);
      name = name.substr(0, name.find('('));
    }
    std::size_t at = line.find(kRule);
    if (line.find("// CHECK") == std::string::npos || at == std::string::npos) continue;
    int depth = 1;
    std::size_t end = at + kRule.size();
    for (; end < line.size() && depth > 0; ++end)
      depth += line[end] == '<' ? 1 : line[end] == '>' && line[end - 1] != '-' ? -1 : 0;
    if (depth > 0) line += '>';  // of a CHECK line that leaves the end out
    end += depth > 0 ? 1 : 0;
    out[name].push_back(line.substr(at, end - at));
  }
  return out;
}

TEST(Rule, as_shardy_registers_them) {
  op::catalog();
  std::map<std::string, bool> differs;
  std::istringstream list(read("differs.txt"));
  for (std::string line; std::getline(list, line);) differs[line.substr(0, line.find(' '))] = true;
  std::string text = read("op_sharding_rule_registry.mlir");
  for (std::size_t at; (at = text.find(" sdy.constant ")) != std::string::npos;)
    text.replace(at, 13, " stablehlo.constant");
  auto module = ir::parse(text, "op_sharding_rule_registry.mlir");
  ASSERT_TRUE(module) << module.status().message();
  int alike = 0, otherwise = 0;
  for (const auto& [name, rules] : stated_rules(text)) {
    const ir::Function* f = (*module)->find(name);
    if (f == nullptr || rules.empty()) continue;
    std::string wrong;
    auto at = f->body.ops().begin();
    for (const std::string& stated : rules) {
      Rule theirs = parse_rule(stated);
      while (at != f->body.ops().end() && !same_ranks(**at, theirs)) ++at;
      if (at == f->body.ops().end()) {
        wrong = "no operation has the ranks of " + stated;
        break;
      }
      try {
        std::optional<Rule> ours = rule_of(**at);
        wrong = ours ? difference(*ours, theirs) : "there is no rule";
      } catch (const Error& e) {
        wrong = e.what();
      }
      if (!wrong.empty()) {
        wrong += ": " + stated;
        break;
      }
      ++at;
    }
    std::string id = "op_sharding_rule_registry:" + name;
    if (wrong.empty() && differs.count(id) > 0)
      ADD_FAILURE() << id << " agrees now: strike it off differs.txt";
    if (!wrong.empty() && differs.count(id) == 0) ADD_FAILURE() << id << "\n  " << wrong;
    ++(wrong.empty() ? alike : otherwise);
  }
  std::cout << "op_sharding_rule_registry.mlir: " << alike << " of " << alike + otherwise
            << " functions as Shardy\n";
}

}  // namespace
}  // namespace strata::spmd
