// The law of the twins: a function traced into a kernel gives the bits of its scalar form.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "strata/loop/interpreter.h"
#include "strata/loop/math/math.h"
#include "strata/loop/verify.h"

namespace strata::loop::math {
namespace {

template <class T>
std::vector<T> edges() {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {T(0),
                           T(1),
                           T(0.5),
                           T(0.125),
                           T(0.7),
                           T(1.1),
                           T(2),
                           T(3),
                           T(10),
                           T(20.5),
                           T(88.6),
                           T(100),
                           T(103.9),
                           T(150),
                           T(709),
                           T(740.5),
                           T(1e-3),
                           T(1e-10),
                           T(1e5),
                           T(123456.75),
                           T(3.3e9),
                           T(1e16),
                           T(0x1p100),
                           L::min(),
                           L::max(),
                           L::infinity(),
                           L::epsilon(),
                           L::quiet_NaN(),
                           T(1e30),
                           L::denorm_min(),
                           T(5) * L::denorm_min()};
  for (std::size_t i = values.size(); i-- > 0;) values.push_back(-values[i]);
  return values;
}

/// The edges and random bits.
template <class T>
std::vector<T> arguments() {
  std::vector<T> values = edges<T>();
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    std::uint64_t bits = random();
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    values.push_back(value);
    values.push_back(std::uniform_real_distribution<T>(-20, 20)(random));
  }
  return values;
}

template <class T>
bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// out[i] = f(in[i]...) in strips of `lanes`, or value by value for lanes 1.
template <class T, class Trace>
std::vector<T> run(std::vector<std::vector<T>> inputs, int lanes, const Trace& trace) {
  constexpr DType dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;
  auto size = static_cast<std::int64_t>(inputs[0].size());
  Kernel kernel("twin");
  Builder b(kernel);
  std::vector<Ref*> refs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    refs.push_back(b.parameter(dtype, size, Ref::Mode::in));
  Ref* out = b.parameter(dtype, size, Ref::Mode::out);
  auto body = [&](Index i) {
    std::vector<Inst*> args;
    for (Ref* ref : refs) args.push_back(b.load(ref, i));
    b.store(out, i, trace(b, args));
  };
  if (lanes == 1)
    b.for_(0, size, 1, body);
  else
    b.vector(0, size, lanes, body);
  EXPECT_TRUE(verify(kernel).ok());
  std::vector<T> result(inputs[0].size());
  std::vector<void*> buffers;
  for (auto& input : inputs) buffers.push_back(input.data());
  buffers.push_back(result.data());
  interpret(kernel, buffers);
  return result;
}

template <class T>
void check(const UnaryFunction& function, T (*scalar)(T)) {
  std::vector<T> x = arguments<T>();
  for (int lanes : {1, 8}) {
    auto y = run<T>({x}, lanes, [&](Builder& b, const std::vector<Inst*>& args) {
      return function.traced(b, args[0]);
    });
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_TRUE(same(y[i], scalar(x[i]))) << function.name << " of " << x[i] << " in " << lanes;
  }
}

template <class T>
void check(const BinaryFunction& function, T (*scalar)(T, T)) {
  std::vector<T> x, y;
  for (T a : edges<T>())
    for (T b : edges<T>()) x.push_back(a), y.push_back(b);
  auto z = run<T>({x, y}, 8, [&](Builder& b, const std::vector<Inst*>& args) {
    return function.traced(b, args[0], args[1]);
  });
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_TRUE(same(z[i], scalar(x[i], y[i]))) << function.name << " of " << x[i] << ", " << y[i];
}

TEST(Twins, UnaryFunctions) {
  for (const UnaryFunction& function : unary_functions()) {
    check<float>(function, function.f32);
    check<double>(function, function.f64);
  }
}

TEST(Twins, BinaryFunctions) {
  for (const BinaryFunction& function : binary_functions()) {
    check<float>(function, function.f32);
    check<double>(function, function.f64);
  }
}

TEST(Twins, ConstantsFoldToTheSameBits) {
  Kernel kernel("folded");
  Builder b(kernel);
  for (const UnaryFunction& function : unary_functions()) {
    if (function.name == "sin" || function.name == "cos" || function.name == "tan" ||
        function.name == "lgamma")
      continue;  // may branch
    Inst* y = function.traced(b, b.constant(DType::f32, 0.3));
    ASSERT_EQ(y->code, Opcode::constant) << function.name;
    EXPECT_EQ(y->bits, std::bit_cast<std::uint32_t>(function.f32(0.3f))) << function.name;
  }
}

}  // namespace
}  // namespace strata::loop::math
