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
  EXPECT_THAT(message_of([] {
                vmap([](Array x, Array y) { return x + y; }, {.in_axes = {0}})(zeros({2}),
                                                                               zeros({2}));
              }),
              StartsWith("vmap: in_axes has 1 entries for 2 arguments"));
  EXPECT_THAT(message_of([] { vmap([](Array x) { return x; }, {.in_axes = {2}})(zeros({2, 3})); }),
              StartsWith("vmap: axis 2 is out of range for an array of 2 dimensions"));
}
TEST(Mistake, DonatedArrayUsedAgain) {
  auto step = jit([](Array x) { return x + 1; }, {.donate_argnums = {0}});
  Array x = zeros({2});
  const Array y = step(std::move(x));
  EXPECT_MISTAKE(x + y,
                 "array: an array without a value was used (default constructed, or moved from)");
}
TEST(Mistake, RaggedBraces) {
  EXPECT_THAT(message_of([] { array({{1, 2}, {3}}); }),
              StartsWith("array: nested braces are ragged at depth 1: expected 2 elements"));
}
TEST(Mistake, ItemOfManyElements) {
  EXPECT_THAT(message_of([] { zeros({2, 3}).item<float>(); }),
              StartsWith("item: the array has 6 elements (f32[2,3]), not one"));
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
  EXPECT_THAT(message_of([&] { f(1.0f); }),
              AllOf(StartsWith("array: i1[] made at error_test.cc:"), HasSubstr("is traced"),
                    HasSubstr("use where, cond or while_loop instead of a C++ branch")));
}
TEST(Mistake, ValueThatLeavesItsTrace) {
  Array leaked;
  jit([&](Array x) {
    leaked = x * 2;
    return x;
  })(1.0f);
  EXPECT_THAT(message_of([&] { leaked + 1; }),
              AllOf(StartsWith("trace: f32[] made at error_test.cc:"),
                    HasSubstr("is used after the function that was being traced has ended")));
}
TEST(Mistake, GradOfAVector) {
  EXPECT_THAT(message_of([] { grad([](Array x) { return x * 2; })(ones({3})); }),
              StartsWith("grad: the function must return a float scalar, got f32[3]"));
}
TEST(Mistake, GradByIntegers) {
  EXPECT_THAT(message_of([] { grad([](Array x) { return sum(x) * 1.0f; })(array({1, 2})); }),
              StartsWith("grad: argument 0 is i32[2]: only floats have derivatives"));
}
TEST(Mistake, VmapOfUnequalSizes) {
  EXPECT_THAT(
      message_of([] { vmap([](Array x, Array y) { return x + y; })(zeros({2}), zeros({3})); }),
      StartsWith("vmap: mapped axes have different sizes: 2 and 3 (leaf 1 is f32[3])"));
}
TEST(Mistake, ScanWhoseCarryChanges) {
  EXPECT_THAT(
      message_of([] {
        scan([](Array c, Array x) { return std::pair(concatenate({c, c}), x); }, zeros({2}),
             zeros({3}));
      }),
      StartsWith("scan: carry is f32[2] before a step and f32[4] after it; both must be the same"));
}
TEST(Mistake, CondWhoseBranchesDiffer) {
  EXPECT_THAT(message_of([] {
                cond(true, [](Array x) { return x; }, [](Array x) { return sum(x); }, zeros({2}));
              }),
              StartsWith("cond: result 0 is f32[] in one branch and f32[2] in another"));
}
TEST(Mistake, TreesOfDifferentStructure) {
  EXPECT_THAT(
      message_of([] {
        tree::map([](Array a, Array) { return a; }, std::vector<Array>(2), std::vector<Array>(3));
      }),
      StartsWith("tree::map: structure of tree 1 is [*, *, *], that of the first is [*, *]"));
}
TEST(Mistake, UnknownPolicy) {
  EXPECT_THAT(
      message_of([] { remat([](Array x) { return x; }, {.policy = "all"})(ones({1})); }),
      StartsWith(
          "remat: policy is nothing, everything, dots, dots_no_batch or names:a,b, got \"all\""));
}

}  // namespace
}  // namespace strata
