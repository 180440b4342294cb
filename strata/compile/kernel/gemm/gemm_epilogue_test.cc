// What follows a product element by element is computed by its kernel: one launch, and the
// reference evaluator's bits.
#include "strata/compile/compile_testing.h"
#include "strata/compile/kernel/gemm/gemm_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using testing::arguments_of;
using testing::expect_compiled_equals_reference;
using Case = testing::Product;

const Case kCases[] = {{140, 44, 8},
                       {132, 64, 20, false, false},
                       {140, 44, 9, true, true, DType::f32, true},
                       {70, 36, 1800},
                       {70, 36, 1300, true, true, DType::bf16},
                       {1, 80, 1300},
                       {13, 20, 2048, true, false},
                       {50, 40, 5, false, true, DType::i32},
                       {64, 64, 64},
                       {80, 1, 60},
                       {80, 1, 60, false}};

struct Program {
  Block block;
  Builder b{block};
  Value* product;

  explicit Program(const Case& c) { product = c.add_to(block, b); }
  Value* like_gemm() { return block.add_argument(product->type()); }
  /// An argument of one element for each column.
  Value* for_columns() {
    const Shape& shape = product->shape();
    const int last = shape.rank() - 1;
    return op::broadcast_in_dim(b, block.add_argument(Type(product->dtype(), Shape{shape[last]})),
                                shape, {last});
  }
};

std::size_t kernels_of(const Block& block) {
  return make_plan(*prepare(block), {}, testing::v3()).kernels.size();
}

TEST(GemmEpilogue, AddsAndChoosesInTheProductsKernel) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text());
    Program p(c);
    Value* y =
        op::max(p.b, op::add(p.b, p.product, p.for_columns()), op::full_like(p.b, p.product, 0));
    p.block.results = {op::add(p.b, op::mul(p.b, y, op::full_like(p.b, y, 3)), p.like_gemm())};
    EXPECT_EQ(kernels_of(p.block), 1u);
    expect_compiled_equals_reference(p.block, 11);
  }
}

// Both kinds of register tiles; the plan's kernels are interpreted, so that this processor need not
// have them.
TEST(GemmEpilogue, HasTheReferencesBitsForEachKindOfProcessor) {
  for (const char* processor : {"x86-64-v3", "x86-64-v4"})
    for (const Case& c : kCases) {
      SCOPED_TRACE(processor + (": " + c.text()));
      Program p(c);
      p.block.results = {op::sub(p.b, p.like_gemm(), op::add(p.b, p.product, p.for_columns()))};
      const std::vector<Literal> given = arguments_of(p.block, 3);
      Plan plan = make_plan(*prepare(p.block), {}, CpuTarget::named(processor));
      std::vector<void*> in, constants;
      for (const Literal& a : given) in.push_back(const_cast<std::byte*>(a.data()));
      for (Literal& constant : plan.constants) constants.push_back(constant.mutable_data());
      Literal result(plan.result_types[0]);
      std::memset(result.mutable_data(), 0xa5, result.bytes());
      void* out = result.mutable_data();
      std::vector<std::byte> arena(static_cast<std::size_t>(plan.arena_bytes) + 64,
                                   std::byte{0x5a});
      interpret(plan, {in.data(), &out, constants.data(), arena.data()});
      testing::expect_same_bits({result}, op::evaluate(p.block, given), processor);
    }
}

// The product itself is needed, and two values are computed from it, of which one reads the other.
TEST(GemmEpilogue, StoresAllThatIsNeeded) {
  for (const Case& c : kCases) {
    if (c.dtype == DType::i32) continue;
    SCOPED_TRACE(c.text());
    Program p(c);
    Value* y = op::add(p.b, p.product, p.like_gemm());
    p.block.results = {p.product, y, op::mul(p.b, y, p.product)};
    EXPECT_EQ(kernels_of(p.block), 1u);
    expect_compiled_equals_reference(p.block, 5);
  }
}

TEST(GemmEpilogue, ConvertsToAnotherType) {
  Program p({70, 48, 1400});
  p.block.results = {op::convert(p.b, op::mul(p.b, p.product, p.like_gemm()), DType::bf16)};
  EXPECT_EQ(kernels_of(p.block), 1u);
  expect_compiled_equals_reference(p.block);
}

// Much arithmetic: with few results in the product's kernel, with many in a launch of its own.
TEST(GemmEpilogue, HasMuchArithmeticOnlyForFewResults) {
  for (std::int64_t m : {64, 1024}) {
    Program p({m, 64, 16});
    p.block.results = {op::tanh(p.b, op::add(p.b, p.product, p.for_columns()))};
    EXPECT_EQ(kernels_of(p.block), m == 64 ? 1u : 2u);
    if (m == 64) expect_compiled_equals_reference(p.block);
  }
}

// What reads other elements of the product than the one in its place comes after it.
TEST(GemmEpilogue, LeavesWhatReadsOtherElements) {
  Program turned({48, 48, 16});
  turned.block.results = {
      op::add(turned.b, turned.product, op::transpose(turned.b, turned.product, {1, 0}))};
  EXPECT_EQ(kernels_of(turned.block), 2u);
  expect_compiled_equals_reference(turned.block);
}

// y = x + (a x), and the carry's memory is the result's: no element of x may be overwritten before
// the product has read it.
TEST(GemmEpilogue, KeepsWhatTheProductStillReads) {
  for (bool reads_carry : {false, true}) {
    Block f;
    Value* a = f.add_argument(Type(DType::f32, Shape{40, 40}));
    Value* x = f.add_argument(Type(DType::f32, Shape{40, 40}));
    Builder b(f);
    Value* product = op::dot_general(b, a, reads_carry ? x : a, {{}, {}, {1}, {0}});
    f.results = {op::add(b, x, product)};
    EXPECT_EQ(kernels_of(f), 1u);
    const std::vector<Literal> given = arguments_of(f, 9);
    testing::expect_same_bits(testing::run_donated(f, given, {false, true}), op::evaluate(f, given),
                              reads_carry ? "read" : "donated");
  }
}

}  // namespace
}  // namespace strata::compile
