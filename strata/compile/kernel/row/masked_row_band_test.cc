// Strips of rows that a mask's band leaves out have code of their own, and no bit changes
// (masked_row_band.h).
#include "strata/compile/kernel/row/masked_row_band.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using testing::expect_compiled_equals_reference;

Value* plus(Builder& b, Value* x, double n) { return op::add(b, x, op::full_like(b, x, n)); }

struct Mask {
  const char* name;
  std::function<Value*(Builder&, Value* row, Value* column)> make;
};
const Mask kMasks[] = {
    {"causal",
     [](Builder& b, Value* row, Value* column) { return op::compare(b, row, column, "GE"); }},
    {"later",
     [](Builder& b, Value* row, Value* column) {
       return op::compare(b, column, plus(b, row, 40), "GT");
     }},  // the last rows show nothing
    {"window",
     [](Builder& b, Value* row, Value* column) {
       Value* back = op::sub(b, row, column);
       return op::and_(b, op::compare(b, back, op::full_like(b, back, -3), "GE"),
                       op::compare(b, back, op::full_like(b, back, 20), "LT"));
     }},
};

Value* by_rows(Builder& b, Value* row, Value* like) {
  return op::broadcast_in_dim(b, row, like->shape(), {0, 1});
}

/// Softmax of what a mask shows of [2, m, n], its exponentials, and its gradient by a given one.
void masked_softmax(Block& block, const Mask& mask, std::int64_t m, std::int64_t n, DType dtype,
                    double low) {
  const Type type(dtype, Shape{2, m, n});
  Value *x = block.add_argument(type), *g = block.add_argument(type);
  Builder b(block);
  const Type places(DType::i32, Shape{m, n});
  Value* shown = op::broadcast_in_dim(
      b, mask.make(b, op::iota(b, places, 0), op::iota(b, places, 1)), type.shape(), {1, 2});
  Value* scores =
      op::select(b, shown, op::mul(b, x, op::full_like(b, x, 0.125)), op::full_like(b, x, low));
  Value* e = op::exp(b, op::sub(b, scores, by_rows(b, op::reduce_max(b, scores, {2}), scores)));
  Value* p = op::div(b, e, by_rows(b, op::reduce_sum(b, e, {2}), e));
  Value* along = by_rows(b, op::reduce_sum(b, op::mul(b, g, p), {2}), p);
  block.results = {
      e, p, op::select(b, shown, op::mul(b, p, op::sub(b, g, along)), op::full_like(b, p, 0))};
}

TEST(MaskedRowBand, NoBitChanges) {
  for (const Mask& mask : kMasks)
    for (DType dtype : {DType::f32, DType::bf16, DType::f64})
      for (auto [m, n] : {std::pair{128, 128}, {70, 200}, {96, 64}})
        for (double low : {-1e30, 0.5, -std::numeric_limits<double>::infinity()}) {
          SCOPED_TRACE(
              fmt::format("{} of {} {} x {} beside {}", mask.name, name(dtype), m, n, low));
          Block block;
          masked_softmax(block, mask, m, n, dtype, low);
          expect_compiled_equals_reference(block);
        }
}

/// How often the plan's kernels take a power of two, which exponentials do.
int powers_in(const Block& block) {
  int out = 0;
  for (const auto& kernel : make_plan(*prepare(block), {}, testing::v3()).kernels)
    for (const loop::Inst& i : kernel->arena)
      out += i.code == loop::Opcode::call && i.callee == "scale";
  return out;
}

TEST(MaskedRowBand, ExponentialsOutsideAreOneNumber) {
  Block masked, plain;
  masked_softmax(masked, kMasks[0], 128, 128, DType::f32, -1e30);
  masked_softmax(
      plain,
      {"none", [](Builder& b, Value* row,
                  Value* column) { return op::compare(b, op::mul(b, row, row), column, "GE"); }},
      128, 128, DType::f32, -1e30);
  EXPECT_GT(powers_in(masked), powers_in(plain));
}

/// What the mask's other side is must be known to be one number.
TEST(MaskedRowBand, OtherSidesOfManyNumbersAreNoBand) {
  Block block;
  const Type type(DType::f32, Shape{128, 128});
  Value *x = block.add_argument(type), *y = block.add_argument(type);
  Builder b(block);
  const Type places(DType::i32, type.shape());
  Value* scores =
      op::select(b, kMasks[0].make(b, op::iota(b, places, 0), op::iota(b, places, 1)), x, y);
  block.results = {op::sub(
      b, scores, op::broadcast_in_dim(b, op::reduce_max(b, scores, {1}), type.shape(), {0}))};
  std::string text;
  for (const auto& kernel : make_plan(*prepare(block), {}, testing::v3()).kernels)
    text += loop::print(*kernel);
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("if ")));
  expect_compiled_equals_reference(block);
}

/// What one mask leaves out, another may show: the sum of two that are chosen has the band of
/// neither.
TEST(MaskedRowBand, RowsUnderTwoMasksHaveNoBand) {
  for (auto [first, second] : {std::pair{0, 2}, {2, 0}, {0, 1}}) {
    SCOPED_TRACE(fmt::format("{} and {}", kMasks[first].name, kMasks[second].name));
    Block block;
    const Type type(DType::f32, Shape{128, 128}), places(DType::i32, type.shape());
    Value *x = block.add_argument(type), *y = block.add_argument(type);
    Builder b(block);
    auto chosen = [&](int mask, Value* from) {
      return op::select(b, kMasks[mask].make(b, op::iota(b, places, 0), op::iota(b, places, 1)),
                        from, op::full_like(b, from, -3));
    };
    Value* scores = op::add(b, chosen(first, x), chosen(second, y));
    block.results = {op::exp(
        b, op::sub(b, scores,
                   op::broadcast_in_dim(b, op::reduce_max(b, scores, {1}), type.shape(), {0})))};
    expect_compiled_equals_reference(block);
  }
}

/// A mask computed before a loop over layers.
TEST(MaskedRowBand, MasksComeFromOutsideOfLoops) {
  Block block;
  const Type type(DType::f32, Shape{3, 128, 128}), layer(DType::f32, Shape{128, 128});
  Value *xs = block.add_argument(type), *first = block.add_argument(layer);
  Builder b(block);
  const Type places(DType::i32, layer.shape());
  Value* shown = kMasks[0].make(b, op::iota(b, places, 0), op::iota(b, places, 1));
  auto body = std::make_unique<Block>();
  Value *mask = body->add_argument(shown->type()), *carry = body->add_argument(layer),
        *x = body->add_argument(layer);
  Builder in(*body);
  Value* scores = op::select(in, mask, op::dot_general(in, carry, x, {{}, {}, {1}, {1}}),
                             op::full_like(in, x, -1e30));
  Value* e = op::exp(
      in, op::sub(in, scores,
                  op::broadcast_in_dim(in, op::reduce_max(in, scores, {1}), x->shape(), {0})));
  Value* p = op::div(in, e, op::broadcast_in_dim(in, op::reduce_sum(in, e, {1}), x->shape(), {0}));
  body->results = {p, p};
  block.results = op::scan(b, std::move(body), {shown}, {first}, {xs}, {.length = 3});
  EXPECT_GT(powers_in(block), 1);
  expect_compiled_equals_reference(block);
}

}  // namespace
}  // namespace strata::compile
