// svd: A = U diag(s) V^H, singular values in descending order.
//
// Buffers: matrices [m, n], s [k] (of the real type), U [m, m or k], V^H [n or k, n]; of
// singular_values only s; k = min(m, n). Parameters: element type (factor.h), m, n, 1 for full U
// and V^H. A grid point is one matrix. QR, then Jacobi's rotations of the columns of R (Hestenes
// 1958; de Rijk 1989), which keep small singular values accurate, in f64; large matrices by LAPACK
// (large.h). NaN throughout where an element is not finite.
#include <cmath>
#include <limits>
#include <numeric>

#include "strata/loop/kernel/linalg/large.h"
#include "strata/loop/kernel/linalg/reflector.h"

extern "C" void strata_svd(void* const* buffers, std::int64_t begin, std::int64_t end);
extern "C" void strata_singular_values(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace {

using namespace strata::loop::factor;
namespace large = strata::loop::large;

struct Params {
  std::int64_t element, m, n, full;
};

template <class W>
W inner(const W* x, const W* y, std::int64_t n) {
  W sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += times(conj(x[i]), y[i]);
  return sum;
}
template <class W>
double norm2(const W* x, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += square(x[i]);
  return sum;
}
/// x = c x - s w* y, y = s w x + c y, up to the phase of y, which is the same for all rows.
template <class W>
void turn(W* x, W* y, std::int64_t n, double c, double s, W phase) {
  for (std::int64_t i = 0; i < n; ++i) {
    const W a = x[i], b = times(conj(phase), y[i]);
    x[i] = c * a - s * b;
    y[i] = s * a + c * b;
  }
}

/// Turns rows p and q of `b` orthogonal to each other, and those of `v` with them; false where they
/// were.
template <class W>
bool orthogonalise(Matrix<W>& b, Matrix<W>& v, std::int64_t p, std::int64_t q) {
  W *x = &b(p, 0), *y = &b(q, 0);
  const double xx = norm2(x, b.n), yy = norm2(y, b.n);
  const W xy = inner(x, y, b.n);
  const double size = std::sqrt(square(xy));
  if (size <= 1e-15 * std::sqrt(xx) * std::sqrt(yy)) return false;
  const double zeta = (yy - xx) / (2 * size),
               t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta)),
               c = 1 / std::hypot(1.0, t);
  turn(x, y, b.n, c, c * t, xy / size);
  if (v.n > 0) turn(&v(p, 0), &v(q, 0), v.n, c, c * t, xy / size);
  return true;
}

/// What is left of a unit vector without its parts along rows [0, count) of `u`, as row `count`.
template <class W>
void complete_row(Matrix<W>& u, std::int64_t count) {
  W* row = &u(count, 0);
  for (std::int64_t unit = 0; unit < u.n; ++unit) {
    std::fill(row, row + u.n, W(0));
    row[unit] = 1;
    for (int again = 0; again < 2; ++again)
      for (std::int64_t k = 0; k < count; ++k) {
        const W part = inner(&u(k, 0), row, u.n);
        for (std::int64_t i = 0; i < u.n; ++i) row[i] -= times(part, u(k, i));
      }
    const double left = std::sqrt(norm2(row, u.n));
    if (left * left * static_cast<double>(2 * u.n) < 1)
      continue;  // some unit vector leaves at least 1 / n
    for (std::int64_t i = 0; i < u.n; ++i) row[i] /= left;
    return;
  }
}

template <class W>
struct Svd {
  std::vector<double> s;
  Matrix<W> u, v;  // as rows: the transposes
};

/// Of a square matrix, whose columns are the rows of `b`.
template <class W>
Svd<W> square_svd(Matrix<W> b, bool vectors) {
  const std::int64_t n = b.m;
  Matrix<W> v = vectors ? identity_matrix<W>(n) : Matrix<W>{0, 0};
  for (int sweep = 0, turned = 1; turned > 0 && sweep < 60; ++sweep) {
    turned = 0;
    for (std::int64_t p = 0; p < n; ++p)
      for (std::int64_t q = p + 1; q < n; ++q) turned += orthogonalise(b, v, p, q);
  }
  std::vector<double> norms;
  for (std::int64_t i = 0; i < n; ++i) norms.push_back(std::sqrt(norm2(b.a.data() + i * n, n)));
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) {
    return norms[static_cast<std::size_t>(i)] > norms[static_cast<std::size_t>(j)];
  });
  Svd<W> out{{}, {vectors ? n : 0, n}, {vectors ? n : 0, n}};
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t from = order[static_cast<std::size_t>(i)];
    const double s = norms[static_cast<std::size_t>(from)];
    out.s.push_back(s);
    if (!vectors) continue;
    std::copy_n(&v(from, 0), n, &out.v(i, 0));
    if (s <= out.s[0] * 1e-290) {
      complete_row(out.u, i);
      continue;
    }
    for (std::int64_t k = 0; k < n; ++k) out.u(i, k) = b(from, k) / s;
  }
  return out;
}

/// Of a matrix with at least as many rows as columns: U [m, m] as columns, V as rows.
template <class W>
Svd<W> tall_svd(Matrix<W> a, bool vectors) {
  double scale = 0;
  for (W x : a.a) scale = std::max({scale, std::abs(real(x)), std::abs(imaginary(x))});
  if (scale == 0) scale = 1;
  for (W& x : a.a) x /= scale;
  const std::vector<W> taus = qr_in_place(a);
  Matrix<W> columns{a.n, a.n};
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = i; j < a.n; ++j) columns(j, i) = a(i, j);
  Svd<W> out = square_svd(std::move(columns), vectors);
  for (double& s : out.s) s *= scale;
  if (!vectors) return out;
  const Matrix<W> q = product_of_reflectors(a, taus, a.m);
  Matrix<W> u{a.m, a.m};
  for (std::int64_t i = 0; i < a.m; ++i) {
    for (std::int64_t j = a.n; j < a.m; ++j) u(i, j) = q(i, j);
    for (std::int64_t j = 0; j < a.n; ++j)
      for (std::int64_t k = 0; k < a.n; ++k) u(i, j) += times(q(i, k), out.u(j, k));
  }
  out.u = std::move(u);
  return out;
}

/// Where an element is not finite.
template <class W>
Svd<W> no_svd(std::int64_t m, std::int64_t n) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Svd<W> out{std::vector<double>(static_cast<std::size_t>(n), nan), {m, m}, {n, n}};
  std::fill(out.u.a.begin(), out.u.a.end(), nan);
  std::fill(out.v.a.begin(), out.v.a.end(), nan);
  return out;
}

template <class T>
auto svd_of(const T* in, const Params& p, bool vectors) {
  auto a = read_matrix(in, p.m, p.n);
  if (p.m < p.n) a = adjoint_of(a);
  return all_finite(a) ? tall_svd(std::move(a), vectors)
                       : no_svd<Wide<T>>(std::max(p.m, p.n), std::min(p.m, p.n));
}

template <class R>
void write_values(const std::vector<double>& s, R* out) {
  std::transform(s.begin(), s.end(), out, [](double x) { return narrow<R>(x); });
}

/// Of A^H = U' s V'^H: A = V' s U'^H.
template <class T>
void write_vectors(const Svd<Wide<T>>& svd, T* u, T* vh, const Params& p) {
  const bool wide = p.m < p.n;
  const std::int64_t k = std::min(p.m, p.n), columns = p.full ? p.m : k, rows = p.full ? p.n : k;
  for (std::int64_t i = 0; i < p.m; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      u[i * columns + j] = narrow<T>(wide ? svd.v(j, i) : svd.u(i, j));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < p.n; ++j)
      vh[i * p.n + j] = narrow<T>(conj(wide ? svd.u(j, i) : svd.v(i, j)));
}

/// LAPACK sees A^T = V* s U^T: its U is V^H where it is, its V^H is U.
template <class T>
void one_by_lapack(const T* in, RealOf<T>* s, T* u, T* vh, const Params& p) {
  using C = large::Computed<T>;
  const std::int64_t k = std::min(p.m, p.n), of_u = u == nullptr ? 0 : p.m * (p.full ? p.m : k),
                     of_vh = u == nullptr ? 0 : p.n * (p.full ? p.n : k);
  large::Numbers<C> a(p.m * p.n), first(of_vh), second(of_u);
  large::Numbers<RealOf<C>> values(k);
  for (std::int64_t i = 0; i < p.m * p.n; ++i) a[i] = large::computed(in[i]);
  const char job = u == nullptr ? 'N' : p.full ? 'A' : 'S';
  const bool fine = large::all_finite(a.data(), p.m * p.n) &&
                    large::gesdd(job, static_cast<int>(p.n), static_cast<int>(p.m), a.data(),
                                 values.data(), first.data(), second.data()) == 0;
  auto write = [&](const auto* from, std::int64_t count, auto* to) {
    using To = std::remove_pointer_t<decltype(to)>;
    for (std::int64_t i = 0; i < count; ++i) to[i] = fine ? To(from[i]) : large::not_a_number<To>();
  };
  write(values.data(), k, s);
  write(second.data(), of_u, u);
  write(first.data(), of_vh, vh);
}

/// U and V^H where `u` is not null.
template <class T>
void one(const T* in, RealOf<T>* s, T* u, T* vh, const Params& p) {
  const auto svd = svd_of(in, p, u != nullptr);
  write_values(svd.s, s);
  if (u != nullptr) write_vectors(svd, u, vh, p);
}

}  // namespace

extern "C" void strata_svd(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[4]);
  const std::int64_t k = std::min(p.m, p.n);
  dispatch(p.element, [&]<class T>(T) {
    const bool is_large = large::by_lapack(p.m, p.n);
    for (std::int64_t i = begin; i < end; ++i)
      (is_large ? one_by_lapack<T> : one<T>)(element_at<const T>(buffers[0], i, p.m * p.n),
                                             element_at<RealOf<T>>(buffers[1], i, k),
                                             element_at<T>(buffers[2], i, p.m * (p.full ? p.m : k)),
                                             element_at<T>(buffers[3], i, p.n * (p.full ? p.n : k)),
                                             p);
  });
}

extern "C" void strata_singular_values(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[2]);
  dispatch(p.element, [&]<class T>(T) {
    const bool is_large = large::by_lapack(p.m, p.n);
    for (std::int64_t i = begin; i < end; ++i)
      (is_large ? one_by_lapack<T>
                : one<T>)(element_at<const T>(buffers[0], i, p.m * p.n),
                          element_at<RealOf<T>>(buffers[1], i, std::min(p.m, p.n)), nullptr,
                          nullptr, p);
  });
}
