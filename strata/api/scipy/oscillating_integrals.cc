// Sine, cosine and Fresnel integrals, and the dilogarithm (exponential_integrals.h).
#include <numbers>

#include "strata/api/lax.h"
#include "strata/api/scipy/exponential_integrals.h"
#include "strata/api/scipy/rational.h"

namespace strata::scipy::special {
namespace {

using internal::describe;
using internal::fail;
using internal::Site;

constexpr double kSmallSineTop[] = {-8.39167827910303881427e-11, 4.62591714427012837309e-8,
                                    -9.75759303843632795789e-6,  9.76945438170435310816e-4,
                                    -4.13470316229406538752e-2,  1.00000000000000000302e0};
constexpr double kSmallSineBottom[] = {2.03269266195951942049e-12, 1.27997891179943299903e-9,
                                       4.41827842801218905784e-7,  9.96412122043875552487e-5,
                                       1.42085239326149893930e-2,  9.99999999999999996984e-1};
constexpr double kSmallCosineTop[] = {2.02524002389102268789e-11, -1.35249504915790756375e-8,
                                      3.59325051419993077021e-6,  -4.74007206873407909465e-4,
                                      2.89159652607555242092e-2,  -1.00000000000000000080e0};
constexpr double kSmallCosineBottom[] = {4.07746040061880559506e-12, 3.06780997581887812692e-9,
                                         1.23210355685883423679e-6,  3.17442024775032769882e-4,
                                         5.10028056236446052392e-2,  4.00000000000000000080e0};
constexpr double kF4Top[] = {4.23612862892216586994e0,  5.45937717161812843388e0,
                             1.62083287701538329132e0,  1.67006611831323023771e-1,
                             6.81020132472518137426e-3, 1.08936580650328664411e-4,
                             5.48900223421373614008e-7};
constexpr double kF4Bottom[] = {1,
                                8.16496634205391016773e0,
                                7.30828822505564552187e0,
                                1.86792257950184183883e0,
                                1.78792052963149907262e-1,
                                7.01710668322789753610e-3,
                                1.10034357153915731354e-4,
                                5.48900252756255700982e-7};
constexpr double kG4Top[] = {8.71001698973114191777e-2, 6.11379109952219284151e-1,
                             3.97180296392337498885e-1, 7.48527737628469092119e-2,
                             5.38868681462177273157e-3, 1.61999794598934024525e-4,
                             1.97963874140963632189e-6, 7.82579040744090311069e-9};
constexpr double kG4Bottom[] = {1,
                                1.64402202413355338886e0,
                                6.66296701268987968381e-1,
                                9.88771761277688796203e-2,
                                6.22396345441768420760e-3,
                                1.73221081474177119497e-4,
                                2.02659182086343991969e-6,
                                7.82579218933534490868e-9};
constexpr double kF8Top[] = {
    4.55880873470465315206e-1, 7.13715274100146711374e-1,  1.60300158222319456320e-1,
    1.16064229408124407915e-2, 3.49556442447859055605e-4,  4.86215430826454749482e-6,
    3.20092790091004902806e-8, 9.41779576128512936592e-11, 9.70507110881952024631e-14};
constexpr double kF8Bottom[] = {1.0,
                                9.17463611873684053703e-1,
                                1.78685545332074536321e-1,
                                1.22253594771971293032e-2,
                                3.58696481881851580297e-4,
                                4.92435064317881464393e-6,
                                3.21956939101046018377e-8,
                                9.43720590350276732376e-11,
                                9.70507110881952025725e-14};
constexpr double kG8Top[] = {
    6.97359953443276214934e-1, 3.30410979305632063225e-1,  3.84878767649974295920e-2,
    1.71718239052347903558e-3, 3.48941165502279436777e-5,  3.47131167084116673800e-7,
    1.70404452782044526189e-9, 3.85945925430276600453e-12, 3.14040098946363334640e-15};
constexpr double kG8Bottom[] = {1.0,
                                1.68548898811011640017e0,
                                4.87852258695304967486e-1,
                                4.67913194259625806320e-2,
                                1.90284426674399523638e-3,
                                3.68475504442561108162e-5,
                                3.57043223443740838771e-7,
                                1.72693748966316146736e-9,
                                3.87830166023954706752e-12,
                                3.14040098946363335242e-15};
constexpr double kFresnelSTop[] = {-2.99181919401019853726e3,  7.08840045257738576863e5,
                                   -6.29741486205862506537e7,  2.54890880573376359104e9,
                                   -4.42979518059697779103e10, 3.18016297876567817986e11};
constexpr double kFresnelSBottom[] = {1.00000000000000000000e0, 2.81376268889994315696e2,
                                      4.55847810806532581675e4, 5.17343888770096400730e6,
                                      4.19320245898111231129e8, 2.24411795645340920940e10,
                                      6.07366389490084639049e11};
constexpr double kFresnelCTop[] = {-4.98843114573573548651e-8, 9.50428062829859605134e-6,
                                   -6.45191435683965050962e-4, 1.88843319396703850064e-2,
                                   -2.05525900955013891793e-1, 9.99999999999999998822e-1};
constexpr double kFresnelCBottom[] = {3.99982968972495980367e-12, 9.15439215774657478799e-10,
                                      1.25001862479598821474e-7,  1.22262789024179030997e-5,
                                      8.68029542941784300606e-4,  4.12142090722199792936e-2,
                                      1.00000000000000000118e0};
constexpr double kFresnelFTop[] = {4.21543555043677546506e-1,  1.43407919780758885261e-1,
                                   1.15220955073585758835e-2,  3.45017939782574027900e-4,
                                   4.63613749287867322088e-6,  3.05568983790257605827e-8,
                                   1.02304514164907233465e-10, 1.72010743268161828879e-13,
                                   1.34283276233062758925e-16, 3.76329711269987889006e-20};
constexpr double kFresnelFBottom[] = {
    1.00000000000000000000e0,   7.51586398353378947175e-1,  1.16888925859191382142e-1,
    6.44051526508858611005e-3,  1.55934409164153020873e-4,  1.84627567348930545870e-6,
    1.12699224763999035261e-8,  3.60140029589371370404e-11, 5.88754533621578410010e-14,
    4.52001434074129701496e-17, 1.25443237090011264384e-20};
constexpr double kFresnelGTop[] = {
    5.04442073643383265887e-1,  1.97102833525523411709e-1,  1.87648584092575249293e-2,
    6.84079380915393090172e-4,  1.15138826111884280931e-5,  9.82852443688422223854e-8,
    4.45344415861750144738e-10, 1.08268041139020870318e-12, 1.37555460633261799868e-15,
    8.36354435630677421531e-19, 1.86958710162783235106e-22};
constexpr double kFresnelGBottom[] = {
    1.00000000000000000000e0,   1.47495759925128324529e0,   3.37748989120019970451e-1,
    2.53603741420338795122e-2,  8.14679107184306179049e-4,  1.27545075667729118702e-5,
    1.04314589657571990585e-7,  4.60680728146520428211e-10, 1.10273215066240270757e-12,
    1.38796531259578871258e-15, 8.39158816283118707363e-19, 1.86958710162783236342e-22};
constexpr double kSpenceTop[] = {4.65128586073990045278e-5, 7.31589045238094711071e-3,
                                 1.33847639578309018650e-1, 8.79691311754530315341e-1,
                                 2.71149851196553469920e0,  4.25697156008121755724e0,
                                 3.29771340985225106936e0,  1.00000000000000000126e0};
constexpr double kSpenceBottom[] = {6.90990488912553276999e-4, 2.54043763932544379113e-2,
                                    2.82974860602568089943e-1, 1.41172597751831069617e0,
                                    3.63800533345137075418e0,  5.03278880143316990390e0,
                                    3.54771340985225096217e0,  9.99999999999999998740e-1};
using std::numbers::pi;
struct Both {
  Array sine, cosine;
};

/// The auxiliary functions of x >= 4, by 1 / x^2.
Both auxiliary(const Array& x) {
  const Array z = 1 / (x * x), near = x < 8;
  const Array f =
      numpy::where(near, rational(z, kF4Top, kF4Bottom), rational(z, kF8Top, kF8Bottom)) / x;
  return {f,
          z * numpy::where(near, rational(z, kG4Top, kG4Bottom), rational(z, kG8Top, kG8Bottom))};
}

/// Si and Ci for x >= 0.
Both si_and_ci(const Array& x) {
  const Array t = x * x, sine = numpy::sin(x), cosine = numpy::cos(x);
  const auto [f, g] = auxiliary(numpy::where(x > 4, x, 5));
  Array si = pi / 2 - f * cosine - g * sine, ci = f * sine - g * cosine;
  si = numpy::where(x > 1e9, pi / 2 - cosine / x, si);
  ci = numpy::where(x > 1e9, sine / x, ci);
  si = numpy::where(x <= 4, x * rational(t, kSmallSineTop, kSmallSineBottom), si);
  ci = numpy::where(
      x <= 4,
      std::numbers::egamma + numpy::log(x) + t * rational(t, kSmallCosineTop, kSmallCosineBottom),
      ci);
  const Array infinite = x == numpy::inf;
  return {numpy::where(infinite, pi / 2, si),
          numpy::where(infinite, 0, numpy::where(x == 0, -numpy::inf, ci))};
}

/// sin and cos of pi x^2 / 2, from the remainder of x^2 / 2 in [0, 2).
Both of_half_square(const Array& any) {
  const Array x = numpy::abs(any), s = numpy::fmod(x, 2), r = numpy::fmod(s * (x - s / 2), 2);
  const Array sine =
      numpy::where(r < 0.5, numpy::sin(pi * r),
                   numpy::where(r > 1.5, numpy::sin(pi * (r - 2)), -numpy::sin(pi * (r - 1))));
  return {sine, numpy::where(r < 1, numpy::sin(pi * (0.5 - r)), numpy::sin(pi * (r - 1.5)))};
}

/// S and C for x >= 0.
Both fresnel_integrals(const Array& x) {
  const Array square = x * x, small = square < 2.5625, t = square * square;
  const auto [sine, cosine] = of_half_square(x);
  const Array w = numpy::where(small, 1, pi * square), u = 1 / (w * w),
              far = numpy::where(small, 1, pi * x);
  const Array f = 1 - u * rational(u, kFresnelFTop, kFresnelFBottom),
              g = rational(u, kFresnelGTop, kFresnelGBottom) / w;
  Array s = 0.5 - (f * cosine + g * sine) / far, c = 0.5 + (f * sine - g * cosine) / far;
  const Array large = x > 36974;
  s = numpy::where(large, 0.5 - cosine / far, s);
  c = numpy::where(large, 0.5 + sine / far, c);
  s = numpy::where(small, x * square * rational(t, kFresnelSTop, kFresnelSBottom), s);
  c = numpy::where(small, x * rational(t, kFresnelCTop, kFresnelCBottom), c);
  const Array infinite = numpy::isinf(x);
  return {numpy::where(infinite, 0.5, s), numpy::where(infinite, 0.5, c)};
}

Array spence_of(const Array& x) {
  const Array far = x > 2, v = numpy::where(far, 1 / x, x), above = v > 1.5, below = v < 0.5;
  const Array w = numpy::where(above, 1 / v - 1, numpy::where(below, -v, v - 1));
  Array y = -w * rational(w, kSpenceTop, kSpenceBottom);
  y = numpy::where(below, pi * pi / 6 - numpy::log(v) * numpy::log(1 - v) - y, y);
  y = numpy::where(far | above, -0.5 * numpy::square(numpy::log(v)) - y, y);
  y = numpy::where(x == 0, pi * pi / 6, numpy::where(x == 1, 0, y));
  return numpy::where(x < 0, numpy::nan, y);
}

}  // namespace

std::pair<Array, Array> sici(const Operand& operand) {
  const Site site(operand);
  const Array x = real_floats("sici", operand);
  auto si = [](const Array& v) { return numpy::sign(v) * si_and_ci(numpy::abs(v)).sine; };
  auto ci = [](const Array& v) {
    return numpy::where(v == -numpy::inf, numpy::nan, si_and_ci(numpy::abs(v)).cosine);
  };
  return {wide_function(x, si,
                        [](const Array& v, const Array&) {
                          return numpy::where(v == 0, 1,
                                              numpy::sin(v) / numpy::where(v == 0, 1, v));
                        }),
          wide_function(x, ci, [](const Array& v, const Array&) { return numpy::cos(v) / v; })};
}

std::pair<Array, Array> fresnel(const Operand& operand) {
  const Site site(operand);
  const Array x = real_floats("fresnel", operand);
  auto s = [](const Array& v) {
    return numpy::where(v < 0, -1, 1) * fresnel_integrals(numpy::abs(v)).sine;
  };
  auto c = [](const Array& v) {
    return numpy::where(v < 0, -1, 1) * fresnel_integrals(numpy::abs(v)).cosine;
  };
  return {
      wide_function(x, s, [](const Array& v, const Array&) { return of_half_square(v).sine; }),
      wide_function(x, c, [](const Array& v, const Array&) { return of_half_square(v).cosine; })};
}

Array spence(const Operand& x) {
  const Site site(x);
  if (x->dtype() != DType::f32 && x->dtype() != DType::f64)
    fail("spence", "f32 or f64 is needed, got {}", describe(x->type()));
  auto slope = [](const Array& v, const Array&) {
    return numpy::where(v == 1, -1, numpy::log(v) / numpy::where(v == 1, 1, 1 - v));
  };
  return wide_function(x.array, spence_of, slope);
}

}  // namespace strata::scipy::special
