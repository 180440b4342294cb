// Products of which a mask shows only a band (pass/dot/mask_sparsity.h): which are marked and how,
// and that no bit changes.
#include "strata/pass/dot/mask_sparsity.h"

#include "strata/compile/processor_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Value;
using MakeMask =
    std::function<Value*(Builder&, Value* row, Value* column)>;  // of [m, n] from the indices

/// What of [2, m, n] products is seen: through(x y) where the mask is true, -1 elsewhere. `turned`:
/// as [2, n, m].
std::unique_ptr<Block> seen(std::int64_t m, std::int64_t n, std::int64_t k, const MakeMask& mask,
                            bool turned = false, bool inverse = false) {
  auto f = std::make_unique<Block>();
  Value *x = f->add_argument(Type(DType::f32, {2, m, k})),
        *y = f->add_argument(Type(DType::f32, {2, n, k}));
  Builder b(*f);
  Value* scores = op::dot_general(b, x, y, {{0}, {0}, {2}, {2}});
  scores = op::tanh(b, op::mul(b, scores, op::full_like(b, scores, 0.5)));
  const Type places(DType::i32, {m, n});
  Value* chosen = mask(b, op::iota(b, places, 0), op::iota(b, places, 1));
  chosen = op::broadcast_in_dim(b, chosen, {2, m, n}, {1, 2});
  if (turned)
    scores = op::transpose(b, scores, {0, 2, 1}), chosen = op::transpose(b, chosen, {0, 2, 1});
  Value* other = op::full_like(b, scores, -1);
  f->results = {inverse ? op::select(b, chosen, other, scores)
                        : op::select(b, chosen, scores, other)};
  return f;
}

Value* plus(Builder& b, Value* x, double n) { return op::add(b, x, op::full_like(b, x, n)); }
Value* causal(Builder& b, Value* row, Value* column) { return op::compare(b, row, column, "GE"); }
Value* later(Builder& b, Value* row, Value* column) {
  return op::compare(b, column, plus(b, row, 3), "GT");
}
Value* window(Builder& b, Value* row, Value* column) {
  Value* back = op::sub(b, row, column);
  return op::and_(b, op::compare(b, back, op::full_like(b, back, 0), "GE"),
                  op::compare(b, back, op::full_like(b, back, 20), "LT"));
}
Value* outside(Builder& b, Value* row, Value* column) {
  return op::not_(b, window(b, row, column));
}

/// The mark of the only product, or nothing.
Ints mark_of(const Block& f) {
  std::unique_ptr<Block> ready = prepare(f);
  for (const auto& op : ready->ops())
    if (op->name() == "stablehlo.dot_general") return op->attrs.get_or<Ints>(pass::kMaskBand, {});
  return {};
}

TEST(NeededBand, IsWhatTheMaskShows) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(mark_of(*seen(50, 60, 8, causal)), (Ints{1, 2, -kFar, 0}));
  EXPECT_EQ(mark_of(*seen(50, 60, 8, causal, false, true)), (Ints{1, 2, 1, kFar}));
  EXPECT_EQ(mark_of(*seen(50, 60, 8, later)), (Ints{1, 2, 4, kFar}));
  EXPECT_EQ(mark_of(*seen(50, 60, 8, window)), (Ints{1, 2, -19, 0}));
  EXPECT_EQ(mark_of(*seen(50, 60, 8, outside, false, true)), (Ints{1, 2, -19, 0}));
  EXPECT_EQ(mark_of(*seen(50, 60, 8, window, true)), (Ints{1, 2, -19, 0}));
}

TEST(NeededBand, MoreIsNeededWhereItIsRead) {
  EXPECT_TRUE(mark_of(*seen(50, 60, 8, outside)).empty()) << "two sides of a band";
  auto computed = [](Builder& b, Value* row, Value* column) {
    return op::compare(b, op::mul(b, row, row), column, "GE");
  };
  EXPECT_TRUE(mark_of(*seen(50, 60, 8, computed)).empty()) << "no band";
  auto by_row = [](Builder& b, Value* row, Value*) {
    return op::compare(b, row, op::full_like(b, row, 7), "GE");
  };
  EXPECT_TRUE(mark_of(*seen(50, 60, 8, by_row)).empty()) << "no band";
  auto also = seen(50, 60, 8, causal);
  for (const auto& op : also->ops())
    if (op->name() == "stablehlo.tanh") also->results.push_back(op->result());
  EXPECT_TRUE(mark_of(*also).empty()) << "also a result";
}

TEST(NeededBand, NoBitChanges) {
  for (auto [m, n, k] : {std::array{50, 60, 8}, std::array{200, 300, 16}, std::array{7, 300, 8},
                         std::array{300, 5, 24}, std::array{600, 400, 4}})
    for (const MakeMask& mask : {MakeMask(causal), MakeMask(later), MakeMask(window)})
      for (bool turned : {false, true}) {
        SCOPED_TRACE(fmt::format("{} x {} over {}, turned {}", m, n, k, turned));
        auto f = seen(m, n, k, mask, turned);
        const std::vector<Literal> arguments = testing::arguments_of(*f, 7),
                                   want = op::evaluate(*f, arguments);
        testing::expect_same_bits(testing::run_compiled(*f, arguments), want, "machine code");
        if (m * n > 4000) continue;
        for (const char* processor : {"x86-64-v3", "x86-64-v4"})
          testing::expect_same_bits({testing::run_as_on(processor, *f, arguments)}, want,
                                    processor);
      }
}

// Two masks that show different bands of one product: what either shows is needed.
TEST(NeededBand, TwoReaders) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();
  auto f = std::make_unique<Block>();
  Builder b(*f);
  Value *x = f->add_argument(Type(DType::f32, {2, 50, 8})),
        *y = f->add_argument(Type(DType::f32, {2, 60, 8}));
  Value* scores = op::dot_general(b, x, y, {{0}, {0}, {2}, {2}});
  const Type places(DType::i32, {50, 60});
  for (const MakeMask& mask : {MakeMask(window), MakeMask(causal)}) {
    Value* chosen = op::broadcast_in_dim(b, mask(b, op::iota(b, places, 0), op::iota(b, places, 1)),
                                         scores->shape(), {1, 2});
    f->results.push_back(op::select(b, chosen, scores, op::full_like(b, scores, -1)));
  }
  EXPECT_EQ(mark_of(*f), (Ints{1, 2, -kFar, 0}));
  const std::vector<Literal> arguments = testing::arguments_of(*f, 7);
  testing::expect_same_bits(testing::run_compiled(*f, arguments), op::evaluate(*f, arguments),
                            "machine code");
}

// A mask that a loop carries is another one in the next iteration.
TEST(NeededBand, MasksThatChange) {
  auto body = std::make_unique<Block>(), f = std::make_unique<Block>();
  const Type lhs(DType::f32, {50, 8}), rhs(DType::f32, {60, 8}), places(DType::i32, {50, 60});
  Builder inside(*body), b(*f);
  Value *y = body->add_argument(rhs), *mask = body->add_argument(Type(DType::i1, {50, 60})),
        *x = body->add_argument(lhs);
  Value* scores = op::dot_general(inside, x, y, {{}, {}, {1}, {1}});
  Value* chosen =
      op::select(inside, mask, op::tanh(inside, scores), op::full_like(inside, scores, -1));
  body->results = {op::not_(inside, mask), op::slice(inside, chosen, {0, 26}, {50, 34}), chosen};
  Value *of_y = f->add_argument(rhs), *of_x = f->add_argument(lhs);
  f->results = op::scan(b, std::move(body), {of_y},
                        {causal(b, op::iota(b, places, 0), op::iota(b, places, 1)), of_x}, {},
                        {.length = 40});
  const std::vector<Literal> arguments = testing::arguments_of(*f, 7);
  testing::expect_same_bits(testing::run_compiled(*f, arguments), op::evaluate(*f, arguments),
                            "machine code");
}

/// Work is left out: a kernel of few needed elements does less than one of all.
TEST(NeededBand, LeavesWorkOut) {
  auto branches = [](const Block& f) {
    Plan plan = make_plan(*prepare(f), {}, testing::v3());
    int count = 0;
    for (const auto& kernel : plan.kernels)
      for (const loop::Inst& i : kernel->arena)
        count += kernel->name == "gemm" && i.code == loop::Opcode::if_;
    return count;
  };
  auto always = [](Builder& b, Value* row, Value* column) {
    return op::compare(b, op::mul(b, row, row), column, "GE");
  };
  EXPECT_GT(branches(*seen(200, 300, 16, window)), branches(*seen(200, 300, 16, always)));
}

}  // namespace
}  // namespace strata::compile
