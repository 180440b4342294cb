// One mistake of a user each, and the message it gives.
#include "strata/api/testing.h"

namespace strata {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::StartsWith;

/// The message, and the line where the mistake stands.
#define EXPECT_MISTAKE(expression, text)                                               \
  do {                                                                                 \
    const int line = __LINE__;                                                         \
    EXPECT_EQ(message_of([&] { (void)(expression); }),                                 \
              std::string(text) + " [at error_test.cc:" + std::to_string(line) + "]"); \
  } while (false)

TEST(Mistake, ShapesThatDoNotBroadcast) {
  EXPECT_MISTAKE(
      zeros({2, 3}) + zeros({2, 4}),
      "add: shapes of f32[2,3] and f32[2,4] do not broadcast: sizes 3 and 4 meet in dimension -1");
}
TEST(Mistake, ProductOfUnequalSizes) {
  EXPECT_MISTAKE(dot(zeros({2, 3}), zeros({4, 5})),
                 "dot: dimension 1 of f32[2,3] has size 3, dimension 0 of f32[4,5] has size 4");
  EXPECT_MISTAKE(matmul(zeros({2, 2, 3}), zeros({3, 3, 5})),
                 "matmul: batch dimensions of f32[2,2,3] and f32[3,3,5] do not broadcast");
}
TEST(Mistake, InsideACompositeFunctionTheUsersLineIsNamed) {
  EXPECT_MISTAKE(logaddexp(zeros({2}), zeros({3})),
                 "logaddexp: shapes of f32[2] and f32[3] do not broadcast: sizes 2 and 3 meet in "
                 "dimension -1");
}
TEST(Mistake, ReshapeThatDoesNotFill) {
  EXPECT_MISTAKE(zeros({2, 3}).reshape({4, -1}),
                 "reshape: f32[2,3] has 6 elements, which do not fill [4,-1]");
}
TEST(Mistake, AxisOutOfRange) {
  EXPECT_MISTAKE(sum(zeros({2, 3}), 2), "sum: axis 2 is out of range for an array of 2 dimensions");
  EXPECT_MISTAKE(sum(zeros({2, 3}), {0, -2}), "sum: axis 0 is given twice");
}
TEST(Mistake, IndexOutOfRange) {
  EXPECT_MISTAKE(zeros({2, 3})[5], "index: index 5 is out of range for dimension 0 of f32[2,3]");
  EXPECT_MISTAKE((zeros({2})[{0, 1}]), "index: 2 indices are given for f32[2]");
}
TEST(Mistake, NarrowFloatsDoNotMix) {
  EXPECT_MISTAKE(
      Array(Literal(Type(DType::f8E4M3FN, Shape{2}), nullptr)) + zeros({2}),
      "add: dtypes f8E4M3FN, f32 have no implicit promotion; convert one of them with astype");
}
TEST(Mistake, IntegerThatDoesNotFit) {
  EXPECT_MISTAKE(array({1}, uint8) + 300, "array: integer 300 does not fit ui8");
}
TEST(Mistake, EinsumSubscripts) {
  EXPECT_MISTAKE(einsum("ij,jk->ik", zeros({2, 3}), zeros({4, 5})),
                 "einsum: \"ij,jk->ik\": letter 'j' has sizes 3 and 4");
  EXPECT_MISTAKE(einsum("ij->k", zeros({2, 3})),
                 "einsum: \"ij->k\": letter 'k' of the result is in no operand");
  EXPECT_MISTAKE(einsum("ij", zeros({2, 3, 4})),
                 "einsum: \"ij\": operand 0 has 2 letters but is f32[2,3,4]");
}
TEST(Mistake, IndexThatIsNoInteger) {
  EXPECT_MISTAKE(zeros({3})[Array(1.5f)],
                 "index: index arrays are integers or booleans, got f32[]");
}
TEST(Mistake, InAxesOfAnotherLength) {
  auto sum_of = [](Array x, Array y) { return x + y; };
  EXPECT_MISTAKE(vmap(sum_of, {.in_axes = {0}})(zeros({2}), zeros({2})),
                 "vmap: in_axes has 1 entries for 2 arguments");
  auto same = [](Array x) { return x; };
  EXPECT_MISTAKE(vmap(same, {.in_axes = {2}})(zeros({2, 3})),
                 "vmap: axis 2 is out of range for an array of 2 dimensions");
}
TEST(Mistake, DonatedArgumentThatIsNotThere) {
  auto same = [](Array x) { return x; };
  EXPECT_MISTAKE(jit(same, {.donate_argnums = {0, 3}})(zeros({2})),
                 "jit: donate_argnums names argument 3, but the function is called with 1 "
                 "arguments");
  EXPECT_MISTAKE(jit(same, {.donate_argnums = {1}}).lower(zeros({2})),
                 "jit: donate_argnums names argument 1, but the function is called with 1 "
                 "arguments");
}
TEST(Mistake, DonatedArrayUsedAgain) {
  auto step = jit([](Array x) { return x + 1; }, {.donate_argnums = {0}});
  Array x = zeros({2});
  const Array y = step(std::move(x));
  EXPECT_MISTAKE(x + y,
                 "array: an array without a value was used (default constructed, or moved from)");
}
TEST(Mistake, RaggedBraces) {
  EXPECT_MISTAKE(array({{1, 2}, {3}}),
                 "array: nested braces are ragged at depth 1: expected 2 elements");
  EXPECT_MISTAKE(array(std::vector<float>{1, 2, 3}, Sizes{2, 2}),
                 "array: 3 values do not fill shape [2,2]");
}
TEST(Mistake, ItemOfManyElements) {
  EXPECT_MISTAKE(zeros({2, 3}).item<float>(), "item: the array has 6 elements (f32[2,3]), not one");
}
TEST(Mistake, ArrayWithoutAValue) {
  Array x;
  EXPECT_MISTAKE(x + 1,
                 "array: an array without a value was used (default constructed, or moved from)");
}
TEST(Mistake, BranchOnATracedValue) {
  auto f = jit([](Array x) {
    if (x > 0) return x;
    return -x;
  });
  EXPECT_THAT(message_of([&] { (void)f(1.0f); }),
              AllOf(StartsWith("array: i1[] made at error_test.cc:"), HasSubstr("is traced"),
                    HasSubstr("use where, cond or while_loop instead of a C++ branch")));
}
TEST(Mistake, BranchOnAnArgument) {
  const int line = __LINE__ + 1;
  auto f = jit([](Array x) { return x ? x : -x; });
  EXPECT_THAT(message_of([&] { (void)f(1.0f); }),
              StartsWith("array: f32[], an argument of the function traced at error_test.cc:" +
                         std::to_string(line) + ", is traced: its elements are not known"));
}
TEST(Mistake, ElementsOfATracedValue) {
  EXPECT_THAT(message_of([&] { (void)jit([](Array x) { return x * x.item<float>(); })(1.0f); }),
              AllOf(HasSubstr("is traced: its elements are not known"),
                    HasSubstr("[at error_test.cc:" + std::to_string(__LINE__))));
  EXPECT_THAT(
      message_of([&] { (void)jit([](Array x) { return Array(x.to_vector<float>()[0]); })(1.0f); }),
      HasSubstr("[at error_test.cc:" + std::to_string(__LINE__)));
}
TEST(Mistake, BothOfTwoTracedValues) {
  auto both = [](Array i) { return i < 3 && i > 1; };
  auto next = [](Array i) { return i + 1; };
  EXPECT_THAT(message_of([&] { (void)while_loop(both, next, 0); }),
              HasSubstr("logical_and, logical_or and logical_not instead of &&, || and !"));
}
TEST(Mistake, ValueThatLeavesItsTrace) {
  Array leaked;
  (void)jit([&](Array x) {
    leaked = x * 2;
    return x;
  })(1.0f);
  EXPECT_THAT(message_of([&] { (void)(leaked + 1); }),
              AllOf(StartsWith("trace: f32[] made at error_test.cc:"),
                    HasSubstr("is used after the function that was being traced has ended")));
}
TEST(Mistake, KernelOfOtherFeatures) {
  EXPECT_MISTAKE(lax::conv(zeros({1, 3, 8, 8}), zeros({4, 2, 3, 3}), {1, 1}, "SAME"),
                 "convolution: the kernel takes 2 input features (dimension 1 of f32[4,2,3,3]), "
                 "but the input has 3 (dimension 1 of f32[1,3,8,8]) (C14)");
}
TEST(Mistake, GradOfAVector) {
  auto twice = [](Array x) { return x * 2; };
  EXPECT_MISTAKE(grad(twice)(ones({3})),
                 "grad: the function must return a float scalar, got f32[3]");
  EXPECT_MISTAKE(value_and_grad(twice)(ones({3})),
                 "grad: the function must return a float scalar, got f32[3]");
}
TEST(Mistake, GradByIntegers) {
  auto loss = [](Array x) { return sum(x) * 1.0f; };
  EXPECT_MISTAKE(grad(loss)(array({1, 2})),
                 "grad: argument 0 is i32[2]: only floats have derivatives (under {.allow_int = "
                 "true} those of integers are zeros)");
  EXPECT_MISTAKE(jacfwd(loss)(array({1, 2})),
                 "jacfwd: argument 0 is i32[2]: only floats have derivatives");
}
TEST(Mistake, VmapOfUnequalSizes) {
  auto sum_of = [](Array x, Array y) { return x + y; };
  EXPECT_MISTAKE(vmap(sum_of)(zeros({2}), zeros({3})),
                 "vmap: mapped axes have different sizes: 2 and 3 (leaf 1 is f32[3])");
}
TEST(Mistake, LoopWhoseCarryChanges) {
  auto longer = [](Array c, Array x) { return std::pair(concatenate({c, c}), x); };
  EXPECT_MISTAKE(scan(longer, zeros({2}), zeros({3})),
                 "scan: carry is f32[2] before a step and f32[4] after it; both must be the same");
  auto always = [](Array) { return true; };
  auto halves = [](Array c) { return c / 2; };
  EXPECT_MISTAKE(
      while_loop(always, halves, zeros({}, int32)),
      "while_loop: carry is i32[] before a step and f32[] after it; both must be the same");
  auto integer = [](Array c) { return c; };
  EXPECT_MISTAKE(while_loop(integer, integer, zeros({}, int32)),
                 "while_loop: the condition returns a boolean scalar, got i32[]");
}
TEST(Mistake, LoopWhoseCarryChangesItsStructure) {
  auto more = [](Array i, std::vector<Array> c) { return c.push_back(i), c; };
  const std::vector<Array> one = {zeros({}, int32)};
  EXPECT_MISTAKE(fori_loop(0, 3, more, one),
                 "fori_loop: the carry is [*] before a step and [*, *] after it; both must be the "
                 "same (* is an array)");
  using Counted = std::pair<Array, int>;
  auto count = [](Counted c, Array x) { return std::pair(Counted(c.first, c.second + 1), x); };
  EXPECT_MISTAKE(scan(count, Counted(zeros({}), 0), zeros({3})),
                 "scan: the carry is (*, 0) before a step and (*, 1) after it; both must be the "
                 "same (* is an array)");
}
TEST(Mistake, CondWhoseBranchesDiffer) {
  auto same = [](Array x) { return x; };
  auto total = [](Array x) { return sum(x); };
  EXPECT_MISTAKE(cond(true, same, total, zeros({2})),
                 "cond: result 0 is f32[] in one branch and f32[2] in another");
  auto one = [](Array x) { return std::vector{x}; };
  auto two = [](Array x) { return std::vector{x, x}; };
  EXPECT_MISTAKE(cond(true, one, two, zeros({2})),
                 "cond: one branch returns [*] and another [*, *]; both must be the same (* is an "
                 "array)");
}
TEST(Mistake, TreesOfDifferentStructure) {
  EXPECT_THAT(
      message_of([] {
        tree::map([](Array a, Array) { return a; }, std::vector<Array>(2), std::vector<Array>(3));
      }),
      StartsWith("tree::map: structure of tree 1 is [*, *, *], that of the first is [*, *]"));
}
TEST(Mistake, UnknownPolicy) {
  auto same = [](Array x) { return x; };
  EXPECT_MISTAKE(
      remat(same, {.policy = "all"})(ones({1})),
      "remat: policy is nothing, everything, dots, dots_no_batch or names:a,b, got \"all\"");
}

}  // namespace
}  // namespace strata
