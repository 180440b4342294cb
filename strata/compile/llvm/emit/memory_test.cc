// Lanes that are read backwards under a mask, and those a few elements apart that end with an
// array.
#include <gtest/gtest.h>

#include "strata/compile/llvm/kernel_testing.h"

namespace strata::compile {
namespace {

using loop::Builder;
using loop::Index;
using loop::Inst;
using loop::Kernel;
using loop::Opcode;
using loop::Ref;

constexpr std::int64_t kCount = 48;

void expect_interpreters(const Kernel& kernel) {
  for (const CpuTarget* target : {&testing::plain_host(), &testing::old_processor()})
    EXPECT_EQ(testing::difference_from_interpreter(*target, kernel,
                                                   loop::testing::random_buffers(kernel, 5), 1),
              "")
        << target->cpu;
}

TEST(Memory, BackwardsUnderAMask) {
  Kernel kernel("backwards");
  Builder b(kernel);
  Ref *in = b.parameter(DType::f32, kCount, Ref::Mode::in),
      *out = b.parameter(DType::f32, kCount, Ref::Mode::out);
  b.vector(0, kCount, 8, [&](Index i) {
    Inst* third = b.compare(loop::Compare::eq,
                            b.binary(Opcode::rem, b.value(i), b.constant_int(DType::i64, 3)),
                            b.constant_int(DType::i64, 0));
    b.store(
        out, i,
        b.guarded(
            third, [&] { return b.load(in, Index(kCount - 1) - i); }, b.constant(DType::f32, 7)));
  });
  expect_interpreters(kernel);
}

TEST(Memory, ElementsApartUpToTheLast) {
  for (std::int64_t stride : {2, 3, 4})
    for (std::int64_t first = 0; first < stride; ++first) {
      Kernel kernel("apart");
      Builder b(kernel);
      Ref *in = b.parameter(DType::i32, first + (kCount - 1) * stride + 1, Ref::Mode::in),
          *out = b.parameter(DType::i32, kCount, Ref::Mode::out);
      b.vector(0, kCount, 16, [&](Index i) { b.store(out, i, b.load(in, i * stride + first)); });
      expect_interpreters(kernel);
    }
}

}  // namespace
}  // namespace strata::compile
