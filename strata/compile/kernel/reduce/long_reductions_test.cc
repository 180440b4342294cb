// Reductions of very many elements, by pieces that are combined in f64 (op/reduce/reduce_order.h):
// the reference's bits by every kernel, around the ends of pieces and chunks, and sums that keep
// their digits.
#include "strata/compile/kernel/reduce/long_testing.h"
#include "strata/compile/kernel/reduce/reduce_testing.h"
#include "strata/op/reduce/reduce_order.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Value;
using op::Combiner;

struct Case {
  Shape array;
  Ints over;
};

/// Sums of what is read and of what is computed, a product, and what has no order.
void expect_reference(const Case& c, DType dtype) {
  SCOPED_TRACE(Type(dtype, c.array).to_string());
  Block block;
  Builder b(block);
  Value *x = block.add_argument(Type(dtype, c.array)),
        *init = block.add_argument(Type::scalar(dtype));
  auto all = [&](double number) {
    return op::broadcast_in_dim(b, op::scalar(b, dtype, number), c.array, {});
  };
  Value* near_one = op::add(b, op::mul(b, x, all(1e-4)), all(1));
  block.results = {op::reduce_sum(b, x, c.over),
                   op::reduce(b, op::mul(b, x, x), init, c.over, Combiner::add),
                   op::reduce(b, near_one, init, c.over, Combiner::mul)};
  if (!is_complex(dtype)) block.results.push_back(op::reduce_max(b, x, c.over));
  testing::expect_compiled_equals_reference(block, 3, false);
}

TEST(LongReductions, RowsHaveTheReferencesBits) {
  for (std::int64_t n : {65535, 65536, 65537, 66047, 66049, 69632})
    expect_reference({{n}, {0}}, DType::f32);
  for (const Case& c : {Case{{3, 65549}, {1}}, Case{{17, 65600}, {1}}, Case{{300, 301}, {0, 1}}})
    expect_reference(c, DType::f32);
  expect_reference({{70001}, {0}}, DType::bf16);
  expect_reference({{70001}, {0}}, DType::f16);
  expect_reference({{70001}, {0}}, DType::f64);
  expect_reference({{2, 66000}, {1}}, DType::c64);
}

TEST(LongReductions, ColumnsHaveTheReferencesBits) {
  for (std::int64_t n : {65535, 65536, 65567, 65569, 65792})
    expect_reference({{n, 3}, {0}}, DType::f32);
  for (const Case& c :
       {Case{{65600, 40}, {0}}, Case{{2, 65601, 20}, {1}}, Case{{300, 220, 7}, {0, 1}}})
    expect_reference(c, DType::f32);
  expect_reference({{65700, 17}, {0}}, DType::bf16);
  expect_reference({{65700, 17}, {0}}, DType::f64);
}

TEST(LongReductions, FewColumnsOfManyRowsHaveTheReferencesBits) {
  expect_reference({{65, 65581, 2}, {1}}, DType::f32);
}

TEST(LongReductions, RunsAndLinesAndSquaresHaveTheReferencesBits) {
  expect_reference({{700, 3, 97}, {0, 2}}, DType::f32);
  for (std::int64_t n : {65536, 69665}) {
    testing::expect_reduced({{n, 40}, {1, 0}, {1}, true}, DType::f32, "reduce_strided_rows", true);
    testing::expect_reduced({{20, n}, {1, 0}, {0}, true}, DType::f32, "reduce_transposed", true);
  }
}

/// A row of which everything is computed in one kernel: sums in several types side by side, each in
/// its own order, and what is made of them.
TEST(LongReductions, FusedRowsHaveTheReferencesBits) {
  for (std::int64_t n : {66000, 69632}) {
    Block block;
    Builder b(block);
    Value* x = block.add_argument(Type(DType::f32, {2, n}));
    Value* wide = op::convert(b, op::reduce_sum(b, op::convert(b, x, DType::f64), {1}), DType::f32);
    Value* most = op::reduce_max(b, x, {1});
    auto along = [&](Value* v) { return op::broadcast_in_dim(b, v, Shape{2, n}, {0}); };
    Value* e = op::exp(b, op::sub(b, x, along(most)));
    Value* sum = op::reduce_sum(b, e, {1});
    block.results = {op::div(b, e, along(op::add(b, sum, wide))), sum, wide};
    testing::expect_compiled_equals_reference(block, 3, false);
  }
}

/// Those that one array is read for once share a kernel only where they have one order.
TEST(LongReductions, BesideOthersHaveTheReferencesBits) {
  Block block;
  Builder b(block);
  Value* x = block.add_argument(Type(DType::f32, {70000}));
  block.results = {op::reduce_sum(b, x, {0}), op::reduce_max(b, x, {0}),
                   op::reduce_sum(b, op::convert(b, x, DType::f64), {0})};
  testing::expect_compiled_equals_reference(block, 3, false);
}

/// The relative error of a sum of `n` equal numbers, by the compiled program.
double error(std::int64_t n, float number, DType dtype, const Shape& shape, const Ints& over) {
  Block block;
  Builder b(block);
  Value* v = block.add_argument(Type::scalar(DType::f32));
  Value* x = op::broadcast_in_dim(b, op::convert(b, v, dtype), shape, {});
  block.results = {op::convert(b, op::reduce_sum(b, x, over), DType::f32)};
  const Literal out =
      testing::run_compiled(block, std::vector<Literal>{Literal::scalar(number)})[0];
  const double exact = static_cast<double>(number) * static_cast<double>(n);
  double worst = 0;
  for (float y : out.span<float>()) worst = std::max(worst, std::abs(y / exact - 1));
  return worst;
}

TEST(LongReductions, KeepTheDigitsOfEqualNumbers) {
  constexpr double kUlp = 1.2e-7;
  for (float number : {.1f, .7f, 1.0f / 3, 1.9f})
    for (std::int64_t n : testing::long_lengths(65536)) {
      SCOPED_TRACE(fmt::format("{} times {}", n, number));
      EXPECT_LT(error(n, number, DType::f32, {n}, {0}), 4 * kUlp);
      EXPECT_LT(error(n, number, DType::f32, {n, 4}, {0}), 4 * kUlp);
    }
}

}  // namespace
}  // namespace strata::compile
