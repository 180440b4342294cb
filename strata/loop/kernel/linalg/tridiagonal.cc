// tridiagonal: Hermitian matrices as Q T Q^H with T tridiagonal, real.
//
// Buffers: matrices [n, n], their factors in place (T's elements and, beyond them, the reflectors),
// diagonal [n], what stands beside it [n - 1] (both of the real type), taus [n - 1]. Parameters:
// element type (factor.h), n, 1 where the lower triangle is read. A grid point is one matrix. The
// other triangle is kept. Of the upper triangle as LAPACK does: the lower one of the matrix in
// reverse. Large matrices by LAPACK (large.h).
#include "strata/loop/kernel/linalg/tridiagonal.h"

#include "strata/loop/kernel/linalg/large.h"

extern "C" void strata_tridiagonal(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace {

using namespace strata::loop::factor;
namespace large = strata::loop::large;

struct Params {
  std::int64_t element, n, lower;
};

template <class T, class R>
void one(const T* in, T* out, R* diagonal, R* beside, T* taus, const Params& p) {
  const std::int64_t n = p.n;
  auto place = [&](std::int64_t i, std::int64_t j) {
    return p.lower ? i * n + j : (n - 1 - i) * n + n - 1 - j;
  };
  auto line = [&](std::int64_t i, std::int64_t length) { return p.lower ? i : length - 1 - i; };
  Matrix<Wide<T>> a{n, n};
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) a(i, j) = widen(in[place(i, j)]);
  mirror_lower(a);
  const auto t = tridiagonal_in_place(a);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      out[place(i, j)] = j <= i ? narrow<T>(a(i, j)) : in[place(i, j)];
  for (std::int64_t i = 0; i < n; ++i)
    diagonal[line(i, n)] = narrow<R>(t.diagonal[static_cast<std::size_t>(i)]);
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    beside[line(i, n - 1)] = narrow<R>(t.beside[static_cast<std::size_t>(i)]);
    taus[line(i, n - 1)] = narrow<T>(t.taus[static_cast<std::size_t>(i)]);
  }
}

template <class T, class R>
void one_by_lapack(const T* in, T* out, R* diagonal, R* beside, T* taus, const Params& p) {
  using C = large::Computed<T>;
  const std::int64_t n = p.n;
  large::Numbers<C> a(n * n), factors(n);
  large::Numbers<RealOf<C>> line(n), next(n);
  large::to_columns(in, n, n, a.data());
  large::hetrd(p.lower ? 'L' : 'U', static_cast<int>(n), a.data(), line.data(), next.data(),
               factors.data());
  for (std::int64_t i = 0; i < n; ++i)
    a[i * n + i] = line[i];  // an imaginary part that is not read may be left there
  large::from_columns(a.data(), n, n, out);
  auto write = [](const auto& from, std::int64_t count, auto* to) {
    std::transform(from.data(), from.data() + count, to,
                   [](auto x) { return std::remove_pointer_t<decltype(to)>(x); });
  };
  write(line, n, diagonal);
  write(next, n - 1, beside);
  write(factors, n - 1, taus);
}

}  // namespace

extern "C" void strata_tridiagonal(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[5]);
  dispatch(p.element, [&]<class T>(T) {
    using R = RealOf<T>;
    const bool is_large = large::by_lapack(p.n, p.n);
    for (std::int64_t i = begin; i < end; ++i)
      (is_large ? one_by_lapack<T, R> : one<T, R>)(element_at<const T>(buffers[0], i, p.n * p.n),
                                                   element_at<T>(buffers[1], i, p.n * p.n),
                                                   element_at<R>(buffers[2], i, p.n),
                                                   element_at<R>(buffers[3], i, p.n - 1),
                                                   element_at<T>(buffers[4], i, p.n - 1), p);
  });
}
