#include "strata/api/scipy/sequences.h"

#include <cmath>
#include <numbers>

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/scipy/rational.h"

namespace strata::scipy::special {
namespace {

using internal::describe;
using internal::fail;
using internal::Site;

/// zeta(m) - 1 for even m >= 4.
double zeta_beyond_one(int m) {
  double sum = 0;
  for (int k = 2; k < 50; ++k) sum += std::pow(k, -m);
  return sum;
}

Array choices(const Array& n, const Array& k) {
  const Array some = (k <= n) & (n >= 0) & (k >= 0), from = numpy::where(some, n, 0),
              chosen = numpy::where(some, k, 0);
  const Array ways =
      numpy::exp(lax::lgamma(from + 1) - lax::lgamma(chosen + 1) - lax::lgamma(from + 1 - chosen));
  return numpy::where(some, ways, 0);
}

/// J_0 to J_v of z in f64, along a new first axis.
Array jn_by_recurrence(const Array& z, std::int64_t v, std::int64_t n_iter) {
  const Array zero = z == 0, inverse = 1 / numpy::where(zero, 1, z);
  Array above = filled_like(z, 0), value = filled_like(z, 1e-16), evens = above;
  std::vector<Array> orders(static_cast<std::size_t>(v) + 1);
  for (std::int64_t k = n_iter; k >= 0; --k) {
    const Array next = 2 * (static_cast<double>(k) + 1) * value * inverse - above;
    if (k % 2 == 0) evens = evens + 2 * next;
    above = value;
    value = next;
    if (k <= v) orders[static_cast<std::size_t>(k)] = next;
  }
  // J_0 + 2 (J_2 + J_4 + ...) = 1
  for (std::size_t k = 0; k < orders.size(); ++k)
    orders[k] = numpy::where(zero, k == 0 ? 1 : 0, orders[k] / (evens - value));
  return numpy::stack(orders);
}

/// The same with derivatives from orders beside each, as often as `depth` says: those of the
/// recurrence overflow for small z.
Array differentiable_jn(const Array& z, std::int64_t v, std::int64_t n_iter, int depth = 3) {
  if (depth == 0) return jn_by_recurrence(z, v, n_iter);
  auto rule = [v, n_iter, depth](const std::tuple<Array>& primal,
                                 const std::tuple<Array>& tangent) {
    const Array j =
        differentiable_jn(std::get<0>(primal), v + 1, std::max(n_iter, v + 1), depth - 1);
    // J_-1 = -J_1
    const Array below = concatenate({-j[slice(1, 2)], j[slice(0, v)]});
    return std::pair(j[slice(0, v + 1)], 0.5 * (below - j[slice(1, v + 2)]) * std::get<0>(tangent));
  };
  return custom_jvp([v, n_iter](const Array& at) { return jn_by_recurrence(at, v, n_iter); },
                    rule)(z);
}

void require_integers(const char* what, const Array& x) {
  if (!is_integer(x.dtype()))
    fail("sph_harm_y", "{} is an integer, got {}", what, describe(x.type()));
}

/// The normalised Legendre function of degree n and order m >= 0 of cos(theta), with the sign of
/// Condon and Shortley; 0 for n < m.
Array legendre(const Array& n, const Array& m, const Array& theta, std::int64_t n_max) {
  const Array x = numpy::cos(theta), sine = numpy::abs(numpy::sin(theta));
  Array diagonal = filled_like(theta, 0.5 / std::sqrt(std::numbers::pi)),
        before = filled_like(x, 0), value = before, out = before;
  for (std::int64_t l = 0; l <= n_max; ++l) {
    const double d = static_cast<double>(l);
    if (l > 0) diagonal = numpy::where(m >= l, diagonal * -std::sqrt(1 + 0.5 / d) * sine, diagonal);
    const Array beyond = m < l, span = numpy::where(beyond, d * d - m * m, 1);
    const Array next = numpy::sqrt((4 * d * d - 1) / span) * x * value -
                       numpy::sqrt(numpy::maximum((2 * d + 1) * ((d - 1) * (d - 1) - m * m), 0) /
                                   ((2 * d - 3) * span)) *
                           before;
    before = value;
    value = numpy::where(beyond, l > 0 ? next : value, numpy::where(m == l, diagonal, 0));
    out = numpy::where(n == l, value, out);
  }
  return out;
}

}  // namespace

Array bernoulli(std::int64_t n) {
  if (n < 0) fail("bernoulli", "n is at least 0, got {}", n);
  std::vector<double> b(static_cast<std::size_t>(std::max<std::int64_t>(n, 2)) + 1);
  b[0] = 1;
  b[1] = -0.5;
  b[2] = 1.0 / 6;
  double product = 1 / (std::numbers::pi * std::numbers::pi);
  for (std::int64_t m = 4; m <= n; m += 2) {
    const double d = static_cast<double>(m);
    product *= -(d - 1) * d / 4 / (std::numbers::pi * std::numbers::pi);
    b[static_cast<std::size_t>(m)] = product * (1 + zeta_beyond_one(static_cast<int>(m)));
  }
  b.resize(static_cast<std::size_t>(n) + 1);
  return array(b, {}, canonical(DType::f64, x64_enabled()));
}

Array comb(const Operand& left, const Operand& right, const Comb& o) {
  const Site site(left);
  const std::vector<Array> both = internal::broadcast_promoted("comb", {left, right});
  const Array narrow = real_floats("comb", both[0]), n = in_f64(narrow),
              k = in_f64(real_floats("comb", both[1]));
  const Array ways =
      o.repetition ? numpy::where((k == 0) & (n >= 0), 1, choices(n + k - 1, k)) : choices(n, k);
  return internal::cast(ways, {narrow.dtype(), narrow.weak()});
}

Array bessel_jn(const Operand& operand, const BesselJn& o) {
  const Site site(operand);
  const Array z = real_floats("bessel_jn", operand);
  if (o.v < 0 || o.n_iter < o.v)
    fail("bessel_jn", "orders 0 to v <= n_iter are computed, got v = {} and n_iter = {}", o.v,
         o.n_iter);
  return as_like(differentiable_jn(in_f64(z), o.v, o.n_iter), z);
}

Array sph_harm_y(const Operand& degree, const Operand& order, const Operand& theta,
                 const Operand& phi, std::optional<std::int64_t> n_max) {
  const Site site(degree);
  require_integers("the degree n", degree);
  require_integers("the order m", order);
  if (!n_max && degree->is_traced())
    fail("sph_harm_y", "n_max must be given where n is traced, got {}", describe(degree->type()));
  const std::vector<Array> angles = internal::broadcast_promoted("sph_harm_y", {theta, phi});
  const Array narrow = real_floats("sph_harm_y", angles[0]), all[] = {degree, order, narrow};
  const Sizes shape = internal::broadcast_shapes("sph_harm_y", all);
  auto wide = [&](const Array& x) { return numpy::broadcast_to(in_f64(x), shape); };
  const std::int64_t most = n_max                 ? *n_max
                            : degree->size() == 0 ? 0
                                                  : numpy::max(degree).item<std::int64_t>();
  const Array m = wide(order), size = numpy::abs(m),
              limit = filled_like(m, static_cast<double>(most));
  const Array p = legendre(numpy::clip(wide(degree), 0, limit), numpy::minimum(size, limit),
                           wide(narrow), most);
  const Array angle = size * wide(angles[1]), negative = m < 0,
              sign = numpy::where(negative & (size % 2 == 1), -1, 1);
  auto part = [&](const Array& x) {
    return internal::cast(x, {narrow.dtype() == DType::f64 ? DType::f64 : DType::f32, false});
  };
  return lax::complex(part(sign * p * numpy::cos(angle)),
                      part(sign * p * numpy::sin(angle) * numpy::where(negative, -1, 1)));
}

}  // namespace strata::scipy::special
