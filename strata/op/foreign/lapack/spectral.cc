// Singular values and eigenvalues: gesdd, syevd (heevd), geev.
#include <cstring>

#include "strata/op/foreign/lapack/call.h"

namespace strata::op::lapack {
namespace {

using foreign::Bound;
using foreign::Buffers;
using foreign::Call;

/// a {mode 'A', 'S', 'N'} -> (overwritten), s, u, v^H, info
template <class T>
Result<Bound> gesdd(const Call& call) {
  if (call.operands.size() != 1 || call.results.size() != 5) return wrong(call);
  auto a = matrices(call.operands[0]), u = matrices(call.results[2]),
       vt = matrices(call.results[3]);
  char mode = letter(call, "mode");
  if (!a || !u || !vt || (mode != 'A' && mode != 'S' && mode != 'N')) return wrong(call);
  Result<void*> address = routine(named<T>("gesdd"));
  if (!address) return address.status();
  std::int64_t k = std::min(a->rows, a->columns), l = std::max(a->rows, a->columns);
  // As LAPACK's documentation bounds them, for any mode.
  std::int64_t reals =
      is_complex_number<T> ? std::max(5 * k * k + 5 * k, 2 * l * k + 2 * k * k + k) : 0;
  return Bound([=](const Buffers& to, void*) {
    int m = a->rows, n = a->columns, lda = leading(m), ldu = leading(u->rows),
        ldvt = leading(vt->rows), size = -1, info = 0;
    T wanted{};
    auto integers = scratch<int>(8 * k);
    auto real_work = scratch<Real<T>>(reals);
    auto run = [&](std::int64_t i, T* work, int* info_at) {
      T *a_i = at<T>(to.results[0], i, a->size()), *u_i = at<T>(to.results[2], i, u->size()),
        *vt_i = at<T>(to.results[3], i, vt->size());
      Real<T>* s_i = at<Real<T>>(to.results[1], i, k);
      if constexpr (is_complex_number<T>)
        Routine<const char*, const int*, const int*, T*, const int*, Real<T>*, T*, const int*, T*,
                const int*, T*, const int*, Real<T>*, int*, int*>{*address}(
            &mode, &m, &n, a_i, &lda, s_i, u_i, &ldu, vt_i, &ldvt, work, &size, real_work.data(),
            integers.data(), info_at);
      else
        Routine<const char*, const int*, const int*, T*, const int*, Real<T>*, T*, const int*, T*,
                const int*, T*, const int*, int*, int*>{*address}(&mode, &m, &n, a_i, &lda, s_i,
                                                                  u_i, &ldu, vt_i, &ldvt, work,
                                                                  &size, integers.data(), info_at);
    };
    run(0, &wanted, &info);
    auto work = scratch<T>(size = asked(wanted));
    for (std::int64_t i = 0; i < a->batch; ++i) run(i, work.data(), at<int>(to.results[4], i, 1));
    return Status();
  });
}

/// a {mode 'V', 'N'; uplo} -> eigenvectors, eigenvalues, info
template <class T>
Result<Bound> syevd(const Call& call) {
  auto a = call.operands.size() == 1 && call.results.size() == 3 ? matrices(call.operands[0])
                                                                 : std::nullopt;
  char mode = letter(call, "mode"), uplo = letter(call, "uplo");
  if (!a || a->rows != a->columns || mode == 0 || uplo == 0) return wrong(call);
  Result<void*> address = routine(named<T>(is_complex_number<T> ? "heevd" : "syevd"));
  if (!address) return address.status();
  return Bound([=](const Buffers& to, void*) {
    int n = a->rows, ld = leading(n), size = -1, real_size = -1, integer_size = -1, info = 0;
    std::vector<T> work(1);
    std::vector<Real<T>> real_work(1);
    std::vector<int> integers(1);
    auto run = [&](std::int64_t i, int* info_at) {
      T* a_i = at<T>(to.results[0], i, a->size());
      Real<T>* w_i = at<Real<T>>(to.results[1], i, n);
      if constexpr (is_complex_number<T>)
        Routine<const char*, const char*, const int*, T*, const int*, Real<T>*, T*, const int*,
                Real<T>*, const int*, int*, const int*, int*>{*address}(
            &mode, &uplo, &n, a_i, &ld, w_i, work.data(), &size, real_work.data(), &real_size,
            integers.data(), &integer_size, info_at);
      else
        Routine<const char*, const char*, const int*, T*, const int*, Real<T>*, T*, const int*,
                int*, const int*, int*>{*address}(&mode, &uplo, &n, a_i, &ld, w_i, work.data(),
                                                  &size, integers.data(), &integer_size, info_at);
    };
    run(0, &info);
    work = scratch<T>(size = asked(work[0]));
    real_work = scratch<Real<T>>(real_size = asked(real_work[0]));
    integers = scratch<int>(integer_size = std::max(1, integers[0]));
    for (std::int64_t i = 0; i < a->batch; ++i) run(i, at<int>(to.results[2], i, 1));
    return Status();
  });
}

/// LAPACK packs pairs of conjugate eigenvectors as their real and imaginary parts.
template <class R>
void unpack(int n, const R* imaginary, const R* packed, std::complex<R>* out) {
  for (int j = 0; j < n; ++j) {
    bool pair = imaginary[j] != 0 && j + 1 < n;
    for (int i = 0; i < n; ++i) {
      R re = packed[j * n + i], im = pair ? packed[(j + 1) * n + i] : 0;
      out[j * n + i] = {re, im};
      if (pair) out[(j + 1) * n + i] = {re, -im};
    }
    j += pair;
  }
}

/// a {compute_left, compute_right: 'V', 'N'} -> eigenvalues (of real matrices in two parts), left
/// and right eigenvectors, info
template <class T>
Result<Bound> geev(const Call& call) {
  constexpr std::size_t parts = is_complex_number<T> ? 1 : 2;
  auto a = call.operands.size() == 1 && call.results.size() == parts + 3
               ? matrices(call.operands[0])
               : std::nullopt;
  char left = letter(call, "compute_left"), right = letter(call, "compute_right");
  if (!a || a->rows != a->columns || left == 0 || right == 0) return wrong(call);
  Result<void*> address = routine(named<T>("geev"));
  if (!address) return address.status();
  return Bound([=](const Buffers& to, void*) {
    using C = std::complex<Real<T>>;
    int n = a->rows, ld = leading(n), size = -1, info = 0;
    auto copy = scratch<T>(a->size()), packed_left = scratch<T>(a->size()),
         packed_right = scratch<T>(a->size());
    auto real_work = scratch<Real<T>>(2 * n);
    T wanted{};
    auto run = [&](std::int64_t i, T* work, int* info_at) {
      if constexpr (is_complex_number<T>)
        Routine<const char*, const char*, const int*, T*, const int*, T*, T*, const int*, T*,
                const int*, T*, const int*, Real<T>*, int*>{*address}(
            &left, &right, &n, copy.data(), &ld, at<T>(to.results[0], i, n),
            at<T>(to.results[1], i, a->size()), &ld, at<T>(to.results[2], i, a->size()), &ld, work,
            &size, real_work.data(), info_at);
      else
        Routine<const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*,
                const int*, T*, const int*, int*>{*address}(
            &left, &right, &n, copy.data(), &ld, at<T>(to.results[0], i, n),
            at<T>(to.results[1], i, n), packed_left.data(), &ld, packed_right.data(), &ld, work,
            &size, info_at);
    };
    run(0, &wanted, &info);
    auto work = scratch<T>(size = asked(wanted));
    for (std::int64_t i = 0; i < a->batch; ++i) {
      std::memcpy(copy.data(), at<T>(to.operands[0], i, a->size()),
                  static_cast<std::size_t>(a->size()) * sizeof(T));
      run(i, work.data(), at<int>(to.results[parts + 2], i, 1));
      if constexpr (!is_complex_number<T>) {
        const T* imaginary = at<T>(to.results[1], i, n);
        if (left == 'V')
          unpack(n, imaginary, packed_left.data(), at<C>(to.results[2], i, a->size()));
        if (right == 'V')
          unpack(n, imaginary, packed_right.data(), at<C>(to.results[3], i, a->size()));
      }
    }
    return Status();
  });
}

}  // namespace

STRATA_LAPACK_BY_TYPE(bind_gesdd, gesdd)
STRATA_LAPACK_BY_TYPE(bind_syevd, syevd)
STRATA_LAPACK_BY_TYPE(bind_geev, geev)

}  // namespace strata::op::lapack
