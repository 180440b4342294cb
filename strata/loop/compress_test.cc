#include "strata/loop/compress.h"

#include <gtest/gtest.h>

#include "strata/loop/interpreter.h"
#include "strata/loop/verify.h"

namespace strata::loop {
namespace {

/// y = the numbers in strips of `lanes` of x below 10, brought together; z = how many they are.
std::unique_ptr<Kernel> small_ones(std::int64_t size, int lanes) {
  auto kernel = std::make_unique<Kernel>("small_ones");
  Builder b(*kernel);
  Ref *in = b.parameter(DType::i32, size, Ref::Mode::in),
      *out = b.parameter(DType::i32, size, Ref::Mode::out),
      *many = b.parameter(DType::i64, size, Ref::Mode::out);
  b.vector(0, size, lanes, [&](Index i) {
    Inst *x = b.load(in, i), *mask = b.compare(Compare::lt, x, b.constant_int(DType::i32, 10));
    b.store(out, i, compressed(b, mask, x, lanes));
    b.store(many, i, chosen(b, mask));
  });
  return kernel;
}

TEST(Compress, BringsChosenLanesTogether) {
  auto kernel = small_ones(8, 4);
  EXPECT_TRUE(verify(*kernel).ok()) << verify(*kernel).message();
  auto parsed = parse(print(*kernel));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(print(**parsed), print(*kernel));
  std::int32_t in[8] = {11, 3, -4, 12, 10, 10, 10, 9}, out[8];
  std::int64_t many[8];
  void* memory[] = {in, out, many};
  interpret(*kernel, memory);
  EXPECT_EQ(std::vector<std::int32_t>(out, out + 8),
            (std::vector<std::int32_t>{3, -4, 0, 0, 9, 0, 0, 0}));
  EXPECT_EQ(std::vector<std::int64_t>(many, many + 8),
            (std::vector<std::int64_t>{2, 2, 2, 2, 1, 1, 1, 1}));
}

TEST(Compress, WantsWholeStrips) { EXPECT_FALSE(verify(*small_ones(11, 4)).ok()); }

TEST(Compress, IsOfOneTypeAndAMask) {
  Kernel kernel("wrong");
  Builder b(kernel);
  Ref *in = b.parameter(DType::i32, 8, Ref::Mode::in),
      *out = b.parameter(DType::i32, 8, Ref::Mode::out);
  b.vector(0, 8, 8, [&](Index i) {
    Inst* x = b.load(in, i);
    b.store(out, i, compressed(b, x, x, 8));
  });
  EXPECT_FALSE(verify(kernel).ok());
}

}  // namespace
}  // namespace strata::loop
