#include "strata/loop/lookup.h"

#include <gtest/gtest.h>

#include "strata/loop/interpreter.h"
#include "strata/loop/verify.h"

namespace strata::loop {
namespace {

/// y = the square of i's low bits, in strips whose last is masked.
std::unique_ptr<Kernel> squares(int entries, bool constant = true) {
  auto kernel = std::make_unique<Kernel>("squares");
  Builder b(*kernel);
  Ref *in = b.parameter(DType::i32, 11, Ref::Mode::in),
      *out = b.parameter(DType::f32, 11, Ref::Mode::out);
  Ref* other = b.parameter(DType::f32, 1, Ref::Mode::in);
  b.vector(0, 11, 8, [&](Index i) {
    std::vector<Inst*> args{b.load(in, i)};
    for (int e = 0; e < entries; ++e)
      args.push_back(constant ? b.constant(DType::f32, e * e) : b.load(other, 0));
    b.store(out, i, b.call(std::string(kLookup), {DType::f32, 8}, args));
  });
  return kernel;
}

TEST(Lookup, TakesTheEntryOfTheLowBits) {
  for (int entries : {2, 8, 16, 32}) {
    auto kernel = squares(entries);
    EXPECT_TRUE(verify(*kernel).ok()) << verify(*kernel).message();
    auto parsed = parse(print(*kernel));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(print(**parsed), print(*kernel));
    std::int32_t in[11] = {0, 1, 2, 3, 31, 32, 33, -1, -32, INT32_MIN, INT32_MAX};
    float out[11], other = 0;
    void* memory[] = {in, out, &other};
    interpret(*kernel, memory);
    for (int i = 0; i < 11; ++i) {
      auto low = static_cast<float>(static_cast<std::uint32_t>(in[i]) %
                                    static_cast<std::uint32_t>(entries));
      EXPECT_EQ(out[i], low * low) << in[i];
    }
  }
}

TEST(Lookup, IsAmongConstantsAsManyAsAPowerOfTwo) {
  EXPECT_FALSE(verify(*squares(3)).ok());
  EXPECT_FALSE(verify(*squares(64)).ok());
  EXPECT_FALSE(verify(*squares(8, false)).ok());
}

TEST(Lookup, OfAConstantIsAConstant) {
  Kernel kernel("constant");
  Builder b(kernel);
  Inst* y =
      b.call(std::string(kLookup), {DType::f32, 1},
             {b.constant_int(DType::i32, 7), b.constant(DType::f32, 3), b.constant(DType::f32, 5)});
  EXPECT_EQ(y, b.constant(DType::f32, 5));
}

}  // namespace
}  // namespace strata::loop
