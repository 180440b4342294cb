// Complex numbers in lanes, and where they are read and written. `V` is an instruction set's vector of V::kWidth numbers: V::F, all(x),
// fma(a, b, c), reversed, load(f32 or f64), store, pairs read and written apart (apart, together), and transpose of kWidth vectors.
//
// This header and those of fft that include it are compiled for several instruction sets; in nameless namespaces, so that the linker
// never gives one set's code to another.
#pragma once

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
  void expect_one(std::int64_t i) const { __builtin_prefetch(re + i, 1, 2), __builtin_prefetch(im + i, 1, 2); }
};

/// Rows of kLanes (fft_plan.h).
inline Planes rows_at(double* at) { return {at, at + kLanes}; }

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
  void get_one(std::int64_t i, double& x, double& y) const { x = at[2 * i], y = at[2 * i + 1]; }
  void put_one(std::int64_t i, double x, double y) const { at[2 * i] = static_cast<T>(x), at[2 * i + 1] = static_cast<T>(y); }
  /// Numbers from .. to-1 will soon be read, or written: the processor does not foresee what lies far apart.
  void expect_reads(std::int64_t from, std::int64_t to) const {
    for (std::int64_t i = from; i < to; i += kOfCacheLine) __builtin_prefetch(at + 2 * i, 0, 2);
  }
  void expect_writes(std::int64_t from, std::int64_t to) const {
    for (std::int64_t i = from; i < to; i += kOfCacheLine) __builtin_prefetch(at + 2 * i, 1, 2);
  }
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
  void get_one(std::int64_t i, double& x, double& y) const { pairs.get_one(i, y, x); }
  void put_one(std::int64_t i, double x, double y) const {
    if (quotient) return pairs.put_one(i, y / n, x / n);
    pairs.put_one(i, y * scale, x * scale);
  }
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
