// Schur's form by QR steps on Hessenberg's form, in f64: of real matrices with Francis' double
// shift (EISPACK's hqr2), of complex ones with Wilkinson's single shift. Exceptional shifts after
// 10 and 20 steps, as there.
//
// strata_schur, buffers: matrices [n, n], T, Q. strata_hessenberg: matrices, the form with its
// reflectors, taus [n - 1]. Parameters: element type (factor.h), n. A grid point is one matrix.
// Large ones by LAPACK (large.h).
#include "strata/loop/kernel/linalg/schur.h"

#include <cmath>
#include <limits>

#include "strata/loop/kernel/linalg/large.h"

extern "C" void strata_schur(void* const* buffers, std::int64_t begin, std::int64_t end);
extern "C" void strata_hessenberg(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace strata::loop::factor {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon() / 2;
constexpr int kSteps = 90;  // for one eigenvalue

double size_of(double x) { return std::abs(x); }
double size_of(std::complex<double> x) { return std::abs(x.real()) + std::abs(x.imag()); }

/// The first row of the block that ends at row `high` and is not cut yet; what is small there
/// becomes zero.
template <class W>
std::int64_t begin_of_block(Matrix<W>& t, std::int64_t high) {
  for (std::int64_t l = high; l > 0; --l) {
    double scale = size_of(t(l - 1, l - 1)) + size_of(t(l, l));
    if (scale == 0)
      for (const W& x : t.a) scale = std::max(scale, size_of(x));
    if (size_of(t(l, l - 1)) > kEpsilon * scale) continue;
    t(l, l - 1) = 0;
    return l;
  }
  return 0;
}

/// Rows and columns i and i + 1 turned by (c, s; -s, c), and the columns of q.
void turn(Matrix<double>& t, Matrix<double>& q, std::int64_t i, double c, double s) {
  auto both = [&](double& x, double& y) {
    const double a = x, b = y;
    x = c * a + s * b;
    y = c * b - s * a;
  };
  for (std::int64_t j = 0; j < t.n; ++j) both(t(i, j), t(i + 1, j));
  for (std::int64_t r = 0; r < t.n; ++r) both(t(r, i), t(r, i + 1)), both(q(r, i), q(r, i + 1));
}

/// A block of two rows made triangular where its eigenvalues are real, with equal diagonal elements
/// where they are not.
void standardise(Matrix<double>& t, Matrix<double>& q, std::int64_t i) {
  const double a = t(i, i), b = t(i, i + 1), c = t(i + 1, i), d = t(i + 1, i + 1);
  if (c == 0) return;
  const double p = (a - d) / 2, inside = p * p + b * c;
  if (inside >= 0) {
    const double z = p + std::copysign(std::sqrt(inside), p),
                 r = std::hypot(c, z);  // (z, c) is an eigenvector, of d + z
    turn(t, q, i, z / r, c / r);
    t(i + 1, i) = 0;
    return;
  }
  // So turned, (a - d) cos 2w + (b + c) sin 2w = 0: the diagonal is equal.
  const double angle = std::atan2(d - a, b + c) / 2;
  turn(t, q, i, std::cos(angle), std::sin(angle));
  t(i, i) = t(i + 1, i + 1) = (a + d) / 2;
}

/// I - tau v v^T of three (or two) rows from k.
struct Bulge {
  double v[3], tau;
};
Bulge bulge_of(double x, double y, double z) {
  const double alpha = -std::copysign(std::sqrt(x * x + y * y + z * z), x);
  if (alpha == 0) return {{1, 0, 0}, 0};
  const double first = x - alpha;
  return {{1, y / first, z / first}, -first / alpha};
}
void chase(Matrix<double>& t, Matrix<double>& q, const Bulge& h, std::int64_t k, std::int64_t rows,
           std::int64_t high) {
  for (std::int64_t j = std::max<std::int64_t>(k - 1, 0); j < t.n; ++j) {
    double sum = 0;
    for (std::int64_t r = 0; r < rows; ++r) sum += h.v[r] * t(k + r, j);
    for (std::int64_t r = 0; r < rows; ++r) t(k + r, j) -= h.tau * sum * h.v[r];
  }
  auto columns = [&](Matrix<double>& m, std::int64_t end) {
    for (std::int64_t i = 0; i < end; ++i) {
      double sum = 0;
      for (std::int64_t r = 0; r < rows; ++r) sum += h.v[r] * m(i, k + r);
      for (std::int64_t r = 0; r < rows; ++r) m(i, k + r) -= h.tau * sum * h.v[r];
    }
  };
  columns(t, std::min(high, k + 3) + 1);
  columns(q, q.m);
}

/// Francis' step on rows [low, high], of three rows at least.
void francis(Matrix<double>& t, Matrix<double>& q, std::int64_t low, std::int64_t high, int steps) {
  double sum = t(high - 1, high - 1) + t(high, high);
  double product = t(high - 1, high - 1) * t(high, high) - t(high - 1, high) * t(high, high - 1);
  if (steps % 10 == 9) {
    const double s = std::abs(t(high, high - 1)) + std::abs(t(high - 1, high - 2));
    sum = 1.5 * s, product = s * s;
  }
  double x =
      t(low, low) * t(low, low) + t(low, low + 1) * t(low + 1, low) - sum * t(low, low) + product;
  double y = t(low + 1, low) * (t(low, low) + t(low + 1, low + 1) - sum);
  double z = t(low + 1, low) * t(low + 2, low + 1);
  for (std::int64_t k = low; k < high; ++k) {
    const std::int64_t rows = std::min<std::int64_t>(3, high - k + 1);
    const double scale =
        std::max({std::abs(x), std::abs(y), std::abs(z), std::numeric_limits<double>::min()});
    chase(t, q, bulge_of(x / scale, y / scale, z / scale), k, rows, high);
    if (k > low)
      for (std::int64_t r = 1; r < rows; ++r) t(k + r, k - 1) = 0;
    x = t(k + 1, k);
    y = k + 2 <= high ? t(k + 2, k) : 0;
    z = k + 3 <= high ? t(k + 3, k) : 0;
  }
}

using Complex = std::complex<double>;

/// The eigenvalue of the last two rows that is nearer to the last element.
Complex wilkinson(const Matrix<Complex>& t, std::int64_t high) {
  const Complex a = t(high - 1, high - 1), bc = t(high - 1, high) * t(high, high - 1),
                d = t(high, high), p = (a - d) / 2.0;
  Complex root = std::sqrt(p * p + bc);
  if (real(std::conj(p) * root) < 0) root = -root;
  return p + root == Complex(0) ? d : d - bc / (p + root);
}

/// A step with one shift on rows [low, high].
void single(Matrix<Complex>& t, Matrix<Complex>& q, std::int64_t low, std::int64_t high,
            int steps) {
  const Complex shift =
      steps % 10 == 9 ? t(high, high) + Complex(std::abs(t(high, high - 1))) : wilkinson(t, high);
  Complex x = t(low, low) - shift, y = t(low + 1, low);
  for (std::int64_t k = low; k < high; ++k) {
    const double r = std::hypot(std::abs(x), std::abs(y));
    const Complex c = r == 0 ? 1 : x / r, s = r == 0 ? 0 : y / r;
    for (std::int64_t j = std::max(k - 1, low); j < t.n; ++j) {
      const Complex a = t(k, j), b = t(k + 1, j);
      t(k, j) = std::conj(c) * a + std::conj(s) * b;
      t(k + 1, j) = c * b - s * a;
    }
    auto columns = [&](Matrix<Complex>& m, std::int64_t end) {
      for (std::int64_t i = 0; i < end; ++i) {
        const Complex a = m(i, k), b = m(i, k + 1);
        m(i, k) = a * c + b * s;
        m(i, k + 1) = b * std::conj(c) - a * std::conj(s);
      }
    };
    columns(t, std::min(high, k + 2) + 1);
    columns(q, q.m);
    if (k > low) t(k + 1, k - 1) = 0;
    x = t(k + 1, k);
    y = k + 2 <= high ? t(k + 2, k) : 0;
  }
}

}  // namespace

bool schur(Matrix<double>& t, Matrix<double>& q) {
  int steps = 0;
  for (std::int64_t high = t.n - 1; high > 0;) {
    const std::int64_t low = begin_of_block(t, high);
    if (high - low < 2) {
      if (low < high) standardise(t, q, low);
      high = low - 1;
      steps = 0;
      continue;
    }
    if (steps == kSteps) return false;
    francis(t, q, low, high, steps++);
  }
  return true;
}

bool schur(Matrix<Complex>& t, Matrix<Complex>& q) {
  int steps = 0;
  for (std::int64_t high = t.n - 1; high > 0;) {
    const std::int64_t low = begin_of_block(t, high);
    if (low == high) {
      --high;
      steps = 0;
      continue;
    }
    if (steps == kSteps) return false;
    single(t, q, low, high, steps++);
  }
  return true;
}

}  // namespace strata::loop::factor

namespace {

using namespace strata::loop::factor;
namespace large = strata::loop::large;

struct Params {
  std::int64_t element, n;
};

template <class T>
void schur_form(const T* in, T* t, T* q, std::int64_t n) {
  const auto form = schur_of(read_matrix(in, n, n));
  write_matrix(form.t, t);
  write_matrix(form.q, q);
}
template <class T>
void schur_form_by_lapack(const T* in, T* t, T* q, std::int64_t n) {
  large::Numbers<large::Computed<T>> a(n * n), vectors(n * n);
  large::to_columns(in, n, n, a.data());
  if (!large::all_finite(a.data(), n * n) ||
      large::gees(static_cast<int>(n), a.data(), vectors.data()) != 0) {
    for (T* out : {t, q}) std::fill_n(out, n * n, large::not_a_number<T>());
    return;
  }
  large::from_columns(a.data(), n, n, t);
  large::from_columns(vectors.data(), n, n, q);
}

template <class T>
void hessenberg(const T* in, T* out, T* out_taus, std::int64_t n) {
  auto a = read_matrix(in, n, n);
  const auto taus = hessenberg_in_place(a);
  std::transform(taus.begin(), taus.end(), out_taus, [](Wide<T> x) { return narrow<T>(x); });
  write_matrix(a, out);
}
template <class T>
void hessenberg_by_lapack(const T* in, T* out, T* out_taus, std::int64_t n) {
  large::Numbers<large::Computed<T>> a(n * n), taus(n);
  large::to_columns(in, n, n, a.data());
  large::gehrd(static_cast<int>(n), a.data(), taus.data());
  large::from_columns(a.data(), n, n, out);
  std::transform(taus.data(), taus.data() + n - 1, out_taus, [](auto x) { return T(x); });
}

}  // namespace

extern "C" void strata_schur(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[3]);
  dispatch(p.element, [&]<class T>(T) {
    const bool is_large = large::by_lapack(p.n, p.n);
    for (std::int64_t i = begin; i < end; ++i)
      (is_large ? schur_form_by_lapack<T>
                : schur_form<T>)(element_at<const T>(buffers[0], i, p.n * p.n),
                                 element_at<T>(buffers[1], i, p.n * p.n),
                                 element_at<T>(buffers[2], i, p.n * p.n), p.n);
  });
}

extern "C" void strata_hessenberg(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[3]);
  dispatch(p.element, [&]<class T>(T) {
    const bool is_large = large::by_lapack(p.n, p.n);
    for (std::int64_t i = begin; i < end; ++i)
      (is_large ? hessenberg_by_lapack<T>
                : hessenberg<T>)(element_at<const T>(buffers[0], i, p.n * p.n),
                                 element_at<T>(buffers[1], i, p.n * p.n),
                                 element_at<T>(buffers[2], i, p.n - 1), p.n);
  });
}
