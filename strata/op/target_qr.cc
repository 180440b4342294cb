// @Qr and @ProductOfElementaryHouseholderReflectors: what LAPACK calls geqrf and orgqr (ungqr), on row-major matrices.
//
//   Qr:        A -> (R above the diagonal, reflectors below it; tau), H_k = I - tau_k v_k v_k^H, H_k^H .. H_1^H A = R
//   Product:   (reflectors, tau) -> the first n columns of H_1 H_2 ... H_k
//
// v_k is 1 at k, what stands below the diagonal after it, 0 before. As LAPACK does, beta is real and of the other sign than the
// diagonal's real part; tau is 0 where there is nothing to reflect. Computed in f64 and rounded once, column by column.
#include "strata/loop/kernel/factor.h"
#include "strata/op/matrix.h"
#include "strata/op/target.h"

namespace strata::op {
namespace {

using loop::factor::Wide, loop::factor::conj, loop::factor::narrow, loop::factor::real, loop::factor::times, loop::factor::widen;

template <class W>
struct Matrix {
  std::int64_t m, n;
  std::vector<W> a = std::vector<W>(static_cast<std::size_t>(m * n));
  W& operator()(std::int64_t i, std::int64_t j) { return a[static_cast<std::size_t>(i * n + j)]; }
};

double square(double x) { return x * x; }
double square(std::complex<double> x) { return x.real() * x.real() + x.imag() * x.imag(); }
double imaginary(double) { return 0; }
double imaginary(std::complex<double> x) { return x.imag(); }

/// Rows k and below of columns `first` and after become (I - tau v v^H) of themselves; v stands below the diagonal of column k.
template <class W>
void reflect(Matrix<W>& a, Matrix<W>& v, std::int64_t k, W tau, std::int64_t first) {
  for (std::int64_t j = first; j < a.n; ++j) {
    W sum = a(k, j);
    for (std::int64_t i = k + 1; i < a.m; ++i) sum += times(conj(v(i, k)), a(i, j));
    sum = times(tau, sum);
    a(k, j) -= sum;
    for (std::int64_t i = k + 1; i < a.m; ++i) a(i, j) -= times(v(i, k), sum);
  }
}

/// larfg: the reflector of column k, in place; returns tau.
template <class W>
W make_reflector(Matrix<W>& a, std::int64_t k) {
  double below = 0;
  for (std::int64_t i = k + 1; i < a.m; ++i) below += square(a(i, k));
  W alpha = a(k, k);
  if (below == 0 && imaginary(alpha) == 0) return 0;
  double beta = -std::copysign(std::sqrt(square(alpha) + below), real(alpha));
  W tau = (beta - alpha) / beta;
  for (std::int64_t i = k + 1; i < a.m; ++i) a(i, k) = a(i, k) / (alpha - beta);
  a(k, k) = beta;
  return tau;
}

template <class T>
void qr(const T* in, T* out, T* taus, std::int64_t m, std::int64_t n) {
  Matrix<Wide<T>> a{m, n};
  for (std::int64_t i = 0; i < m * n; ++i) a.a[static_cast<std::size_t>(i)] = widen(in[i]);
  for (std::int64_t k = 0; k < std::min(m, n); ++k) {
    Wide<T> tau = make_reflector(a, k);
    if (tau != Wide<T>(0)) reflect(a, a, k, conj(tau), k + 1);
    taus[k] = narrow<T>(tau);
  }
  for (std::int64_t i = 0; i < m * n; ++i) out[i] = narrow<T>(a.a[static_cast<std::size_t>(i)]);
}

template <class T>
void product(const T* in, const T* taus, T* out, std::int64_t m, std::int64_t n, std::int64_t count) {
  Matrix<Wide<T>> v{m, n}, q{m, n};
  for (std::int64_t i = 0; i < m * n; ++i) v.a[static_cast<std::size_t>(i)] = widen(in[i]);
  for (std::int64_t i = 0; i < std::min(m, n); ++i) q(i, i) = 1;
  for (std::int64_t k = count; k-- > 0;) reflect(q, v, k, widen(taus[k]), k);
  for (std::int64_t i = 0; i < m * n; ++i) out[i] = narrow<T>(q.a[static_cast<std::size_t>(i)]);
}

bool is_matrices(const Type& t) { return t.is_tensor() && t.rank() >= 2; }
Shape without_last(const Shape& shape, std::int64_t last) {
  std::vector<std::int64_t> sizes = shape.sizes();
  sizes.pop_back();
  sizes.back() = last;
  return Shape::of(sizes);
}
Status wrong(const foreign::Call& call) { return Status(Code::invalid, "@{} takes matrices and scalar factors, got other types", call.target); }

template <class T>
T* at(void* base, std::int64_t batch, std::int64_t size) { return static_cast<T*>(base) + batch * size; }

}  // namespace

Result<foreign::Bound> bind_qr(const foreign::Call& call) {
  if (call.operands.size() != 1 || call.results.size() != 2 || !is_matrices(call.operands[0])) return wrong(call);
  const Type& a = call.operands[0];
  std::int64_t m = a.shape()[a.rank() - 2], n = a.shape()[a.rank() - 1], k = std::min(m, n), batch = batch_count(a.shape());
  if (!(call.results[0] == a) || !(call.results[1] == a.with(without_last(a.shape(), k)))) return wrong(call);
  return foreign::Bound([=, element = factor_element("Qr", a.dtype())](const foreign::Buffers& to, void*) {
    loop::factor::dispatch(element, [&]<class T>(T) {
      for (std::int64_t i = 0; i < batch; ++i)
        qr(at<const T>(to.operands[0], i, m * n), at<T>(to.results[0], i, m * n), at<T>(to.results[1], i, k), m, n);
    });
    return Status();
  });
}

Result<foreign::Bound> bind_householder_product(const foreign::Call& call) {
  if (call.operands.size() != 2 || call.results.size() != 1 || !is_matrices(call.operands[0]) || call.operands[1].rank() + 1 != call.operands[0].rank()) return wrong(call);
  const Type &a = call.operands[0], &taus = call.operands[1];
  std::int64_t m = a.shape()[a.rank() - 2], n = a.shape()[a.rank() - 1], k = taus.shape()[taus.rank() - 1], batch = batch_count(a.shape());
  if (!(call.results[0] == a) || k > std::min(m, n) || !(taus == a.with(without_last(a.shape(), k)))) return wrong(call);
  return foreign::Bound([=, element = factor_element("ProductOfElementaryHouseholderReflectors", a.dtype())](const foreign::Buffers& to, void*) {
    loop::factor::dispatch(element, [&]<class T>(T) {
      for (std::int64_t i = 0; i < batch; ++i)
        product(at<const T>(to.operands[0], i, m * n), at<const T>(to.operands[1], i, k), at<T>(to.results[0], i, m * n), m, n, k);
    });
    return Status();
  });
}

}  // namespace strata::op
