// Sums with arrays that are zero but for a part, in loops: the same bits, and only where no -0 is.
#include "strata/pass/data_movement/add_to_update.h"

#include <gtest/gtest.h>

#include "strata/ir/pass/pass.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/verify.h"
#include "strata/op/evaluate.h"

namespace strata::pass {
namespace {

/// A loop of five iterations whose carry %m, at first `initial`, becomes `next`.
std::string loop(const std::string& type, const std::string& initial, const std::string& body,
                 const std::string& next) {
  const std::string array = "tensor<24x" + type + ">", part = "tensor<2x" + type + ">";
  auto with = [&](std::string text) {
    for (std::size_t at; (at = text.find("ARRAY")) != std::string::npos;)
      text.replace(at, 5, array);
    for (std::size_t at; (at = text.find("PART")) != std::string::npos;) text.replace(at, 4, part);
    for (std::size_t at; (at = text.find("TYPE")) != std::string::npos;) text.replace(at, 4, type);
    return text;
  };
  return with(R"(func.func @main(%x: ARRAY, %v: PART) -> ARRAY {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<TYPE>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<TYPE>) -> ARRAY
  %square = stablehlo.multiply %x, %x : ARRAY
  %r:2 = stablehlo.while(%i = %z, %m = )" +
              initial + R"() : tensor<i32>, ARRAY
  cond {
    %n = stablehlo.constant dense<5> : tensor<i32>
    %goes = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %goes : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
)" + body + R"(
    %i2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %i2, )" +
              next + R"( : tensor<i32>, ARRAY
  }
  return %r#1 : ARRAY
})");
}

const std::string kSlice =
    "    %s = stablehlo.dynamic_update_slice %zeros, %v, %i : (ARRAY, PART, tensor<i32>) -> "
    "ARRAY\n";
const std::string kPad =
    "    %s = stablehlo.pad %v, %zero, low = [3], high = [19], interior = [0] : (PART, "
    "tensor<TYPE>) -> ARRAY\n";
std::string scattered(bool unique, bool add) {
  return std::string(R"(    %at0 = stablehlo.reshape %i : (tensor<i32>) -> tensor<1x1xi32>
    %twice = stablehlo.add %at0, %at0 : tensor<1x1xi32>
    %next = stablehlo.reshape %one : (tensor<i32>) -> tensor<1x1xi32>
    %at1 = stablehlo.add %twice, %next : tensor<1x1xi32>
    %at = stablehlo.concatenate %at0, %at1, dim = 0 : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<2x1xi32>
    %s = "stablehlo.scatter"(%zeros, %at, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = )") +
         (unique ? "true" : "false") + R"(}> ({
    ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>):
)" + (add ? "      %c = stablehlo.add %a, %b : tensor<TYPE>\n" : "") +
         "      stablehlo.return " + (add ? "%c" : "%b") + R"( : tensor<TYPE>
    }) : (ARRAY, tensor<2x1xi32>, PART) -> ARRAY
)";
}
const std::string kSum = "    %t = stablehlo.add %m, %s : ARRAY\n";

/// Whether the pass leaves no sum of whole arrays; the bits must not change.
bool is_by_parts(const std::string& text, bool unique = true) {
  auto module = ir::parse(text);
  EXPECT_TRUE(module.ok()) << module.status().message() << text;
  ir::Block& f = (*module)->entry()->body;
  auto changed = ir::clone(f);
  fold_adds_into_updates(*changed);
  ir::remove_dead(*changed);
  EXPECT_TRUE(ir::verify(*changed).ok()) << ir::verify(*changed).message();
  for (int turn = 0; turn < 4; ++turn) {
    std::vector<Literal> arguments;
    for (const auto& a : f.arguments()) arguments.emplace_back(a->type());
    for (std::int64_t k = 0; k < 24; ++k)
      arguments[0].set_number(k, k % 3 == 0 ? -0.0 : static_cast<double>(k * (turn + 1)) - 30);
    for (std::int64_t k = 0; k < 2; ++k)
      arguments[1].set_number(k, (k + turn) % 2 == 0 ? -0.0 : static_cast<double>(turn - k));
    const auto want = op::evaluate(f, arguments), got = op::evaluate(*changed, arguments);
    EXPECT_EQ(std::memcmp(want[0].data(), got[0].data(), want[0].bytes()), 0) << text;
  }
  bool whole = false;
  ir::walk(*changed, [&](const ir::Op& op) {
    whole |= op.name() == "stablehlo.add" && op.result()->shape().count() == 24;
  });
  return !whole && unique;
}

TEST(SumsInPlace, OfWhatHoldsNoMinusZero) {
  for (const std::string& sparse : {kSlice, kPad, scattered(true, true), scattered(true, false)})
    for (const char* initial : {"%zeros", "%square"})
      EXPECT_TRUE(is_by_parts(loop("f32", initial, sparse + kSum, "%t"))) << sparse << initial;
}

// The first array may hold -0, which a zero turns.
TEST(SumsInPlace, NotOfAnArgument) {
  for (const std::string& sparse : {kSlice, kPad, scattered(true, true)})
    EXPECT_FALSE(is_by_parts(loop("f32", "%x", sparse + kSum, "%t"))) << sparse;
}
TEST(SumsInPlace, NotOfACarryThatIsNegated) {
  EXPECT_FALSE(is_by_parts(
      loop("f32", "%zeros", kSlice + kSum + "    %u = stablehlo.negate %t : ARRAY\n", "%u")));
}

// Integers have one zero.
TEST(SumsInPlace, OfAnyIntegers) {
  for (const std::string& sparse : {kSlice, kPad, scattered(true, true)})
    EXPECT_TRUE(is_by_parts(loop("i32", "%x", sparse + kSum, "%t"))) << sparse;
}

// Two numbers for one place are added to each other first.
TEST(SumsInPlace, NotWherePlacesMayBeEqual) {
  EXPECT_FALSE(is_by_parts(loop("f32", "%zeros", scattered(false, true) + kSum, "%t")));
}

// What is read besides is made anyway.
TEST(SumsInPlace, NotOfAnArrayThatIsAskedForBesides) {
  EXPECT_FALSE(is_by_parts(
      loop("f32", "%zeros", kSlice + kSum + "    %u = stablehlo.add %t, %s : ARRAY\n", "%u")));
}

TEST(SumsInPlace, OneAfterAnother) {
  const std::string twice =
      kSlice + kSum +
      "    %s3 = stablehlo.pad %v, %zero, low = [9], high = [13], interior = [0] : (PART, "
      "tensor<TYPE>) -> ARRAY\n    %t3 = stablehlo.add %s3, %t : ARRAY\n";
  EXPECT_TRUE(is_by_parts(loop("f32", "%zeros", twice, "%t3")));
}

}  // namespace
}  // namespace strata::pass
