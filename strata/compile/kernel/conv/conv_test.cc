// Operations over windows, as machine code: the reference's bits.
#include "strata/compile/compile_testing.h"
#include "strata/compile/kernel/conv/conv_testing.h"
#include "strata/compile/llvm/compile_kernels.h"
#include "strata/compile/processor_testing.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/reduce/windows.h"

namespace strata::compile {
namespace {

using ir::Attrs;
using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Value;
using ir::Values;
using Sizes = testing::ConvolutionSizes;
using testing::convolution;
using testing::expect_compiled_equals_reference;

/// The law of compile_testing.h. Pairs of bf16 have sums of their own on a processor that
/// multiplies such (docs/exceptions.md): there the interpreter walks their plan, which has the
/// reference's bits, and the machine's are near.
void expect_convolved(const Block& block, unsigned seed = 1, bool interpret_too = false) {
  if (block.arguments()[0]->type().dtype() != DType::bf16)
    return expect_compiled_equals_reference(block, seed, interpret_too);
  const std::vector<Literal> given = testing::arguments_of(block, seed),
                             want = op::evaluate(block, given);
  testing::expect_same_bits({testing::run_as_on("x86-64-v4,+avx512bf16", block, given)}, want,
                            "pairs");
  testing::expect_same_bits({testing::run_as_on("x86-64-v3", block, given)}, want, "one by one");
  for (bool any_size : {false, true}) {
    const Literal got = std::move(testing::run_compiled(block, given, any_size).at(0));
    for (std::int64_t i = 0; i < got.count(); ++i)
      EXPECT_NEAR(got.number(i), want[0].number(i), 1e-4 + std::abs(want[0].number(i)) / 128) << i;
  }
}

// Derivatives by a kernel sum over a batch and all places: the batch, which is their features, goes
// by pieces.
TEST(CompiledWindows, ConvolutionsOfManyTermsGoByPieces) {
  const Ints one{1, 1}, none{0, 0, 0, 0};
  const Sizes thirds{{1, 50, 49, 6}, {48, 48, 6, 5}, one, none, one, one},
      single{{2, 96, 96, 1}, {94, 96, 1, 3}, one, none, one, one};
  for (bool last : {true, false}) {
    Sizes s = thirds;
    if (!last) s.lhs = {1, 6, 50, 49};
    const auto f = convolution(DType::f32, DType::f32, s, last);
    const auto product = prepare(*f);
    EXPECT_TRUE(std::any_of(product->ops().begin(), product->ops().end(), [](const auto& op) {
      return op->num_results() == 1 && op->result()->rank() > 0 && op->result()->shape()[0] == 3;
    }));
    expect_compiled_equals_reference(*f, 1, false);
    expect_convolved(*convolution(DType::bf16, DType::bf16, s, last));
  }
  expect_compiled_equals_reference(*convolution(DType::i8, DType::i32, thirds, true), 1, false);
  expect_compiled_equals_reference(*convolution(DType::f32, DType::f32, single, true), 1, false);
}

// Holes of a dilated array are no terms: the same bits as with zeros in them, whatever the kernel,
// the padding and the groups.
TEST(CompiledWindows, ConvolutionsWithoutTheHolesOfTheirArray) {
  const Ints one{1, 1};
  for (const Sizes& s :
       {Sizes{{2, 14, 15, 8}, {4, 3, 8, 20}, one, {2, 2, 1, 1}, {2, 2}, one},
        Sizes{{2, 16, 9, 8}, {2, 5, 8, 40}, one, {-1, 2, 3, 0}, {3, 2}, one},
        Sizes{{3, 30, 31, 8}, {1, 1, 8, 40}, one, {0, 1, 0, 2}, {2, 3}, one},
        Sizes{{2, 20, 21, 8}, {3, 3, 4, 32}, one, {1, 1, 2, 0}, {2, 1}, one, 2},
        Sizes{{1, 24, 25, 8}, {3, 4, 8, 24}, {1, 2}, {1, 1, 2, 0}, {2, 2}, {1, 2}}})
    for (bool last : {true, false}) {
      SCOPED_TRACE(Shape::of(s.lhs).to_string() + " " + Shape::of(s.rhs).to_string());
      Sizes dilated = s;
      if (!last) dilated.lhs = {s.lhs[0], s.lhs[3], s.lhs[1], s.lhs[2]};
      const auto f = convolution(DType::f32, DType::f32, dilated, last);
      Sizes with_zeros = dilated;
      with_zeros.lhs_dilation = one;
      for (std::size_t d : {0, 1}) {
        std::int64_t& size = with_zeros.lhs[(last ? 1 : 2) + d];
        size = (size - 1) * s.lhs_dilation[d] + 1;
      }
      const auto plain = convolution(DType::f32, DType::f32, with_zeros, last);
      const auto parts = prepare(*f);
      EXPECT_GT(std::count_if(parts->ops().begin(), parts->ops().end(),
                              [](const auto& op) { return op::is_contraction(*op); }),
                s.rhs[0] == 1 ? 0 : 1);  // of a single place one phase has terms
      const std::vector<Literal> given = testing::arguments_of(*f, 3);
      Literal spread(Type(DType::f32, Shape::of(with_zeros.lhs)));
      op::for_each_index(given[0].shape(),
                         [&](std::span<const std::int64_t> index, std::int64_t from) {
                           std::vector<std::int64_t> to(index.begin(), index.end());
                           for (std::size_t d : {0, 1}) to[(last ? 1 : 2) + d] *= s.lhs_dilation[d];
                           spread.mutable_span<float>()[static_cast<std::size_t>(
                               op::linear_index(to, spread.shape().strides()))] =
                               given[0].span<float>()[static_cast<std::size_t>(from)];
                         });
      testing::expect_same_bits(testing::run_compiled(*f, given),
                                testing::run_compiled(*plain, {spread, given[1]}), "with zeros");
      expect_compiled_equals_reference(*f, 3, false);
    }
}

TEST(CompiledWindows, Convolutions) {
  Ints one{1, 1}, none{0, 0, 0, 0};
  Sizes same{{2, 9, 10, 3}, {3, 3, 3, 5}, one, {1, 1, 1, 1}, one, one},
      strided{{1, 3, 12, 11}, {3, 2, 3, 8}, {2, 1}, {-1, 2, 3, 0}, one, {1, 2}},
      transposed{{1, 5, 5, 4}, {3, 3, 4, 2}, one, {2, 2, 2, 1}, {2, 2}, one},
      depthwise{{2, 8, 8, 6}, {3, 3, 1, 6}, one, {1, 1, 1, 1}, one, one, 6},
      grouped{{2, 6, 5, 5}, {2, 2, 2, 9}, one, none, one, one, 3},
      batches{{4, 5, 5, 2}, {2, 2, 2, 6}, one, none, one, one, 1, 2},
      point{{1, 4, 4, 40}, {1, 1, 40, 33}, one, none, one, one},
      one_result{{1, 1, 1, 16}, {1, 1, 16, 8}, one,
                 none,          one,           one};  // lanes run along a dimension of one element
  for (DType t : {DType::f32, DType::f64, DType::i32, DType::f16}) {
    expect_compiled_equals_reference(*convolution(t, t, same, true));
    expect_compiled_equals_reference(*convolution(t, t, strided, false));
  }
  for (const Sizes* s : {&transposed, &depthwise, &batches, &point, &one_result})
    expect_compiled_equals_reference(*convolution(DType::f32, DType::f32, *s, true));
  expect_compiled_equals_reference(*convolution(DType::f32, DType::f32, grouped, false));
  expect_compiled_equals_reference(*convolution(DType::i8, DType::i32, same, true));
}

/// Sizes at which blocks are cut: along k, along rows with a shorter last one, along columns with a
/// rest of lanes.
TEST(CompiledWindows, ConvolutionsOfManyBlocks) {
  Ints one{1, 1}, same{1, 1, 1, 1}, none{0, 0, 0, 0};
  Sizes deep{{1, 5, 6, 400}, {3, 3, 400, 24}, one, same, one, one},  // k in parts
      tall{{1, 67, 61, 8}, {3, 3, 8, 40}, one, same, one, one},      // 67 rows of 61 in blocks
      line{{1, 1, 2003, 4}, {1, 5, 4, 33}, one,
           {0, 0, 2, 2},    one,           one},  // a prime number of results in one row
      wide{{2, 6, 6, 12}, {2, 2, 12, 300}, one, none, one, one},  // more columns than a block has
      coarse{{2, 17, 15, 6}, {3, 3, 6, 20}, {4, 3},
             {2, 0, 1, 3},   one,           {2, 3}},  // steps with a common divisor
      spread{{2, 6, 5, 8}, {3, 3, 8, 16}, one, {2, 2, 2, 2}, {3, 2}, one},  // a gradient's dilation
      cut{{1, 9, 9, 16}, {3, 3, 16, 8}, one, {-1, 0, 0, -2}, one, one},     // padding that cuts
      whole{{24, 9, 9, 16}, {9, 9, 16, 32}, one, same, one, one},  // windows as large as the array
      few{{2, 12, 12, 16}, {3, 3, 16, 3}, one, same, one, one},
      along{{2, 19, 37, 150}, {3, 3, 150, 2}, one, same, one, one},
      one_feature{{1, 40, 33, 5}, {3, 3, 5, 1}, {2, 1}, same, one, {1, 2}},
      fours{{2, 7, 21, 16}, {3, 3, 4, 16}, one, same, one, one, 4},
      grouped{{2, 9, 8, 24}, {3, 3, 8, 30}, one, same, one, one, 3},
      turned{{2, 17, 21, 19},
             {3, 3, 19, 24},
             {2, 2},
             {0, 1, 0, 1},
             one,
             one},  // squares that overlap along both sides
      point_in_steps{{2, 13, 9, 24}, {1, 1, 24, 40}, {2, 3}, none, one, one},
      point_to_few{{1, 17, 19, 40}, {1, 1, 40, 3}, one, none, one, one},
      point_beside{{2, 6, 7, 16}, {1, 1, 16, 20}, one, {1, 0, 0, 2}, one, one},
      few_in_steps{{2, 13, 33, 16}, {5, 3, 16, 8}, {2, 2}, same, one, one},
      few_in_long_steps{{2, 9, 71, 24}, {3, 3, 24, 12}, {1, 4}, same, one, {1, 2}},
      few_of_deep{{1, 5, 19, 600},
                  {3, 3, 600, 9},
                  one,
                  same,
                  one,
                  one},  // k in parts, rows along the lanes
      short_to_eight{{3, 7, 7, 150}, {3, 3, 150, 8}, one, same, one, one},
      short_to_three{{3, 5, 6, 70}, {3, 3, 70, 3}, {2, 1}, same, one, one},  // tiles of few lanes
      steps_of_parts{{1, 8, 40, 260}, {3, 7, 260, 16}, {2, 2}, same, one, one},
      few_of_parts{{1, 7, 36, 260},
                   {3, 7, 260, 4},
                   {2, 2},
                   same,
                   one,
                   one},  // rows in steps, k in parts of one such
      padding_alone{{2, 0, 5, 8}, {3, 2, 8, 4}, one, {4, 4, 1, 1}, {2, 2}, one},
      few_of_many{{2, 6, 5, 24}, {3, 2, 12, 4}, one, same, one, one, 2};
  for (const Sizes* s : {&point_in_steps,
                         &point_to_few,
                         &point_beside,
                         &few_in_steps,
                         &few_in_long_steps,
                         &few_of_deep,
                         &steps_of_parts,
                         &few_of_parts,
                         &short_to_eight,
                         &short_to_three,
                         &turned,
                         &padding_alone,
                         &few_of_many,
                         &deep,
                         &tall,
                         &line,
                         &wide,
                         &coarse,
                         &spread,
                         &cut,
                         &whole,
                         &few,
                         &along,
                         &one_feature,
                         &fours,
                         &grouped})
    for (bool last : {true, false}) {
      Sizes order = *s;
      if (!last) order.lhs = {s->lhs[0], s->lhs[3], s->lhs[1], s->lhs[2]};
      for (DType t : {DType::f32, DType::bf16})
        expect_convolved(*convolution(t, DType::f32, order, last));
    }
  for (DType t : {DType::f64, DType::f16, DType::i16})
    expect_compiled_equals_reference(*convolution(t, t, coarse, true), 1, false);
  turned.lhs = {2, 19, 17, 21};
  for (DType t : {DType::f64, DType::f16, DType::bf16, DType::i32})
    expect_convolved(*convolution(t, t, turned, false));
}

/// An odd number of features: beside the last of them stands a zero, not what is behind it in
/// memory, which may be no number.
TEST(CompiledWindows, PairsOfOddFeaturesEndWithZeros) {
  const Ints one{1, 1}, same{1, 1, 1, 1};
  for (std::int64_t features : {3, 5})
    for (bool last : {true, false}) {
      Sizes s{{2, 7, 9, features}, {3, 3, features, 24}, one, same, one, one};
      if (!last) s.lhs = {2, features, 7, 9};
      const auto block = convolution(DType::bf16, DType::f32, s, last);
      std::vector<Literal> given = testing::arguments_of(*block, 1);
      given[0].set_number(features * 20, std::numeric_limits<double>::infinity());
      const Literal want = op::evaluate(*block, given).at(0),
                    got = std::move(testing::run_compiled(*block, given).at(0));
      testing::expect_same_bits({testing::run_as_on("x86-64-v4,+avx512bf16", *block, given)},
                                {want}, "pairs");
      for (std::int64_t i = 0; i < got.count(); ++i) {
        EXPECT_EQ(std::isnan(got.number(i)), std::isnan(want.number(i))) << i;
        EXPECT_EQ(std::isinf(got.number(i)), std::isinf(want.number(i))) << i;
      }
    }
}

/// Features in as many groups as there are, or nearly: a lane for each result.
TEST(CompiledWindows, NarrowConvolutions) {
  Ints one{1, 1}, same{1, 1, 1, 1};
  Sizes depthwise{{2, 8, 9, 80}, {3, 3, 1, 80}, one, same, one, one, 80},
      doubled{{1, 7, 7, 21}, {3, 2, 1, 42}, {2, 1}, same, one, {1, 2}, 21},
      fours{{2, 6, 6, 32}, {3, 3, 4, 32}, one, same, one, one, 8},
      long_sums{{1, 20, 20, 6}, {17, 16, 1, 6}, one, same, one, one, 6},
      batches{{12, 5, 5, 2}, {2, 2, 2, 6}, one, same, one, one, 1, 6};
  for (const Sizes* s : {&depthwise, &doubled, &fours, &long_sums, &batches})
    for (bool last : {true, false}) {
      Sizes order = *s;
      if (!last) order.lhs = {s->lhs[0], s->lhs[3], s->lhs[1], s->lhs[2]};
      for (DType t : {DType::f32, DType::bf16})
        expect_compiled_equals_reference(*convolution(t, t, order, last), 1, false);
    }
  expect_compiled_equals_reference(*convolution(DType::i8, DType::i32, fours, true));
}

// The masks of a short row's ends are put together by instructions that mix with registers of 32
// bytes (jit.cc).
TEST(CompiledWindows, MasksMixWithWideRegisters) {
  auto block = testing::convolution(
      DType::f32, DType::f32, {{1, 8, 16, 16}, {3, 4, 8, 1}, {1, 1}, {1, 1, 1, 2}, {1, 1}, {1, 1}},
      false);
  const CpuTarget target = CpuTarget::named("znver3");
  std::string code;
  for (const auto& kernel : make_plan(*prepare(*block), {}, target).kernels)
    code += kernel_assembly(target, *kernel);
  EXPECT_NE(code.find("%ymm"), std::string::npos) << code;
  EXPECT_EQ(code.find("insertq"), std::string::npos) << code;
}

/// Derivatives by a few filters use pieces of the sum, which are a batch of few features: they
/// are no lanes of a result, but of one filter where the pieces are neighbours.
TEST(CompiledWindows, LongSumsOfFewFilters) {
  const Ints one{1, 1}, none{0, 0, 0, 0};
  for (std::int64_t filters : {1, 3, 5})
    for (bool last : {true, false}) {
      Sizes s{{1, 66, 66, 12}, {64, 64, 12, filters}, one, none, one, one};
      if (!last) s.lhs = {1, 12, 66, 66};
      const auto f = convolution(DType::f32, DType::f32, s, last);
      bool narrow = false;
      for (const auto& kernel : make_plan(*prepare(*f), {}, testing::v3()).kernels)
        narrow |= kernel->name == "narrow_gemm";
      EXPECT_EQ(narrow, filters == 1 && last);
      expect_compiled_equals_reference(*f, 1, false);
    }
}

/// Sums of so many terms that they use chains: of many columns and of few, from windows of sizes
/// that divide by nothing, in groups, a feature each, over whole pieces of a batch.
TEST(CompiledWindows, LongSumsGoByChains) {
  const Ints one{1, 1}, none{0, 0, 0, 0};
  Sizes many{{1, 66, 66, 12}, {64, 64, 12, 20}, one, none, one, one},
      prime{{1, 75, 75, 7}, {73, 73, 7, 9}, one, none, one, one},
      grouped{{1, 132, 132, 8}, {130, 130, 4, 24}, one, none, one, one, 2},
      depthwise{{1, 190, 187, 6}, {184, 184, 1, 6}, one, none, one, one, 6},
      batch{{2, 34, 39, 32}, {32, 36, 32, 17}, one, none, one, one};
  for (const Sizes* s : {&many, &prime, &grouped, &depthwise, &batch})
    for (bool last : {true, false}) {
      Sizes order = *s;
      if (!last) order.lhs = {s->lhs[0], s->lhs[3], s->lhs[1], s->lhs[2]};
      for (DType t : {DType::f32, DType::bf16})
        expect_compiled_equals_reference(*convolution(t, DType::f32, order, last), 1, false);
    }
  expect_compiled_equals_reference(*convolution(DType::f64, DType::f64, prime, true), 1, false);
}

TEST(CompiledWindows, LongSumsKeepTheDigitsOfEqualNumbers) {
  const Ints one{1, 1}, none{0, 0, 0, 0};
  for (float number : {.1f, .7f, 1.0f / 3}) {
    const auto f = convolution(DType::f32, DType::f32,
                               {{1, 258, 258, 16}, {256, 256, 16, 3}, one, none, one, one}, true);
    std::vector<Literal> given;
    for (const auto& a : f->arguments()) {
      given.emplace_back(a->type());
      for (float& x : given.back().mutable_span<float>()) x = number;
    }
    const double exact = static_cast<double>(number) * number * (256 * 256 * 16);
    const std::vector<Literal> out = testing::run_compiled(*f, given);
    for (float y : out[0].span<float>()) EXPECT_LT(std::abs(y / exact - 1), 1e-6) << y;
  }
}

/// Products whose result is read through transpositions alone write it where it ends.
TEST(CompiledWindows, ProductsThatLandElsewhere) {
  auto transposed = [](const Shape& x, const Shape& y, const op::DotDims& dims,
                       const Ints& permutation) {
    auto block = std::make_unique<Block>();
    Builder b(*block);
    Value* product = op::dot_general(b, block->add_argument(Type(DType::f32, x)),
                                     block->add_argument(Type(DType::f32, y)), dims);
    block->results = {op::transpose(b, product, permutation)};
    return block;
  };
  op::DotDims heads{{0}, {0}, {2}, {1}};
  expect_compiled_equals_reference(*transposed({3, 20, 17}, {3, 17, 40}, heads, {1, 0, 2}));
  expect_compiled_equals_reference(*transposed({3, 20, 17}, {3, 17, 40}, heads, {2, 0, 1}));
  expect_compiled_equals_reference(
      *transposed({3, 20, 700}, {3, 700, 5}, heads, {1, 0, 2}));  // k in parts, few columns
}

std::unique_ptr<Block> pooled(DType dtype, Shape shape, const op::WindowDims& d,
                              const std::string& combiner) {
  auto block = std::make_unique<Block>();
  Builder b(*block);
  Attrs attrs{{"combiner", combiner}};
  op::set_window_attrs(attrs, d);
  Values v{block->add_argument(Type(dtype, std::move(shape))),
           block->add_argument(Type::scalar(dtype))};
  block->results = b.create("stablehlo.reduce_window", v, attrs).results();
  return block;
}

TEST(CompiledWindows, Reductions) {
  op::WindowDims pool{{1, 3, 3, 1}, {1, 2, 2, 1}, {1, 1, 1, 1},
                      {1, 1, 1, 1}, {0, 1, 0, 0}, {0, 0, 1, 0}};
  op::WindowDims dilated{{2, 3}, {1, 2}, {2, 1}, {3, 2}, {4, -1}, {0, 3}},
      running{{600}, {1}, {1}, {1}, {599}, {0}};
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::i8, DType::i64})
    for (const char* combiner : {"add", "max", "mul"}) {
      expect_compiled_equals_reference(*pooled(t, {2, 9, 8, 5}, pool, combiner));
      expect_compiled_equals_reference(*pooled(t, {6, 7}, dilated, combiner));
    }
  expect_compiled_equals_reference(*pooled(DType::f32, {600}, running, "add"));
  const op::WindowDims long_sums{{257, 256}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  for (const Shape& shape : {Shape{262, 259}, Shape{257, 256}})
    expect_compiled_equals_reference(*pooled(DType::f32, shape, long_sums, "add"), 1, false);
  const op::WindowDims all{{8, 90}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};  // of one result
  expect_compiled_equals_reference(*pooled(DType::f32, {8, 90}, all, "add"));
}

/// Windows whose lines lanes cross or not: in steps, without padding, over the last dimensions or
/// those before, of few and of many elements.
TEST(CompiledWindows, ReductionsByLines) {
  const Ints ones{1, 1, 1, 1}, none{0, 0, 0, 0};
  struct Case {
    Shape array;
    op::WindowDims dims;
  };
  for (const Case& c :
       {Case{{3, 4, 28, 56}, {{1, 1, 3, 3}, {1, 1, 2, 2}, ones, ones, none, none}},
        Case{{3, 4, 13, 28}, {{1, 1, 3, 3}, ones, ones, ones, {0, 0, 1, 1}, {0, 0, 1, 1}}},
        Case{{2, 17, 19, 16}, {{1, 2, 2, 1}, ones, ones, ones, none, none}},
        Case{{2, 30, 31, 3}, {{1, 5, 5, 1}, ones, ones, ones, none, none}},
        Case{{2, 15, 31, 3}, {{1, 5, 3, 1}, ones, ones, ones, {0, 0, 1, 0}, {0, 0, 1, 0}}},
        Case{{2, 3, 40, 41}, {{1, 1, 5, 5}, ones, ones, ones, none, none}},
        Case{{2, 21, 22, 8}, {{1, 2, 3, 1}, {1, 2, 1, 1}, ones, ones, none, none}},
        Case{{2, 21, 22, 8}, {{1, 2, 3, 1}, {1, 1, 2, 2}, ones, ones, none, none}}})
    for (DType t : {DType::f32, DType::bf16})
      for (const char* combiner : {"add", "max"})
        expect_compiled_equals_reference(*pooled(t, c.array, c.dims, combiner));
}

TEST(CompiledWindows, SelectionsAndTheirSums) {
  for (DType t : {DType::f32, DType::bf16, DType::i32}) {
    Block block;
    Builder b(block);
    Values v{block.add_argument(Type(t, {2, 8, 7})), block.add_argument(Type(t, {2, 4, 4})),
             block.add_argument(Type::scalar(t))};
    Attrs attrs{{"window_dimensions", Ints{1, 3, 2}},
                {"window_strides", Ints{1, 2, 2}},
                {"padding", Ints{0, 0, 0, 1, 1, 0}},
                {"select", std::string("GE")},
                {"combiner", std::string("add")}};
    block.results = b.create("stablehlo.select_and_scatter", v, attrs).results();
    expect_compiled_equals_reference(block);
  }
}

}  // namespace
}  // namespace strata::compile
