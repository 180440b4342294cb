// Schur's form of square matrices, A = Q T Q^H: T upper triangular, of real matrices with blocks of
// two rows on the diagonal for pairs of conjugate eigenvalues, whose diagonal elements are equal.
#pragma once

#include "strata/loop/kernel/linalg/reflector.h"

namespace strata::loop::factor {

/// Reflectors below the first subdiagonal of `a`, Hessenberg's form above them; returns the taus (n
/// - 1).
template <class W>
std::vector<W> hessenberg_in_place(Matrix<W>& a) {
  std::vector<W> taus;
  for (std::int64_t k = 0; k + 1 < a.n; ++k) {
    const W tau = make_reflector(a, k + 1, k);
    taus.push_back(tau);
    if (tau == W(0)) continue;
    reflect_rows(a, a, k + 1, k, conj(tau), k + 1, a.n);
    reflect_columns(a, a, k + 1, k, tau, 0, a.n);
  }
  return taus;
}

template <class W>
struct Schur {
  Matrix<W> t, q;
};

/// False where the iteration does not end; `a` becomes the form.
bool schur(Matrix<double>& t, Matrix<double>& q);
bool schur(Matrix<std::complex<double>>& t, Matrix<std::complex<double>>& q);

/// Of a matrix of finite numbers; NaN throughout for others, and where the iteration does not end.
template <class W>
Schur<W> schur_of(const Matrix<W>& a) {
  Schur<W> out{a, {a.n, a.n}};
  bool fine = all_finite(a);
  if (fine) {
    const std::vector<W> taus = hessenberg_in_place(out.t);
    out.q = product_of_reflectors(out.t, taus, a.n, 1);
    for (std::int64_t i = 2; i < a.n; ++i)
      for (std::int64_t j = 0; j + 1 < i; ++j) out.t(i, j) = 0;
    fine = schur(out.t, out.q);
  }
  if (!fine)
    for (Matrix<W>* m : {&out.t, &out.q})
      std::fill(m->a.begin(), m->a.end(), std::numeric_limits<double>::quiet_NaN());
  return out;
}

}  // namespace strata::loop::factor
