// Numbers as the kernels of linear algebra compute with them.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>

#include "strata/type/float.h"

namespace strata::loop::factor {

/// Element types, as a kernel's parameter names them.
enum Element : std::int64_t { kBf16, kF16, kF32, kF64, kC64, kC128 };

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

template <class T>
struct RealType {
  using type = T;
};
template <class T>
struct RealType<std::complex<T>> {
  using type = T;
};
/// The type of the parts of complex numbers; of others itself.
template <class T>
using RealOf = typename RealType<T>::type;

/// Narrow types are computed wide and rounded once.
template <class T>
struct WideOf {
  using type = double;
};
template <>
struct WideOf<std::complex<float>> {
  using type = std::complex<double>;
};
template <>
struct WideOf<std::complex<double>> {
  using type = std::complex<double>;
};
template <class T>
using Wide = typename WideOf<T>::type;

template <class T>
Wide<T> widen(T x) {
  if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>)
    return static_cast<double>(static_cast<float>(x));
  else
    return Wide<T>(x);
}
template <class T>
T narrow(Wide<T> x) {
  if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>)
    return T(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return T(static_cast<float>(x.real()), static_cast<float>(x.imag()));
  else
    return static_cast<T>(x);
}

inline double times(double a, double b) { return a * b; }
/// Without the special cases for infinities that operator* has.
inline std::complex<double> times(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
inline double conj(double a) { return a; }
inline std::complex<double> conj(std::complex<double> a) { return std::conj(a); }
inline double real(double a) { return a; }
inline double real(std::complex<double> a) { return a.real(); }

/// f(T{}) with the C++ type of an element type.
template <class F>
void dispatch(std::int64_t element, F&& f) {
  switch (element) {
    case kBf16: return f(BFloat16{});
    case kF16: return f(Float16{});
    case kF32: return f(float{});
    case kF64: return f(double{});
    case kC64: return f(std::complex<float>{});
    default: return f(std::complex<double>{});
  }
}

}  // namespace strata::loop::factor
