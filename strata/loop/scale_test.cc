#include "strata/loop/scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "strata/loop/interpreter.h"
#include "strata/loop/verify.h"

namespace strata::loop {
namespace {

template <class T, class Power>
void expect_as_ldexp(int bias) {
  for (T x : {T(1), T(-1.25), T(0.7071), T(1.9999), T(0), T(-0.0)})
    for (int k = -bias - 24; k <= bias + 2; ++k) {
      T got = scaled(x, static_cast<Power>(k + 2 * bias)), want = std::ldexp(x, k);
      EXPECT_TRUE(got == want && std::signbit(got) == std::signbit(want)) << x << " 2^" << k;
    }
  EXPECT_TRUE(
      std::isnan(scaled(std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<Power>::min())));
}

TEST(Scale, IsRoundedOnce) {
  expect_as_ldexp<float, std::int32_t>(127);
  expect_as_ldexp<double, std::int64_t>(1023);
}

/// y = scale(x, k, power) in strips whose last is masked.
std::unique_ptr<Kernel> kernel_of(DType power) {
  auto kernel = std::make_unique<Kernel>("scales");
  Builder b(*kernel);
  Ref *x = b.parameter(DType::f32, 11, Ref::Mode::in),
      *k = b.parameter(DType::f32, 11, Ref::Mode::in), *p = b.parameter(power, 11, Ref::Mode::in);
  Ref* y = b.parameter(DType::f32, 11, Ref::Mode::out);
  b.vector(0, 11, 8, [&](Index i) {
    std::vector<Inst*> args{b.load(x, i), b.load(k, i), b.load(p, i)};
    b.store(y, i, b.call(std::string(kScale), {DType::f32, 8}, args));
  });
  return kernel;
}

TEST(Scale, IsACallThatInterpreterAndTextKnow) {
  auto kernel = kernel_of(DType::i32);
  EXPECT_TRUE(verify(*kernel).ok()) << verify(*kernel).message();
  auto parsed = parse(print(*kernel));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(print(**parsed), print(*kernel));
  float x[11], k[11], y[11];
  std::int32_t power[11];
  for (int i = 0; i < 11; ++i) {
    x[i] = 1 + 0.1f * static_cast<float>(i);
    k[i] = static_cast<float>(20 * i - 150);
    power[i] = 20 * i - 150 + 254;
  }
  void* memory[] = {x, k, power, y};
  interpret(*kernel, memory);
  for (int i = 0; i < 11; ++i) EXPECT_EQ(y[i], std::ldexp(x[i], 20 * i - 150));
}

TEST(Scale, OfOtherTypesIsNotWellFormed) { EXPECT_FALSE(verify(*kernel_of(DType::i64)).ok()); }

TEST(Scale, OfConstantsIsAConstant) {
  Kernel kernel("constant");
  Builder b(kernel);
  Inst* y = b.call(std::string(kScale), {DType::f32, 1},
                   {b.constant(DType::f32, 1.5), b.constant(DType::f32, 4),
                    b.constant_int(DType::i32, 4 + 254)});
  EXPECT_TRUE(y->code == Opcode::constant && y->bits == b.constant(DType::f32, 24)->bits);
}

}  // namespace
}  // namespace strata::loop
