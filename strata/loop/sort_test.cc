// sort and argsort against std::stable_sort by comparisons as they are defined, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "strata/base/thread_pool.h"
#include "strata/loop/kernel/native.h"
#include "strata/loop/kernel/sort_order.h"

namespace strata::loop::sort {
namespace {

template <class U>
struct How {
  const char* what;
  Order order;
  bool is_signed, descending;
  U infinity = 0;

  U magnitude(U x) const { return static_cast<U>(x & ~Keys<U, Order::bits>::kSign); }
  bool negative(U x) const { return (x & Keys<U, Order::bits>::kSign) != 0; }
  bool is_nan(U x) const { return magnitude(x) > infinity; }

  /// Whether x goes before y, from the definition of each order.
  bool before(U x, U y) const { return descending ? ascends(y, x) : ascends(x, y); }

 private:
  bool ascends(U x, U y) const {
    if (order == Order::bits)
      return is_signed
                 ? static_cast<std::make_signed_t<U>>(x) < static_cast<std::make_signed_t<U>>(y)
                 : x < y;
    if (order == Order::numbers && (is_nan(x) || is_nan(y))) return !is_nan(x) && is_nan(y);
    if (order == Order::ieee && (is_nan(x) || is_nan(y))) return false;
    if (order != Order::total && magnitude(x) == 0 && magnitude(y) == 0) return false;
    if (negative(x) != negative(y)) return negative(x);
    return negative(x) ? magnitude(x) > magnitude(y) : magnitude(x) < magnitude(y);
  }
};

template <class U>
std::vector<How<U>> all_orders() {
  std::vector<How<U>> out;
  for (bool descending : {false, true}) {
    out.push_back({"unsigned", Order::bits, false, descending});
    out.push_back({"signed", Order::bits, true, descending});
    std::vector<U> infinities;
    if constexpr (sizeof(U) == 2) infinities = {0x7c00, 0x7f80};
    if constexpr (sizeof(U) == 4) infinities = {0x7f800000};
    if constexpr (sizeof(U) == 8) infinities = {0x7ff0000000000000};
    for (U infinity : infinities)
      for (Order order : {Order::total, Order::numbers, Order::ieee})
        out.push_back({"float", order, false, descending, infinity});
  }
  return out;
}

/// Many ties, numbers of both signs near each other, anything, few elements of edge; `nan` apart,
/// as without them `ieee` is an order.
template <class U>
std::vector<U> elements(std::int64_t n, int kind, U infinity, bool nan, unsigned seed) {
  std::mt19937_64 random(seed);
  const U sign = Keys<U, Order::bits>::kSign;
  const U edges[] = {0,
                     sign,
                     1,
                     static_cast<U>(sign | 1),
                     infinity,
                     static_cast<U>(infinity | sign),
                     static_cast<U>(infinity - 1),
                     U(~sign),
                     static_cast<U>(infinity | infinity >> 1),
                     static_cast<U>(infinity + 1),
                     static_cast<U>(~U{0})};
  std::vector<U> out;
  for (std::int64_t i = 0; i < n; ++i) {
    U x = static_cast<U>(random());
    if (kind == 0) x = static_cast<U>(x % 5);
    if (kind == 1)
      x = static_cast<U>((x & sign) | (x >> 1 & infinity & static_cast<U>(~(infinity >> 1))) |
                         (x & 15));
    if (kind == 3) x = edges[random() % std::size(edges)];
    if (kind == 4) x = 7;
    if (!nan && infinity != 0 && static_cast<U>(x & ~sign) > infinity) x = static_cast<U>(x & sign);
    out.push_back(x);
  }
  return out;
}

/// What merging runs of 1, 2, 4 .. elements gives; of an order it is what std::stable_sort gives.
template <class U>
std::vector<std::int32_t> expected(const std::vector<U>& x, const How<U>& how) {
  std::vector<std::int32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  auto before = [&](std::int32_t i, std::int32_t j) {
    return how.before(x[static_cast<std::size_t>(i)], x[static_cast<std::size_t>(j)]);
  };
  if (how.order != Order::ieee) {
    std::stable_sort(order.begin(), order.end(), before);
    return order;
  }
  auto n = static_cast<std::ptrdiff_t>(x.size());
  std::vector<std::int32_t> to(order.size());
  for (std::ptrdiff_t width = 1; width < n; width *= 2) {
    for (std::ptrdiff_t low = 0; low < n; low += 2 * width) {
      auto begin = order.begin();
      std::ptrdiff_t mid = std::min(low + width, n), high = std::min(low + 2 * width, n);
      std::merge(begin + low, begin + mid, begin + mid, begin + high, to.begin() + low, before);
    }
    order.swap(to);
  }
  return order;
}

template <class U>
void expect_sorted(const How<U>& how, std::int64_t n, std::int64_t rows, int kind, bool nan) {
  SCOPED_TRACE(testing::Message() << how.what << " order " << static_cast<int>(how.order)
                                  << " descending " << how.descending << " n " << n << " kind "
                                  << kind << " bytes " << sizeof(U));
  std::vector<U> x = elements<U>(n * rows, kind, how.infinity, nan,
                                 static_cast<unsigned>(n + kind)),
                 sorted(x.size(), U{0x5a});
  std::vector<std::int32_t> order(x.size(), -7);
  U turned = how.is_signed ? Keys<U, Order::bits>::kSign : U{0};
  if (how.descending) turned = static_cast<U>(~turned);
  std::int64_t together = 3, grid = (rows + together - 1) / together;
  std::vector<std::int64_t> params = {sizeof(U),
                                      static_cast<std::int64_t>(how.order),
                                      static_cast<std::int64_t>(turned),
                                      static_cast<std::int64_t>(how.infinity),
                                      n,
                                      rows,
                                      together,
                                      n};
  run_native("strata_sort", {x.data(), sorted.data()}, params, grid);
  run_native("strata_argsort", {x.data(), order.data()}, params, grid);
  std::int64_t kept = params.back() = std::min(n, 1 + n * (kind + 1) / 7);
  std::vector<std::int32_t> first(static_cast<std::size_t>(rows * kept), -7);
  run_native("strata_argsort", {x.data(), first.data()}, params, grid);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<U> mine(x.begin() + row * n, x.begin() + (row + 1) * n);
    std::vector<std::int32_t> want = expected(mine, how),
                              got(order.begin() + row * n, order.begin() + (row + 1) * n);
    ASSERT_EQ(got, want);
    ASSERT_TRUE(
        std::equal(first.begin() + row * kept, first.begin() + (row + 1) * kept, want.begin()))
        << "the first " << kept;
    for (std::int64_t i = 0; i < n; ++i) {
      auto from = static_cast<std::size_t>(want[static_cast<std::size_t>(i)]);
      ASSERT_EQ(sorted[static_cast<std::size_t>(row * n + i)], mine[from]) << "at " << i;
    }
  }
}

template <class U>
void expect_all_sorted(const std::vector<std::int64_t>& lengths, std::int64_t rows) {
  for (const How<U>& how : all_orders<U>())
    for (std::int64_t n : lengths)
      for (int kind = 0; kind < 5; ++kind)
        for (bool nan : {false, true})
          if (how.infinity != 0 || !nan) expect_sorted(how, n, rows, kind, nan);
}

TEST(Sort, ShortRowsOfEachWidth) {
  std::vector<std::int64_t> lengths = {1, 2, 3, 7, 16, 33, 48, 49, 64, 200, 1000};
  expect_all_sorted<std::uint8_t>(lengths, 4);
  expect_all_sorted<std::uint16_t>(lengths, 4);
  expect_all_sorted<std::uint32_t>(lengths, 4);
  expect_all_sorted<std::uint64_t>(lengths, 4);
}

TEST(Sort, LongRowsOfEachWidth) {
  expect_all_sorted<std::uint16_t>({7001}, 1);
  expect_all_sorted<std::uint32_t>({7001}, 1);
  expect_all_sorted<std::uint64_t>({7001}, 1);
}

/// Rows that threads share: cut by their length alone.
TEST(Sort, AnyNumberOfThreadsSortsAlike) {
  for (int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    for (std::int64_t n : {262144, 300001})
      for (int kind : {1, 2}) {
        expect_sorted<std::uint32_t>({"float", Order::numbers, false, false, 0x7f800000}, n, 1,
                                     kind, true);
        expect_sorted<std::uint64_t>({"float", Order::total, false, true, 0x7ff0000000000000}, n, 1,
                                     kind, true);
        expect_sorted<std::uint16_t>({"signed", Order::bits, true, false}, n, 1, kind, false);
      }
    expect_sorted<std::uint8_t>({"unsigned", Order::bits, false, true}, 262144, 1, 2, false);
    expect_sorted<std::uint32_t>({"signed", Order::bits, true, false}, 262144, 1, 4, false);
  }
  set_num_threads(0);
}

}  // namespace
}  // namespace strata::loop::sort
