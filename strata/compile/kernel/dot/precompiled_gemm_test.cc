// Products by the library's kernel: the bits of the reference evaluator, for dimensions in any
// order; and which programs take it.
#include "strata/compile/kernel/dot/precompiled_gemm.h"

#include <random>

#include "strata/compile/compile_testing.h"
#include "strata/compile/kernel/gemm/gemm_testing.h"
#include "strata/op/linalg/dot_general.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using testing::arguments_of;

/// Dimensions in a random order: some of batch, of each side, and to contract.
std::unique_ptr<Block> random_gemm(unsigned seed, DType dtype) {
  std::mt19937 random(seed);
  auto some = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most + 1));
  };
  const int batch = some(2), contract = 1 + some(1), lhs = some(2), rhs = some(2);
  std::vector<std::int64_t> shared;
  for (int d = 0; d < batch + contract; ++d)
    shared.push_back(d < batch ? 1 + some(3) : 2 + some(29));  // one term is a map
  auto side = [&](int free) {
    std::vector<int> order;  // numbers of shared dimensions, then of its own
    for (int d = 0; d < batch + contract + free; ++d) order.push_back(d);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<Dim> shape;
    ir::Ints of_batch(static_cast<std::size_t>(batch)),
        of_contract(static_cast<std::size_t>(contract));
    for (int d : order) {
      const auto at = static_cast<std::int64_t>(shape.size());
      if (d < batch)
        of_batch[static_cast<std::size_t>(d)] = at;
      else if (d < batch + contract)
        of_contract[static_cast<std::size_t>(d - batch)] = at;
      shape.emplace_back(d < batch + contract ? shared[static_cast<std::size_t>(d)]
                                              : 1 + some(free == 1 ? 120 : 14));
    }
    return std::tuple(shape, of_batch, of_contract);
  };
  auto [left_shape, left_batch, left_contract] = side(lhs);
  auto [right_shape, right_batch, right_contract] = side(rhs);
  auto f = std::make_unique<Block>();
  Builder b(*f);
  ir::Value* x = f->add_argument(Type(dtype, Shape(left_shape)));
  ir::Value* y = f->add_argument(Type(dtype, Shape(right_shape)));
  f->results = {op::dot_general(b, x, y, {left_batch, right_batch, left_contract, right_contract})};
  return f;
}

TEST(PrecompiledGemm, HasTheReferencesBits) {
  unsigned seed = 1;
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::i32, DType::ui8, DType::i64})
    for (int trial = 0; trial < 25; ++trial, ++seed) {
      const auto f = random_gemm(seed, dtype);
      SCOPED_TRACE(fmt::format("{} {}", seed, f->results[0]->type().to_string()));
      ASSERT_NE(with_precompiled_gemms(*prepare(*f), CpuTarget::named("x86-64-v3")), nullptr);
      const std::vector<Literal> given = arguments_of(*f, seed);
      testing::expect_same_bits({testing::run_compiled(*f, given, true)}, op::evaluate(*f, given),
                                "any size");
    }
}

TEST(PrecompiledGemm, WhatFollowsAndComesBeforeHasKernelsOfItsOwn) {
  Block f;
  Builder b(f);
  ir::Value* x = f.add_argument(Type(DType::f32, {37, 50}));
  ir::Value* y = f.add_argument(Type(DType::f32, {50, 21}));
  ir::Value* product = op::dot_general(b, op::tanh(b, x), y, {{}, {}, {1}, {0}});
  f.results = {op::transpose(b, op::tanh(b, product), {1, 0}),
               op::dot_general(b, product, x, {{}, {}, {0}, {0}})};
  const std::vector<Literal> given = arguments_of(f, 5);
  testing::expect_same_bits({testing::run_compiled(f, given, true)}, op::evaluate(f, given),
                            "any size");
}

TEST(PrecompiledGemm, ProgramsThatDoNotTakeIt) {
  auto is_taken = [](DType dtype, std::int64_t size, const char* target) {
    Block f;
    Builder b(f);
    f.results = {testing::Product{.m = size, .n = size, .k = size, .dtype = dtype}.add_to(f, b)};
    return with_precompiled_gemms(*prepare(f), CpuTarget::named(target)) != nullptr;
  };
  EXPECT_TRUE(is_taken(DType::bf16, 64, "x86-64-v3"));
  EXPECT_FALSE(is_taken(DType::bf16, 64, "x86-64-v4,+avx512bf16"))
      << "whose pairs have sums of their own";
  EXPECT_TRUE(is_taken(DType::f8E5M2, 64, "x86-64-v3")) << "converted to f32 before";
  EXPECT_FALSE(is_taken(DType::i1, 64, "x86-64-v3"));
  EXPECT_FALSE(is_taken(DType::f32, 2048, "x86-64-v3")) << "which takes longer than its code";
}

}  // namespace
}  // namespace strata::compile
