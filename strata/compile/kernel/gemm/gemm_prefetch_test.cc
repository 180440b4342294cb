// While tiles are computed, each line of what is laid out next is asked for; what that changes is
// nothing but time.
#include "strata/compile/kernel/gemm/gemm_prefetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "strata/compile/compile_testing.h"
#include "strata/loop/interpreter.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using testing::expect_compiled_equals_reference;

constexpr std::int64_t kLine = 16;  // elements of f32

struct Case {
  Shape shape;  // of an argument, f32
  std::vector<int> free, contract;
  std::int64_t free_block, kc;  // of a part
  std::int64_t tiles, turn;
};

/// The lines of the argument that the iterations of all tiles ask for.
std::set<std::int64_t> fetched_lines(const OperandPrefetch& side, std::int64_t tiles,
                                     std::int64_t turns, std::int64_t free, std::int64_t k) {
  loop::Kernel kernel("fetches");
  loop::Builder b(kernel);
  loop::Ref* memory = b.parameter(DType::f32, 1, loop::Ref::Mode::in);
  loop::Ref* places = b.parameter(DType::i64, tiles * turns * 8, loop::Ref::Mode::inout);
  const Index begin = side.begin(b, 0, free, k);
  b.for_(0, tiles, 1, [&](Index tile) {
    b.for_(0, turns, 1, [&](Index turn) {
      const std::size_t before = kernel.arena.size();
      side.fetch(b, memory, begin, tile, turn);
      std::int64_t n = 0;
      std::vector<Index> asked;
      for (std::size_t i = before; i < kernel.arena.size(); ++i)
        if (kernel.arena[i].code == loop::Opcode::fetch) asked.push_back(kernel.arena[i].index);
      for (const Index& at : asked)
        b.store(places, (tile * turns + turn) * 8 + n++, b.value(at + 1));
    });
  });
  std::vector<float> data(1);
  std::vector<std::int64_t> out(static_cast<std::size_t>(tiles * turns * 8), 0);
  loop::interpret(kernel, std::vector<void*>{data.data(), out.data()});
  std::set<std::int64_t> lines;
  for (std::int64_t place : out)
    if (place > 0) lines.insert((place - 1) / kLine);
  return lines;
}

TEST(ProductFetch, TurnsAskForEachLineOfAPart) {
  const Case cases[] = {
      {{2048, 768}, {1}, {0}, 64, 1024, 64, 4},      // steps of the sum, each of four lines
      {{2048, 768}, {1}, {0}, 64, 1024, 16, 4},      // with few tiles
      {{512, 8192}, {1}, {0}, 256, 512, 256, 4},     // with many
      {{512, 8192}, {0}, {1}, 64, 1024, 64, 4},      // rows along the sum
      {{4, 512, 768}, {2}, {0, 1}, 64, 512, 64, 2},  // a sum over two dimensions
  };
  for (const Case& c : cases) {
    Block block;
    Value* x = block.add_argument(Type(DType::f32, c.shape));
    GemmOperand side(x, {}, c.contract);
    ASSERT_EQ(side.free, c.free);
    const std::optional<OperandPrefetch> fetch =
        OperandPrefetch::of(side, {}, c.free_block, c.tiles, c.turn);
    ASSERT_TRUE(fetch.has_value()) << c.shape.to_string();
    EXPECT_EQ(fetch->array(), x);
    const std::int64_t free = c.free_block, k = c.kc / 2;  // where the part begins
    const std::set<std::int64_t> lines = fetched_lines(*fetch, c.tiles, c.kc / c.turn, free, k);
    const std::int64_t columns = c.shape[c.shape.rank() - 1];
    for (std::int64_t step = 0; step < c.kc; ++step)
      for (std::int64_t i = 0; i < c.free_block; ++i) {
        const bool along = c.contract.back() == c.shape.rank() - 1;
        const std::int64_t at =
            along ? (free + i) * columns + k + step : (k + step) * columns + free + i;
        ASSERT_TRUE(lines.count(at / kLine))
            << c.shape.to_string() << " step " << step << " of " << i;
      }
  }
}

TEST(ProductFetch, NothingIsAskedForOfSmallArraysOrOfWhatLiesOtherwise) {
  Block block;
  Value* small = block.add_argument(Type(DType::f32, Shape{512, 64}));
  Value* scattered = block.add_argument(Type(DType::f32, Shape{512, 1024, 8}));
  EXPECT_FALSE(OperandPrefetch::of(GemmOperand(small, {}, {0}), {}, 64, 64, 4).has_value());
  EXPECT_FALSE(OperandPrefetch::of(GemmOperand(scattered, {2}, {0}), {}, 64, 64, 4).has_value())
      << "neighbours lie eight apart";
  Value* large = block.add_argument(Type(DType::f32, Shape{2048, 768}));
  EXPECT_FALSE(OperandPrefetch::of(GemmOperand(large, {}, {0}), {}, 768, 2, 4).has_value())
      << "a turn would ask for many lines";
}

/// The texts of the plan's kernels whose name begins so.
std::string kernels_named(const Plan& plan, std::string_view name) {
  std::string out;
  for (const auto& kernel : plan.kernels)
    if (kernel->name.starts_with(name)) out += loop::print(*kernel);
  return out;
}

/// A weight's gradient: both sides run along their free dimensions.
TEST(ProductFetch, BlocksFetchWhatTheyLayOutNext) {
  Block block;
  Value* x = block.add_argument(Type(DType::f32, Shape{2048, 64}));
  Value* dy = block.add_argument(Type(DType::f32, Shape{2048, 768}));
  Builder b(block);
  block.results = {op::dot_general(b, x, dy, {{}, {}, {0}, {0}})};
  EXPECT_THAT(kernels_named(make_plan(*prepare(block), {}, CpuTarget::named("x86-64-v4")), "gemm"),
              ::testing::HasSubstr("fetch "));
  expect_compiled_equals_reference(block, 1, /*interpret_too=*/false);
}

/// As attention's gradient: a product, beside whose elements rows read a large argument.
void gemm_and_rows(Block& block, std::int64_t batch) {
  Value* a = block.add_argument(Type(DType::f32, Shape{batch, 256, 32}));
  Value* c = block.add_argument(Type(DType::f32, Shape{batch, 256, 32}));
  Value* e = block.add_argument(Type(DType::f32, Shape{batch, 256, 256}));
  Builder b(block);
  Value* scores = op::mul(b, op::dot_general(b, a, c, {{0}, {0}, {2}, {2}}), e);
  Value* total = op::broadcast_in_dim(b, op::reduce_sum(b, scores, {2}), scores->shape(), {0, 1});
  block.results = {op::dot_general(b, op::sub(b, scores, total), c, {{0}, {0}, {2}, {1}})};
}

TEST(ProductFetch, ChainsFetchWhatTheNextLaunchReadsBeside) {
  Block block;
  gemm_and_rows(block, 64);
  const std::string chained =
      kernels_named(make_plan(*prepare(block), {}, CpuTarget::named("x86-64-v4")), "gemm");
  TilePipelineLimits none;
  none.min_forwarded_bytes = std::int64_t{1} << 40;
  const std::string apart =
      kernels_named(make_plan(*prepare(block), {}, CpuTarget::named("x86-64-v4"), none), "gemm");
  auto fetches = [](const std::string& text) {
    int out = 0;
    for (std::size_t at = 0; (at = text.find("fetch ", at)) != std::string::npos; ++at) ++out;
    return out;
  };
  EXPECT_GT(fetches(chained), fetches(apart));
  expect_compiled_equals_reference(block, 1, /*interpret_too=*/false);
}

}  // namespace
}  // namespace strata::compile
