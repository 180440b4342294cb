// Tables of coefficients and what is made of them, for the special functions of this folder.
// Private to it.
//
// These functions are evaluated in f64 and rounded once, so that in f32 and below they are within
// an ulp wherever the tables are good for f64.
#pragma once

#include <cstddef>

#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"
#include "strata/api/transform/custom.h"

namespace strata::scipy::special {

/// c[0] x^(n-1) + ... + c[n-1]
template <std::size_t n>
Array polynomial(const Array& x, const double (&c)[n]) {
  Array out = internal::cast(Array(c[0]), {x.dtype(), false});
  for (std::size_t i = 1; i < n; ++i) out = out * x + c[i];
  return out;
}
template <std::size_t n, std::size_t m>
Array rational(const Array& x, const double (&top)[n], const double (&bottom)[m]) {
  return polynomial(x, top) / polynomial(x, bottom);
}

/// x as floats. Throws Error in the name of `name` for complex numbers.
inline Array real_floats(const char* name, const Array& x) {
  internal::require_real(name, x);
  return internal::as_inexact(x);
}
/// v in the shape and the dtype of x, which the switch of 64-bit types does not change.
inline Array filled_like(const Array& x, double v) {
  return internal::emit_one({x}, false, [v](internal::Builder& b, const internal::Values& values) {
    return op::full_like(b, values[0], v);
  });
}
inline Array in_f64(const Array& x) { return internal::cast(x, {DType::f64, false}); }
/// Rounded to the dtype of another array; strongly typed.
inline Array as_like(const Array& x, const Array& like) {
  return internal::cast(x, {like.dtype(), false});
}

/// f(x), computed in f64, with the derivative slope(x, f(x)), of x in f64 too.
template <class F, class Slope>
Array wide_function(const Array& x, F f, Slope slope) {
  auto value = [f](const Array& v) { return as_like(f(in_f64(v)), v); };
  auto rule = [f, slope](const std::tuple<Array>& primal, const std::tuple<Array>& tangent) {
    const Array v = in_f64(std::get<0>(primal)), y = f(v);
    return std::pair(as_like(y, std::get<0>(primal)),
                     as_like(slope(v, y) * in_f64(std::get<0>(tangent)), std::get<0>(primal)));
  };
  return custom_jvp(value, rule)(x);
}

}  // namespace strata::scipy::special
