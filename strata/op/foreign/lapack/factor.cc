// Factorisations and triangular systems: potrf, getrf, geqrf, orgqr (ungqr), trsm.
#include <cstring>

#include "strata/op/foreign/lapack/call.h"

namespace strata::op::lapack {
namespace {

using foreign::Bound;
using foreign::Buffers;
using foreign::Call;

bool has(const Call& call, std::size_t operands, std::size_t results) {
  return call.operands.size() == operands && call.results.size() == results;
}

/// a {uplo} -> factor, info
template <class T>
Result<Bound> potrf(const Call& call) {
  auto a = has(call, 1, 2) ? matrices(call.operands[0]) : std::nullopt;
  char uplo = letter(call, "uplo");
  if (!a || a->rows != a->columns || uplo == 0) return wrong(call);
  Result<void*> f = routine(named<T>("potrf"));
  if (!f) return f.status();
  return Bound([=, f = Routine<const char*, const int*, T*, const int*, int*>(*f)](
                   const Buffers& to, void*) {
    int n = a->rows, ld = leading(n);
    for (std::int64_t i = 0; i < a->batch; ++i)
      f(&uplo, &n, at<T>(to.results[0], i, a->size()), &ld, at<int>(to.results[1], i, 1));
    return Status();
  });
}

/// a -> factors, pivots from 1, info
template <class T>
Result<Bound> getrf(const Call& call) {
  auto a = has(call, 1, 3) ? matrices(call.operands[0]) : std::nullopt;
  if (!a) return wrong(call);
  Result<void*> f = routine(named<T>("getrf"));
  if (!f) return f.status();
  return Bound([=, f = Routine<const int*, const int*, T*, const int*, int*, int*>(*f)](
                   const Buffers& to, void*) {
    int m = a->rows, n = a->columns, ld = leading(m);
    for (std::int64_t i = 0; i < a->batch; ++i)
      f(&m, &n, at<T>(to.results[0], i, a->size()), &ld, at<int>(to.results[1], i, std::min(m, n)),
        at<int>(to.results[2], i, 1));
    return Status();
  });
}

Status expect(const char* routine, int info) {
  return info == 0 ? Status()
                   : Status(Code::invalid, "{} does not take its argument {}", routine, -info);
}

/// a -> reflectors and R, tau
template <class T>
Result<Bound> geqrf(const Call& call) {
  auto a = has(call, 1, 2) ? matrices(call.operands[0]) : std::nullopt;
  if (!a) return wrong(call);
  Result<void*> f = routine(named<T>("geqrf"));
  if (!f) return f.status();
  return Bound([=, f = Routine<const int*, const int*, T*, const int*, T*, T*, const int*, int*>(
                       *f)](const Buffers& to, void*) {
    int m = a->rows, n = a->columns, ld = leading(m), info = 0, size = -1;
    T wanted{};
    f(&m, &n, at<T>(to.results[0], 0, 0), &ld, at<T>(to.results[1], 0, 0), &wanted, &size, &info);
    auto work = scratch<T>(size = asked(wanted));
    for (std::int64_t i = 0; i < a->batch && info == 0; ++i)
      f(&m, &n, at<T>(to.results[0], i, a->size()), &ld, at<T>(to.results[1], i, std::min(m, n)),
        work.data(), &size, &info);
    return expect("geqrf", info);
  });
}

/// reflectors, tau -> the product's first columns
template <class T>
Result<Bound> orgqr(const Call& call) {
  auto a = has(call, 2, 1) ? matrices(call.operands[0]) : std::nullopt;
  if (!a || call.operands[1].rank() < 1) return wrong(call);
  std::int64_t reflectors = call.operands[1].shape()[call.operands[1].rank() - 1];
  if (reflectors > a->columns || a->columns > a->rows) return wrong(call);
  Result<void*> f = routine(named<T>(is_complex_number<T> ? "ungqr" : "orgqr"));
  if (!f) return f.status();
  return Bound([=, f = Routine<const int*, const int*, const int*, T*, const int*, const T*, T*,
                               const int*, int*>(*f)](const Buffers& to, void*) {
    int m = a->rows, n = a->columns, k = static_cast<int>(reflectors), ld = leading(m), info = 0,
        size = -1;
    T wanted{};
    f(&m, &n, &k, at<T>(to.results[0], 0, 0), &ld, at<T>(to.operands[1], 0, 0), &wanted, &size,
      &info);
    auto work = scratch<T>(size = asked(wanted));
    for (std::int64_t i = 0; i < a->batch && info == 0; ++i)
      f(&m, &n, &k, at<T>(to.results[0], i, a->size()), &ld, at<T>(to.operands[1], i, k),
        work.data(), &size, &info);
    return expect("orgqr", info);
  });
}

/// a, b {side, uplo, trans_x, diag} -> x of op(a) x = b, or of x op(a) = b
template <class T>
Result<Bound> trsm(const Call& call) {
  bool two = has(call, 2, 1);
  auto a = two ? matrices(call.operands[0]) : std::nullopt,
       b = two ? matrices(call.operands[1]) : std::nullopt;
  char side = letter(call, "side"), uplo = letter(call, "uplo"), trans = letter(call, "trans_x"),
       diag = letter(call, "diag");
  if (!a || !b || side == 0 || uplo == 0 || trans == 0 || diag == 0 || a->batch != b->batch ||
      a->rows != a->columns || a->rows != (side == 'L' ? b->rows : b->columns))
    return wrong(call);
  Result<void*> f = routine(named<T>("trsm"));
  if (!f) return f.status();
  using F = Routine<const char*, const char*, const char*, const char*, const int*, const int*,
                    const T*, const T*, const int*, T*, const int*>;
  return Bound([=, f = F(*f)](const Buffers& to, void*) {
    int m = b->rows, n = b->columns, lda = leading(a->rows), ldb = leading(m);
    T one(1);
    for (std::int64_t i = 0; i < a->batch; ++i)
      f(&side, &uplo, &trans, &diag, &m, &n, &one, at<T>(to.operands[0], i, a->size()), &lda,
        at<T>(to.results[0], i, b->size()), &ldb);
    return Status();
  });
}

}  // namespace

STRATA_LAPACK_BY_TYPE(bind_potrf, potrf)
STRATA_LAPACK_BY_TYPE(bind_getrf, getrf)
STRATA_LAPACK_BY_TYPE(bind_geqrf, geqrf)
STRATA_LAPACK_BY_TYPE(bind_orgqr, orgqr)
STRATA_LAPACK_BY_TYPE(bind_trsm, trsm)

}  // namespace strata::op::lapack
