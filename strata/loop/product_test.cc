// Products by kernels of the library: one chain of fused multiply-adds for each element, whatever
// the instructions, sizes and steps.
#include "strata/loop/kernel/product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "strata/type/float.h"

namespace strata::loop::product {
namespace {

std::vector<const InstructionSet*> sets() {
  std::vector<const InstructionSet*> out;
  for (const InstructionSet* set : {&kPortable, &kAvx2, &kAvx512})
    if (set->present()) out.push_back(set);
  return out;
}

template <class T>
std::vector<T> numbers(std::size_t count, std::mt19937& random) {
  std::vector<T> out(count);
  for (T& x : out) {
    const float number = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 64;
    x = std::is_integral_v<T> ? static_cast<T>(random()) : T(number);
  }
  return out;
}

/// Places of a role with random steps, some of which are one; at most `most` elements apart.
Role random_role(std::mt19937& random, std::int64_t most) {
  Role role;
  const std::int64_t dims = random() % 3;
  for (std::int64_t d = 0; d < dims; ++d)
    role.push_back({1 + static_cast<std::int64_t>(random() % (dims == 1 ? most : 12)),
                    1 + static_cast<std::int64_t>(random() % 3)});
  return role;
}
Role like(const Role& role, std::mt19937& random) {
  Role out = role;
  for (Extent& e : out) e.step = 1 + static_cast<std::int64_t>(random() % 3);
  return out;
}
std::int64_t offset(const Role& role, std::int64_t place) {
  std::int64_t out = 0;
  for (std::size_t d = role.size(); d-- > 0; place /= role[d].size)
    out += place % role[d].size * role[d].step;
  return out;
}
std::int64_t last(const Role& role) {
  std::int64_t out = 0;
  for (const Extent& e : role) out += (e.size - 1) * e.step;
  return out;
}

template <class A, class S>
A wide(S x) {
  if constexpr (std::is_integral_v<S>)
    return static_cast<A>(x);
  else
    return static_cast<A>(
        static_cast<std::conditional_t<std::is_same_v<S, double>, double, float>>(x));
}

/// The definition.
template <class A, class L, class R, class S>
std::vector<S> plain(const ProductParams& p, const std::vector<L>& left,
                     const std::vector<R>& right) {
  const std::int64_t batch = ProductParams::count(p.left_batch), m = ProductParams::count(p.rows),
                     n = ProductParams::count(p.columns), k = ProductParams::count(p.left_k);
  std::vector<S> out(static_cast<std::size_t>(batch * m * n));
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        A sum{};
        for (std::int64_t s = 0; s < k; ++s) {
          const A x = wide<A>(left[static_cast<std::size_t>(
              offset(p.left_batch, b) + offset(p.rows, i) + offset(p.left_k, s))]);
          const A y = wide<A>(right[static_cast<std::size_t>(
              offset(p.right_batch, b) + offset(p.columns, j) + offset(p.right_k, s))]);
          if constexpr (std::is_integral_v<A>)
            sum += x * y;
          else
            sum = std::fma(x, y, sum);
        }
        out[static_cast<std::size_t>(b * m * n + i * p.row_step + j * p.column_step)] = S(sum);
      }
  return out;
}

/// Random products of one choice of types, each by every instruction set, its points in two parts.
template <class A, class L, class R, class S>
void expect_chains(DType left, DType right, DType result, DType accumulator) {
  std::mt19937 random(static_cast<unsigned>(left) * 31 + static_cast<unsigned>(right));
  for (int trial = 0; trial < 24; ++trial) {
    ProductParams p{.left = left, .right = right, .result = result, .accumulator = accumulator};
    const bool deep = trial % 8 == 0;
    p.left_batch = random_role(random, 4), p.right_batch = like(p.left_batch, random);
    p.rows = random_role(random, 120), p.columns = random_role(random, 70);
    p.left_k = deep ? Role{{2 * kDepth + 3, 1}} : random_role(random, 40);
    p.right_k = like(p.left_k, random);
    const std::int64_t m = ProductParams::count(p.rows), n = ProductParams::count(p.columns);
    p.row_block = 1 + static_cast<std::int64_t>(random()) % std::min(m, kRows),
    p.column_block = 1 + static_cast<std::int64_t>(random()) % std::min(n, kColumns);
    p.together = 1 + static_cast<std::int64_t>(random() % 3);
    p.row_step = n;
    if (random() % 2) p.row_step = 1, p.column_step = m;
    p.swapped = random() % 2;
    auto size = [](const Role& batch, const Role& free, const Role& k) {
      return static_cast<std::size_t>(last(batch) + last(free) + last(k) + 1);
    };
    const auto x = numbers<L>(size(p.left_batch, p.rows, p.left_k), random);
    const auto y = numbers<R>(size(p.right_batch, p.columns, p.right_k), random);
    const std::vector<S> want = plain<A, L, R, S>(p, x, y);
    const std::vector<std::int64_t> numbers = p.numbers();
    ASSERT_EQ(ProductParams::from(numbers.data()).numbers(), numbers);
    for (const InstructionSet* set : sets()) {
      std::vector<S> got(want.size(), S(77));
      void* buffers[] = {const_cast<L*>(x.data()), const_cast<R*>(y.data()), got.data(),
                         const_cast<std::int64_t*>(numbers.data())};
      if (p.swapped) std::swap(buffers[0], buffers[1]);
      run(*set, buffers, p.grid() / 2, p.grid());
      run(*set, buffers, 0, p.grid() / 2);
      ASSERT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(S)), 0)
          << set->name << ", " << name(left) << " by " << name(right) << ", " << m << " x "
          << ProductParams::count(p.left_k) << " x " << n << ", trial " << trial;
    }
  }
}

TEST(Product, EveryElementIsOneChain) {
  expect_chains<float, float, float, float>(DType::f32, DType::f32, DType::f32, DType::f32);
  expect_chains<double, double, double, double>(DType::f64, DType::f64, DType::f64, DType::f64);
  expect_chains<double, float, double, double>(DType::f32, DType::f64, DType::f64, DType::f64);
  expect_chains<float, BFloat16, BFloat16, BFloat16>(DType::bf16, DType::bf16, DType::bf16,
                                                     DType::f32);
  expect_chains<float, Float16, float, Float16>(DType::f16, DType::f32, DType::f16, DType::f32);
  expect_chains<std::uint32_t, std::int32_t, std::int32_t, std::int32_t>(DType::i32, DType::i32,
                                                                         DType::i32, DType::i32);
  expect_chains<std::uint32_t, std::int8_t, std::int8_t, std::int32_t>(DType::i8, DType::i8,
                                                                       DType::i32, DType::i32);
  expect_chains<std::uint32_t, std::uint8_t, std::uint8_t, std::uint8_t>(DType::ui8, DType::ui8,
                                                                         DType::ui8, DType::ui8);
  expect_chains<std::uint64_t, std::int64_t, std::int64_t, std::int64_t>(DType::i64, DType::i64,
                                                                         DType::i64, DType::i64);
}

TEST(Product, TypesThatItTakes) {
  EXPECT_TRUE(takes(DType::ui16, DType::ui8, DType::ui16, DType::ui16));
  EXPECT_FALSE(takes(DType::f16, DType::f64, DType::f16, DType::f64)) << "which would round twice";
  EXPECT_FALSE(takes(DType::i1, DType::i1, DType::i1, DType::i1));
  EXPECT_FALSE(takes(DType::f8E5M2, DType::f8E5M2, DType::f32, DType::f32));
  EXPECT_FALSE(takes(DType::i32, DType::f32, DType::f32, DType::f32));
}

}  // namespace
}  // namespace strata::loop::product
