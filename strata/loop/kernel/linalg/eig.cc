// eig: eigenvalues of square matrices, and their eigenvectors as columns, from Schur's form.
//
// Buffers: matrices [n, n], eigenvalues [n], left and right eigenvectors [n, n], all complex;
// eigenvalues: no vectors; right_eigenvectors: no left ones. Parameters: element type of the
// matrices (factor.h), n. A grid point is one matrix. Each vector has length 1 and a real component
// of the greatest size, as in LAPACK, by which large matrices go (large.h). What is real of a real
// matrix is exactly real, and conjugate pairs are exactly conjugate, the one above the real line
// first.
#include <cmath>
#include <limits>

#include "strata/loop/kernel/linalg/large.h"
#include "strata/loop/kernel/linalg/schur.h"

extern "C" void strata_eig(void* const* buffers, std::int64_t begin, std::int64_t end);
extern "C" void strata_eigenvalues(void* const* buffers, std::int64_t begin, std::int64_t end);
extern "C" void strata_right_eigenvectors(void* const* buffers, std::int64_t begin,
                                          std::int64_t end);

namespace {

using namespace strata::loop::factor;
namespace large = strata::loop::large;
using Complex = std::complex<double>;

struct Params {
  std::int64_t element, n;
};

template <class W>
bool is_pair(const Matrix<W>& t, std::int64_t i) {
  return i + 1 < t.n && t(i + 1, i) != W(0);
}

template <class W>
std::vector<Complex> eigenvalues(const Matrix<W>& t) {
  std::vector<Complex> out;
  for (std::int64_t i = 0; i < t.n; ++i) {
    out.emplace_back(t(i, i));
    if constexpr (std::is_same_v<W, double>)
      if (is_pair(t, i)) {
        out.back().imag(std::sqrt(std::abs(t(i, i + 1))) * std::sqrt(std::abs(t(i + 1, i))));
        out.push_back(std::conj(out.back()));
        ++i;
      }
  }
  return out;
}

/// Not below what rounding makes of the matrix.
Complex away_from_zero(Complex x, double least) { return std::abs(x) < least ? Complex(least) : x; }

/// x of (T - value) x = 0 above rows [k, last], which are given.
template <class W>
void solve_above(const Matrix<W>& t, Complex value, std::vector<Complex>& x, std::int64_t k,
                 std::int64_t last, double least) {
  auto X = [&](std::int64_t i) -> Complex& { return x[static_cast<std::size_t>(i)]; };
  auto rest = [&](std::int64_t i) {
    Complex sum = 0;
    for (std::int64_t j = i + 1; j <= last; ++j) sum -= t(i, j) * X(j);
    return sum;
  };
  for (std::int64_t i = k - 1; i >= 0; --i) {
    if (i == 0 || t(i, i - 1) == W(0)) {
      X(i) = rest(i) / away_from_zero(Complex(t(i, i)) - value, least);
      continue;
    }
    X(i) = 0;
    const Complex p = rest(i - 1), r = rest(i), a = Complex(t(i - 1, i - 1)) - value,
                  b = t(i - 1, i), c = t(i, i - 1), d = Complex(t(i, i)) - value;
    const Complex det = away_from_zero(a * d - b * c, least * least);
    X(i - 1) = (p * d - b * r) / det;
    X(i) = (a * r - c * p) / det;
    --i;
  }
}

/// Length 1, and the component of the greatest size real.
void normalise(std::vector<Complex>& x) {
  double most = 0;
  for (Complex c : x) most = std::max(most, std::abs(c));
  if (most == 0) return;
  double sum = 0;
  for (Complex& c : x) sum += square(c /= most);
  Complex best = 0;
  for (Complex c : x)
    if (std::abs(c) > std::abs(best) * (1 + 1e-12)) best = c;
  const Complex factor = imaginary(best) == 0 ? Complex(1 / std::sqrt(sum))
                                              : std::conj(best) / (std::abs(best) * std::sqrt(sum));
  for (Complex& c : x) {
    const bool is_best = c == best;
    c = times(c, factor);
    if (is_best) c.imag(0);
  }
}

/// Right eigenvectors as columns, of A = Q T Q^H.
template <class W>
Matrix<Complex> vectors(const Schur<W>& form, const std::vector<Complex>& values) {
  const Matrix<W>& t = form.t;
  const std::int64_t n = t.n;
  double scale = std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();
  for (const W& x : t.a) scale = std::max(scale, std::sqrt(square(x)));
  const double least = scale * std::numeric_limits<double>::epsilon();
  Matrix<Complex> out{n, n};
  for (std::int64_t k = 0; k < n; ++k) {
    const bool pair = is_pair(t, k);
    const Complex value = values[static_cast<std::size_t>(k)];
    std::vector<Complex> x(static_cast<std::size_t>(n)), y(x.size());
    x[static_cast<std::size_t>(k)] = 1;
    if (pair)
      x[static_cast<std::size_t>(k + 1)] = (value - Complex(t(k, k))) / Complex(t(k, k + 1));
    solve_above(t, value, x, k, k + pair, least);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= k + pair; ++j)
        y[static_cast<std::size_t>(i)] += form.q(i, j) * x[static_cast<std::size_t>(j)];
    normalise(y);
    for (std::int64_t i = 0; i < n; ++i) out(i, k) = y[static_cast<std::size_t>(i)];
    if (!pair) continue;
    for (std::int64_t i = 0; i < n; ++i) out(i, k + 1) = std::conj(out(i, k));
    ++k;
  }
  return out;
}

/// Left eigenvectors (u^H A = value u^H) are right ones of A^H = Q T^H Q^H for conj(value); with
/// rows and columns in reverse T^H is upper triangular again.
template <class W>
Schur<W> reversed(const Schur<W>& form) {
  const std::int64_t n = form.t.n;
  Schur<W> out{{n, n}, {n, n}};
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      out.t(i, j) = conj(form.t(n - 1 - j, n - 1 - i));
      out.q(i, j) = form.q(i, n - 1 - j);
    }
  return out;
}

template <class W>
Matrix<Complex> left_vectors(const Schur<W>& form, const std::vector<Complex>& values) {
  // A pair's block in reverse begins with what belongs to the second value, whose conjugate is
  // above the real line as `vectors` wants it.
  std::vector<Complex> order(values.rbegin(), values.rend());
  const auto n = static_cast<std::int64_t>(values.size());
  if constexpr (!std::is_same_v<W, double>)
    for (Complex& v : order) v = std::conj(v);
  else
    for (std::int64_t i = 0; i + 1 < n; ++i)
      if (order[static_cast<std::size_t>(i)].imag() < 0)
        std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(i + 1)]), ++i;
  const Matrix<Complex> v = vectors(reversed(form), order);
  Matrix<Complex> out{n, n};
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) out(i, j) = v(i, n - 1 - j);
  return out;
}

template <class T>
using ComplexOf = std::complex<RealOf<T>>;

/// Where results stand; vectors that are not wanted are null.
template <class C>
struct Results {
  C *values, *left, *right;
};

template <class T>
void one(const T* in, const Results<ComplexOf<T>>& out, std::int64_t n) {
  const auto form = schur_of(read_matrix(in, n, n));
  const std::vector<Complex> w = eigenvalues(form.t);
  const bool fine = all_finite(form.t);
  for (std::size_t i = 0; i < w.size(); ++i) out.values[i] = narrow<ComplexOf<T>>(w[i]);
  const Matrix<Complex> nothing{n, n,
                                std::vector<Complex>(static_cast<std::size_t>(n * n),
                                                     std::numeric_limits<double>::quiet_NaN())};
  if (out.left) write_matrix(fine ? left_vectors(form, w) : nothing, out.left);
  if (out.right) write_matrix(fine ? vectors(form, w) : nothing, out.right);
}

/// Vectors of complex matrices, by columns.
template <class R>
void unpack(const std::complex<R>* vectors, const std::complex<R>*, std::int64_t n,
            std::complex<R>* out) {
  large::from_columns(vectors, n, n, out);
}
/// Vectors of real matrices: of a pair its real and its imaginary part.
template <class R>
void unpack(const R* vectors, const R* values, std::int64_t n, std::complex<R>* out) {
  for (std::int64_t j = 0; j < n; ++j) {
    const R *re = vectors + j * n, *im = re + n;
    const bool pair = values[n + j] != 0;
    for (std::int64_t i = 0; i < n; ++i) {
      out[i * n + j] = {re[i], pair ? im[i] : 0};
      if (pair) out[i * n + j + 1] = std::conj(out[i * n + j]);
    }
    j += pair;
  }
}

template <class T>
void one_by_lapack(const T* in, const Results<ComplexOf<T>>& out, std::int64_t n) {
  constexpr std::int64_t kParts = is_complex<T> ? 1 : 2;
  large::Numbers<T> a(n * n), w(kParts * n), left(out.left ? n * n : 0),
      right(out.right ? n * n : 0);
  large::to_columns(in, n, n, a.data());
  const bool fine =
      large::all_finite(a.data(), n * n) &&
      large::geev(static_cast<int>(n), a.data(), w.data(), out.left ? left.data() : nullptr,
                  out.right ? right.data() : nullptr) == 0;
  for (std::int64_t i = 0; i < n; ++i)
    if constexpr (is_complex<T>)
      out.values[i] = fine ? w[i] : large::not_a_number<T>();
    else
      out.values[i] = fine ? ComplexOf<T>(w[i], w[n + i]) : large::not_a_number<ComplexOf<T>>();
  auto write = [&](const large::Numbers<T>& from, ComplexOf<T>* to) {
    if (to && fine) unpack(from.data(), w.data(), n, to);
    if (to && !fine) std::fill_n(to, n * n, large::not_a_number<ComplexOf<T>>());
  };
  write(left, out.left);
  write(right, out.right);
}

void all(const Params& p, void* in, const Results<void>& out, std::int64_t begin,
         std::int64_t end) {
  dispatch(p.element, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, strata::BFloat16> && !std::is_same_v<T, strata::Float16>) {
      using C = ComplexOf<T>;
      const bool is_large = large::by_lapack(p.n, p.n);
      auto vectors_at = [&](void* base, std::int64_t i) {
        return base ? element_at<C>(base, i, p.n * p.n) : nullptr;
      };
      for (std::int64_t i = begin; i < end; ++i)
        (is_large ? one_by_lapack<T> : one<T>)(element_at<const T>(in, i, p.n * p.n),
                                               {element_at<C>(out.values, i, p.n),
                                                vectors_at(out.left, i), vectors_at(out.right, i)},
                                               p.n);
    }
  });
}

}  // namespace

extern "C" void strata_eig(void* const* buffers, std::int64_t begin, std::int64_t end) {
  all(*static_cast<const Params*>(buffers[4]), buffers[0], {buffers[1], buffers[2], buffers[3]},
      begin, end);
}
extern "C" void strata_eigenvalues(void* const* buffers, std::int64_t begin, std::int64_t end) {
  all(*static_cast<const Params*>(buffers[2]), buffers[0], {buffers[1], nullptr, nullptr}, begin,
      end);
}
extern "C" void strata_right_eigenvectors(void* const* buffers, std::int64_t begin,
                                          std::int64_t end) {
  all(*static_cast<const Params*>(buffers[3]), buffers[0], {buffers[1], nullptr, buffers[2]}, begin,
      end);
}
