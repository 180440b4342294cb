// Complex numbers in lanes, and where they are read and written. `V` is an instruction set's vector
// V::F of V::kWidth numbers V::N: all(x), fma(a, b, c), reversed, load, store, stream, those of the
// first `count` numbers alone (load_first, which gives zeros for the others, and store_first; any
// count), the real and imaginary parts of two vectors of pairs (parted) and back (joined), and
// transpose of kWidth vectors, or of kWidth / 2 vectors of pairs (transpose_pairs).
//
// This header and those of fft that include it are compiled for several instruction sets; in
// nameless namespaces, so that the linker never gives one set's code to another.
#pragma once

#include <type_traits>

#include "strata/loop/kernel/fft/fft_plan.h"

#define STRATA_LANES [[gnu::always_inline]] inline

namespace strata::loop::fft {
namespace {

constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

template <class V>
struct Lanes {
  typename V::F re, im;
};

template <class V>
STRATA_LANES Lanes<V> operator+(const Lanes<V>& a, const Lanes<V>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
STRATA_LANES Lanes<V> operator-(const Lanes<V>& a, const Lanes<V>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class V>
STRATA_LANES Lanes<V> times(const Lanes<V>& a, const typename V::F& re, const typename V::F& im) {
  return {V::fma(a.re, re, -(a.im * im)), V::fma(a.re, im, a.im * re)};
}
template <class V>
STRATA_LANES Lanes<V> turned(const Lanes<V>& a) {
  return {a.im, -a.re};
}  // -i a

/// Complex number i has its parts apart.
template <class N>
struct Planes {
  static constexpr bool kDirect =
      true;  // passes read and write it; others are copied, for fewer passes to compile
  static constexpr bool kPairs = false;
  N *re, *im;

  Planes moved(std::int64_t i) const { return {re + i, im + i}; }
  Planes swapped() const { return {im, re}; }
  template <class V>
  STRATA_LANES Lanes<V> get(std::int64_t i) const {
    return {V::load(re + i), V::load(im + i)};
  }
  template <class V>
  STRATA_LANES Lanes<V> get_first(std::int64_t i, std::int64_t count) const {
    return {V::load_first(re + i, count), V::load_first(im + i, count)};
  }
  template <class V>
  STRATA_LANES void put(std::int64_t i, const Lanes<V>& z) const {
    V::store(re + i, z.re), V::store(im + i, z.im);
  }
  template <class V>
  STRATA_LANES void put_first(std::int64_t i, std::int64_t count, const Lanes<V>& z) const {
    V::store_first(re + i, count, z.re), V::store_first(im + i, count, z.im);
  }
  void get_one(std::int64_t i, N& x, N& y) const { x = re[i], y = im[i]; }
  void put_one(std::int64_t i, N x, N y) const { re[i] = x, im[i] = y; }
  void expect_reads(std::int64_t, std::int64_t) const {}
  void expect_writes(std::int64_t, std::int64_t) const {}
  /// Lanes from i on.
  void expect_get(std::int64_t i) const {
    __builtin_prefetch(re + i, 0, 2), __builtin_prefetch(im + i, 0, 2);
  }
  void expect_put(std::int64_t i) const {
    __builtin_prefetch(re + i, 1, 2), __builtin_prefetch(im + i, 1, 2);
  }
};

/// Rows of kLanes (fft_plan.h).
template <class N>
Planes<N> rows_at(N* at) {
  return {at, at + kLanes<N>};
}

/// What is between the steps of several dimensions: kLanes real parts, then their imaginary ones,
/// so that columns of kLanes are rows (rows_at). Vectors do not cross blocks, and moved() uses
/// whole ones.
template <class N>
struct Blocks {
  static constexpr bool kDirect = true, kPairs = false;
  Planes<N> first;

  Blocks moved(std::int64_t i) const { return {first.moved(2 * i)}; }
  Blocks swapped() const { return {first.swapped()}; }
  template <class V>
  STRATA_LANES Lanes<V> get(std::int64_t i) const {
    return first.template get<V>(place(i));
  }
  template <class V>
  STRATA_LANES Lanes<V> get_first(std::int64_t i, std::int64_t count) const {
    return first.template get_first<V>(place(i), count);
  }
  template <class V>
  STRATA_LANES void put(std::int64_t i, const Lanes<V>& z) const {
    first.template put<V>(place(i), z);
  }
  template <class V>
  STRATA_LANES void put_first(std::int64_t i, std::int64_t count, const Lanes<V>& z) const {
    first.template put_first<V>(place(i), count, z);
  }
  void get_one(std::int64_t i, N& x, N& y) const { first.get_one(place(i), x, y); }
  void put_one(std::int64_t i, N x, N y) const { first.put_one(place(i), x, y); }
  void expect_reads(std::int64_t, std::int64_t) const {}
  void expect_writes(std::int64_t from, std::int64_t to) const {
    for (std::int64_t i = from; i < to; i += kLanes<N>) first.expect_put(place(i));
  }
  static std::int64_t place(std::int64_t i) { return 2 * i - (i & (kLanes<N> - 1)); }
};

/// Where columns of kLanes begin, and how far apart their numbers are.
template <class Out>
struct Columns {
  Out at;
  std::int64_t stride;
};
template <class Out>
Columns<Out> columns_at(const Out& at, std::int64_t stride) {
  return {at, stride};
}
template <class N>
Columns<Planes<N>> columns_at(const Blocks<N>& at, std::int64_t stride) {
  return {at.first, 2 * stride};
}

/// Complex number i is a pair.
template <class N>
struct Pairs {
  static constexpr bool kDirect = sizeof(N) == 4, kPairs = true;
  N* at;

  Pairs moved(std::int64_t i) const { return {at + 2 * i}; }
  N* pair(std::int64_t i) const { return at + 2 * i; }
  /// What stands for a number that is read, and for one that is written.
  template <class V>
  STRATA_LANES Lanes<V> seen(const Lanes<V>& z) const {
    return z;
  }
  template <class V>
  STRATA_LANES Lanes<V> shown(const Lanes<V>& z) const {
    return z;
  }
  template <class V>
  STRATA_LANES Lanes<V> get(std::int64_t i) const {
    Lanes<V> z;
    V::parted(V::load(at + 2 * i), V::load(at + 2 * i + V::kWidth), z.re, z.im);
    return z;
  }
  template <class V>
  STRATA_LANES Lanes<V> get_first(std::int64_t i, std::int64_t count) const {
    Lanes<V> z;
    V::parted(V::load_first(at + 2 * i, 2 * count),
              V::load_first(at + 2 * i + V::kWidth, 2 * count - V::kWidth), z.re, z.im);
    return z;
  }
  template <class V>
  STRATA_LANES void put(std::int64_t i, const Lanes<V>& z) const {
    typename V::F low, high;
    V::joined(z.re, z.im, low, high);
    V::store(at + 2 * i, low), V::store(at + 2 * i + V::kWidth, high);
  }
  template <class V>
  STRATA_LANES void put_first(std::int64_t i, std::int64_t count, const Lanes<V>& z) const {
    typename V::F low, high;
    V::joined(z.re, z.im, low, high);
    V::store_first(at + 2 * i, 2 * count, low),
        V::store_first(at + 2 * i + V::kWidth, 2 * count - V::kWidth, high);
  }
  /// Past the caches: where whole cache lines are written that nobody reads soon, and that would be
  /// read first otherwise.
  template <class V>
  STRATA_LANES void put_streamed(std::int64_t i, const Lanes<V>& z) const {
    typename V::F low, high;
    V::joined(z.re, z.im, low, high);
    V::stream(at + 2 * i, low), V::stream(at + 2 * i + V::kWidth, high);
  }
  bool on_cache_lines() const { return reinterpret_cast<std::uintptr_t>(at) % 64 == 0; }
  void get_one(std::int64_t i, N& x, N& y) const { x = at[2 * i], y = at[2 * i + 1]; }
  void put_one(std::int64_t i, N x, N y) const { at[2 * i] = x, at[2 * i + 1] = y; }
  /// Numbers from .. to-1 will soon be read, or written: the processor does not foresee what is
  /// far apart.
  void expect_reads(std::int64_t from, std::int64_t to) const {
    for (std::int64_t i = from; i < to; i += kOfCacheLine) __builtin_prefetch(at + 2 * i, 0, 2);
  }
  void expect_writes(std::int64_t from, std::int64_t to) const {
    for (std::int64_t i = from; i < to; i += kOfCacheLine) __builtin_prefetch(at + 2 * i, 1, 2);
  }
  void expect_get(std::int64_t) const {}
  void expect_put(std::int64_t i) const { __builtin_prefetch(at + 2 * i, 1, 2); }
  static constexpr std::int64_t kOfCacheLine = 32 / static_cast<std::int64_t>(sizeof(N));
};

/// Pairs with their parts swapped, which turns a transform into its inverse; what is written is
/// divided by n.
template <class N>
struct SwappedPairs {
  static constexpr bool kDirect = sizeof(N) == 4, kPairs = true;
  Pairs<N> pairs;
  N n, scale;
  bool quotient;  // of f64, where a product with 1 / n would be rounded twice

  SwappedPairs(N* at, N count)
      : pairs{at},
        n(count),
        scale(1 / count),
        quotient(sizeof(N) == 8 && scale * count * scale != scale) {}
  SwappedPairs moved(std::int64_t i) const {
    SwappedPairs out = *this;
    out.pairs = pairs.moved(i);
    return out;
  }
  N* pair(std::int64_t i) const { return pairs.pair(i); }
  template <class V>
  STRATA_LANES Lanes<V> seen(const Lanes<V>& z) const {
    return {z.im, z.re};
  }
  template <class V>
  STRATA_LANES Lanes<V> shown(const Lanes<V>& z) const {
    return {divided<V>(z.im), divided<V>(z.re)};
  }
  template <class V>
  STRATA_LANES typename V::F divided(const typename V::F& x) const {
    if (sizeof(N) == 8 && quotient) return x / V::all(n);
    return x * V::all(scale);
  }
  N divided(N x) const { return quotient ? x / n : x * scale; }
  template <class V>
  STRATA_LANES Lanes<V> get(std::int64_t i) const {
    return seen<V>(pairs.template get<V>(i));
  }
  template <class V>
  STRATA_LANES Lanes<V> get_first(std::int64_t i, std::int64_t count) const {
    return seen<V>(pairs.template get_first<V>(i, count));
  }
  template <class V>
  STRATA_LANES void put(std::int64_t i, const Lanes<V>& z) const {
    pairs.template put<V>(i, shown<V>(z));
  }
  template <class V>
  STRATA_LANES void put_first(std::int64_t i, std::int64_t count, const Lanes<V>& z) const {
    pairs.template put_first<V>(i, count, shown<V>(z));
  }
  template <class V>
  STRATA_LANES void put_streamed(std::int64_t i, const Lanes<V>& z) const {
    pairs.template put_streamed<V>(i, shown<V>(z));
  }
  bool on_cache_lines() const { return pairs.on_cache_lines(); }
  void get_one(std::int64_t i, N& x, N& y) const { pairs.get_one(i, y, x); }
  void put_one(std::int64_t i, N x, N y) const { pairs.put_one(i, divided(y), divided(x)); }
  void expect_get(std::int64_t) const {}
  void expect_put(std::int64_t i) const { pairs.expect_put(i); }
  void expect_reads(std::int64_t from, std::int64_t to) const { pairs.expect_reads(from, to); }
  void expect_writes(std::int64_t from, std::int64_t to) const { pairs.expect_writes(from, to); }
};

/// Scratch, taken from the front; a copy of it gives back what was taken.
template <class N>
class Scratch {
 public:
  explicit Scratch(N* at) : at_(at) {}
  N* take(std::int64_t numbers) {
    N* out = at_;
    at_ += whole_lanes<N>(numbers);
    return out;
  }
  Planes<N> planes(std::int64_t n) {
    N* re = take(n);
    return {re, take(n)};
  }

 private:
  N* at_;
};

}  // namespace
}  // namespace strata::loop::fft
