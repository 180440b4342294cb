// Reads in front of updates: what moves, what must not, and the same values.
#include "strata/pass/data_movement/read_before_update.h"

#include <gtest/gtest.h>

#include <sstream>
#include <unordered_map>

#include "strata/ir/text/parser.h"
#include "strata/ir/verify.h"
#include "strata/op/evaluate.h"

namespace strata::pass {
namespace {

/// What the lines of a block name, those of the regions in it left out.
std::vector<std::string> names_in(const std::string& body) {
  std::vector<std::string> out;
  std::istringstream lines(body);
  int depth = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find('%'), end = line.find(" = ");
    if (depth == 0 && begin != std::string::npos && end != std::string::npos && begin < end)
      out.push_back(line.substr(begin + 1, end - begin - 1));
    depth += line.ends_with("({") - line.starts_with("  }) :");
  }
  return out;
}

/// The names of the operations in their order after the pass; the values must not change.
std::string order_of(const std::string& body, const std::string& results,
                     const std::string& types) {
  const std::string text =
      "func.func @main(%x: tensor<300xf32>, %v: tensor<1xf32>, %i: tensor<i32>, %p: tensor<i1>) "
      "-> (" +
      types + ") {\n" + body + "  return " + results + " : " + types + "\n}";
  auto module = ir::parse(text);
  EXPECT_TRUE(module.ok()) << module.status().message() << text;
  ir::Block& f = (*module)->entry()->body;
  std::vector<Literal> arguments;
  for (const auto& a : f.arguments()) arguments.emplace_back(a->type());
  for (std::int64_t i = 0; i < 300; ++i) arguments[0].set_number(i, static_cast<double>(i));
  arguments[1].set_number(0, -1);
  arguments[2].set_integer(0, 7);
  arguments[3].set_integer(0, 1);
  const auto want = op::evaluate(f, arguments);
  const std::vector<std::string> names = names_in(body);
  std::unordered_map<const ir::Op*, std::string> name;
  EXPECT_EQ(names.size(), f.ops().size());
  for (std::size_t i = 0; i < names.size(); ++i) name[f.ops()[i].get()] = names[i];
  order_reads_before_updates(f);
  EXPECT_TRUE(ir::verify(f).ok()) << ir::verify(f).message();
  const auto got = op::evaluate(f, arguments);
  for (std::size_t r = 0; r < want.size(); ++r)
    EXPECT_EQ(std::memcmp(want[r].data(), got[r].data(), want[r].bytes()), 0);
  std::string out;
  for (const auto& op : f.ops()) out += (out.empty() ? "" : " ") + name[op.get()];
  return out;
}

const std::string kUpdate =
    "  %u = stablehlo.dynamic_update_slice %x, %v, %i : (tensor<300xf32>, tensor<1xf32>, "
    "tensor<i32>) -> tensor<300xf32>\n";
std::string read(const std::string& name, const std::string& array, const std::string& place) {
  return "  %" + name + " = stablehlo.dynamic_slice %" + array + ", %" + place +
         ", sizes = [1] : (tensor<300xf32>, tensor<i32>) -> tensor<1xf32>\n";
}

TEST(ReadFirst, WhatReadsTheOldArrayGoesBeforeItsUpdate) {
  EXPECT_EQ(order_of(kUpdate + read("r", "x", "i"), "%u, %r", "tensor<300xf32>, tensor<1xf32>"),
            "r u");
}

TEST(ReadFirst, WithWhatItNeeds) {
  EXPECT_EQ(order_of(kUpdate + "  %j = stablehlo.add %i, %i : tensor<i32>\n" + read("r", "x", "j"),
                     "%u, %r", "tensor<300xf32>, tensor<1xf32>"),
            "j r u");
}

TEST(ReadFirst, WhatNeedsTheUpdateStaysBehindIt) {
  const std::string place = read("s", "u", "i") +
                            "  %e = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>\n"
                            "  %j = stablehlo.convert %e : (tensor<f32>) -> tensor<i32>\n";
  EXPECT_EQ(
      order_of(kUpdate + place + read("r", "x", "j"), "%u, %r", "tensor<300xf32>, tensor<1xf32>"),
      "u s e j r");
}

// Each of two updates of one array would go before the other.
TEST(ReadFirst, TwoUpdatesOfAnArrayStayInOrder) {
  EXPECT_EQ(
      order_of(kUpdate + "  %w = stablehlo.dynamic_update_slice %x, %v, %i : (tensor<300xf32>, "
                         "tensor<1xf32>, tensor<i32>) -> tensor<300xf32>\n",
               "%u, %w", "tensor<300xf32>, tensor<300xf32>"),
      "u w");
}

// The second update reads what the first takes: it goes first, and so does what reads its own.
TEST(ReadFirst, AnUpdateThatReadsIsMovedToo) {
  const std::string other =
      "  %y = stablehlo.dynamic_update_slice %n, %r, %i : (tensor<300xf32>, tensor<1xf32>, "
      "tensor<i32>) -> tensor<300xf32>\n";
  EXPECT_EQ(order_of("  %n = stablehlo.negate %x : tensor<300xf32>\n" + kUpdate +
                         read("r", "x", "i") + other + read("t", "n", "i"),
                     "%u, %y, %t", "tensor<300xf32>, tensor<300xf32>, tensor<1xf32>"),
            "n r u t y");
}

TEST(ReadFirst, ABranchThatReturnsAnArrayTakesIt) {
  EXPECT_EQ(order_of("  %b = \"stablehlo.if\"(%p) ({\n" + kUpdate +
                         "    stablehlo.return %u : tensor<300xf32>\n  }, {\n    stablehlo.return "
                         "%x : tensor<300xf32>\n  }) : (tensor<i1>) -> tensor<300xf32>\n" +
                         read("r", "x", "i"),
                     "%b, %r", "tensor<300xf32>, tensor<1xf32>"),
            "r b");
}

// What a kernel's start costs more than is left where it stands.
TEST(ReadFirst, FewBytesAreNotWorthIt) {
  auto module = ir::parse(R"(func.func @main(%x: tensor<5xf32>, %v: tensor<1xf32>, %i: tensor<i32>)
    -> (tensor<5xf32>, tensor<5xf32>) {
  %u = stablehlo.dynamic_update_slice %x, %v, %i : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
  %r = stablehlo.negate %x : tensor<5xf32>
  return %u, %r : tensor<5xf32>, tensor<5xf32>
})");
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_FALSE(order_reads_before_updates((*module)->entry()->body));
}

}  // namespace
}  // namespace strata::pass
