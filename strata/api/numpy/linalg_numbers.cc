// Ranks, powers, norms, products; determinants stand in determinant.cc.
#include <algorithm>
#include <cmath>

#include "strata/api/lax/linalg.h"
#include "strata/api/lax/slicing.h"
#include "strata/api/matrices.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/floating.h"
#include "strata/api/numpy/linalg.h"
#include "strata/api/numpy/products.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/diagonals.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"

namespace strata::numpy::linalg {
namespace {

using internal::describe;
using internal::fail;
using internal::Ints;
using internal::number_like;
using internal::require_matrices;
using internal::Site;
using internal::strong_inexact;
using internal::strong_number;

Array root_of_squares(const Array& x, const Axes& axis, bool keepdims) {
  return sqrt(sum(real(x * conj(x)), {.axis = axis, .keepdims = keepdims}));
}

/// By sums of sizes over `sums`, of which the greatest or least over `extreme`.
Array norm_by_sums(const Array& x, std::int64_t sums, std::int64_t extreme, bool greatest,
                   bool keepdims) {
  const Array s = sum(abs(x), {.axis = sums, .keepdims = true});
  const Array out = greatest ? max(s, {.axis = extreme, .keepdims = true, .initial = Array(0)})
                             : min(s, {.axis = extreme, .keepdims = true});
  return keepdims ? out : squeeze(out, {sums, extreme});
}

Array norm_by_singular_values(const Array& x, const Ints& axes, const Order& ord, bool keepdims) {
  const Array s = svdvals(moveaxis(x, axes, Sizes{-2, -1}));
  const Array out = ord.is(2)    ? max(s, {.axis = -1, .initial = Array(0)})
                    : ord.is(-2) ? min(s, -1)
                                 : sum(s, -1);
  return keepdims ? expand_dims(out, axes) : out;
}

Array norm_of_matrices(const Array& x, const Ints& axes, const std::optional<Order>& given,
                       bool keepdims) {
  const Order ord = given.value_or("fro");
  const std::int64_t row = axes[0], column = axes[1];
  if (ord.is("fro") || ord.is("f")) return root_of_squares(x, axes, keepdims);
  if (ord.is(1) || ord.is(-1)) return norm_by_sums(x, row, column, ord.is(1), keepdims);
  if (ord.is(inf) || ord.is(-inf)) return norm_by_sums(x, column, row, ord.is(inf), keepdims);
  if (ord.is(2) || ord.is(-2) || ord.is("nuc"))
    return norm_by_singular_values(x, axes, ord, keepdims);
  fail("norm", "there is no order {} of matrices", ord.text());
}

/// The axes as they are given, not negative: rows before columns whichever is greater.
Ints axes_as_given(const Array& x, const Axes& axes) {
  Ints out;
  if (axes.all())
    for (int i = 0; i < x.ndim(); ++i) out.push_back(i);
  else
    for (std::int64_t a : axes.given()) out.push_back(internal::axis_of("norm", a, x.ndim()));
  return out;
}

/// What costs least: cost[i][j] of the product of arrays i to j, and where it is cut (Cormen et
/// al., chapter 15.2).
struct Chain {
  explicit Chain(const Ints& sizes) : n(sizes.size() - 1), cost(n * n, 0), cut(n * n, 0) {
    for (std::size_t length = 2; length <= n; ++length)
      for (std::size_t i = 0; i + length <= n; ++i) {
        const std::size_t j = i + length - 1;
        double& best = cost[i * n + j] = inf;
        for (std::size_t k = i; k < j; ++k) {
          const double here = cost[i * n + k] + cost[(k + 1) * n + j] +
                              static_cast<double>(sizes[i]) * static_cast<double>(sizes[k + 1]) *
                                  static_cast<double>(sizes[j + 1]);
          if (here < best) best = here, cut[i * n + j] = k;
        }
      }
  }
  Array product(const std::vector<Array>& arrays, std::size_t i, std::size_t j) const {
    if (i == j) return arrays[i];
    const std::size_t k = cut[i * n + j];
    return matmul(product(arrays, i, k), product(arrays, k + 1, j));
  }
  std::size_t n;
  std::vector<double> cost;
  std::vector<std::size_t> cut;
};

}  // namespace

std::string Order::text() const {
  return std::holds_alternative<std::string>(order_) ? '"' + std::get<std::string>(order_) + '"'
                                                     : fmt::format("{}", std::get<double>(order_));
}

Array matrix_rank(const Operand& operand, const MatrixRank& o) {
  Site site(operand);
  const Array a = strong_inexact(operand);
  if (a.ndim() < 2) return astype(any(not_equal(a, 0)), DType::i32);
  const Array s = svd(a, {.full_matrices = false, .compute_uv = false, .hermitian = o.hermitian}).S;
  const double size = static_cast<double>(std::max(a.shape(-2), a.shape(-1)));
  const Array tolerance = o.rtol ? *o.rtol
                                 : max(s, -1) * strong_number(s, size) *
                                       strong_number(s, internal::epsilon_of(s.dtype()));
  return sum(s > expand_dims(tolerance, -1), -1);
}

Array matrix_power(const Operand& operand, std::int64_t n) {
  Site site(operand);
  require_matrices("matrix_power", operand, true);
  Array a = operand;
  if (n == 0) return broadcast_to(eye(a.shape(-1), {}, 0, a.dtype()), a.shape());
  if (n < 0) a = inv(a), n = -n;
  if (n == 3) return matmul(matmul(a, a), a);
  std::optional<Array> out;
  for (Array power = a;; power = matmul(power, power)) {
    if (n % 2 == 1) out = out ? matmul(*out, power) : power;
    if ((n /= 2) == 0) return *out;
  }
}

Array norm(const Operand& operand, const Norm& o) {
  Site site(operand);
  const Array x = strong_inexact(operand);
  if (o.axis.all() && !o.ord) return root_of_squares(x, {}, o.keepdims);
  const Ints axes = axes_as_given(x, o.axis);
  if (axes.size() == 1)
    return vector_norm(x, {.axis = axes, .keepdims = o.keepdims, .ord = o.ord.value_or(2)});
  if (axes.size() != 2 || axes[0] == axes[1])
    fail("norm", "vectors have one axis and matrices two different ones, of {} {} are given",
         describe(x.type()), axes.size());
  return norm_of_matrices(x, axes, o.ord, o.keepdims);
}

Array matrix_norm(const Operand& x, const MatrixNorm& o) {
  Site site(x);
  return norm(x, {.ord = o.ord, .axis = {-2, -1}, .keepdims = o.keepdims});
}

Array vector_norm(const Operand& operand, const VectorNorm& o) {
  Site site(operand);
  const Array x = operand;
  const Reduce over{.axis = o.axis, .keepdims = o.keepdims};
  if (o.ord.is(2)) return sqrt(sum(real(x * conj(x)), over));
  if (o.ord.is(inf))
    return max(abs(x), {.axis = o.axis, .keepdims = o.keepdims, .initial = Array(0)});
  if (o.ord.is(-inf)) return min(abs(x), over);
  if (o.ord.is(1)) return sum(abs(x), over);
  if (!o.ord.number()) fail("vector_norm", "there is no order {} of vectors", o.ord.text());
  if (o.ord.is(0)) return sum(astype(not_equal(x, 0), abs(strong_inexact(x)).dtype()), over);
  const Array size = strong_inexact(abs(x));
  return power(sum(power(size, number_like(size, *o.ord.number())), over),
               number_like(size, 1 / *o.ord.number()));
}

Array cond(const Operand& operand, const std::optional<Order>& p) {
  Site site(operand);
  const Array x = operand;
  require_matrices("cond", x);
  if (x.shape(-1) == 0 || x.shape(-2) == 0)
    fail("cond", "the matrices must not be empty, got {}", describe(x.type()));
  const bool least = p && p->is(-2);
  if (!p || p->is(2) || least) {
    const Array s = svdvals(x);
    auto at = [&](std::int64_t i) {
      return squeeze(lax::slice_in_dim(s, i, i + 1, 1, s.ndim() - 1), -1);
    };
    const std::int64_t last = s.shape(-1) - 1;
    if (!least) return at(0) / at(last);
    const Array r = at(last) / at(0);
    return where(isnan(r) & logical_not(any(isnan(x), {-2, -1})), inf, r);
  }
  require_matrices("cond", x, true);
  const Array r =
      norm(x, {.ord = p, .axis = {-2, -1}}) * norm(inv(x), {.ord = p, .axis = {-2, -1}});
  return where(isnan(r) & logical_not(any(isnan(x), {-2, -1})), inf, r);
}

Array outer(const Operand& x1, const Operand& x2) {
  Site site(x1);
  if (x1->ndim() != 1 || x2->ndim() != 1)
    fail("outer", "vectors are taken, got {} and {}", describe(x1->type()), describe(x2->type()));
  return numpy::outer(x1, x2);
}

Array cross(const Operand& x1, const Operand& x2, std::int64_t axis) {
  Site site(x1);
  auto front = [&](const Array& x) {
    const int at = internal::axis_of("cross", axis, x.ndim());
    if (x.shape(at) != 3)
      fail("cross", "vectors of three are taken, got {} along axis {}", describe(x.type()), axis);
    return moveaxis(x, at, -1);
  };
  const Array x = front(x1), y = front(x2);
  auto turned = [](const Array& v, std::int64_t by) { return roll(v, by, -1); };
  return moveaxis(turned(x, -1) * turned(y, -2) - turned(x, -2) * turned(y, -1), -1, axis);
}

Array multi_dot(const std::vector<Array>& arrays, Where where) {
  Site site(where);
  if (arrays.size() < 2) fail("multi_dot", "two arrays at least are taken, got {}", arrays.size());
  std::vector<Array> all = arrays;
  const bool first = all.front().ndim() == 1, last = all.back().ndim() == 1;
  if (first) all.front() = expand_dims(all.front(), 0);
  if (last) all.back() = expand_dims(all.back(), 1);
  Ints sizes;
  for (const Array& a : all) {
    if (a.ndim() != 2)
      fail("multi_dot", "matrices are taken, and vectors first and last, got {}",
           describe(a.type()));
    if (!sizes.empty() && sizes.back() != a.shape(0))
      fail("multi_dot", "{} rows meet {} columns", a.shape(0), sizes.back());
    if (sizes.empty()) sizes.push_back(a.shape(0));
    sizes.push_back(a.shape(1));
  }
  Array out = Chain(sizes).product(all, 0, all.size() - 1);
  if (last) out = squeeze(out, 1);
  return first ? squeeze(out, 0) : out;
}

Array diagonal(const Operand& x, std::int64_t offset) {
  Site site(x);
  return numpy::diagonal(x, {.offset = offset, .axis1 = -2, .axis2 = -1});
}
Array trace(const Operand& x, std::int64_t offset, std::optional<DType> dtype) {
  Site site(x);
  return numpy::trace(x, {.offset = offset, .axis1 = -2, .axis2 = -1}, dtype);
}

}  // namespace strata::numpy::linalg
