// Stable sorting by the digits of unsigned keys.
//
// A Row says where items come from, what their keys are and where they go:
//   Item load(i); static Key key(Item); void store(i, Item);
// Few bits use their digits from the lowest up, more by the highest digit first and then each of
// its values for itself. The order of equal keys is that of the row, so the result is one, however
// the row is cut.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "strata/base/thread_pool.h"

namespace strata::loop::sort {

inline constexpr std::int64_t kShortest = 40;       // up to here: by insertion
inline constexpr std::int64_t kWideDigits = 4096;   // from here on digits of 11 bits, else of 8
inline constexpr std::int64_t kTogether = 1 << 17;  // from here on threads share the row
inline constexpr std::int64_t kMostChunks = 16;
inline constexpr int kMostLowBits = 33;  // up to here: from the lowest digit up

/// f(begin, end) for chunks of [0, n) by `grain`, by the pool's threads.
template <class F>
void in_parallel(std::int64_t n, std::int64_t grain, const F& f) {
  auto call = [](void* f, std::int64_t begin, std::int64_t end) {
    (*static_cast<const F*>(f))(begin, end);
  };
  parallel_for(n, grain, call, const_cast<F*>(&f));
}

/// `width` bits of keys from bit `shift` on.
struct Digit {
  int shift, width;
  std::size_t values() const { return std::size_t{1} << width; }
  template <class Key>
  std::size_t operator()(Key key) const {
    return static_cast<std::size_t>(key >> shift) & (values() - 1);
  }
};
inline constexpr int kMostWidth = 11;
using Counts = std::uint32_t[std::size_t{1} << kMostWidth];

/// Items that are in memory, of the row's places from `first` on.
template <class Row>
struct Part {
  using Key = typename Row::Key;
  using Item = typename Row::Item;
  const Row& row;
  const Item* items;
  std::int64_t first;
  Item load(std::int64_t i) const { return items[i]; }
  static Key key(const Item& item) { return Row::key(item); }
  void store(std::int64_t i, const Item& item) const { row.store(first + i, item); }
};

/// Items [begin ..) of `source`, which are in `items` now.
template <class Row>
Part<Row> part_of(const Part<Row>& source, const typename Row::Item* items, std::int64_t begin) {
  return {source.row, items + begin, source.first + begin};
}
template <class Row>
Part<Row> part_of(const Row& row, const typename Row::Item* items, std::int64_t begin) {
  return {row, items + begin, begin};
}

template <class Source>
void copy_items(const Source& source, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) source.store(i, source.load(i));
}

template <class Source>
void insertion_sort(const Source& source, std::int64_t n) {
  typename Source::Item items[kShortest];
  for (std::int64_t i = 0; i < n; ++i) {
    typename Source::Item x = source.load(i);
    std::int64_t at = i;
    for (; at > 0 && Source::key(x) < Source::key(items[at - 1]); --at) items[at] = items[at - 1];
    items[at] = x;
  }
  for (std::int64_t i = 0; i < n; ++i) source.store(i, items[i]);
}

/// Counts become the places where the items of each value begin.
inline void sum_up(std::uint32_t* counts, std::size_t values) {
  std::uint32_t before = 0;
  for (std::size_t v = 0; v < values; ++v) before += std::exchange(counts[v], before);
}

template <class Key, class Load, class Store, class KeyOf>
void scatter(std::int64_t begin, std::int64_t end, Digit digit, std::uint32_t* places,
             const Load& load, const Store& store, const KeyOf& key) {
  for (std::int64_t i = begin; i < end; ++i) {
    auto x = load(i);
    store(places[digit(static_cast<Key>(key(x)))]++, x);
  }
}

/// By the `bits` lowest bits, in digits of kWidth from the lowest up; all are counted at once.
/// Sorts by passes that write `first` and `second` in turn, the last one the result; the source may
/// be in `second`.
template <int kWidth, class Source>
void sort_low_digits(const Source& source, typename Source::Item* first,
                     typename Source::Item* second, std::int64_t n, int bits) {
  using Key = typename Source::Key;
  using Item = typename Source::Item;
  constexpr int kMost =
      (std::min(kMostLowBits, std::numeric_limits<Key>::digits) + kWidth - 1) / kWidth;
  constexpr std::size_t kValues = std::size_t{1} << kWidth;
  std::uint32_t counts[kMost][kValues];
  int digits = (bits + kWidth - 1) / kWidth;
  std::memset(counts, 0, static_cast<std::size_t>(digits) * sizeof counts[0]);
  auto count = [&]<int kDigits>(std::integral_constant<int, kDigits>) {
    for (std::int64_t i = 0; i < n; ++i) {
      Key key = Source::key(source.load(i));
      for (int d = 0; d < kDigits; ++d) ++counts[d][Digit{d * kWidth, kWidth}(key)];
    }
  };
  if (kMost == 1 || digits == 1)
    count(std::integral_constant<int, 1>());
  else if (kMost == 2 || digits == 2)
    count(std::integral_constant<int, std::min(kMost, 2)>());
  else if (kMost == 3 || digits == 3)
    count(std::integral_constant<int, std::min(kMost, 3)>());
  else
    count(std::integral_constant<int, kMost>());

  int needed[kMost], passes = 0;
  Key some = Source::key(source.load(0));
  for (int d = 0; d < std::min(digits, kMost); ++d)
    if (counts[d][Digit{d * kWidth, kWidth}(some)] != static_cast<std::uint32_t>(n))
      needed[passes++] = d;
  if (passes == 0) return copy_items(source, n);
  auto pass = [&](int p, const auto& load) {
    Digit digit{needed[p] * kWidth, kWidth};
    std::uint32_t* places = counts[needed[p]];
    sum_up(places, kValues);
    Item* to = p % 2 == 0 ? first : second;
    if (p == passes - 1)
      scatter<Key>(
          0, n, digit, places, load, [&](std::int64_t i, const Item& x) { source.store(i, x); },
          Source::key);
    else
      scatter<Key>(
          0, n, digit, places, load, [to](std::int64_t i, const Item& x) { to[i] = x; },
          Source::key);
  };
  pass(0, [&](std::int64_t i) { return source.load(i); });
  for (int p = 1; p < passes; ++p)
    pass(p, [from = p % 2 == 1 ? first : second](std::int64_t i) { return from[i]; });
}

/// Items whose keys differ in the `bits` lowest bits alone, by one thread.
template <class Source>
void sort_alone(const Source& source, typename Source::Item* first, typename Source::Item* second,
                std::int64_t n, int bits) {
  using Key = typename Source::Key;
  using Item = typename Source::Item;
  if (n <= kShortest) return insertion_sort(source, n);
  if (bits <= kMostLowBits)
    return n < kWideDigits || std::numeric_limits<Key>::digits <= 16
               ? sort_low_digits<8>(source, first, second, n, bits)
               : sort_low_digits<11>(source, first, second, n, bits);
  if constexpr (std::numeric_limits<Key>::digits > kMostLowBits) {
    int width =
        std::min(kMostWidth, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))) - 3);
    Digit digit{bits - width, width};
    Counts places = {};
    for (std::int64_t i = 0; i < n; ++i) ++places[digit(Source::key(source.load(i)))];
    if (places[digit(Source::key(source.load(0)))] == static_cast<std::uint32_t>(n))
      return sort_alone(source, first, second, n, digit.shift);
    sum_up(places, digit.values());
    auto load = [&](std::int64_t i) { return source.load(i); };
    scatter<Key>(
        0, n, digit, places, load, [first](std::int64_t i, const Item& x) { first[i] = x; },
        Source::key);
    std::int64_t begin = 0;
    for (std::size_t v = 0; v < digit.values(); begin = places[v++])
      if (std::int64_t end = places[v]; end > begin)
        sort_alone(part_of(source, first, begin), second + begin, first + begin, end - begin,
                   digit.shift);
  }
}

/// By the highest digit in chunks of the row, each of which knows where its items of each value go;
/// then threads share the values.
template <class Row>
void sort_together(const Row& row, typename Row::Item* first, typename Row::Item* second,
                   std::int64_t n) {
  using Key = typename Row::Key;
  using Item = typename Row::Item;
  std::int64_t chunks = std::min(kMostChunks, n / (kTogether / 2)),
               grain = (n + chunks - 1) / chunks;
  auto load = [&](std::int64_t i) { return row.load(i); };
  auto highest = [](int bits) {
    return Digit{std::max(0, bits - kMostWidth), std::min(bits, kMostWidth)};
  };
  std::vector<std::uint32_t> places(static_cast<std::size_t>(chunks) *
                                    (std::size_t{1} << kMostWidth));
  auto of_chunk = [&](std::int64_t begin) {
    return places.data() + (static_cast<std::size_t>(begin / grain) << kMostWidth);
  };
  Key some = Row::key(row.load(0)), differ[kMostChunks] = {}, all = 0;
  auto count = [&](Digit digit) {
    in_parallel(n, grain, [&](std::int64_t begin, std::int64_t end) {
      Key found = 0;
      std::uint32_t* counts = of_chunk(begin);
      std::memset(counts, 0, digit.values() * sizeof *counts);
      for (std::int64_t i = begin; i < end; ++i) {
        Key key = Row::key(row.load(i));
        found |= static_cast<Key>(key ^ some);
        ++counts[digit(key)];
      }
      differ[begin / grain] = found;
    });
  };
  constexpr int kBits = std::numeric_limits<Key>::digits;
  Digit digit = highest(kBits);
  count(digit);
  for (Key d : differ) all |= d;
  int bits = static_cast<int>(std::bit_width(all));
  if (bits == 0) return copy_items(row, n);
  if (bits < kBits - kMostWidth / 2)
    count(digit = highest(bits));  // keys agree in most of what was counted
  std::size_t values = digit.values();
  std::vector<std::uint32_t> ends(values);
  std::uint32_t before = 0;
  for (std::size_t v = 0; v < values; ++v) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(chunks); ++c)
      before += std::exchange(places[(c << kMostWidth) + v], before);
    ends[v] = before;
  }
  in_parallel(n, grain, [&](std::int64_t begin, std::int64_t end) {
    Counts mine;
    std::memcpy(mine, of_chunk(begin), values * sizeof *mine);
    if (digit.shift == 0)
      scatter<Key>(
          begin, end, digit, mine, load, [&](std::int64_t i, const Item& x) { row.store(i, x); },
          Row::key);
    else
      scatter<Key>(
          begin, end, digit, mine, load, [first](std::int64_t i, const Item& x) { first[i] = x; },
          Row::key);
  });
  if (digit.shift == 0) return;

  std::vector<std::size_t> cuts = {
      0};  // values with many items for themselves, those with few together
  for (std::size_t v = 0; v < values; ++v)
    if (std::int64_t begin = cuts.back() == 0 ? 0 : ends[cuts.back() - 1];
        ends[v] - begin >= n / 64 || v + 1 == values)
      cuts.push_back(v + 1);
  in_parallel(static_cast<std::int64_t>(cuts.size()) - 1, 1, [&](std::int64_t task, std::int64_t) {
    auto t = static_cast<std::size_t>(task);
    std::int64_t begin = cuts[t] == 0 ? 0 : ends[cuts[t] - 1];
    for (std::size_t v = cuts[t]; v < cuts[t + 1]; begin = ends[v++])
      if (ends[v] > begin)
        sort_alone(Part<Row>{row, first + begin, begin}, second + begin, first + begin,
                   ends[v] - begin, digit.shift);
  });
}

/// `space`: two times n items.
template <class Row>
void radix_sort(const Row& row, typename Row::Item* space, std::int64_t n) {
  if (n >= kTogether) return sort_together(row, space, space + n, n);
  sort_alone(row, space, space + n, n, std::numeric_limits<typename Row::Key>::digits);
}

}  // namespace strata::loop::sort
