// geqrf, geqp3, householder_product: QR by reflectors (reflector.h), and the product of reflectors.
//
// Buffers: matrices [m, n], their factors in place (R and, below its diagonal, the reflectors), taus [k]; geqp3: pivots (i32, from 0)
// between them. householder_product: reflectors [m, n], taus [k], the first n columns of their product. Parameters: element type
// (factor.h), m, n, k. A grid point is one matrix. Computed in f64, rounded once.
#include <cmath>
#include <numeric>

#include "strata/loop/kernel/reflector.h"

extern "C" void strata_geqrf(void* const* buffers, std::int64_t begin, std::int64_t end);
extern "C" void strata_geqp3(void* const* buffers, std::int64_t begin, std::int64_t end);
extern "C" void strata_householder_product(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace {

using namespace strata::loop::factor;

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
void write_taus(const std::vector<Wide<T>>& taus, T* out) { std::transform(taus.begin(), taus.end(), out, [](Wide<T> x) { return narrow<T>(x); }); }

}  // namespace

extern "C" void strata_geqrf(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[3]);
  dispatch(p.element, [&]<class T>(T) {
    for (std::int64_t i = begin; i < end; ++i) {
      auto a = read_matrix(element_at<const T>(buffers[0], i, p.m * p.n), p.m, p.n);
      write_taus<T>(qr_in_place(a), element_at<T>(buffers[2], i, p.k));
      write_matrix(a, element_at<T>(buffers[1], i, p.m * p.n));
    }
  });
}

extern "C" void strata_geqp3(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[4]);
  dispatch(p.element, [&]<class T>(T) {
    for (std::int64_t i = begin; i < end; ++i) {
      auto a = read_matrix(element_at<const T>(buffers[0], i, p.m * p.n), p.m, p.n);
      write_taus<T>(pivoted_qr_in_place(a, element_at<std::int32_t>(buffers[2], i, p.n)), element_at<T>(buffers[3], i, p.k));
      write_matrix(a, element_at<T>(buffers[1], i, p.m * p.n));
    }
  });
}

extern "C" void strata_householder_product(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[3]);
  dispatch(p.element, [&]<class T>(T) {
    for (std::int64_t i = begin; i < end; ++i) {
      auto vs = read_matrix(element_at<const T>(buffers[0], i, p.m * p.n), p.m, p.n);
      std::vector<Wide<T>> taus;
      for (std::int64_t k = 0; k < p.k; ++k) taus.push_back(widen(element_at<const T>(buffers[1], i, p.k)[k]));
      write_matrix(product_of_reflectors(vs, taus, p.n), element_at<T>(buffers[2], i, p.m * p.n));
    }
  });
}
