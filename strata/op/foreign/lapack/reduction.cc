// Reductions by similarity, and tridiagonal systems: gees, gehrd, sytrd (hetrd), gtsv.
#include "strata/op/foreign/lapack/call.h"

namespace strata::op::lapack {
namespace {

using foreign::Bound;
using foreign::Buffers;
using foreign::Call;

/// Arrays of `last` with the batch of `matrices` in front.
Type per_matrix(const Type& matrices, DType dtype, std::vector<std::int64_t> last) {
  std::vector<std::int64_t> sizes = matrices.shape().sizes();
  sizes.resize(sizes.size() - 2);
  sizes.insert(sizes.end(), last.begin(), last.end());
  return Type(dtype, Shape::of(sizes));
}

/// Square matrices as the only operand, with results of these types; nothing for another call.
std::optional<Matrices> square(const Call& call,
                               const std::function<std::vector<Type>(const Type&, int)>& results) {
  auto a = call.operands.size() == 1 ? matrices(call.operands[0]) : std::nullopt;
  if (!a || a->rows != a->columns) return std::nullopt;
  return call.results == results(call.operands[0], a->rows) ? a : std::nullopt;
}

std::int64_t integer(const Call& call, const char* name) {
  Result<foreign::Dictionary> attributes = foreign::attributes_of(call.attrs);
  const foreign::Attribute* found = attributes ? attributes->find(name) : nullptr;
  return found ? found->integer().value_or(-1) : -1;
}

/// a {mode 'V', 'N'; sort 'N'} -> Schur form, Schur vectors, eigenvalues (of real matrices in two
/// parts), how many were selected, info
template <class T>
Result<Bound> gees(const Call& call) {
  constexpr std::size_t parts = is_complex_number<T> ? 1 : 2;
  auto a = square(call, [](const Type& a, int n) {
    std::vector<Type> out{a, a};
    for (std::size_t i = 0; i < parts; ++i) out.push_back(per_matrix(a, a.dtype(), {n}));
    for (int i = 0; i < 2; ++i) out.push_back(per_matrix(a, DType::i32, {}));
    return out;
  });
  char mode = letter(call, "mode"), sort = letter(call, "sort");
  if (!a || (mode != 'V' && mode != 'N')) return wrong(call);
  if (sort != 'N')
    return Status(Code::unsupported, "@{} sorts eigenvalues by a function that it does not name",
                  call.target);
  Result<void*> address = routine(named<T>("gees"));
  if (!address) return address.status();
  return Bound([=](const Buffers& to, void*) {
    int n = a->rows, ld = leading(n), size = -1, selected = 0, info = 0;
    auto real_work = scratch<Real<T>>(n);
    T wanted{};
    auto run = [&](std::int64_t i, T* work, int* selected_at, int* info_at) {
      T *a_i = at<T>(to.results[0], i, a->size()), *v_i = at<T>(to.results[1], i, a->size()),
        *w_i = at<T>(to.results[2], i, n);
      if constexpr (is_complex_number<T>)
        Routine<const char*, const char*, void*, const int*, T*, const int*, int*, T*, T*,
                const int*, T*, const int*, Real<T>*, int*, int*>{*address}(
            &mode, &sort, nullptr, &n, a_i, &ld, selected_at, w_i, v_i, &ld, work, &size,
            real_work.data(), nullptr, info_at);
      else
        Routine<const char*, const char*, void*, const int*, T*, const int*, int*, T*, T*, T*,
                const int*, T*, const int*, int*, int*>{*address}(
            &mode, &sort, nullptr, &n, a_i, &ld, selected_at, w_i, at<T>(to.results[3], i, n), v_i,
            &ld, work, &size, nullptr, info_at);
    };
    run(0, &wanted, &selected, &info);
    auto work = scratch<T>(size = asked(wanted));
    for (std::int64_t i = 0; i < a->batch; ++i)
      run(i, work.data(), at<int>(to.results[parts + 2], i, 1),
          at<int>(to.results[parts + 3], i, 1));
    return Status();
  });
}

/// a {low, high: the rows that are reduced, from 1} -> Hessenberg form and reflectors, tau, info
template <class T>
Result<Bound> gehrd(const Call& call) {
  auto a = square(call, [](const Type& a, int n) {
    return std::vector<Type>{a, per_matrix(a, a.dtype(), {std::max(0, n - 1)}),
                             per_matrix(a, DType::i32, {})};
  });
  const std::int64_t low = integer(call, "low"), high = integer(call, "high");
  if (!a || (a->rows > 0 && (low < 1 || low > high || high > a->rows))) return wrong(call);
  Result<void*> f = routine(named<T>("gehrd"));
  if (!f) return f.status();
  return Bound(
      [=, f = Routine<const int*, const int*, const int*, T*, const int*, T*, T*, const int*, int*>(
              *f)](const Buffers& to, void*) {
        int n = a->rows, ld = leading(n), size = -1, info = 0,
            first = n > 0 ? static_cast<int>(low) : 1, last = n > 0 ? static_cast<int>(high) : 0;
        T wanted{};
        f(&n, &first, &last, at<T>(to.results[0], 0, 0), &ld, at<T>(to.results[1], 0, 0), &wanted,
          &size, &info);
        auto work = scratch<T>(size = asked(wanted));
        for (std::int64_t i = 0; i < a->batch; ++i)
          f(&n, &first, &last, at<T>(to.results[0], i, a->size()), &ld,
            at<T>(to.results[1], i, std::max(0, n - 1)), work.data(), &size,
            at<int>(to.results[2], i, 1));
        return Status();
      });
}

/// a {uplo} -> tridiagonal form and reflectors, its diagonal, what stands beside it, tau, info
template <class T>
Result<Bound> sytrd(const Call& call) {
  auto a = square(call, [](const Type& a, int n) {
    const DType real = dtype_of<Real<T>>;
    const std::int64_t beside = std::max(0, n - 1);
    return std::vector<Type>{a, per_matrix(a, real, {n}), per_matrix(a, real, {beside}),
                             per_matrix(a, a.dtype(), {beside}), per_matrix(a, DType::i32, {})};
  });
  char uplo = letter(call, "uplo");
  if (!a || (uplo != 'U' && uplo != 'L')) return wrong(call);
  Result<void*> f = routine(named<T>(is_complex_number<T> ? "hetrd" : "sytrd"));
  if (!f) return f.status();
  return Bound([=, f = Routine<const char*, const int*, T*, const int*, Real<T>*, Real<T>*, T*, T*,
                               const int*, int*>(*f)](const Buffers& to, void*) {
    int n = a->rows, ld = leading(n), size = -1, info = 0;
    const std::int64_t beside = std::max(0, n - 1);
    T wanted{};
    auto run = [&](std::int64_t i, T* work, int* info_at) {
      f(&uplo, &n, at<T>(to.results[0], i, a->size()), &ld, at<Real<T>>(to.results[1], i, n),
        at<Real<T>>(to.results[2], i, beside), at<T>(to.results[3], i, beside), work, &size,
        info_at);
    };
    run(0, &wanted, &info);
    auto work = scratch<T>(size = asked(wanted));
    for (std::int64_t i = 0; i < a->batch; ++i) run(i, work.data(), at<int>(to.results[4], i, 1));
    return Status();
  });
}

/// diagonals below (from its second element), on and above, b -> these overwritten, x, info
template <class T>
Result<Bound> gtsv(const Call& call) {
  auto b = call.operands.size() == 4 ? matrices(call.operands[3]) : std::nullopt;
  if (!b) return wrong(call);
  const Type &x = call.operands[3], diagonal = per_matrix(x, x.dtype(), {b->rows});
  if (call.operands != std::vector<Type>{diagonal, diagonal, diagonal, x} ||
      call.results !=
          std::vector<Type>{diagonal, diagonal, diagonal, x, per_matrix(x, DType::i32, {})})
    return wrong(call);
  Result<void*> f = routine(named<T>("gtsv"));
  if (!f) return f.status();
  return Bound([=, f = Routine<const int*, const int*, T*, T*, T*, T*, const int*, int*>(*f)](
                   const Buffers& to, void*) {
    int n = b->rows, columns = b->columns, ld = leading(n);
    for (std::int64_t i = 0; i < b->batch; ++i)
      f(&n, &columns, at<T>(to.results[0], i, n) + (n > 0 ? 1 : 0), at<T>(to.results[1], i, n),
        at<T>(to.results[2], i, n), at<T>(to.results[3], i, b->size()), &ld,
        at<int>(to.results[4], i, 1));
    return Status();
  });
}

}  // namespace

STRATA_LAPACK_BY_TYPE(bind_gees, gees)
STRATA_LAPACK_BY_TYPE(bind_gehrd, gehrd)
STRATA_LAPACK_BY_TYPE(bind_sytrd, sytrd)
STRATA_LAPACK_BY_TYPE(bind_gtsv, gtsv)

}  // namespace strata::op::lapack
