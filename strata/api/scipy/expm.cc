// The exponential of matrices, as jax.scipy.linalg.expm: Higham, "The scaling and squaring method
// for the matrix exponential revisited", 2005. Which approximation a matrix needs depends on its
// elements, so the one for the greatest norm is taken of all: what is exact for it is so for less.
#include "strata/api/lax.h"
#include "strata/api/matrices.h"
#include "strata/api/scipy/linalg.h"
#include "strata/api/transform/control.h"

namespace strata::scipy::linalg {
namespace {

using internal::strong_number;

/// Coefficients of Pade's approximant and the greatest norm that it is for.
struct Approximant {
  std::vector<double> b;
  double norm;
};
const Approximant& approximant(DType dtype) {
  static const Approximant seven{{17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1},
                                 3.92572478313866};
  static const Approximant thirteen{
      {64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
       10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1},
      5.371920351148152};
  return dtype == DType::f64 || dtype == DType::c128 ? thirteen : seven;
}

/// Odd and even part of the polynomial: a U and V.
std::pair<Array, Array> parts(const Array& a, const std::vector<double>& b) {
  const Array square = matmul(a, a),
              one = broadcast_to(numpy::eye(a.shape(-1), {}, 0, a.dtype()), a.shape());
  Array power = one, odd = strong_number(a, b[1]) * one, even = strong_number(a, b[0]) * one;
  for (std::size_t i = 2; i < b.size(); i += 2) {
    power = matmul(power, square);
    odd = odd + strong_number(a, b[i + 1]) * power;
    even = even + strong_number(a, b[i]) * power;
  }
  return {matmul(a, odd), even};
}

}  // namespace

Array expm(const Operand& operand, const Expm& o) {
  internal::Site site(operand);
  Array a = internal::strong_inexact(operand);
  internal::require_matrices("expm", a, true);
  if (a.dtype() == DType::f16 || a.dtype() == DType::bf16)
    internal::fail("expm", "{} is too narrow", internal::describe(a.type()));
  const Approximant& p = approximant(a.dtype());
  const Array norm = numpy::linalg::matrix_norm(a, {.keepdims = true, .ord = 1});
  const Array squarings =
      lax::stop_gradient(maximum(0, floor(log2(norm / strong_number(norm, p.norm)) + 1)));
  a = a / astype(exp2(squarings), a.dtype());
  const auto [odd, even] = parts(a, p.b);
  const Array above = even + odd, below = even - odd;
  Array r =
      o.upper_triangular ? solve_triangular(below, above) : numpy::linalg::solve(below, above);
  r = fori_loop(
      0, o.max_squarings,
      [&](Array i, Array x) {
        return where(astype(i, squarings.dtype()) < squarings, matmul(x, x), x);
      },
      r);
  return where(squarings > strong_number(squarings, static_cast<double>(o.max_squarings)),
               strong_number(r, numpy::nan), r);
}

}  // namespace strata::scipy::linalg
