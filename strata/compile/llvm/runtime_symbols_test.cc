// The soft-float conversions, called as generated code on an old processor calls them.
#include "strata/compile/llvm/runtime_symbols.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "strata/base/check.h"
#include "strata/compile/llvm/kernel_testing.h"
#include "strata/type/float.h"

namespace strata::compile {
namespace {

using loop::Builder;
using loop::Index;
using loop::Kernel;
using loop::Ref;

void* symbol(const std::string& name) {
  for (const auto& [known, address] : runtime_symbols())
    if (known == name) return address;
  return nullptr;
}
std::uint16_t low_bits(float r) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(r));
}

TEST(RuntimeSymbols, NarrowDoublesInOneRounding) {
  auto to_bf16 = reinterpret_cast<float (*)(double)>(symbol("__truncdfbf2"));
  auto to_f16 = reinterpret_cast<float (*)(double)>(symbol("__truncdfhf2"));
  // Just above a tie between two neighbours, by less than f32 can say: two roundings would tie to
  // even, downwards.
  EXPECT_EQ(low_bits(to_bf16(1.0 + 0x1p-8 + 0x1p-40)), bf16_bits(1.0f + 0x1p-7f));
  EXPECT_EQ(low_bits(to_bf16(1.0 + 0x1p-8)), bf16_bits(1.0f));
  EXPECT_EQ(low_bits(to_f16(1.0 + 0x1p-11 + 0x1p-40)), f16_bits(1.0f + 0x1p-10f));
  EXPECT_EQ(low_bits(to_f16(-(1.0 + 0x1p-11 + 0x1p-40))), f16_bits(-(1.0f + 0x1p-10f)));
  EXPECT_EQ(low_bits(to_f16(1e300)), f16_bits(INFINITY));
  EXPECT_EQ(low_bits(to_f16(1e-300)), 0);
}

/// Converts through f16 and bf16 both ways on a processor of that name.
void expect_conversions(const CpuTarget& target) {
  Kernel kernel("halves");
  Builder b(kernel);
  Ref* x = b.parameter(DType::f32, 500, Ref::Mode::in);
  Ref* h = b.parameter(DType::f16, 500, Ref::Mode::out);
  Ref* g = b.parameter(DType::bf16, 500, Ref::Mode::out);
  Ref* back = b.parameter(DType::f32, 500, Ref::Mode::out);
  b.vector(0, 500, 8, [&](Index i) {
    auto* v = b.load(x, i);
    b.store(h, i, b.convert(DType::f16, v));
    b.store(g, i, b.convert(DType::bf16, v));
    b.store(back, i, b.convert(DType::f32, b.convert(DType::f16, v)));
  });
  auto contents = loop::testing::random_buffers(kernel, 3);
  EXPECT_EQ(testing::difference_from_interpreter(target, kernel, contents), "") << target.cpu;
}

TEST(RuntimeSymbols, ServeAProcessorWithoutHalfPrecision) {
  expect_conversions(CpuTarget::named("x86-64"));  // no F16C, no FMA
  expect_conversions(CpuTarget::named("x86-64-v3"));
  expect_conversions(CpuTarget::named("native"));
}

TEST(RuntimeSymbols, ServeFusedProductsWithoutAnInstruction) {
  Kernel kernel("fma");
  Builder b(kernel);
  Ref* x = b.parameter(DType::f64, 200, Ref::Mode::in);
  Ref* y = b.parameter(DType::f64, 200, Ref::Mode::out);
  b.vector(0, 200, 4, [&](Index i) {
    b.store(y, i, b.unary(loop::Opcode::rint, b.fma(b.load(x, i), b.load(x, i), b.load(x, i))));
  });
  EXPECT_EQ(testing::difference_from_interpreter(CpuTarget::named("x86-64"), kernel,
                                                 loop::testing::random_buffers(kernel, 4)),
            "");
}

TEST(RuntimeSymbols, AFunctionThatIsNotThereIsOurBug) {
  Kernel kernel("missing");
  Builder b(kernel);
  Ref* y = b.parameter(DType::f32, 1, Ref::Mode::out);
  b.store(y, 0, b.call("strata_no_such_function", {DType::f32, 1}, {b.constant(DType::f32, 1)}));
  try {
    compile_kernel_for(CpuTarget::host(), kernel);
    FAIL() << "linked";
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find("strata_no_such_function"), std::string::npos) << e.what();
  }
}

float add_three(float a, std::int64_t b, std::uint8_t c) {
  return a + static_cast<float>(b) + static_cast<float>(c);
}

TEST(RuntimeSymbols, AreCalledWithScalars) {
  add_runtime_symbol("test_add_three", reinterpret_cast<void*>(&add_three));
  Kernel kernel("call");
  Builder b(kernel);
  Ref* x = b.parameter(DType::f32, 1, Ref::Mode::in);
  Ref* y = b.parameter(DType::f32, 1, Ref::Mode::out);
  auto* v = b.load(x, 0);
  b.store(y, 0,
          b.call("test_add_three", {DType::f32, 1},
                 {v, b.constant(DType::i64, 20),
                  b.compare(loop::Compare::gt, v, b.constant(DType::f32, 0))}));
  float in = 1, out = 0;
  void* refs[] = {&in, &out};
  compile_kernel_for(CpuTarget::host(), kernel)(refs, 0, 1);
  EXPECT_EQ(out, 22);
}

}  // namespace
}  // namespace strata::compile
