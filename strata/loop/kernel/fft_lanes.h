// Complex numbers in lanes, and where they are read and written. `V` is an instruction set's vector of V::kWidth numbers: V::F, all(x),
// fma(a, b, c), reversed, load(f32 or f64), store, pairs read and written apart (apart, together), and transpose of kWidth vectors.
//
// This header and those of fft that include it are compiled for several instruction sets; in nameless namespaces, so that the linker
// never gives one set's code to another.
#pragma once

#include <type_traits>

#include "strata/loop/kernel/fft_plan.h"

#define STRATA_LANES [[gnu::always_inline]] inline

namespace strata::loop::fft {
namespace {

constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

template <class V>
struct Lanes {
  typename V::F re, im;
};

template <class V>
STRATA_LANES Lanes<V> operator+(const Lanes<V>& a, const Lanes<V>& b) { return {a.re + b.re, a.im + b.im}; }
template <class V>
STRATA_LANES Lanes<V> operator-(const Lanes<V>& a, const Lanes<V>& b) { return {a.re - b.re, a.im - b.im}; }
template <class V>
STRATA_LANES Lanes<V> times(const Lanes<V>& a, const typename V::F& re, const typename V::F& im) {
  return {V::fma(a.re, re, -(a.im * im)), V::fma(a.re, im, a.im * re)};
}
template <class V>
STRATA_LANES Lanes<V> turned(const Lanes<V>& a) { return {a.im, -a.re}; }  // -i a

/// Complex number i has its parts apart.
struct Planes {
  static constexpr bool kDirect = true;  // passes read and write it; others are copied, for fewer passes to compile
  double *re, *im;

  Planes moved(std::int64_t i) const { return {re + i, im + i}; }
  Planes swapped() const { return {im, re}; }
  template <class V>
  STRATA_LANES Lanes<V> get(std::int64_t i) const { return {V::load(re + i), V::load(im + i)}; }
  template <class V>
  STRATA_LANES void put(std::int64_t i, const Lanes<V>& z) const { V::store(re + i, z.re), V::store(im + i, z.im); }
  void get_one(std::int64_t i, double& x, double& y) const { x = re[i], y = im[i]; }
  void put_one(std::int64_t i, double x, double y) const { re[i] = x, im[i] = y; }
  void expect_reads(std::int64_t, std::int64_t) const {}
  void expect_writes(std::int64_t, std::int64_t) const {}
  /// Lanes from i on.
  void expect_get(std::int64_t i) const { __builtin_prefetch(re + i, 0, 2), __builtin_prefetch(im + i, 0, 2); }
  void expect_put(std::int64_t i) const { __builtin_prefetch(re + i, 1, 2), __builtin_prefetch(im + i, 1, 2); }
};

/// Rows of kLanes (fft_plan.h).
inline Planes rows_at(double* at) { return {at, at + kLanes}; }

/// What is between the steps of several dimensions: kLanes real parts, then their imaginary ones, so that columns of kLanes are rows (rows_at).
/// Vectors do not cross blocks, and moved() goes by whole ones.
struct Blocks {
  static constexpr bool kDirect = true;
  Planes first;

  Blocks moved(std::int64_t i) const { return {first.moved(2 * i)}; }
  Blocks swapped() const { return {first.swapped()}; }
  template <class V>
  STRATA_LANES Lanes<V> get(std::int64_t i) const { return first.get<V>(place(i)); }
  template <class V>
  STRATA_LANES void put(std::int64_t i, const Lanes<V>& z) const { first.put<V>(place(i), z); }
  void get_one(std::int64_t i, double& x, double& y) const { first.get_one(place(i), x, y); }
  void put_one(std::int64_t i, double x, double y) const { first.put_one(place(i), x, y); }
  void expect_reads(std::int64_t, std::int64_t) const {}
  void expect_writes(std::int64_t from, std::int64_t to) const {
    for (std::int64_t i = from; i < to; i += kLanes) first.expect_put(place(i));
  }
  static std::int64_t place(std::int64_t i) { return 2 * i - (i & (kLanes - 1)); }
};

/// Where columns of kLanes begin, and how far apart their numbers lie.
template <class Out>
struct Columns {
  Out at;
  std::int64_t stride;
};
template <class Out>
Columns<Out> columns_at(const Out& at, std::int64_t stride) { return {at, stride}; }
inline Columns<Planes> columns_at(const Blocks& at, std::int64_t stride) { return {at.first, 2 * stride}; }

/// Complex number i is a pair.
template <class T>
struct Pairs {
  static constexpr bool kDirect = sizeof(T) == 4;
  T* at;

  Pairs moved(std::int64_t i) const { return {at + 2 * i}; }
  template <class V>
  STRATA_LANES Lanes<V> get(std::int64_t i) const {
    Lanes<V> z;
    V::apart(at + 2 * i, z.re, z.im);
    return z;
  }
  template <class V>
  STRATA_LANES void put(std::int64_t i, const Lanes<V>& z) const { V::together(z.re, z.im, at + 2 * i); }
  /// Past the caches: where whole cache lines are written that nobody reads soon, and that would be read first otherwise.
  template <class V>
  STRATA_LANES void put_streamed(std::int64_t i, const Lanes<V>& z) const { V::together_streamed(z.re, z.im, at + 2 * i); }
  bool on_cache_lines() const { return reinterpret_cast<std::uintptr_t>(at) % 64 == 0; }
  void get_one(std::int64_t i, double& x, double& y) const { x = at[2 * i], y = at[2 * i + 1]; }
  void put_one(std::int64_t i, double x, double y) const { at[2 * i] = static_cast<T>(x), at[2 * i + 1] = static_cast<T>(y); }
  /// Numbers from .. to-1 will soon be read, or written: the processor does not foresee what lies far apart.
  void expect_reads(std::int64_t from, std::int64_t to) const {
    for (std::int64_t i = from; i < to; i += kOfCacheLine) __builtin_prefetch(at + 2 * i, 0, 2);
  }
  void expect_writes(std::int64_t from, std::int64_t to) const {
    for (std::int64_t i = from; i < to; i += kOfCacheLine) __builtin_prefetch(at + 2 * i, 1, 2);
  }
  void expect_get(std::int64_t) const {}
  void expect_put(std::int64_t i) const { __builtin_prefetch(at + 2 * i, 1, 2); }
  static constexpr std::int64_t kOfCacheLine = 32 / static_cast<std::int64_t>(sizeof(T));
};

/// Pairs with their parts swapped, which turns a transform into its inverse; what is written is divided by n.
template <class T>
struct SwappedPairs {
  static constexpr bool kDirect = sizeof(T) == 4;
  Pairs<T> pairs;
  double n, scale;
  bool quotient;  // where a product with 1 / n would be rounded twice and f64 shows it

  SwappedPairs(T* at, double count) : pairs{at}, n(count), scale(1 / count), quotient(sizeof(T) == 8 && scale * count * scale != scale) {}
  SwappedPairs moved(std::int64_t i) const {
    SwappedPairs out = *this;
    out.pairs = pairs.moved(i);
    return out;
  }
  template <class V>
  STRATA_LANES Lanes<V> get(std::int64_t i) const {
    Lanes<V> z = pairs.template get<V>(i);
    return {z.im, z.re};
  }
  template <class V>
  STRATA_LANES void put(std::int64_t i, const Lanes<V>& z) const {
    if (sizeof(T) == 8 && quotient) return pairs.template put<V>(i, {z.im / V::all(n), z.re / V::all(n)});
    pairs.template put<V>(i, {z.im * V::all(scale), z.re * V::all(scale)});
  }
  template <class V>
  STRATA_LANES void put_streamed(std::int64_t i, const Lanes<V>& z) const { pairs.template put_streamed<V>(i, {z.im * V::all(scale), z.re * V::all(scale)}); }
  bool on_cache_lines() const { return pairs.on_cache_lines(); }
  void get_one(std::int64_t i, double& x, double& y) const { pairs.get_one(i, y, x); }
  void put_one(std::int64_t i, double x, double y) const {
    if (quotient) return pairs.put_one(i, y / n, x / n);
    pairs.put_one(i, y * scale, x * scale);
  }
  void expect_get(std::int64_t) const {}
  void expect_put(std::int64_t i) const { pairs.expect_put(i); }
  void expect_reads(std::int64_t from, std::int64_t to) const { pairs.expect_reads(from, to); }
  void expect_writes(std::int64_t from, std::int64_t to) const { pairs.expect_writes(from, to); }
};

/// Scratch, taken from the front; a copy of it gives back what was taken.
class Scratch {
 public:
  explicit Scratch(double* at) : at_(at) {}
  double* take(std::int64_t numbers) {
    double* out = at_;
    at_ += whole_lanes(numbers);
    return out;
  }
  Planes planes(std::int64_t n) {
    double* re = take(n);
    return {re, take(n)};
  }

 private:
  double* at_;
};

}  // namespace
}  // namespace strata::loop::fft
