// geqrf, geqp3, householder_product: QR by reflectors (reflector.h), and the product of reflectors.
//
// Buffers: matrices [m, n], their factors in place (R and, below its diagonal, the reflectors),
// taus [k]; geqp3: pivots (i32, from 0) between them. householder_product: reflectors [m, n], taus
// [k], the first n columns of their product. Parameters: element type (factor.h), m, n, k. A grid
// point is one matrix. Small matrices are computed in f64 and rounded once; others by LAPACK
// (large.h). Pivots of what is not finite are by the plain kernel: comparisons alone must not lead
// a routine out of its matrix.
#include <cmath>
#include <numeric>

#include "strata/loop/kernel/linalg/large.h"
#include "strata/loop/kernel/linalg/reflector.h"

extern "C" void strata_geqrf(void* const* buffers, std::int64_t begin, std::int64_t end);
extern "C" void strata_geqp3(void* const* buffers, std::int64_t begin, std::int64_t end);
extern "C" void strata_householder_product(void* const* buffers, std::int64_t begin,
                                           std::int64_t end);

namespace {

using namespace strata::loop::factor;
namespace large = strata::loop::large;

struct Params {
  std::int64_t element, m, n, k;
};

template <class W>
void swap_columns(Matrix<W>& a, std::int64_t i, std::int64_t j) {
  for (std::int64_t r = 0; r < a.m; ++r) std::swap(a(r, i), a(r, j));
}

/// The column of the greatest norm from row k down; of equal ones the first.
template <class W>
std::int64_t greatest_column(const Matrix<W>& a, std::int64_t k) {
  std::int64_t best = k;
  double most = -1;
  for (std::int64_t j = k; j < a.n; ++j) {
    double norm = 0;
    for (std::int64_t i = k; i < a.m; ++i) norm += square(a(i, j));
    if (norm > most) most = norm, best = j;
  }
  return best;
}

template <class W>
std::vector<W> pivoted_qr_in_place(Matrix<W>& a, std::int32_t* pivots) {
  std::vector<W> taus;
  std::iota(pivots, pivots + a.n, 0);
  for (std::int64_t k = 0; k < std::min(a.m, a.n); ++k) {
    std::int64_t j = greatest_column(a, k);
    if (j != k) swap_columns(a, j, k), std::swap(pivots[j], pivots[k]);
    taus.push_back(make_reflector(a, k, k));
    if (taus.back() != W(0)) reflect_rows(a, a, k, k, conj(taus.back()), k + 1, a.n);
  }
  return taus;
}

template <class T>
void write_taus(const std::vector<Wide<T>>& taus, T* out) {
  std::transform(taus.begin(), taus.end(), out, [](Wide<T> x) { return narrow<T>(x); });
}

/// `f(columns, taus)` in place of a matrix as LAPACK sees it.
template <class T, class F>
void in_columns(const T* in, T* out, const Params& p, F&& f) {
  large::Numbers<large::Computed<T>> a(p.m * p.n), taus(p.k);
  large::to_columns(in, p.m, p.n, a.data());
  f(a.data(), taus.data());
  large::from_columns(a.data(), p.m, p.n, out);
}

template <class T>
void geqrf(const T* in, T* out, T* out_taus, const Params& p) {
  if (large::by_lapack(p.m, p.n))
    return in_columns(in, out, p, [&](auto* a, auto* taus) {
      large::geqrf(static_cast<int>(p.m), static_cast<int>(p.n), a, taus);
      std::transform(taus, taus + p.k, out_taus, [](auto x) { return T(x); });
    });
  auto a = read_matrix(in, p.m, p.n);
  write_taus<T>(qr_in_place(a), out_taus);
  write_matrix(a, out);
}

template <class T>
void geqp3(const T* in, T* out, std::int32_t* pivots, T* out_taus, const Params& p) {
  const auto is_finite = [](T x) { return large::is_finite(large::computed(x)); };
  if (large::by_lapack(p.m, p.n) && std::all_of(in, in + p.m * p.n, is_finite))
    return in_columns(in, out, p, [&](auto* a, auto* taus) {
      large::geqp3(static_cast<int>(p.m), static_cast<int>(p.n), a, pivots, taus);
      std::for_each(pivots, pivots + p.n, [](std::int32_t& column) { --column; });
      std::transform(taus, taus + p.k, out_taus, [](auto x) { return T(x); });
    });
  auto a = read_matrix(in, p.m, p.n);
  write_taus<T>(pivoted_qr_in_place(a, pivots), out_taus);
  write_matrix(a, out);
}

template <class T>
void product(const T* in, const T* in_taus, T* out, const Params& p) {
  if (large::by_lapack(p.m, p.n))
    return in_columns(in, out, p, [&](auto* a, auto* taus) {
      std::transform(in_taus, in_taus + p.k, taus, large::computed<T>);
      large::orgqr(static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k), a, taus);
    });
  auto vs = read_matrix(in, p.m, p.n);
  std::vector<Wide<T>> taus;
  for (std::int64_t k = 0; k < p.k; ++k) taus.push_back(widen(in_taus[k]));
  write_matrix(product_of_reflectors(vs, taus, p.n), out);
}

}  // namespace

extern "C" void strata_geqrf(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[3]);
  dispatch(p.element, [&]<class T>(T) {
    for (std::int64_t i = begin; i < end; ++i)
      geqrf(element_at<const T>(buffers[0], i, p.m * p.n), element_at<T>(buffers[1], i, p.m * p.n),
            element_at<T>(buffers[2], i, p.k), p);
  });
}

extern "C" void strata_geqp3(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[4]);
  dispatch(p.element, [&]<class T>(T) {
    for (std::int64_t i = begin; i < end; ++i)
      geqp3(element_at<const T>(buffers[0], i, p.m * p.n), element_at<T>(buffers[1], i, p.m * p.n),
            element_at<std::int32_t>(buffers[2], i, p.n), element_at<T>(buffers[3], i, p.k), p);
  });
}

extern "C" void strata_householder_product(void* const* buffers, std::int64_t begin,
                                           std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[3]);
  dispatch(p.element, [&]<class T>(T) {
    for (std::int64_t i = begin; i < end; ++i)
      product(element_at<const T>(buffers[0], i, p.m * p.n),
              element_at<const T>(buffers[1], i, p.k), element_at<T>(buffers[2], i, p.m * p.n), p);
  });
}
