// Comparators whose keys are known, near misses, and the sorts that they become.
#include "strata/op/sort/sort_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/ir/text/parser.h"
#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

const bool rows_samples = [] {
  auto samples = [](std::vector<Sample>& out) {
    auto add = [&](const char* what, Literal x, const char* order, bool descending,
                   bool smooth = false) {
      out.push_back({.what = what,
                     .operands = {std::move(x)},
                     .attrs = {{"order", std::string(order)}, {"descending", descending}},
                     .smooth = smooth});
    };
    for (DType t : {DType::f32, DType::f64, DType::bf16, DType::f16})
      for (const char* order : {"total", "numbers", "ieee"})
        add(order, edge_literal(t), order, t == DType::f64);
    for (DType t : {DType::i1, DType::i8, DType::ui16, DType::i32, DType::ui64})
      add("integers with ties", random_literal(Type(t, {3, 60}), 5, -3, 4), "total",
          t == DType::i8);
    for (DType t : {DType::i16, DType::ui8, DType::ui32, DType::i64})
      add("edges", edge_literal(t), "total", t == DType::ui32);
    add("rows", random_literal(Type(DType::f32, {2, 3, 70}), 6), "numbers", true);
    add("nothing", Literal(Type(DType::f32, {3, 0})), "total", false);
    add("one each", random_literal(Type(DType::f32, {3, 1}), 7), "total", false);
    Literal apart(Type(DType::f64, {2, 5}));
    for (std::int64_t i = 0; i < 10; ++i) apart.set_number(i, static_cast<double>(i * 7 % 10));
    add("apart", apart, "total", false, true);
  };
  auto keeping = [](std::vector<Sample>& out) {
    for (std::int64_t keep : {0, 1, 20, 60})
      out.push_back(
          {.what = "the first",
           .operands = {random_literal(Type(DType::f32, {3, 60}), 5, -3, 4)},
           .attrs = {{"order", std::string("total")}, {"descending", true}, {"keep", keep}},
           .smooth = false});
  };
  return add_samples("strata.sort", samples) && add_samples("strata.argsort", samples) &&
         add_samples("strata.argsort", keeping);
}();

/// The keys of a comparator of (f32, f32), (i32, i32), written as its body: "0 total ascending;
/// computed ieee descending".
std::string keys_of(const std::string& body) {
  auto module = ir::parse(
      R"(func.func @main(%a: tensor<4xf32>, %b: tensor<4xi32>, %c: tensor<i32>) -> tensor<4xf32> {
    %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
)" + body +
      R"(
      stablehlo.return %p : tensor<i1>
    }) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
    return %0#0 : tensor<4xf32>
  })");
  if (!module) return module.status().message();
  std::string out;
  for (const auto& op : (*module)->functions[0]->body.ops()) {
    if (op->regions.empty()) continue;
    for (const SortKey& k : sort_keys(op->region(0)))
      out += (out.empty() ? "" : "; ") + (k.operand < 0 ? "computed" : std::to_string(k.operand)) +
             " " + k.order + (k.descending ? " descending" : "");
  }
  return out;
}

std::string compare(const char* name, const char* how, const char* x, const char* y,
                    const char* kind, const char* type) {
  return fmt::format(
      "%{} = stablehlo.compare {}, %{}, %{}, {} : (tensor<{}>, tensor<{}>) -> tensor<i1>\n", name,
      how, x, y, kind, type, type);
}
/// %to: %x as JAX compares it.
std::string number(const std::string& x, const std::string& to,
                   const std::string& nan = "0x7FC00000", const std::string& zero = "0.0") {
  return fmt::format(R"(
    %z{1} = stablehlo.constant dense<{3}> : tensor<f32>
    %e{1} = stablehlo.compare EQ, %{0}, %z{1}, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %s{1} = stablehlo.select %e{1}, %z{1}, %{0} : tensor<i1>, tensor<f32>
    %d{1} = stablehlo.compare NE, %{0}, %{0}, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %n{1} = stablehlo.constant dense<{2}> : tensor<f32>
    %{1} = stablehlo.select %d{1}, %n{1}, %s{1} : tensor<i1>, tensor<f32>
)",
                     x, to, nan, zero);
}

TEST(SortKeys, OfOneArray) {
  EXPECT_EQ(keys_of(compare("p", "LT", "l", "r", "TOTALORDER", "f32")), "0 total");
  EXPECT_EQ(keys_of(compare("p", "GT", "l", "r", "TOTALORDER", "f32")), "0 total descending");
  EXPECT_EQ(keys_of(compare("p", "GT", "r", "l", "TOTALORDER", "f32")), "0 total");
  EXPECT_EQ(keys_of(compare("p", "LT", "l", "r", "FLOAT", "f32")), "0 ieee");
  EXPECT_EQ(keys_of(compare("p", "LT", "i", "j", "SIGNED", "i32")), "1 total");
  EXPECT_EQ(keys_of(number("l", "x") + number("r", "y") +
                    compare("p", "LT", "x", "y", "TOTALORDER", "f32")),
            "0 numbers");
  EXPECT_EQ(keys_of(number("l", "x") + number("r", "y") +
                    compare("p", "LT", "y", "x", "TOTALORDER", "f32")),
            "0 numbers descending");
}

TEST(SortKeys, ThatAreComputed) {
  EXPECT_EQ(keys_of("%x = stablehlo.abs %l : tensor<f32>\n%y = stablehlo.abs %r : tensor<f32>\n" +
                    compare("p", "LT", "x", "y", "TOTALORDER", "f32")),
            "computed total");
  EXPECT_EQ(keys_of(number("l", "x", "0xFFC00000") + number("r", "y", "0xFFC00000") +
                    compare("p", "LT", "x", "y", "TOTALORDER", "f32")),
            "computed total");
  EXPECT_EQ(
      keys_of(number("l", "x", "0x7FC00000", "-0.0") + number("r", "y", "0x7FC00000", "-0.0") +
              compare("p", "LT", "x", "y", "TOTALORDER", "f32")),
      "computed total");
  EXPECT_EQ(
      keys_of("%f = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>\n%g = stablehlo.convert %j "
              ": (tensor<i32>) -> tensor<f32>\n"
              "%x = stablehlo.add %l, %f : tensor<f32>\n%y = stablehlo.add %r, %g : tensor<f32>\n" +
              compare("p", "GT", "x", "y", "TOTALORDER", "f32")),
      "computed total descending");
}

std::string lexicographic(const char* first, const char* tie, const char* second) {
  return std::string(first) + tie + second +
         "%q = stablehlo.and %t, %s : tensor<i1>\n%p = stablehlo.or %f, %q : tensor<i1>\n";
}

TEST(SortKeys, OneAfterTheOther) {
  std::string first = compare("f", "LT", "l", "r", "TOTALORDER", "f32"),
              tie = compare("t", "EQ", "l", "r", "TOTALORDER", "f32"),
              second = compare("s", "GT", "i", "j", "SIGNED", "i32");
  EXPECT_EQ(keys_of(lexicographic(first.c_str(), tie.c_str(), second.c_str())),
            "0 total; 1 total descending");
  EXPECT_EQ(
      keys_of(first + tie + second +
              "%q = stablehlo.and %s, %t : tensor<i1>\n%p = stablehlo.or %q, %f : tensor<i1>\n"),
      "0 total; 1 total descending");
}

TEST(SortKeys, NearMissesHaveNone) {
  std::string first = compare("f", "LT", "l", "r", "TOTALORDER", "f32"),
              second = compare("s", "LT", "i", "j", "SIGNED", "i32");
  auto both = [&](const std::string& f, const std::string& tie, const std::string& s) {
    return keys_of(lexicographic(f.c_str(), tie.c_str(), s.c_str()));
  };
  EXPECT_EQ(keys_of(compare("p", "LE", "l", "r", "TOTALORDER", "f32")),
            "");  // ties the other way round
  EXPECT_EQ(keys_of(compare("p", "GE", "l", "r", "TOTALORDER", "f32")), "");
  EXPECT_EQ(keys_of(compare("p", "NE", "i", "j", "SIGNED", "i32")), "");      // no order
  EXPECT_EQ(keys_of(compare("p", "LT", "l", "l", "TOTALORDER", "f32")), "");  // one side
  EXPECT_EQ(keys_of("%y = stablehlo.abs %r : tensor<f32>\n" +
                    compare("p", "LT", "l", "y", "TOTALORDER", "f32")),
            "");  // sides differ
  EXPECT_EQ(keys_of(number("l", "x") + number("r", "y", "0xFFC00000") +
                    compare("p", "LT", "x", "y", "TOTALORDER", "f32")),
            "");
  EXPECT_EQ(
      keys_of("%x = stablehlo.add %l, %r : tensor<f32>\n%y = stablehlo.add %r, %l : tensor<f32>\n" +
              compare("p", "LT", "x", "y", "TOTALORDER", "f32")),
      "");  // both sides in a key
  EXPECT_EQ(
      keys_of("%x = stablehlo.add %i, %c : tensor<i32>\n%y = stablehlo.add %j, %c : tensor<i32>\n" +
              compare("p", "LT", "x", "y", "SIGNED", "i32")),
      "");  // from outside
  EXPECT_EQ(both(first, compare("t", "EQ", "l", "r", "FLOAT", "f32"), second),
            "");  // a tie of -0 and +0
  EXPECT_EQ(both(first, compare("t", "NE", "l", "r", "TOTALORDER", "f32"), second), "");
  EXPECT_EQ(both(first, compare("t", "EQ", "i", "j", "SIGNED", "i32"), second), "");
  EXPECT_EQ(both(compare("f", "LT", "l", "r", "FLOAT", "f32"),
                 compare("t", "EQ", "l", "r", "FLOAT", "f32"), second),
            "");  // NaN make it no order
  EXPECT_EQ(keys_of(first + second + "%p = stablehlo.and %f, %s : tensor<i1>\n"), "");
}

TEST(SortRows, RefusesWhatItCannotSort) {
  auto message = [](const Type& type, const char* order) -> std::string {
    try {
      testing::build({type}, [&](Builder& b, const Values& v) {
        return b.create("strata.sort", v, {{"order", std::string(order)}, {"descending", false}})
            .results();
      });
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(Type(DType::f32, {3}), "numbers"), "");
  EXPECT_THAT(message(Type::scalar(DType::f32), "total"), ::testing::HasSubstr("no rows"));
  EXPECT_THAT(message(Type(DType::c64, {3}), "total"), ::testing::HasSubstr("no rows"));
  EXPECT_THAT(message(Type(DType::i32, {3}), "numbers"), ::testing::HasSubstr("order numbers"));
  EXPECT_THAT(message(Type(DType::f32, {3}), "by name"), ::testing::HasSubstr("order by name"));
}

}  // namespace
}  // namespace strata::op
