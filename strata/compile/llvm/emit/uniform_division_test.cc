// Lanes divided by one number have the bits of divisions, whatever the number and the lanes.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <random>

#include "strata/compile/llvm/kernel_testing.h"

namespace strata::compile {
namespace {

using loop::Builder;
using loop::Index;
using loop::Inst;
using loop::Ref;
using loop::testing::Buffers;

constexpr std::int64_t kElements = 2051;

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

/// Ordinary numbers, of which the last of a binade are hardest; then all kinds.
template <class T>
std::vector<T> dividends() {
  using L = std::numeric_limits<T>;
  using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::mt19937_64 random(5);
  std::vector<T> out;
  while (out.size() < kElements - 200) {
    T ordinary = std::ldexp(T(1) + std::uniform_real_distribution<T>(0, 1)(random),
                            static_cast<int>(random() % 60) - 30);
    if (out.size() % 3 == 0)
      ordinary = std::bit_cast<T>(static_cast<U>(std::bit_cast<U>(T(2)) - 1 - random() % 100));
    out.push_back(out.size() % 2 ? -ordinary : ordinary);
  }
  for (T edge : {T(0), T(-0.0), L::infinity(), -L::infinity(), L::quiet_NaN(), L::denorm_min(),
                 L::min(), L::max(), std::ldexp(T(1), sizeof(T) == 4 ? 70 : 400),
                 std::ldexp(T(1), sizeof(T) == 4 ? -70 : -400)})
    out.push_back(edge);
  while (out.size() < kElements) out.push_back(std::bit_cast<T>(static_cast<U>(random())));
  return out;
}

template <class T>
void check(DType dtype) {
  using L = std::numeric_limits<T>;
  int reach = sizeof(T) == 4 ? 24 : 200;
  std::vector<T> divisors{3,
                          T(-0.1),
                          7,
                          4096,
                          T(1.9999999),
                          T(1) / 3,
                          0,
                          T(-0.0),
                          L::infinity(),
                          L::quiet_NaN(),
                          L::denorm_min(),
                          L::max(),
                          std::ldexp(T(1.1), reach),
                          std::ldexp(T(0.9), reach),
                          std::ldexp(T(0.9), -reach),
                          std::ldexp(T(-1.1), -reach)};
  std::mt19937_64 random(6);
  for (int i = 0; i < 20; ++i) divisors.push_back(std::uniform_real_distribution<T>(1, 2)(random));
  for (std::int64_t lanes : {16, 32}) {
    loop::Kernel kernel("quotients");
    Builder b(kernel);
    Ref* x = b.parameter(dtype, kElements, Ref::Mode::in);
    Ref* d = b.parameter(dtype, 1, Ref::Mode::in);
    Ref* y = b.parameter(dtype, kElements, Ref::Mode::out);
    Inst* divisor = b.load(d, 0);
    b.vector(0, kElements, static_cast<int>(lanes),
             [&](Index i) { b.store(y, i, b.binary(loop::Opcode::div, b.load(x, i), divisor)); });
    for (T value : divisors) {
      Buffers contents{bytes_of(dividends<T>()), bytes_of<T>({value}),
                       std::vector<std::byte>(kElements * sizeof(T))};
      for (const CpuTarget* target : {&testing::plain_host(), &testing::old_processor()})
        EXPECT_EQ(testing::difference_from_interpreter(*target, kernel, contents), "")
            << "by " << value << " on " << target->cpu;
    }
  }
}

TEST(UniformDivision, F32HasTheBitsOfDivisions) { check<float>(DType::f32); }
TEST(UniformDivision, F64HasTheBitsOfDivisions) { check<double>(DType::f64); }

}  // namespace
}  // namespace strata::compile
