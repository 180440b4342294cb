// Stable sorting by the digits of unsigned keys, the lowest first.
//
// A Row says where items come from, what their keys are and where they go:
//   Item load(i); static Key key(Item); void store(i, Item); and of short rows nothing else is asked.
// The order of equal keys is that of the row, so the result is one, however the row is cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "strata/base/thread_pool.h"

namespace strata::loop::sort {

inline constexpr std::int64_t kShortest = 48;      // below: by insertion
inline constexpr std::int64_t kWideDigits = 6144;  // from here on digits of 11 bits, as far as keys have more than 16
inline constexpr std::int64_t kTogether = 1 << 18;  // from here on threads share the row
inline constexpr std::int64_t kMostChunks = 16;

/// f(begin, end) for chunks of [0, n) by `grain`, by the pool's threads.
template <class F>
void in_parallel(std::int64_t n, std::int64_t grain, const F& f) {
  auto call = [](void* f, std::int64_t begin, std::int64_t end) { (*static_cast<const F*>(f))(begin, end); };
  parallel_for(n, grain, call, const_cast<F*>(&f));
}

/// Digits of `kBits` bits of a key of type Key.
template <class Key, int kBits>
struct Digits {
  static constexpr int kCount = (std::numeric_limits<Key>::digits + kBits - 1) / kBits;
  static constexpr std::size_t kValues = std::size_t{1} << kBits;
  static std::size_t of(Key key, int digit) { return static_cast<std::size_t>(key >> (digit * kBits)) & (kValues - 1); }
};

/// Where the items of each pass come from and go to: the row, then two buffers in turn, then the row.
template <class Row>
class Passes {
 public:
  using Item = typename Row::Item;
  Passes(const Row& row, Item* space, std::int64_t n, int count) : row_(row), buffers_{space, space + n}, count_(count) {}

  /// f(load, store) of pass number `pass`.
  template <class F>
  void with(int pass, const F& f) const {
    const Item* from = buffers_[(pass + 1) % 2];
    Item* to = buffers_[pass % 2];
    auto load = [from](std::int64_t i) { return from[i]; };
    auto store = [to](std::int64_t i, Item x) { to[i] = x; };
    auto first = [this](std::int64_t i) { return row_.load(i); };
    auto last = [this](std::int64_t i, Item x) { row_.store(i, x); };
    if (pass == 0) return pass == count_ - 1 ? f(first, last) : f(first, store);
    return pass == count_ - 1 ? f(load, last) : f(load, store);
  }

 private:
  const Row& row_;
  Item* buffers_[2];
  int count_;
};

template <class Row>
void copy_row(const Row& row, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) row.store(i, row.load(i));
}

template <class Row>
void insertion_sort(const Row& row, std::int64_t n) {
  typename Row::Item items[kShortest];
  for (std::int64_t i = 0; i < n; ++i) {
    typename Row::Item x = row.load(i);
    std::int64_t at = i;
    for (; at > 0 && Row::key(x) < Row::key(items[at - 1]); --at) items[at] = items[at - 1];
    items[at] = x;
  }
  for (std::int64_t i = 0; i < n; ++i) row.store(i, items[i]);
}

/// By one thread, all digits counted at once.
template <int kBits, class Row>
void radix_sort_alone(const Row& row, typename Row::Item* space, std::int64_t n) {
  using D = Digits<typename Row::Key, kBits>;
  std::uint32_t counts[D::kCount][D::kValues];
  std::memset(counts, 0, sizeof counts);
  for (std::int64_t i = 0; i < n; ++i) {
    typename Row::Key key = Row::key(row.load(i));
    for (int d = 0; d < D::kCount; ++d) ++counts[d][D::of(key, d)];
  }
  int digits[D::kCount], passes = 0;
  typename Row::Key some = Row::key(row.load(0));
  for (int d = 0; d < D::kCount; ++d) {
    if (counts[d][D::of(some, d)] == static_cast<std::uint32_t>(n)) continue;  // all alike
    digits[passes++] = d;
    std::uint32_t before = 0;
    for (std::uint32_t& c : counts[d]) before += std::exchange(c, before);
  }
  if (passes == 0) return copy_row(row, n);
  Passes<Row> all(row, space, n, passes);
  for (int p = 0; p < passes; ++p)
    all.with(p, [&](const auto& load, const auto& store) {
      std::uint32_t* places = counts[digits[p]];
      for (std::int64_t i = 0; i < n; ++i) {
        typename Row::Item x = load(i);
        store(places[D::of(Row::key(x), digits[p])]++, x);
      }
    });
}

/// By chunks of the row, each of which knows where its items of each digit go.
template <class Row>
void radix_sort_together(const Row& row, typename Row::Item* space, std::int64_t n) {
  using Key = typename Row::Key;
  constexpr int kBits = std::numeric_limits<Key>::digits > 16 ? 11 : 8;
  using D = Digits<Key, kBits>;
  std::int64_t chunks = std::min(kMostChunks, n / (kTogether / 2)), grain = (n + chunks - 1) / chunks;
  std::vector<std::uint32_t> places(static_cast<std::size_t>(chunks) * D::kValues);
  auto of_chunk = [&](std::int64_t begin) { return places.data() + static_cast<std::size_t>(begin / grain) * D::kValues; };

  Key some = Row::key(row.load(0)), differ[kMostChunks] = {};
  in_parallel(n, grain, [&](std::int64_t begin, std::int64_t end) {
    Key found = 0;
    for (std::int64_t i = begin; i < end; ++i) found |= static_cast<Key>(Row::key(row.load(i)) ^ some);
    differ[begin / grain] = found;
  });
  int digits[D::kCount], passes = 0;
  for (int d = 0; d < D::kCount; ++d)
    if (std::any_of(differ, differ + chunks, [d](Key found) { return D::of(found, d) != 0; })) digits[passes++] = d;
  if (passes == 0) return copy_row(row, n);

  Passes<Row> all(row, space, n, passes);
  for (int p = 0; p < passes; ++p)
    all.with(p, [&](const auto& load, const auto& store) {
      int digit = digits[p];
      in_parallel(n, grain, [&](std::int64_t begin, std::int64_t end) {
        std::uint32_t* counts = of_chunk(begin);
        std::memset(counts, 0, D::kValues * sizeof *counts);
        for (std::int64_t i = begin; i < end; ++i) ++counts[D::of(Row::key(load(i)), digit)];
      });
      std::uint32_t before = 0;
      for (std::size_t v = 0; v < D::kValues; ++v)
        for (std::int64_t c = 0; c < chunks; ++c) before += std::exchange(places[static_cast<std::size_t>(c) * D::kValues + v], before);
      in_parallel(n, grain, [&](std::int64_t begin, std::int64_t end) {
        std::uint32_t mine[D::kValues];
        std::memcpy(mine, of_chunk(begin), sizeof mine);
        for (std::int64_t i = begin; i < end; ++i) {
          typename Row::Item x = load(i);
          store(mine[D::of(Row::key(x), digit)]++, x);
        }
      });
    });
}

/// `space`: two times n items.
template <class Row>
void radix_sort(const Row& row, typename Row::Item* space, std::int64_t n) {
  if (n <= kShortest) return insertion_sort(row, n);
  if (n >= kTogether) return radix_sort_together(row, space, n);
  if constexpr (std::numeric_limits<typename Row::Key>::digits > 16)
    if (n >= kWideDigits) return radix_sort_alone<11>(row, space, n);
  radix_sort_alone<8>(row, space, n);
}

}  // namespace strata::loop::sort
