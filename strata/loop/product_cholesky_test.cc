// Cholesky factors by blocks of products: the bits of the plain chain, by every instruction set.
#include "strata/loop/kernel/linalg/product_cholesky.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace strata::loop::product {
namespace {

template <class T>
std::vector<T> positive(std::int64_t n) {
  std::vector<T> a(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      const T x = static_cast<T>(std::fmod(static_cast<double>(i * n + j) * 0.618034, 1.0) - 0.5);
      a[static_cast<std::size_t>(i * n + j)] = a[static_cast<std::size_t>(j * n + i)] =
          i == j ? static_cast<T>(n) / 4 + 1 : x;
    }
  return a;
}

/// L, each element one chain of fused multiply-adds over ascending k.
template <class T>
std::vector<T> plain(std::vector<T> a, std::int64_t n) {
  auto at = [&](std::int64_t i, std::int64_t j) -> T& {
    return a[static_cast<std::size_t>(i * n + j)];
  };
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      T sum = -at(i, j);
      for (std::int64_t k = 0; k < j && i >= j; ++k) sum = std::fma(at(j, k), at(i, k), sum);
      at(i, j) = i < j ? T() : i == j ? std::sqrt(-sum) : sum / -at(j, j);
    }
  return a;
}

template <class T>
class ProductCholesky : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ProductCholesky, Types);

TYPED_TEST(ProductCholesky, HasTheBitsOfThePlainChain) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 17, 32, 95, 96, 97, 131, 200}) {
    const std::vector<T> a = positive<T>(n), want = plain(a, n);
    for (const InstructionSet* set : {&kPortable, &kAvx2, &kAvx512}) {
      if (!set->present()) continue;
      std::vector<T> lower(a.size()), upper(a.size()), transposed(a.size());
      ASSERT_TRUE(cholesky(*set, n, true, a.data(), lower.data()));
      ASSERT_TRUE(cholesky(*set, n, false, a.data(), upper.data()));
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          transposed[static_cast<std::size_t>(i * n + j)] =
              upper[static_cast<std::size_t>(j * n + i)];
      EXPECT_EQ(lower, want) << set->name << " " << n;
      EXPECT_EQ(transposed, want) << set->name << " " << n;
    }
  }
}

TYPED_TEST(ProductCholesky, RefusesWhatIsNotPositiveDefinite) {
  using T = TypeParam;
  const std::int64_t n = 120;
  for (const T hole :
       {T(-1), T(0), std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()})
    for (const std::int64_t i : {0, 50, 119}) {
      std::vector<T> a = positive<T>(n), out(a.size());
      a[static_cast<std::size_t>(i * n + i)] = hole;
      EXPECT_FALSE(cholesky(instruction_set(), n, true, a.data(), out.data()));
    }
}

}  // namespace
}  // namespace strata::loop::product
