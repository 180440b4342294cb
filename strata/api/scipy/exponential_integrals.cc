#include "strata/api/scipy/exponential_integrals.h"

#include <numbers>

#include "strata/api/lax.h"
#include "strata/api/scipy/rational.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/vmap.h"

namespace strata::scipy::special {
namespace {

using internal::Site;

constexpr double kEi1Top[] = {-5.350447357812542947283e0, 2.185049168816613393830e2,
                              -4.176572384826693777058e3, 5.541176756393557601232e4,
                              -3.313381331178144034309e5, 1.592627163384945414220e6};
constexpr double kEi1Bottom[] = {1.0,
                                 -5.250547959112862969197e1,
                                 1.259616186786790571525e3,
                                 -1.756549581973534652631e4,
                                 1.493062117002725991967e5,
                                 -7.294949239640527645655e5,
                                 1.592627163384945429726e6};
constexpr double kEi2Top[] = {1.981808503259689673238e-2,  -1.271645625984917501326e0,
                              -2.088160335681228318920e0,  2.755544509187936721172e0,
                              -4.409507048701600257171e-1, 4.665623805935891391017e-2,
                              -1.545042679673485262580e-3, 7.059980605299617478514e-5};
constexpr double kEi2Bottom[] = {1.0,
                                 1.476498670914921440652e0,
                                 5.629177174822436244827e-1,
                                 1.699017897879307263248e-1,
                                 2.291647179034212017463e-2,
                                 4.450150439728752875043e-3,
                                 1.727439612206521482874e-4,
                                 3.953167195549672482304e-5};
constexpr double kEi3Top[] = {-1.373215375871208729803e0, -7.084559133740838761406e-1,
                              1.580806855547941010501e0,  -2.601500427425622944234e-1,
                              2.994674694113713763365e-2, -1.038086040188744005513e-3,
                              4.371064420753005429514e-5, 2.141783679522602903795e-6};
constexpr double kEi3Bottom[] = {1.0,
                                 8.585231423622028380768e-1,
                                 4.483285822873995129957e-1,
                                 7.687932158124475434091e-2,
                                 2.449868241021887685904e-2,
                                 8.832165941927796567926e-4,
                                 4.590952299511353531215e-4,
                                 -4.729848351866523044863e-6,
                                 2.665195537390710170105e-6};
constexpr double kEi4Top[] = {-2.106934601691916512584e0,  1.732733869664688041885e0,
                              -2.423619178935841904839e-1, 2.322724180937565842585e-2,
                              2.372880440493179832059e-4,  -8.343219561192552752335e-5,
                              1.363408795605250394881e-5,  -3.655412321999253963714e-7,
                              1.464941733975961318456e-8,  6.176407863710360207074e-10};
constexpr double kEi4Bottom[] = {1.0,
                                 -2.298062239901678075778e-1,
                                 1.105077041474037862347e-1,
                                 -1.566542966630792353556e-2,
                                 2.761106850817352773874e-3,
                                 -2.089148012284048449115e-4,
                                 1.708528938807675304186e-5,
                                 -4.459311796356686423199e-7,
                                 1.394634930353847498145e-8,
                                 6.150865933977338354138e-10};
constexpr double kEi5Top[] = {-2.458119367674020323359e-1, -1.483382253322077687183e-1,
                              7.248291795735551591813e-2,  -1.348315687380940523823e-2,
                              1.342775069788636972294e-3,  -7.942465637159712264564e-5,
                              2.644179518984235952241e-6,  -4.239473659313765177195e-8};
constexpr double kEi5Bottom[] = {1.0,
                                 -1.044225908443871106315e-1,
                                 -2.676453128101402655055e-1,
                                 9.695000254621984627876e-2,
                                 -1.601745692712991078208e-2,
                                 1.496414899205908021882e-3,
                                 -8.462452563778485013756e-5,
                                 2.728938403476726394024e-6,
                                 -4.239462431819542051337e-8};
constexpr double kEi6Top[] = {1.212561118105456670844e-1, -5.823133179043894485122e-1,
                              2.348887314557016779211e-1, -3.040034318113248237280e-2,
                              1.510082146865190661777e-3, -2.523137095499571377122e-5};
constexpr double kEi6Bottom[] = {1.0,
                                 -1.002252150365854016662e0,
                                 2.928709694872224144953e-1,
                                 -3.337004338674007801307e-2,
                                 1.560544881127388842819e-3,
                                 -2.523137093603234562648e-5};
constexpr double kEi7Top[] = {
    -7.657847078286127362028e-1, 6.886192415566705051750e-1,  -2.132598113545206124553e-1,
    3.346107552384193813594e-2,  -3.076541477344756050249e-3, 1.747119316454907477380e-4,
    -6.103711682274170530369e-6, 1.218032765428652199087e-7,  -1.086076102793290233007e-9};
constexpr double kEi7Bottom[] = {1.0,
                                 -1.888802868662308731041e0,
                                 1.066691687211408896850e0,
                                 -2.751915982306380647738e-1,
                                 3.930852688233823569726e-2,
                                 -3.414684558602365085394e-3,
                                 1.866844370703555398195e-4,
                                 -6.345146083130515357861e-6,
                                 1.239754287483206878024e-7,
                                 -1.086076102793126632978e-9};
constexpr double kEpsilon = 0x1p-52;

/// exp(x) / x (1 + r(1 / x) / x)
template <std::size_t n, std::size_t m>
Array outer_ei(const Array& x, const double (&top)[n], const double (&bottom)[m]) {
  const Array w = 1 / x;
  return numpy::exp(x) * w * (w * rational(w, top, bottom) + 1);
}

Array positive_ei(const Array& x) {
  Array out = outer_ei(x, kEi7Top, kEi7Bottom);
  auto up_to = [&](double limit, const Array& value) {
    out = numpy::where(x <= limit, value, out);
  };
  up_to(64, outer_ei(x, kEi6Top, kEi6Bottom));
  up_to(32, outer_ei(x, kEi5Top, kEi5Bottom));
  up_to(16, outer_ei(x, kEi4Top, kEi4Bottom));
  up_to(8, outer_ei(x, kEi3Top, kEi3Bottom));
  up_to(4, outer_ei(x, kEi2Top, kEi2Bottom));
  up_to(2, x * rational(x, kEi1Top, kEi1Bottom) + std::numbers::egamma + numpy::log(x));
  return numpy::where(x == numpy::inf, x, out);
}

struct Power {
  Array k, factor, divisor, sum, step;
  STRATA_FIELDS(k, factor, divisor, sum, step)
};
/// The power series of En, for 0 < x <= 1.
Array en_by_series(const Array& n, const Array& x) {
  const Array first = n == 1;
  struct Harmonic {
    Array i, sum;
    STRATA_FIELDS(i, sum)
  };
  const Array psi = while_loop([&](const Harmonic& h) { return h.i < n; },
                               [](const Harmonic& h) { return Harmonic{h.i + 1, h.sum + 1 / h.i}; },
                               Harmonic{filled_like(x, 1), -std::numbers::egamma - numpy::log(x)})
                        .sum;
  auto next = [&](const Power& p) {
    const Array k = p.k + 1, factor = p.factor * -x / k, divisor = p.divisor + 1;
    const Array sum = p.sum + numpy::where(divisor != 0, factor / divisor, 0);
    return Power{k, factor, divisor, sum, numpy::where(sum != 0, numpy::abs(factor / sum), 1)};
  };
  const Array zero = filled_like(x, 0),
              start = numpy::where(first, zero, 1 / (1 - numpy::where(first, 2, n)));
  const Array sum = while_loop([](const Power& p) { return p.step > kEpsilon; }, next,
                               Power{zero, zero + 1, 1 - n, start, zero + 1})
                        .sum;
  return numpy::power(-x, n - 1) * psi / numpy::exp(lax::lgamma(n)) - sum;
}

struct Fraction {
  Array k, p, p_before, q, q_before, value, step;
  STRATA_FIELDS(k, p, p_before, q, q_before, value, step)
};
/// The continued fraction of En, for x > 1.
Array en_by_fraction(const Array& n, const Array& x) {
  constexpr double kBig = 1.44115188075855872e17;
  auto next = [&](const Fraction& f) {
    const Array k = f.k + 1, odd = k % 2 == 1, one = filled_like(x, 1);
    const Array y = numpy::where(odd, one, x), z = numpy::where(odd, n + (k - 1) / 2, k / 2);
    const Array p = f.p * y + f.p_before * z, q = f.q * y + f.q_before * z, value = p / q;
    const Array scale = numpy::where(numpy::abs(p) > kBig, 1 / kBig, 1.0);
    return Fraction{k,
                    p * scale,
                    f.p * scale,
                    q * scale,
                    f.q * scale,
                    value,
                    numpy::abs((f.value - value) / value)};
  };
  const Array one = filled_like(x, 1);
  const Fraction start{one, one, one, x + n, x, 1 / (x + n), one};
  return while_loop([](const Fraction& f) { return f.step > kEpsilon; }, next, start).value *
         numpy::exp(-x);
}

/// For great n.
Array en_asymptotic(const Array& n, const Array& x) {
  const Array s = x + n, y = 1 / (s * s);
  Array sum = y * n * (6 * x * x - 8 * n * x + n * n);
  sum = y * (sum + n * (n - 2 * x));
  sum = y * (sum + n);
  return (sum + 1) * numpy::exp(-x) / s;
}

constexpr int kOrders =
    2;  // of derivatives that reverse mode reaches; forward mode reaches one more

/// E of order -k, which derivatives of E_0 are made of: x E_n = exp(-x) - n E_(n+1).
Array lower_en(const Array& x, int k) {
  const Array e = numpy::exp(-x);
  Array out = e / x;
  for (int i = 1; i <= k; ++i) out = (e + i * out) / x;
  return out;
}

/// One element, of an order of -3 or more. The branches that are not taken get arguments for which
/// their loops end soon.
Array one_en(const Array& n, const Array& x) {
  const Array great = n >= 5000, outer = (x > 1) & ~great & (x < numpy::inf),
              inner = (x > 0) & (x <= 1) & ~great & (n >= 1);
  const Array series = en_by_series(numpy::where(inner, n, 1), numpy::where(inner, x, 0.5));
  const Array fraction = en_by_fraction(numpy::where(outer, n, 1), numpy::where(outer, x, 2));
  Array out = numpy::where(great, en_asymptotic(n, x),
                           numpy::where(x > 1, numpy::where(outer, fraction, 0), series));
  out = numpy::where(n == 0, numpy::exp(-x) / x, out);
  out =
      numpy::where(x == 0, numpy::where(n < 2, numpy::inf, 1 / numpy::where(n < 2, 2, n - 1)), out);
  for (int k = 0; k < kOrders + 1; ++k) out = numpy::where(n == -k - 1, lower_en(x, k + 1), out);
  return numpy::where((n < -kOrders - 1) | (x < 0) | numpy::isnan(x) | numpy::isnan(n), numpy::nan,
                      out);
}

Array en(const Array& n, const Array& x) {
  if (x.size() == 0) return x;
  return vmap(one_en)(n.reshape(Sizes(-1)), x.reshape(Sizes(-1))).reshape(x.shape());
}

/// En of v in f64. Its rule is made of the function itself, as far as `depth`: reverse mode takes
/// no loop of unknown length.
Array differentiable_en(const Array& order, const Array& v, int depth = kOrders) {
  if (depth == 0) return en(order, v);
  auto rule = [order, depth](const std::tuple<Array>& primal, const std::tuple<Array>& tangent) {
    const Array& at = std::get<0>(primal);
    return std::pair(differentiable_en(order, at, depth - 1),
                     -differentiable_en(order - 1, at, depth - 1) * std::get<0>(tangent));
  };
  return custom_jvp([order](const Array& at) { return en(order, at); }, rule)(v);
}

Array rounded_en(const Array& n, const Array& x) {
  const Array order = lax::stop_gradient(in_f64(n));
  return as_like(numpy::where(order < 0, numpy::nan, differentiable_en(order, in_f64(x))), x);
}

}  // namespace

Array expi(const Operand& operand) {
  const Site site(operand);
  const Array x = real_floats("expi", operand);
  auto value = [](const Array& v) {
    const Array inside = numpy::where(v < 0, -v, 1);
    return numpy::where(v < 0, -en(filled_like(v, 1), inside),
                        positive_ei(numpy::where(v < 0, 1, v)));
  };
  return wide_function(x, value, [](const Array& v, const Array&) { return numpy::exp(v) / v; });
}

Array expn(const Operand& n, const Operand& x) {
  const Site site(n);
  const std::vector<Array> both = internal::broadcast_promoted("expn", {n, x});
  return rounded_en(real_floats("expn", both[0]), real_floats("expn", both[1]));
}
Array exp1(const Operand& operand) {
  const Site site(operand);
  auto value = [](const Array& v) { return en(filled_like(v, 1), v); };
  return wide_function(real_floats("exp1", operand), value,
                       [](const Array& v, const Array&) { return -numpy::exp(-v) / v; });
}

}  // namespace strata::scipy::special
