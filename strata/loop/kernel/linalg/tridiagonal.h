// Hermitian matrices made tridiagonal by reflectors, as LAPACK's hetd2 does: Q^H A Q = T.
#pragma once

#include "strata/loop/kernel/linalg/reflector.h"

namespace strata::loop::factor {

template <class W>
struct Tridiagonal {
  std::vector<double> diagonal, beside;  // n and n - 1
  std::vector<W> taus;  // n - 1; Q = H_0 H_1 ..., the v of H_k in column k from row k + 1 down
};

/// The upper triangle mirrored from the lower one; of the diagonal the real part.
template <class W>
void mirror_lower(Matrix<W>& a) {
  for (std::int64_t i = 0; i < a.n; ++i) {
    a(i, i) = real(a(i, i));
    for (std::int64_t j = i + 1; j < a.n; ++j) a(i, j) = conj(a(j, i));
  }
}

/// Of a Hermitian matrix (both triangles); v and the elements of T take the places of its lower
/// triangle.
template <class W>
Tridiagonal<W> tridiagonal_in_place(Matrix<W>& a) {
  Tridiagonal<W> t;
  for (std::int64_t k = 0; k + 1 < a.n; ++k) {
    const W tau = make_reflector(a, k + 1, k);
    t.taus.push_back(tau);
    t.beside.push_back(real(a(k + 1, k)));
    if (tau == W(0)) continue;
    reflect_rows(a, a, k + 1, k, conj(tau), k + 1, a.n);
    reflect_columns(a, a, k + 1, k, tau, k + 1, a.n);
  }
  for (std::int64_t k = 0; k < a.n; ++k) t.diagonal.push_back(real(a(k, k)));
  return t;
}

}  // namespace strata::loop::factor
