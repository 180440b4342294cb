// The greater and the lesser of zeros of either sign, beside numbers known beforehand and not.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "strata/compile/llvm/kernel_testing.h"

namespace strata::compile {
namespace {

using loop::Opcode;
using loop::Ref;

TEST(Arithmetic, ZerosHaveAnOrder) {
  constexpr std::int64_t n = 32;
  for (int lanes : {1, 8, 16})
    for (Opcode code : {Opcode::max, Opcode::min})
      for (float zero : {0.0f, -0.0f}) {
        loop::Kernel kernel("zeros");
        loop::Builder b(kernel);
        Ref *in = b.parameter(DType::f32, n, Ref::Mode::in),
            *out = b.parameter(DType::f32, n, Ref::Mode::out);
        b.vector(0, n, lanes, [&](loop::Index i) {
          b.store(out, i, b.binary(code, b.load(in, i), b.constant(DType::f32, zero)));
        });
        const bool negative =
            code == Opcode::max ? std::signbit(zero) : true;  // of the result beside -0
        for (const CpuTarget* target : {&testing::plain_host(), &testing::old_processor()}) {
          std::vector<float> x(n, -0.0f), y(n, 1.0f);
          void* memory[] = {x.data(), y.data()};
          compile_kernel_for(*target, kernel)(memory, 0, 1);
          for (float value : y)
            EXPECT_EQ(std::bit_cast<std::uint32_t>(value), negative ? 0x80000000u : 0u)
                << zero << " in " << lanes << " lanes on " << target->cpu;
        }
      }
}

}  // namespace
}  // namespace strata::compile
