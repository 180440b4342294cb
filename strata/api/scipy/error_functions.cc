#include "strata/api/scipy/error_functions.h"

#include <cmath>
#include <numbers>

#include "strata/api/lax.h"
#include "strata/api/scipy/rational.h"

namespace strata::scipy::special {
namespace {

using internal::describe;
using internal::fail;
using internal::Site;
using std::numbers::pi;

constexpr double kDawson1Top[] = {1.13681498971755972054e-11, 8.49262267667473811108e-10,
                                  1.94434204175553054283e-8,  9.53151741254484363489e-7,
                                  3.07828309874913200438e-6,  3.52513368520288738649e-4,
                                  -8.50149846724410912031e-4, 4.22618223005546594270e-2,
                                  -9.17480371773452345351e-2, 9.99999999999999994612e-1};
constexpr double kDawson1Bottom[] = {
    2.40372073066762605484e-11, 1.48864681368493396752e-9, 5.21265281010541664570e-8,
    1.27258478273186970203e-6,  2.32490249820789513991e-5, 3.25524741826057911661e-4,
    3.48805814657162590916e-3,  2.79448531198828973716e-2, 1.58874241960120565368e-1,
    5.74918629489320327824e-1,  1.00000000000000000539e0};
constexpr double kDawson2Top[] = {
    5.08955156417900903354e-1,  -2.44754418142697847934e-1, 9.41512335303534411857e-2,
    -2.18711255142039025206e-2, 3.66207612329569181322e-3,  -4.23209114460388756528e-4,
    3.59641304793896631888e-5,  -2.14640351719968974225e-6, 9.10010780076391431042e-8,
    -2.40274520828250956942e-9, 3.59233385440928410398e-11};
constexpr double kDawson2Bottom[] = {
    1.00000000000000000000e0,   -6.31839869873368190192e-1, 2.36706788228248691528e-1,
    -5.31806367003223277662e-2, 8.48041718586295374409e-3,  -9.47996768486665330168e-4,
    7.81025592944552338085e-5,  -4.55875153252442634831e-6, 1.89100358111421846170e-7,
    -4.91324691331920606875e-9, 7.18466403235734541950e-11};
constexpr double kDawson3Top[] = {-5.90592860534773254987e-1, 6.29235242724368800674e-1,
                                  -1.72858975380388136411e-1, 1.64837047825189632310e-2,
                                  -4.86827613020462700845e-4};
constexpr double kDawson3Bottom[] = {1.00000000000000000000e0,  -2.69820057197544900361e0,
                                     1.73270799045947845857e0,  -3.93708582281939493482e-1,
                                     3.44278924041233391079e-2, -9.73655226040941223894e-4};
constexpr double kFaddeeva[] = {
    -1.3034426067909105e-12, 3.7411838373738471e-12,  8.030427700497756e-12,
    -2.1543593557490879e-11, -5.5442449963237932e-11, 1.165824698850374e-10,
    4.1537441121999766e-10,  -5.2310202114920615e-10, -3.2080151339721323e-09,
    8.1248864216535907e-10,  2.3797556530014025e-08,  2.2930438438915445e-08,
    -1.4813078929137642e-07, -4.1840763750512053e-07, 4.2558331397138446e-07,
    4.4015317312832251e-06,  6.8210319443575151e-06,  -2.1409619201999998e-05,
    -0.00013075449254579421, -0.00024532980270038237, 0.00039259136070109705,
    0.0045195411053493093,   0.019006155784845501,    0.057304403529837282,
    0.14060716226893755,     0.29544451071508743,     0.54601397206393376,
    0.9019254893648001,      1.3455441692345449,      1.8256696296324815,
    2.2635372999002676,      2.5722534081245696};
constexpr double kNdtri0Top[] = {-5.99633501014107895267e1, 9.80010754185999661536e1,
                                 -5.66762857469070293439e1, 1.39312609387279679503e1,
                                 -1.23916583867381258016e0};
constexpr double kNdtri0Bottom[] = {1.0,
                                    1.95448858338141759834e0,
                                    4.67627912898881538453e0,
                                    8.63602421390890590575e1,
                                    -2.25462687854119370527e2,
                                    2.00260212380060660359e2,
                                    -8.20372256168333339912e1,
                                    1.59056225126211695515e1,
                                    -1.18331621121330003142e0};
constexpr double kNdtri1Top[] = {
    4.05544892305962419923e0,   3.15251094599893866154e1,   5.71628192246421288162e1,
    4.40805073893200834700e1,   1.46849561928858024014e1,   2.18663306850790267539e0,
    -1.40256079171354495875e-1, -3.50424626827848203418e-2, -8.57456785154685413611e-4};
constexpr double kNdtri1Bottom[] = {1.0,
                                    1.57799883256466749731e1,
                                    4.53907635128879210584e1,
                                    4.13172038254672030440e1,
                                    1.50425385692907503408e1,
                                    2.50464946208309415979e0,
                                    -1.42182922854787788574e-1,
                                    -3.80806407691578277194e-2,
                                    -9.33259480895457427372e-4};
constexpr double kNdtri2Top[] = {
    3.23774891776946035970e0,  6.91522889068984211695e0,  3.93881025292474443415e0,
    1.33303460815807542389e0,  2.01485389549179081538e-1, 1.23716634817820021358e-2,
    3.01581553508235416007e-4, 2.65806974686737550832e-6, 6.23974539184983293730e-9};
constexpr double kNdtri2Bottom[] = {1.0,
                                    6.02427039364742014255e0,
                                    3.67983563856160859403e0,
                                    1.37702099489081330271e0,
                                    2.16236993594496635890e-1,
                                    1.34204006088543189037e-2,
                                    3.28014464682127739104e-4,
                                    2.89247864745380683936e-6,
                                    6.79019408009981274425e-9};
constexpr double kOwenPoints[] = {0.0035082039676451715, 0.031279042338030754, 0.085266826283219451,
                                  0.16245071730812277,   0.25851196049125435,  0.36807553840697534,
                                  0.48501092905604697,   0.60277514152618577,  0.71477884217753227,
                                  0.81475510988760099,   0.89711029755948966,  0.95723808085944262,
                                  0.99178832974629704};
constexpr double kOwenWeights[] = {
    0.018831438115323503, 0.018567086243977649,  0.018042093461223386,  0.017263829606398753,
    0.016243219975989857, 0.014994592034116705,  0.013535474469662088,  0.011886351605820165,
    0.010070377242777432, 0.0081130545742299587, 0.0060419009528470239, 0.0038862217010742058,
    0.0016793031084546090};
const double kTwoByRoot = 2 / std::sqrt(pi);

/// Where the square's exponential would be infinite, by the asymptotic series.
Array erfcx_of(const Array& x) {
  constexpr double series[] = {7918.06640625, -1055.7421875, 162.421875, -29.53125, 6.5625,
                               -1.875,        .75,           -.5,        1.};
  const Array large = x > 26, near = numpy::where(large, 1, x), far = numpy::where(large, x, 27);
  const Array direct = numpy::exp(near * near) * lax::erfc(near);
  return numpy::where(large, polynomial(1 / (far * far), series) / (far * std::sqrt(pi)), direct);
}

Array dawson_of(const Array& x) {
  const Array a = numpy::abs(x), near = numpy::where(a < 3.25, a, 1),
              far = numpy::where(a < 3.25, 4, a), square = near * near, t = 1 / (far * far);
  const Array inner = near * rational(square, kDawson1Top, kDawson1Bottom);
  const Array tail = numpy::where(a < 6.25, rational(t, kDawson2Top, kDawson2Bottom),
                                  rational(t, kDawson3Top, kDawson3Bottom));
  return numpy::sign(x) * numpy::where(a < 3.25, inner, 0.5 / far * (1 + t * tail));
}

Array wofz_of(const Array& z) {
  constexpr double kWidth = 4.7568284600108841;
  const Array upper = lax::imag(z) >= 0, v = numpy::where(upper, z, -z),
              iv = lax::complex(-lax::imag(v), lax::real(v));
  const Array below = kWidth - iv, t = (kWidth + iv) / below;
  const Array w = 2 * polynomial(t, kFaddeeva) / (below * below) + kTwoByRoot / 2 / below;
  return numpy::where(upper, w, 2 * numpy::exp(-(z * z)) - w);
}

/// The complex function in c128, rounded once.
Array faddeeva(const Array& z) {
  auto wide = [](const Array& v) { return internal::cast(v, {DType::c128, false}); };
  auto value = [wide](const Array& v) { return as_like(wofz_of(wide(v)), v); };
  auto rule = [wide](const std::tuple<Array>& primal, const std::tuple<Array>& tangent) {
    const Array v = wide(std::get<0>(primal)), y = wofz_of(v);
    const Array slope = -2 * v * y + std::complex<double>(0, kTwoByRoot);
    return std::pair(as_like(y, std::get<0>(primal)),
                     as_like(slope * wide(std::get<0>(tangent)), std::get<0>(primal)));
  };
  return custom_jvp(value, rule)(z);
}

Array ndtri_of(const Array& p) {
  const double edge = std::exp(-2);
  const Array mirrored = numpy::where(p > 1 - edge, 1 - p, p),
              safe = numpy::where(mirrored == 0, 0.5, mirrored);
  const Array w = safe - 0.5, square = w * w;
  const Array middle =
      -(w + w * square * rational(square, kNdtri0Top, kNdtri0Bottom)) * std::sqrt(2 * pi);
  const Array z = numpy::sqrt(-2 * numpy::log(safe)), u = 1 / z;
  const Array tail = z - numpy::log(z) / z -
                     u * numpy::where(z >= 8, rational(u, kNdtri2Top, kNdtri2Bottom),
                                      rational(u, kNdtri1Top, kNdtri1Bottom));
  const Array x = numpy::where(safe > edge, middle, tail),
              signed_ = numpy::where(p > 1 - edge, x, -x);
  return numpy::where(p == 0, -numpy::inf, numpy::where(p == 1, numpy::inf, signed_));
}

/// For h >= 0 and 0 <= a <= 1.
Array owen_by_quadrature(const Array& h, const Array& a) {
  Array sum = filled_like(a, 0);
  for (std::size_t i = 0; i < std::size(kOwenPoints); ++i) {
    const Array r = 1 + a * a * kOwenPoints[i];
    sum = sum + kOwenWeights[i] * (numpy::exp(-0.5 * h * h * r) / r);
  }
  return a * sum;
}

Array owens_t_of(const Array& any_h, const Array& any_a) {
  const double root = std::numbers::sqrt2;
  const Array h = numpy::abs(any_h), a = numpy::abs(any_a), steep = a > 1,
              near_a = numpy::where(steep, 1 / a, a), near_h = numpy::where(steep, a * h, h);
  Array out = owen_by_quadrature(near_h, near_a);
  out = numpy::where(near_h == 0, numpy::arctan(near_a) / (2 * pi), out);
  out =
      numpy::where(near_a == 1, 0.125 * lax::erfc(-near_h / root) * lax::erfc(near_h / root), out);
  const Array x = h / root, ax = a * x, ex = lax::erfc(x), eax = lax::erfc(ax);
  const Array mirrored = numpy::where(a * h <= 0.67, 0.25 - 0.25 * lax::erf(x) * lax::erf(ax),
                                      0.25 * (ex + eax - ex * eax)) -
                         out;
  out = numpy::sign(any_a) * numpy::where(steep, mirrored, out);
  return numpy::where(numpy::isnan(a) | numpy::isnan(h), numpy::nan, out);
}

void require_wide(const char* name, const Array& x) {
  if (x.dtype() != DType::f32 && x.dtype() != DType::f64)
    fail(name, "f32 or f64 is needed, got {}", describe(x.type()));
}

}  // namespace

Array erfcx(const Operand& operand) {
  const Site site(operand);
  const Array x = internal::as_inexact(operand);
  if (is_complex(x.dtype())) return faddeeva(lax::complex(-lax::imag(x), lax::real(x)));
  return wide_function(x, erfcx_of,
                       [](const Array& v, const Array& y) { return 2 * v * y - kTwoByRoot; });
}
Array dawsn(const Operand& operand) {
  const Site site(operand);
  return wide_function(real_floats("dawsn", operand), dawson_of,
                       [](const Array& v, const Array& y) { return 1 - 2 * v * y; });
}
Array wofz(const Operand& operand) {
  const Site site(operand);
  const Array x = internal::as_inexact(operand);
  if (is_complex(x.dtype())) return faddeeva(x);
  const DType real = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Array re = internal::cast(x, {real, false});
  return faddeeva(lax::complex(re, filled_like(re, 0)));
}
Array ndtri(const Operand& p) {
  const Site site(p);
  require_wide("ndtri", p);
  return wide_function(p.array, ndtri_of, [](const Array&, const Array& y) {
    return std::sqrt(2 * pi) * numpy::exp(y * y / 2);
  });
}
Array owens_t(const Operand& left, const Operand& right) {
  const Site site(left);
  const std::vector<Array> both = internal::broadcast_promoted("owens_t", {left, right});
  auto value = [](const Array& h, const Array& a) {
    return as_like(owens_t_of(in_f64(h), in_f64(a)), h);
  };
  auto rule = [](const std::tuple<Array, Array>& primals,
                 const std::tuple<Array, Array>& tangents) {
    const auto& [narrow, other] = primals;
    const Array h = in_f64(narrow), a = in_f64(other), grown = 1 + a * a;
    const Array by_h =
        -numpy::exp(-0.5 * h * h) * lax::erf(a * h / std::numbers::sqrt2) / (2 * std::sqrt(2 * pi));
    const Array by_a = numpy::exp(-0.5 * grown * h * h) / (2 * pi * grown);
    return std::pair(
        as_like(owens_t_of(h, a), narrow),
        as_like(by_h * in_f64(std::get<0>(tangents)) + by_a * in_f64(std::get<1>(tangents)),
                narrow));
  };
  const auto in_f32 = [](const Array& x) {
    return x.dtype() == DType::f64 ? x : internal::cast(x, {DType::f32, x.weak()});
  };
  return custom_jvp(value, rule)(in_f32(real_floats("owens_t", both[0])),
                                 in_f32(real_floats("owens_t", both[1])));
}

}  // namespace strata::scipy::special
