// The text form: what it looks like, what it refuses, and that damage is an error and never a
// crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "strata/loop/loop.h"
#include "strata/loop/testing/random_kernel.h"

namespace strata::loop {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kText =
    R"(kernel @every(%0: in f32[1000], %1: inout f32[1000], %2: scratch i32[4]) grid 3 {
  %3 = constant -2.5 : f32
  %4 = constant 0x7fc00000 : f32
  %5 = local %3 : f32x16
  for %6 = %g to 2*%g + 10 step 3 {
    %7 = load %0[%6] : f32
    fetch %0[1000*%6 - 64]
    set %5, %7
  }
  vector %8, %9 = 0 to 100 lanes 16 {
    %10 = load ahead 100 %0[16*%8 + %9] : f32x16
    %11 = constant true : i1
    %12 = load %0[%9] where %11 else %3 : f32x16
    %13 = fma %10, %12, %4 : f32x16
    %14 = index [16*%8 + %9 - 7] : i64x16
    %15 = constant 7 : i64
    %16 = rem %14, %15 : i64x16 in [0, 6]
    %17 = cmp lt %14, %15 : i1x16
    store %1[16*%8 + %9 + %16], %13 where %17
  }
  %18 = get %5 : f32x16
  %19 = reduce add %18 : f32
  %20 = extract %18, 3 : f32
  %21 = convert %20 : i32
  %22 = call @strata_sort(%21, %19) : i1
  if %22 {
    store %2[-%g + 2], %21
  } else {
    store %1[0], %19
  }
  while {
    %23 = load %2[0] : i32
    %24 = constant -4 : i32
    %25 = cmp ge %23, %24 : i1
    yield %25
  } do {
    store %2[0], %24
  }
}
)";

TEST(Text, RefusesAValueOfAnotherBody) {
  auto kernel = parse(kText);  // %24 is computed in the condition, and not visible in the body
  ASSERT_FALSE(kernel.ok());
  EXPECT_THAT(kernel.status().message(),
              HasSubstr("store names a value that is not computed before it"));
}

std::string legal_text() {
  std::string text(kText);
  text.replace(text.rfind("store %2[0], %24"), 16, "store %2[0], %21");
  return text;
}

TEST(Text, PrintsAsItWasWritten) {
  auto kernel = parse(legal_text());
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  EXPECT_EQ(print(**kernel), legal_text());
}

TEST(Text, NumbersByAppearanceNotCreation) {
  auto build = [](bool swap) {
    auto kernel = std::make_unique<Kernel>("k");
    Builder b(*kernel);
    Ref* x = b.parameter(DType::f32, 8, Ref::Mode::inout);
    b.vector(0, 8, 8, [&](Index i) { b.store(x, i, b.unary(Opcode::neg, b.load(x, i))); });
    if (swap) {  // an instruction that stands nowhere shifts the ids
      b.if_(b.compare(Compare::lt, b.load(x, 0), b.load(x, 1)), [] {});
      kernel->body.insts.resize(1);
    }
    b.vector(0, 8, 8, [&](Index i) { b.store(x, i, b.unary(Opcode::abs, b.load(x, i))); });
    return kernel;
  };
  EXPECT_EQ(print(*build(false)), print(*build(true)));
}

TEST(Text, ConstantsReadBackAsTheirBits) {
  std::mt19937_64 random(5);
  for (DType dtype :
       {DType::i1, DType::i8, DType::i16, DType::i32, DType::i64, DType::ui8, DType::ui16,
        DType::ui32, DType::ui64, DType::bf16, DType::f16, DType::f32, DType::f64}) {
    Kernel kernel("k");
    Builder b(kernel);
    Ref* out = b.parameter(dtype, 300, Ref::Mode::out);
    for (int i = 0; i < 300; ++i)
      b.store(out, i, b.constant_bits(dtype, i < 4 ? static_cast<std::uint64_t>(i) - 2 : random()));
    auto parsed = parse(print(kernel));
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    ASSERT_EQ((*parsed)->body.insts.size(), kernel.body.insts.size());
    for (std::size_t i = 0; i < kernel.body.insts.size(); ++i)
      EXPECT_EQ((*parsed)->body.insts[i]->bits, kernel.body.insts[i]->bits);
  }
}

struct Wrong {
  const char* body;
  const char* message;
};
TEST(Text, SaysWhatIsWrong) {
  const Wrong wrongs[] = {
      {"%2 = frobnicate %0 : f32", "line 2: expected an opcode, found 'frobnicate'"},
      {"%2 = load %9[0] : f32", "a buffer instead of %9"},
      {"%2 = neg %7 : f32", "a value known here instead of %7"},
      {"%2 = load %0[0] : f32\n %2 = load %0[0] : f32", "a new name instead of %2"},
      {"%2 = load %0[0] : i32", "load gives f32 x 1 lanes, not i32 x 1"},
      {"%2 = load %0[0] : f32x3", "value of 3 lanes"},
      {"%2 = load %0[0] : f32x4", "load gives f32 x 1 lanes, not f32 x 4"},
      {"%2 = constant 3 : f99", "an element type"},
      {"%2 = constant 300 : i8", "a constant of i8 before it"},
      {"%2 = constant -1 : ui8", "a constant of ui8 before it"},
      {"%2 = constant 99999999999999999999 : i64", "a constant of i64"},
      {"%2 = load %0[0] : f32\n store %0[0], %2", "store to input 0"},
      {"%2 = load %0[0] : f32\n %3 = not %2 : f32", "not of f32"},
      {"%2 = load %0[0] : f32\n %3 = add %2 : f32", "add of 1 arguments"},
      {"%2 = load %0[0] : f32\n %3 = convert %2 : i32\n %4 = add %2, %3 : f32",
       "add of i32 where f32 is due"},
      {"%2 = load %0[0] : f32\n if %2 {}", "if by f32 x 1 lanes"},
      {"%2 = load %0[0] : f32\n %3 = bitcast %2 : i64", "bitcast of f32 to i64"},
      {"%2 = load %0[0] : f32\n %3 = reduce sub %2 : f32", "reduce of f32 by opcode"},
      {"%2 = load %0[0] : f32\n set %2, %2", "set of load"},
      {"%2 = load %0[0] : f32\n %3 = local %2 : f32\n %4 = neg %3 : f32",
       "neg of local, which is no value"},
      {"%2 = load %0[0] : f32\n %3 = convert %2 : f64\n %4 = convert %3 : bf16",
       "goes by way of f32"},
      {"for %2 = 0 to 4 step 0 {}", "for by steps of 0"},
      {"for %2 = 0 to 4 step 1 {} %3 = index [%2] : i64",
       "index names a value that is not computed before it"},
      {"vector %2, %3 = 0 to 4 lanes 2 { vector %4, %5 = 0 to 4 lanes 2 {} }",
       "a vector loop stands in another"},
      {"vector %2, %3 = 0 to 4 lanes 3 {}", "strips of 3 lanes"},
      {"vector %2, %3 = 0 to 5 lanes 4 { %4 = load %0[4*%2 + %3] : f32x4 %5 = reduce add %4 : f32 "
       "}",
       "whose last strip is masked"},
      {"vector %2, %3 = 0 to 5 lanes 4 { %4 = load %0[4*%2 + %3] : f32x4 store %1[%2], %4 }",
       "store of 4 lanes at an index of 1"},
      {"vector %2, %3 = 0 to 4 lanes 4 { fetch %0[4*%2 + %3] }",
       "fetch at an index that has lanes"},
      {"fetch %9[0]", "a buffer instead of %9"},
      {"%2 = fetch %0[0] : f32", "an opcode that has a value"},
      {"%2 = constant 1 : i64 in [5, 4]", "a value in [5, 4]"},
      {"%2 = constant 1 : i32\n %3 = index [%2] : i64", "an i64 value before it"},
      {"yield %2", "expected '}', found 'yield'"},
      {"if %g {}", "if of index, which is no value"},
  };
  for (const Wrong& wrong : wrongs) {
    auto kernel = parse(
        fmt::format("kernel @k(%0: in f32[9], %1: out f32[9]) grid 2 {{\n{}\n}}", wrong.body));
    ASSERT_FALSE(kernel.ok()) << wrong.body;
    EXPECT_EQ(kernel.status().code(), Code::corrupt);
    EXPECT_THAT(kernel.status().message(), HasSubstr(wrong.message)) << wrong.body;
  }
}

TEST(Text, SaysWhatIsWrongWithTheHead) {
  const Wrong wrongs[] = {
      {"kernel @k(%0: in f32[-1]) grid 1 {}", "buffer 0 of -1 elements"},
      {"kernel @k(%0: in c64[1]) grid 1 {}", "an element type"},
      {"kernel @k(%0: into f32[1]) grid 1 {}", "in, out, inout or scratch"},
      {"kernel @k(%0: in f32[1], %0: in f32[1]) grid 1 {}", "a new name instead of %0"},
      {"kernel @k() grid 0 {}", "grid of 0 points"},
      {"kernel k() grid 1 {}", "a name after '@'"},
      {"kernel @k() grid 1 {} kernel", "line 1: expected the end, found 'kernel'"},
      {"", "line 1: expected 'kernel', found the end"},
  };
  for (const Wrong& wrong : wrongs) {
    auto kernel = parse(wrong.body);
    ASSERT_FALSE(kernel.ok()) << wrong.body;
    EXPECT_THAT(kernel.status().message(), HasSubstr(wrong.message)) << wrong.body;
  }
}

TEST(Text, RefusesDeepNesting) {
  std::string deep = "kernel @k() grid 1 {";
  for (int i = 0; i < 100000; ++i) deep += fmt::format("for %{} = 0 to 2 step 1 {{", i);
  auto kernel = parse(deep);
  ASSERT_FALSE(kernel.ok());
  EXPECT_THAT(kernel.status().message(), HasSubstr("bodies at most 64 deep"));
}

TEST(Text, DamageIsAnErrorOrAnotherKernel) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 4000; ++trial) {
    std::string text = trial % 2
                           ? legal_text()
                           : print(*testing::random_kernel(static_cast<std::uint64_t>(trial)));
    for (int damage = 1 + static_cast<int>(random() % 3); damage > 0; --damage) {
      std::size_t at = random() % text.size(),
                  length = std::min<std::size_t>(text.size() - at, random() % 12);
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, length); break;
        case 2: text.insert(random() % text.size(), text.substr(at, length)); break;
        default: text.resize(at + 1);
      }
    }
    auto kernel = parse(text);
    if (kernel.ok()) {
      auto again = parse(print(**kernel));
      ASSERT_TRUE(again.ok()) << again.status().message() << "\n" << text;
      EXPECT_EQ(print(**again), print(**kernel));
    }
  }
}

}  // namespace
}  // namespace strata::loop
