#include "strata/api/lax/incomplete.h"

#include <cmath>
#include <limits>

#include "strata/api/lax_elementwise.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/floating.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/custom.h"
#include "strata/api/transform/grad.h"

namespace strata::lax {
namespace {

using internal::cast;
using internal::describe;
using internal::fail;
using internal::Site;
using numpy::where;
using Arrays = std::vector<Array>;

struct Limits {
  double eps, least, log_greatest;
};
Limits limits_of(const Array& x) {
  auto of = [](auto t) -> Limits {
    using L = std::numeric_limits<decltype(t)>;
    return {static_cast<double>(L::epsilon()), static_cast<double>(L::min()),
            std::log(static_cast<double>(L::max()))};
  };
  return x.dtype() == DType::f64 ? of(0.0) : of(0.0f);
}

Array filled(const Array& like, double value) { return numpy::full_like(like, value); }
Array any(const Array& x) { return numpy::any(x); }

/// The carries of elements that go on are new, those of the others stay.
Arrays chosen(const Array& going, const Arrays& now, const Arrays& before) {
  Arrays out;
  for (std::size_t i = 0; i < now.size(); ++i) out.push_back(where(going, now[i], before[i]));
  return out;
}

/// What is asked of a series: the function, its derivative by a, or that of a sample.
enum class Mode { value, derivative, sample_derivative };

/// sum of x^k / ((a + 1) ... (a + k)), with its derivative; `ax` is x^a e^-x / gamma(a).
/// DLMF 8.7.1.
Array series(const Array& ax, const Array& x, const Array& a, const Array& enabled, Mode mode) {
  const double eps = limits_of(x).eps;
  auto step = [&](const Arrays& v) {
    const Array going = v[0], r = v[1] + 1, dc = v[4] * (x / r) - (v[2] * x) / (r * r),
                dans = v[5] + dc, c = v[2] * (x / r), ans = v[3] + c;
    const Array open = mode == Mode::value ? c / ans > eps : numpy::abs(dc / dans) > eps;
    Arrays next = chosen(going, {r, c, ans, dc, dans}, {v.begin() + 1, v.end()});
    next.insert(next.begin(), going & open);
    return next;
  };
  const Array one = filled(a, 1), zero = filled(a, 0);
  const Arrays v = while_loop([](const Arrays& c) { return any(c[0]); }, step,
                              Arrays{enabled, a, one, one, zero, zero});
  const Array &ans = v[3], &dans = v[5];
  if (mode == Mode::value) return ans * ax / a;
  const Array dlog = numpy::log(x) - digamma(a + 1);
  return mode == Mode::derivative ? ax * (ans * dlog + dans) / a : -(dans + ans * dlog) * x / a;
}

/// The continued fraction of the upper function, with its derivative. DLMF 8.9.2 as Cephes
/// evaluates it.
Array fraction(const Array& ax, const Array& x, const Array& a, const Array& enabled, Mode mode) {
  const double eps = limits_of(x).eps;
  enum { kAns, kY, kZ, kP1, kQ1, kP2, kQ2, kDP2, kDQ2, kDP1, kDQ1, kDAns, kCount };
  auto step = [&](const Arrays& all) {
    const Array going = all[0], c = all[1] + 1;
    const Arrays v(all.begin() + 2, all.end());
    const Array y = v[kY] + 1, z = v[kZ] + 2, yc = y * c;
    const Array p = v[kP1] * z - v[kP2] * yc, q = v[kQ1] * z - v[kQ2] * yc, some = q != 0,
                r = p / q;
    const Array off = where(some, numpy::abs((v[kAns] - r) / r), 1), ans = where(some, r, v[kAns]);
    const Array dp = v[kDP1] * z - v[kP1] - v[kDP2] * yc + v[kP2] * c,
                dq = v[kDQ1] * z - v[kQ1] - v[kDQ2] * yc + v[kQ2] * c;
    const Array dans = where(some, (dp - ans * dq) / q, v[kDAns]),
                moved = where(some, numpy::abs(dans - v[kDAns]), 1);
    const Array scale = where(numpy::abs(p) > 1 / eps, filled(p, eps), filled(p, 1));
    Arrays next = chosen(going,
                         {ans, y, z, p * scale, q * scale, v[kP1] * scale, v[kQ1] * scale,
                          v[kDP1] * scale, v[kDQ1] * scale, dp * scale, dq * scale, dans},
                         v);
    next.insert(next.begin(), {going & ((mode == Mode::value ? off : moved) > eps), c});
    return next;
  };
  const Array y = 1 - a, z = x + y + 1, zero = filled(x, 0), one = filled(x, 1), p = x + 1,
              q = z * x, ans = p / q;
  Arrays first(kCount, zero);
  first[kAns] = ans;
  first[kY] = y;
  first[kZ] = z;
  first[kP1] = p;
  first[kQ1] = q;
  first[kP2] = one;
  first[kQ2] = x;
  first[kDQ1] = -x;
  first[kDAns] = ans * x / q;
  first.insert(first.begin(), {enabled, cast(Array(0), {x.dtype(), false})});
  const Arrays v =
      while_loop([](const Arrays& c) { return (c[1] < 2000) & any(c[0]); }, step, first);
  const Array &found = v[2 + kAns], &dans = v[2 + kDAns];
  if (mode == Mode::value) return found * ax;
  const Array dlog = numpy::log(x) - digamma(a);
  return mode == Mode::derivative ? ax * (found * dlog + dans) : -(dans + found * dlog) * x;
}

/// What the four functions of a and x have in common.
struct Point {
  Point(const Array& shape, const Array& at) : a(shape), x(at) {
    const Array log_ax = a * numpy::log(x) - x - lgamma(a);
    ax = numpy::exp(log_ax);
    outside = (x < 0) | (a < 0) | numpy::isnan(a) | numpy::isnan(x);
    underflow = log_ax < -limits_of(x).log_greatest;
  }
  Array a, x, ax, outside, underflow;
};

Array lower(const Array& a, const Array& x) {
  const Point p(a, x);
  const Array outside = p.outside | ((a == 0) & (x == 0)), above = (x >= 1) & (x > a),
              whole = x == numpy::inf;
  const Array enabled = ~((x == 0) | outside | p.underflow | whole);
  const Array inside = where(above, 1 - fraction(p.ax, x, a, enabled & above, Mode::value),
                             series(p.ax, x, a, enabled & ~above, Mode::value));
  return where(outside, numpy::nan, where(whole, 1, where(x == 0, 0, inside)));
}
Array upper(const Array& a, const Array& x) {
  const Point p(a, x);
  const Array outside = p.outside | ((a == 0) & (x == 0)), below = (x < 1) | (x < a),
              nothing = (x == numpy::inf) | (a == 0);
  const Array enabled = ~(outside | p.underflow | nothing);
  const Array inside = where(below, 1 - series(p.ax, x, a, enabled & below, Mode::value),
                             fraction(p.ax, x, a, enabled & ~below, Mode::value));
  return where(outside, numpy::nan, where(nothing, 0, inside));
}
Array by_shape(const Array& a, const Array& x, Mode mode) {
  const Point p(a, x);
  const Array outside = p.outside | (a == 0), above = (x > 1) & (x > a),
              enabled = ~((x == 0) | outside | p.underflow);
  const Array inside = where(above, -fraction(p.ax, x, a, enabled & above, mode),
                             series(p.ax, x, a, enabled & ~above, mode));
  return where(outside, numpy::nan, where(x == 0, 0, inside));
}
Array density(const Array& a, const Array& x) {
  return numpy::exp(-x + (a - 1) * numpy::log(x) - lgamma(a));
}

/// The continued fraction of the incomplete beta function (DLMF 8.17.22) by the modified algorithm
/// of Lentz.
Array beta_fraction(const Array& a, const Array& b, const Array& x) {
  const double small = limits_of(x).eps / 2, steps = x.dtype() == DType::f64 ? 600 : 200;
  auto numerator = [&](const Array& n) {
    const Array m = numpy::floor((n - 1) / 2), twice = a + 2 * m;
    const Array even =
        where(m == 0, -(a + b) * x / (a + 1), -(a + m) * (a + b + m) * x / (twice * (twice + 1)));
    const Array odd = m * (b - m) * x / ((twice - 1) * twice);
    return where(n == 1, 1, where(n % 2 == 0, even, odd));
  };
  auto away_from_zero = [&](const Array& v) { return where(numpy::abs(v) < small, small, v); };
  auto step = [&](const Arrays& v) {
    const Array n = v[0], by = numerator(n);
    const Array c = away_from_zero(1 + by / v[2]), d = 1 / away_from_zero(1 + by * v[3]),
                delta = c * d;
    return Arrays{n + 1, any(numpy::abs(delta - 1) >= small), c, d, v[4] * delta};
  };
  const Array start = filled(x, small);
  return while_loop(
      [&](const Arrays& v) { return (v[0] < steps) & v[1]; }, step,
      Arrays{Array::scalar(1.0, x.dtype(), false), Array(true), start, filled(x, 0), start})[4];
}
Array beta_below(const Array& a_given, const Array& b_given, const Array& x_given) {
  const Array fast = x_given < (a_given + 1) / (a_given + b_given + 2);
  // Where it converges slowly, 1 - I(b, a, 1 - x) is the same: DLMF 8.17.4.
  const Array a = where(fast, a_given, b_given), b = where(fast, b_given, a_given),
              x = where(fast, x_given, 1 - x_given);
  const Array part = lgamma(b) - lgamma(a + b);
  const Array factor =
      where(a < 2 * limits_of(x).least, numpy::exp(numpy::log1p(-x) * b - part),
            numpy::exp(numpy::log(x) * a + numpy::log1p(-x) * b - (lgamma(a) + part)) / a);
  const Array value = beta_fraction(a, b, x) * factor;
  return where(fast, value, 1 - value);
}
Array regularized_beta(const Array& a, const Array& b, const Array& x) {
  const Array low = (a == 0) | (b == numpy::inf), high = (b == 0) | (a == numpy::inf);
  const Array outside = (a < 0) | (b < 0) | (x < 0) | (x > 1) | (low & high) | numpy::isnan(a) |
                        numpy::isnan(b) | numpy::isnan(x);
  const Array none = (high & (x != 1)) | (low & (x == 0)),
              all = (low & (x != 0)) | (high & (x == 1));
  return where(outside, numpy::nan, where(all, 1, where(none, 0, beta_below(a, b, x))));
}

using Pair = std::tuple<Array, Array>;
using Triple = std::tuple<Array, Array, Array>;

/// With derivatives of its own: those by x are the density, those by a come from `igamma_grad_a`.
Array differentiable(Array (*f)(const Array&, const Array&), double sign, const Array& a_given,
                     const Array& x_given) {
  auto value = [=](const Array& a, const Array& x) { return f(a, x); };
  auto rule = [=](const Pair& at, const Pair& along) {
    const auto& [a, x] = at;
    const auto& [da, dx] = along;
    return std::pair(f(a, x), sign * (by_shape(a, x, Mode::derivative) * da + density(a, x) * dx));
  };
  return custom_jvp(value, rule)(a_given, x_given);
}

/// The derivative of `regularized_beta` by its first or second argument.
Array slope(const Array& a, const Array& b, const Array& x, bool first) {
  const Array one = filled(x, 1), zero = filled(x, 0);
  return jvp(regularized_beta, Triple(a, b, x),
             Triple(first ? one : zero, first ? zero : one, zero))
      .second;
}

/// Real floats of one dtype, and of one shape but for scalars; at least f32.
Arrays prepared(const char* name, const Arrays& given) {
  DType dtype = given[0].dtype();
  for (const Array& x : given)
    if (!x.weak()) dtype = x.dtype();
  Arrays out;
  for (const Array& x : given) {
    if (!is_float(x.dtype())) fail(name, "real floats are needed, got {}", describe(x.type()));
    if (x.dtype() != dtype && !x.weak())
      fail(name, "operands have different dtypes: {} and {}", strata::name(dtype),
           describe(x.type()));
    for (const Array& y : given)
      if (x.ndim() > 0 && y.ndim() > 0 && x.shape() != y.shape())
        fail(name, "operands have different shapes: {} and {}", describe(x.type()),
             describe(y.type()));
    out.push_back(cast(x, {dtype == DType::f64 ? dtype : DType::f32, false}));
  }
  return numpy::broadcast_arrays(out);
}

/// f of the operands, in their dtype again.
template <class F>
Array computed(const char* name, const std::vector<Operand>& operands, F f) {
  Site site(operands[0]);
  Arrays given(operands.begin(), operands.end());
  bool weak = true;
  DType dtype = given[0].dtype();
  for (const Array& x : given) {
    if (!x.weak()) dtype = x.dtype();
    weak = weak && x.weak();
  }
  return cast(f(prepared(name, given)), {dtype, weak});
}

}  // namespace

Array igamma(const Operand& a, const Operand& x) {
  return computed("igamma", {a, x},
                  [](const Arrays& v) { return differentiable(lower, 1, v[0], v[1]); });
}
Array igammac(const Operand& a, const Operand& x) {
  return computed("igammac", {a, x},
                  [](const Arrays& v) { return differentiable(upper, -1, v[0], v[1]); });
}
Array igamma_grad_a(const Operand& a, const Operand& x) {
  return computed("igamma_grad_a", {a, x},
                  [](const Arrays& v) { return by_shape(v[0], v[1], Mode::derivative); });
}
Array random_gamma_grad(const Operand& a, const Operand& x) {
  return computed("random_gamma_grad", {a, x},
                  [](const Arrays& v) { return by_shape(v[0], v[1], Mode::sample_derivative); });
}
Array betainc(const Operand& a, const Operand& b, const Operand& x) {
  return computed("betainc", {a, b, x}, [](const Arrays& v) {
    auto value = [](const Array& p, const Array& q, const Array& at) {
      return regularized_beta(p, q, at);
    };
    auto rule = [](const Triple& point, const Triple& along) {
      const auto& [p, q, at] = point;
      const auto& [dp, dq, dx] = along;
      const Array density = numpy::exp((q - 1) * numpy::log1p(-at) + (p - 1) * numpy::log(at) -
                                       (lgamma(p) + lgamma(q) - lgamma(p + q)));
      return std::pair(regularized_beta(p, q, at),
                       slope(p, q, at, true) * dp + slope(p, q, at, false) * dq + density * dx);
    };
    return custom_jvp(value, rule)(v[0], v[1], v[2]);
  });
}

}  // namespace strata::lax
