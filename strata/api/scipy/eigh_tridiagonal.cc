// Eigenvalues of Hermitian tridiagonal matrices.
#include <cmath>
#include <limits>

#include "strata/api/lax.h"
#include "strata/api/matrices.h"
#include "strata/api/scipy/linalg.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/custom.h"

namespace strata::scipy::linalg {
namespace {

using internal::describe;
using internal::fail;
using internal::Site;
using internal::strong_number;
using Range = std::pair<std::int64_t, std::int64_t>;

struct Finfo {
  double eps, tiny, greatest;
  int digits;
};
template <class T>
Finfo finfo() {
  using Limits = std::numeric_limits<T>;
  return {Limits::epsilon(), Limits::min(), Limits::max(), Limits::digits};
}

/// d, the squares of what stands beside it, and bounds of the eigenvalues (Gershgorin's).
struct Bisection {
  Array d, squares, lower, upper, norm, pivot, first_step;
  Finfo info;

  Bisection(const Array& diagonal, const Array& e)
      : d(diagonal),
        squares(numpy::real(e * numpy::conj(e))),
        info(d.dtype() == DType::f64 ? finfo<double>() : finfo<float>()) {
    const Array beside = numpy::sqrt(squares), none = strong_number(d, 0).reshape({1});
    const Array radius = concatenate({beside, none}) + concatenate({none, beside});
    lower = min(d - radius), upper = max(d + radius),
    norm = maximum(numpy::abs(lower), numpy::abs(upper));
    const double safe = std::max(1 / info.greatest, (1 + info.eps) * info.tiny);
    pivot = safe * maximum(1, max(squares));
    first_step = square(info.eps * beside[{0}]);
  }

  /// How many eigenvalues are below each of x: the signs of Sturm's sequence.
  Array count_below(const Array& x) const {
    using State = std::pair<Array, Array>;
    const Array start = d[{0}] - x;
    auto step = [&](const State& s, const State& next) {
      const Array q = next.first - next.second / s.first - x, is_less = q <= pivot;
      return std::pair(
          State{where(is_less, minimum(q, -pivot), q), s.second + is_less.astype(int32)}, nullptr);
    };
    const State first{where(d[{0}] == x, first_step, start), (start < 0).astype(int32)};
    return scan(step, first, State{d[{slice(1, none)}], squares}).first.second;
  }

  /// The eigenvalues of these numbers, each between bounds that are halved until they are near
  /// enough, or as near as the dtype allows.
  Array eigenvalues(const Range& range, const std::optional<double>& tol) const {
    const Array numbers = numpy::arange(range.first, range.second + 1, 1, int32);
    const Array near = tol ? maximum(*tol, info.eps * norm) : info.eps * norm;
    constexpr double kWider = 2.1;
    const Array slack = kWider * (static_cast<double>(d.shape(0)) * info.eps * norm + pivot);
    using State = std::tuple<Array, Array, Array>;
    const State start{Array(0), broadcast_to(lower - slack - kWider * pivot, numbers.shape()),
                      broadcast_to(upper + slack, numbers.shape())};
    auto is_far = [&](const State& s) {
      return (std::get<0>(s) < info.digits) & (near < max(std::get<2>(s) - std::get<1>(s)));
    };
    auto halve = [&](const State& s) {
      const auto [i, low, high] = s;
      const Array middle = 0.5 * (low + high), is_above = count_below(middle) <= numbers;
      return State{i + 1, where(is_above, middle, low), where(is_above, high, middle)};
    };
    const auto [i, low, high] = while_loop(is_far, halve, start);
    return 0.5 * (low + high);
  }
};

numpy::linalg::EighResult of_whole(const Array& d, const Array& e, const Range& range) {
  const auto [w, v] = numpy::linalg::eigh(numpy::diag(d.astype(e.dtype())) + numpy::diag(e, 1) +
                                          numpy::diag(numpy::conj(e), -1));
  const auto wanted = slice(range.first, range.second + 1);
  return {w[{wanted}], v[{slice(), wanted}]};
}

Array eigenvalues(const Array& d, const Array& e, const Range& range,
                  const std::optional<double>& tol) {
  using Two = std::tuple<Array, Array>;
  auto value = [=](Array d, Array e) { return Bisection(d, e).eigenvalues(range, tol); };
  auto rule = [=](const Two& at, const Two& along) {
    const auto& [d, e] = at;
    const auto& [dd, de] = along;
    const Array v = of_whole(d, e, range).eigenvectors,
                above = numpy::conj(v[{slice(none, -1)}]) * v[{slice(1, none)}];
    return std::pair(value(d, e),
                     matmul(dd, square(numpy::abs(v))) + 2 * numpy::real(matmul(de, above)));
  };
  return custom_jvp(value, rule)(d, e);
}

Range range_of(const EighTridiagonal& o, std::int64_t n) {
  if (o.select == "a") return {0, n - 1};
  if (o.select != "i") fail("eigh_tridiagonal", "select is \"a\" or \"i\", got \"{}\"", o.select);
  if (!o.select_range) fail("eigh_tridiagonal", "select \"i\" needs a select_range");
  const auto [first, last] = *o.select_range;
  if (first < 0 || last < first || last >= n)
    fail("eigh_tridiagonal", "select_range {} to {} is none of the {} eigenvalues", first, last, n);
  return {first, last};
}

}  // namespace

numpy::linalg::EighResult eigh_tridiagonal(const Operand& d_operand, const Operand& e_operand,
                                           const EighTridiagonal& o) {
  Site site(d_operand);
  const Array d = d_operand, e = e_operand;
  const bool wide = d.dtype() == DType::f32 || d.dtype() == DType::f64 || is_complex(d.dtype());
  if (d.dtype() != e.dtype() || !wide)
    fail("eigh_tridiagonal", "diagonals are both f32, f64, c64 or c128, got {} and {}",
         describe(d.type()), describe(e.type()));
  if (d.ndim() != 1 || e.ndim() != 1 || (d.shape(0) > 1 && e.shape(0) != d.shape(0) - 1))
    fail("eigh_tridiagonal", "diagonals of n and n - 1 elements are taken, got {} and {}",
         describe(d.type()), describe(e.type()));
  const std::int64_t n = d.shape(0);
  const Array diagonal = numpy::real(d);
  if (n <= 1) return {diagonal, o.eigvals_only ? Array() : numpy::eye(n, {}, 0, d.dtype())};
  const Range range = range_of(o, n);
  if (!o.eigvals_only) return of_whole(diagonal, e, range);
  return {eigenvalues(diagonal, e, range, o.tol), Array()};
}

}  // namespace strata::scipy::linalg
