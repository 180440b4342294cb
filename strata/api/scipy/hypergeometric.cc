#include "strata/api/scipy/hypergeometric.h"

#include "strata/api/lax.h"
#include "strata/api/scipy/gamma.h"
#include "strata/api/scipy/rational.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/vmap.h"

namespace strata::scipy::special {
namespace {

using internal::Site;

constexpr double kEpsilon = 0x1p-52;
constexpr int kMostTerms = 250;

struct Series {
  Array sum, k, term;
  STRATA_FIELDS(sum, k, term)
};
/// sum + weight(1) first + weight(2) first ratio(1) + ..., until a term changes nothing: term k + 1
/// is term k times ratio(k).
template <class Ratio, class Weight>
Array series(const Array& sum, const Array& first, Ratio ratio, Weight weight) {
  auto next = [&](const Series& s) {
    return Series{s.sum + s.term * weight(s.k), s.k + 1, s.term * ratio(s.k)};
  };
  auto going = [](const Series& s) {
    return (s.k < kMostTerms) & (numpy::abs(s.term) > kEpsilon * numpy::abs(s.sum));
  };
  return while_loop(going, next, Series{sum, filled_like(first, 1), first}).sum;
}
double unweighted(const Array&) { return 1.0; }

struct Slopes {
  Array k, term, sum;
  std::vector<Array> terms, sums;
  STRATA_FIELDS(k, term, sum, terms, sums)
};
/// Derivatives of 1 + ratio(0) + ratio(0) ratio(1) + ... by what the ratio depends on, of which
/// by(k) says the derivatives of ratio(k). Term by term, since quotients of gamma functions have
/// poles where a parameter is a negative integer and the sum, but not its derivative, ends.
template <class Ratio, class By>
std::vector<Array> slopes(const Array& like, Ratio ratio, By by) {
  const Array zero = filled_like(like, 0), one = filled_like(like, 1);
  const std::vector<Array> zeros(by(zero).size(), zero);
  auto next = [&](const Slopes& s) {
    const Array r = ratio(s.k);
    const std::vector<Array> d = by(s.k);
    Slopes out{s.k + 1, s.term * r, s.sum + s.term * r, {}, {}};
    for (std::size_t i = 0; i < d.size(); ++i) {
      out.terms.push_back(s.terms[i] * r + s.term * d[i]);
      out.sums.push_back(s.sums[i] + out.terms[i]);
    }
    return out;
  };
  auto going = [](const Slopes& s) {
    Array counts = numpy::abs(s.term) > kEpsilon * numpy::abs(s.sum);
    for (std::size_t i = 0; i < s.terms.size(); ++i)
      counts = counts | (numpy::abs(s.terms[i]) > kEpsilon * numpy::abs(s.sums[i]));
    return (s.k < kMostTerms) & counts;
  };
  return while_loop(going, next, Slopes{zero, one, one, zeros, zeros}).sums;
}

/// f of each element of arrays of one shape.
template <class F, class... Arrays>
Array each(F f, const Array& first, const Arrays&... more) {
  if (first.size() == 0) return first;
  return vmap(f)(first.reshape(Sizes(-1)), more.reshape(Sizes(-1))...).reshape(first.shape());
}

// ---- 1F1 ---------------------------------------------------------------------------------------

auto ratio_1f1(const Array& a, const Array& b, const Array& x) {
  return [=](const Array& k) { return (a + k) / (b + k) * x / (k + 1); };
}

Array one_1f1(const Array& a, const Array& b, const Array& x) {
  const Array near = numpy::abs(x) < 100, one = filled_like(x, 1);
  const Array inner = numpy::where(near, x, 0), outer = numpy::where(near, 100, x);
  const Array by_powers = series(one, a / b * inner, ratio_1f1(a, b, inner), unweighted);
  const Array by_inverse = series(
      one, (b - a) * (1 - a) / outer,
      [&](const Array& k) { return (b - a + k) * (1 - a + k) / (k + 1) / outer; }, unweighted);
  const Array far =
      gamma(b) / gamma(a) * numpy::exp(outer) * numpy::power(outer, a - b) * by_inverse;
  Array out = numpy::where(near, by_powers, far);
  out = numpy::where(b == 0, numpy::inf, numpy::where(a == b, numpy::exp(x), out));
  return numpy::where(a == 0, 1, out);
}

Array slope_1f1(const Array& a, const Array& b, const Array& x, const Array& da, const Array& db,
                const Array& dx) {
  auto by = [&](const Array& k) {
    return std::vector<Array>{x / ((b + k) * (k + 1)),
                              -(a + k) * x / ((b + k) * (b + k) * (k + 1))};
  };
  const std::vector<Array> s = slopes(x, ratio_1f1(a, b, x), by);
  return s[0] * da + s[1] * db + a / b * one_1f1(a + 1, b + 1, x) * dx;
}

// ---- 2F1 ---------------------------------------------------------------------------------------

Array near_whole(const Array& x) { return numpy::abs(x - numpy::round(x)) < 50 * kEpsilon; }

/// a or b is a negative integer: the sum ends.
Array ending(const Array& a, const Array& b, const Array& c, const Array& x) {
  const Array by_b = (b < a) & near_whole(b) & ~((c % 1 == 0) & (c <= 0) & (c > b));
  const Array last = numpy::abs(numpy::where(by_b, b, a)), other = numpy::where(by_b, a, b),
              one = filled_like(x, 1);
  auto next = [&](const Series& s) {
    const Array term = s.term * (-(last - s.k + 1) / (c + s.k - 1) * (other + s.k - 1) / s.k * x);
    return Series{s.sum + term, s.k + 1, term};
  };
  return while_loop([&](const Series& s) { return s.k < last + 1; }, next, Series{one, one, one})
      .sum;
}

auto ratio_2f1(const Array& a, const Array& b, const Array& c, const Array& x) {
  return [=](const Array& k) { return (a + k) * (b + k) / (c + k) / (k + 1) * x; };
}

Array by_powers(const Array& a, const Array& b, const Array& c, const Array& x) {
  return series(filled_like(x, 1), a * b / c * x, ratio_2f1(a, b, c, x), unweighted);
}

struct Tail {
  Array p, q, k, sum;
  STRATA_FIELDS(p, q, k, sum)
};
struct Finite {
  Array p, k, sum;
  STRATA_FIELDS(p, k, sum)
};
/// Near 1, where c - a - b is an integer: psi functions take the place of the poles (Abramowitz and
/// Stegun, 15.3.10 to 12).
Array by_digamma(const Array& a, const Array& b, const Array& c, const Array& x) {
  const Array d = c - a - b, s = 1 - x, whole = numpy::round(d), up = whole >= 0, e = numpy::abs(d),
              log_s = numpy::log(s);
  const Array d1 = numpy::where(up, d, 0), d2 = numpy::where(up, 0, d), count = numpy::abs(whole),
              one = filled_like(x, 1);
  auto psi = [](const Array& v) { return lax::digamma(v); };
  const Array start = (psi(one) + psi(1 + e) - psi(a + d1) - psi(b + d1) - log_s) / gamma(e + 1);
  auto next = [&](const Tail& t) {
    const Array q =
        t.p * (psi(1 + t.k) + psi(1 + t.k + e) - psi(a + t.k + d1) - psi(b + t.k + d1) - log_s);
    const Array p = t.p * (s * (a + t.k + d1) / (t.k + 1)) * ((b + t.k + d1) / (t.k + 1 + e));
    return Tail{p, q, t.k + 1, t.sum + q};
  };
  auto going = [](const Tail& t) {
    return (t.k < kMostTerms) & (numpy::abs(t.q) >= kEpsilon * numpy::abs(t.sum));
  };
  const Array tail =
      while_loop(going, next, Tail{(a + d1) * (b + d1) * s / gamma(e + 2), start, one, start}).sum;
  auto step = [&](const Finite& f) {
    const Array p = f.p * (s * (a + f.k + d2) * (b + f.k + d2) / (1 - e + f.k)) / (f.k + 1);
    return Finite{p, f.k + 1, f.sum + p};
  };
  const Array finite = while_loop([&](const Finite& f) { return f.k + 1 < count; }, step,
                                  Finite{one, filled_like(x, 0), one})
                           .sum;
  const Array ahead = finite * gamma(e) * gamma(c) / (gamma(a + d1) * gamma(b + d1));
  const Array rest = numpy::where(count % 2 != 0, -1, 1) * tail * gamma(c) /
                     (gamma(a + d2) * gamma(b + d2)),
              q = numpy::power(s, whole);
  return numpy::where(whole == 0, tail * gamma(c) / (gamma(a) * gamma(b)),
                      numpy::where(whole > 0, rest * q + ahead, rest + ahead * q));
}

/// Each way is given arguments for which it ends soon where it is not taken.
Array summed(const Array& a, const Array& b, const Array& c, const Array& x) {
  const Array ends = ((a <= 0) & near_whole(a)) | ((b <= 0) & near_whole(b)),
              logarithmic = (x > 0.9) & ~ends & near_whole(c - a - b);
  auto only = [](const Array& taken, const Array& v, double otherwise) {
    return numpy::where(taken, v, otherwise);
  };
  const Array finite = ending(only(ends, a, -1), only(ends, b, -1), c, x);
  const Array near_one = by_digamma(only(logarithmic, a, 0.5), only(logarithmic, b, 0.5),
                                    only(logarithmic, c, 1.5), only(logarithmic, x, 0.5));
  const Array powers = by_powers(a, b, c, only(~ends & ~logarithmic, x, 0));
  return numpy::where(ends, finite, numpy::where(logarithmic, near_one, powers));
}

Array one_2f1(const Array& a, const Array& b, const Array& c, const Array& x) {
  const Array d = c - a - b, s = 1 - x, ca = c - a, cb = c - b, pole = (c <= 0) & (c % 1 == 0);
  // From the last condition to the first, each before those above it.
  Array out = summed(a, b, c, x);
  out = numpy::where(x == 1, gamma(c) * gamma(d) / (gamma(ca) * gamma(cb)), out);
  out = numpy::where(x > 1, numpy::inf, out);
  out = numpy::where((x < 1) & (a == c), numpy::power(s, -b), out);
  out = numpy::where((x < 1) & (b == c), numpy::power(s, -a), out);
  out = numpy::where((d <= 0) & (x == 1), numpy::inf, out);
  out = numpy::where((d <= -1) & ~(~near_whole(d) & (s < 0)),
                     numpy::power(s, d) * summed(ca, cb, c, x), out);
  out = numpy::where(pole, numpy::inf, out);
  return numpy::where((x == 0) | (((a == 0) | (b == 0)) & (c != 0)), 1, out);
}

Array slope_2f1(const Array& a, const Array& b, const Array& c, const Array& x, const Array& da,
                const Array& db, const Array& dc, const Array& dx) {
  auto by = [&](const Array& k) {
    const Array rest = x / ((c + k) * (k + 1));
    return std::vector<Array>{(b + k) * rest, (a + k) * rest, -(a + k) * (b + k) * rest / (c + k)};
  };
  const std::vector<Array> s = slopes(x, ratio_2f1(a, b, c, x), by);
  return s[0] * da + s[1] * db + s[2] * dc + a * b / c * one_2f1(a + 1, b + 1, c + 1, x) * dx;
}

}  // namespace

Array hyp1f1(const Operand& a, const Operand& b, const Operand& x) {
  const Site site(a);
  const std::vector<Array> all = internal::broadcast_promoted("hyp1f1", {a, b, x});
  auto value = [](const Array& a, const Array& b, const Array& x) {
    return as_like(each(one_1f1, in_f64(a), in_f64(b), in_f64(x)), a);
  };
  auto rule = [value](const std::tuple<Array, Array, Array>& p,
                      const std::tuple<Array, Array, Array>& t) {
    auto wide = [](const auto& tuple) {
      return std::apply([](const auto&... v) { return std::tuple(in_f64(v)...); }, tuple);
    };
    const Array slope = std::apply([](const auto&... v) { return each(slope_1f1, v...); },
                                   std::tuple_cat(wide(p), wide(t)));
    return std::pair(std::apply(value, p), as_like(slope, std::get<0>(p)));
  };
  return custom_jvp(value, rule)(real_floats("hyp1f1", all[0]), real_floats("hyp1f1", all[1]),
                                 real_floats("hyp1f1", all[2]));
}

Array hyp2f1(const Operand& a, const Operand& b, const Operand& c, const Operand& x) {
  const Site site(a);
  const std::vector<Array> all = internal::broadcast_promoted("hyp2f1", {a, b, c, x});
  auto value = [](const Array& a, const Array& b, const Array& c, const Array& x) {
    return as_like(each(one_2f1, in_f64(a), in_f64(b), in_f64(c), in_f64(x)), a);
  };
  auto rule = [value](const std::tuple<Array, Array, Array, Array>& p,
                      const std::tuple<Array, Array, Array, Array>& t) {
    auto wide = [](const auto& tuple) {
      return std::apply([](const auto&... v) { return std::tuple(in_f64(v)...); }, tuple);
    };
    const Array slope = std::apply([](const auto&... v) { return each(slope_2f1, v...); },
                                   std::tuple_cat(wide(p), wide(t)));
    return std::pair(std::apply(value, p), as_like(slope, std::get<0>(p)));
  };
  return custom_jvp(value, rule)(real_floats("hyp2f1", all[0]), real_floats("hyp2f1", all[1]),
                                 real_floats("hyp2f1", all[2]), real_floats("hyp2f1", all[3]));
}

}  // namespace strata::scipy::special
