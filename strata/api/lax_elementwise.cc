#include "strata/api/lax_elementwise.h"

#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/trace/compose.h"

namespace strata::lax {
namespace {

using internal::Binary;
using internal::Builder;
using internal::cast;
using internal::describe;
using internal::fail;
using internal::Site;
using internal::Value;
using internal::Values;

enum class Kind { inexact, floats, numbers, integers, bits };

bool accepts(Kind kind, DType d) {
  switch (kind) {
    case Kind::inexact: return is_inexact(d);
    case Kind::floats: return is_inexact(d) && !is_complex(d);
    case Kind::numbers: return !is_bool(d);
    case Kind::integers: return is_integer(d) && !is_bool(d);
    case Kind::bits: return !is_inexact(d);
  }
  STRATA_UNREACHABLE("kind of numbers");
}

void require(const char* name, Kind kind, const Array& x) {
  static constexpr const char* kWords[] = {"floats", "real floats", "numbers", "integers",
                                           "integers or booleans"};
  if (!accepts(kind, x.dtype()))
    fail(name, "{} are needed, got {}", kWords[static_cast<int>(kind)], describe(x.type()));
}

template <class F>
Array one(const char* name, Kind kind, const Operand& x, F f) {
  Site site(x);
  require(name, kind, x);
  return internal::unary(x, f);
}

/// The same by an operation that notes what was said of its accuracy.
Array accurate(const char* name, Kind kind, const Operand& x, internal::Unary f,
               const Accuracy& accuracy) {
  if (accuracy.text().empty()) return one(name, kind, x, f);
  Site site(x);
  require(name, kind, x);
  return internal::emit_one({x}, x->weak(), [&](Builder& b, const Values& v) {
    Value* out = f(b, v[0]);
    out->op()->attrs.set("result_accuracy", ir::Opaque{accuracy.text()});
    return out;
  });
}

/// Operands of one dtype and shape; C++ scalars take on the other operand's.
Array two(const char* name, Kind kind, const Operand& x, const Operand& y, Binary f,
          bool predicate = false) {
  Site site(x);
  Array a = x, b = y;
  const bool one_kind = is_inexact(a.dtype()) == is_inexact(b.dtype());  // 3 is no float here
  if (one_kind && a.weak() && !b.weak() && a.ndim() == 0) a = cast(a, {b.dtype(), false});
  if (one_kind && b.weak() && !a.weak() && b.ndim() == 0) b = cast(b, {a.dtype(), false});
  if (a.dtype() != b.dtype())
    fail(name, "operands have different dtypes: {} and {}", describe(a.type()), describe(b.type()));
  if (a.shape() != b.shape() && a.ndim() > 0 && b.ndim() > 0)
    fail(name, "operands have different shapes: {} and {}", describe(a.type()), describe(b.type()));
  require(name, kind, a);
  return internal::binary(name, a, b, f, {.predicate = predicate});
}

template <const char* operation>
Value* named(Builder& b, Value* x, Value* y) {
  return b.create(operation, {x, y}).result();
}
constexpr char kNextAfter[] = "chlo.next_after", kPolygamma[] = "chlo.polygamma",
               kZeta[] = "chlo.zeta", kMulHi[] = "chlo.mulhi";

template <const char* direction>
Value* compare(Builder& b, Value* x, Value* y) {
  return op::compare(b, x, y, direction);
}
constexpr char kEQ[] = "EQ", kNE[] = "NE", kLT[] = "LT", kLE[] = "LE", kGT[] = "GT", kGE[] = "GE";

Array comparison(const char* name, const Operand& x, const Operand& y, Binary f) {
  Site site(x);
  if (is_bool(x->dtype())) return internal::binary(name, x, y, f, {.predicate = true});
  return two(name, Kind::numbers, x, y, f, true);
}

}  // namespace

Array acos(const Operand& x) { return one("acos", Kind::inexact, x, "chlo.acos"); }
Array acosh(const Operand& x) { return one("acosh", Kind::inexact, x, "chlo.acosh"); }
Array asin(const Operand& x) { return one("asin", Kind::inexact, x, "chlo.asin"); }
Array asinh(const Operand& x) { return one("asinh", Kind::inexact, x, "chlo.asinh"); }
Array atan(const Operand& x) { return one("atan", Kind::inexact, x, "chlo.atan"); }
Array atanh(const Operand& x) { return one("atanh", Kind::inexact, x, "chlo.atanh"); }
Array cbrt(const Operand& x, const Accuracy& accuracy) {
  return accurate("cbrt", Kind::floats, x, op::cbrt, accuracy);
}
Array cos(const Operand& x, const Accuracy& accuracy) {
  return accurate("cos", Kind::inexact, x, op::cos, accuracy);
}
Array cosh(const Operand& x) { return one("cosh", Kind::inexact, x, "chlo.cosh"); }
Array exp(const Operand& x, const Accuracy& accuracy) {
  return accurate("exp", Kind::inexact, x, op::exp, accuracy);
}
Array exp2(const Operand& x, const Accuracy&) {
  Site site(x);
  require("exp2", Kind::inexact, x);
  return numpy::exp2(x);
}
Array expm1(const Operand& x, const Accuracy& accuracy) {
  return accurate("expm1", Kind::inexact, x, op::expm1, accuracy);
}
Array log(const Operand& x, const Accuracy& accuracy) {
  return accurate("log", Kind::inexact, x, op::log, accuracy);
}
Array log1p(const Operand& x, const Accuracy& accuracy) {
  return accurate("log1p", Kind::inexact, x, op::log1p, accuracy);
}
Array logistic(const Operand& x, const Accuracy& accuracy) {
  return accurate("logistic", Kind::inexact, x, op::logistic, accuracy);
}
Array reciprocal(const Operand& x) {
  Site site(x);
  require("reciprocal", Kind::inexact, x);
  return numpy::reciprocal(x);
}
Array rsqrt(const Operand& x, const Accuracy& accuracy) {
  return accurate("rsqrt", Kind::inexact, x, op::rsqrt, accuracy);
}
Array sin(const Operand& x, const Accuracy& accuracy) {
  return accurate("sin", Kind::inexact, x, op::sin, accuracy);
}
Array sinh(const Operand& x) { return one("sinh", Kind::inexact, x, "chlo.sinh"); }
Array sqrt(const Operand& x, const Accuracy& accuracy) {
  return accurate("sqrt", Kind::inexact, x, op::sqrt, accuracy);
}
Array tan(const Operand& x, const Accuracy& accuracy) {
  return accurate("tan", Kind::inexact, x, op::tan, accuracy);
}
Array tanh(const Operand& x, const Accuracy& accuracy) {
  return accurate("tanh", Kind::inexact, x, op::tanh, accuracy);
}

Array bessel_i0e(const Operand& x) {
  return one("bessel_i0e", Kind::floats, x, "strata.bessel_i0e");
}
Array bessel_i1e(const Operand& x) { return one("bessel_i1e", Kind::floats, x, "chlo.bessel_i1e"); }
Array ceil(const Operand& x) { return one("ceil", Kind::floats, x, op::ceil); }
Array digamma(const Operand& x) { return one("digamma", Kind::floats, x, "chlo.digamma"); }
Array erf(const Operand& x) { return one("erf", Kind::floats, x, op::erf); }
Array erfc(const Operand& x) { return one("erfc", Kind::floats, x, "chlo.erfc"); }
Array floor(const Operand& x) { return one("floor", Kind::floats, x, op::floor); }
Array is_finite(const Operand& x) {
  Site site(x);
  require("is_finite", Kind::floats, x);
  return internal::emit_one({x}, x->weak(),
                            [](Builder& b, const Values& v) { return op::is_finite(b, v[0]); });
}
Array lgamma(const Operand& x) { return one("lgamma", Kind::floats, x, "chlo.lgamma"); }
Array round(const Operand& x, RoundingMethod method) {
  return one(
      "round", Kind::floats, x,
      method == RoundingMethod::AWAY_FROM_ZERO ? op::round_nearest_afz : op::round_nearest_even);
}
Array reduce_precision(const Operand& x, std::int64_t exponent_bits, std::int64_t mantissa_bits) {
  Site site(x);
  require("reduce_precision", Kind::floats, x);
  return internal::emit_one({x}, x->weak(), [&](Builder& b, const Values& v) {
    return b
        .create("stablehlo.reduce_precision", v,
                {{"exponent_bits", exponent_bits}, {"mantissa_bits", mantissa_bits}})
        .result();
  });
}

Array abs(const Operand& x) {
  Site site(x);
  require("abs", Kind::numbers, x);
  if (is_unsigned(x->dtype()))
    fail("abs", "unsigned integers have no sign, got {}", describe(x->type()));
  return numpy::abs(x);
}
Array neg(const Operand& x) { return one("neg", Kind::numbers, x, op::neg); }
Array sign(const Operand& x) {
  Site site(x);
  require("sign", Kind::numbers, x);
  return numpy::sign(x);
}
Array square(const Operand& x) {
  Site site(x);
  require("square", Kind::numbers, x);
  return numpy::square(x);
}
Array add(const Operand& x, const Operand& y) { return two("add", Kind::numbers, x, y, op::add); }
Array div(const Operand& x, const Operand& y) { return two("div", Kind::numbers, x, y, op::div); }
Array max(const Operand& x, const Operand& y) {
  Site site(x);
  return is_bool(x->dtype()) ? numpy::logical_or(x, y) : two("max", Kind::numbers, x, y, op::max);
}
Array min(const Operand& x, const Operand& y) {
  Site site(x);
  return is_bool(x->dtype()) ? numpy::logical_and(x, y) : two("min", Kind::numbers, x, y, op::min);
}
Array mul(const Operand& x, const Operand& y) { return two("mul", Kind::numbers, x, y, op::mul); }
Array pow(const Operand& x, const Operand& y) {
  Site site(x);
  // An integer exponent keeps the base's dtype.
  if (is_inexact(x->dtype()) && is_integer(y->dtype()))
    return two("pow", Kind::inexact, x, cast(y, {x->dtype(), x->weak()}), op::pow);
  return two("pow", Kind::inexact, x, y, op::pow);
}
Array rem(const Operand& x, const Operand& y) { return two("rem", Kind::numbers, x, y, op::rem); }
Array sub(const Operand& x, const Operand& y) { return two("sub", Kind::numbers, x, y, op::sub); }
Array atan2(const Operand& x, const Operand& y) {
  return two("atan2", Kind::floats, x, y, op::atan2);
}
Array nextafter(const Operand& x, const Operand& y) {
  return two("nextafter", Kind::floats, x, y, named<kNextAfter>);
}
Array polygamma(const Operand& n, const Operand& x) {
  return two("polygamma", Kind::floats, n, x, named<kPolygamma>);
}
Array zeta(const Operand& x, const Operand& q) {
  return two("zeta", Kind::floats, x, q, named<kZeta>);
}

Array eq(const Operand& x, const Operand& y) { return comparison("eq", x, y, compare<kEQ>); }
Array ne(const Operand& x, const Operand& y) { return comparison("ne", x, y, compare<kNE>); }
Array lt(const Operand& x, const Operand& y) { return comparison("lt", x, y, compare<kLT>); }
Array le(const Operand& x, const Operand& y) { return comparison("le", x, y, compare<kLE>); }
Array gt(const Operand& x, const Operand& y) { return comparison("gt", x, y, compare<kGT>); }
Array ge(const Operand& x, const Operand& y) { return comparison("ge", x, y, compare<kGE>); }

Array bitwise_and(const Operand& x, const Operand& y) {
  return two("bitwise_and", Kind::bits, x, y, op::and_);
}
Array bitwise_not(const Operand& x) { return one("bitwise_not", Kind::bits, x, op::not_); }
Array bitwise_or(const Operand& x, const Operand& y) {
  return two("bitwise_or", Kind::bits, x, y, op::or_);
}
Array bitwise_xor(const Operand& x, const Operand& y) {
  return two("bitwise_xor", Kind::bits, x, y, op::xor_);
}
Array clz(const Operand& x) {
  return one("clz", Kind::integers, x, "stablehlo.count_leading_zeros");
}
Array mulhi(const Operand& x, const Operand& y) {
  return two("mulhi", Kind::integers, x, y, named<kMulHi>);
}
Array population_count(const Operand& x) {
  return one("population_count", Kind::integers, x, op::popcnt);
}
Array shift_left(const Operand& x, const Operand& y) {
  return two("shift_left", Kind::integers, x, y, op::shift_left);
}
Array shift_right_arithmetic(const Operand& x, const Operand& y) {
  return two("shift_right_arithmetic", Kind::integers, x, y, op::shift_right_arithmetic);
}
Array shift_right_logical(const Operand& x, const Operand& y) {
  return two("shift_right_logical", Kind::integers, x, y, op::shift_right_logical);
}

Array complex(const Operand& re, const Operand& im) {
  return two("complex", Kind::floats, re, im, op::complex);
}
Array real(const Operand& x) {
  Site site(x);
  if (!is_complex(x->dtype()))
    fail("real", "complex numbers are needed, got {}", describe(x->type()));
  return numpy::real(x);
}
Array imag(const Operand& x) {
  Site site(x);
  if (!is_complex(x->dtype()))
    fail("imag", "complex numbers are needed, got {}", describe(x->type()));
  return numpy::imag(x);
}
/// Of real numbers, too, a complex one.
Array conj(const Operand& x) {
  Site site(x);
  require("conj", Kind::inexact, x);
  return is_complex(x->dtype()) ? numpy::conj(x) : complex(x, numpy::zeros_like(x));
}

Array integer_pow(const Operand& x, std::int64_t y) { return numpy::power(x, Operand(y, x.where)); }

Array convert_element_type(const Operand& x, DType dtype) { return astype(x, dtype); }

namespace {

/// Giles' polynomials in w = -log1p(-x^2), f32 coefficients, as the CHLO decomposition has them.
Array erf_inv_f32(const Array& x) {
  static constexpr float small[] = {2.81022636e-08f,  3.43273939e-07f, -3.5233877e-06f,
                                    -4.39150654e-06f, 0.00021858087f,  -0.00125372503f,
                                    -0.00417768164f,  0.246640727f,    1.50140941f};
  static constexpr float large[] = {-0.000200214257f, 0.000100950558f, 0.00134934322f,
                                    -0.00367342844f,  0.00573950773f,  -0.0076224613f,
                                    0.00943887047f,   1.00167406f,     2.83297682f};
  const Array w = -numpy::log1p(-x * x);
  const Array is_small = w < 5;
  const Array t = where(is_small, w - 2.5,
                        numpy::sqrt(where(is_small, 5, w)) - 3);  // no derivative of sqrt at 0
  Array p = where(is_small, small[0], large[0]);
  for (std::size_t i = 1; i < std::size(small); ++i)
    p = where(is_small, small[i], large[i]) + p * t;
  return where(numpy::abs(x) == 1, numpy::sign(x) * inf, p * x);
}
Array erf_inv_f64(const Array& x) {
  static constexpr double small[] = {
      -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,
      1.115787767802518096e-17,   -1.333171662854620906e-16,  2.0972767875968561637e-17,
      6.6376381343583238325e-15,  -4.0545662729752068639e-14, -8.1519341976054721522e-14,
      2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
      1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08,
      4.2347877827932403518e-07,  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
      0.0001867342080340571352,   -0.00074070253416626697512, -0.0060336708714301490533,
      0.24015818242558961693,     1.6536545626831027356};
  static constexpr double middle[] = {
      2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
      1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
      2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
      6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
      0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
      -0.0037512085075692412107, 0.005370914553590063617,   1.0052589676941592334,
      3.0838856104922207635};
  static constexpr double large[] = {
      -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
      -3.7894654401267369937e-09, 7.6157012080783393804e-09,  -1.4960026627149240478e-08,
      2.9147953450901080826e-08,  -6.7711997758452339498e-08, 2.2900482228026654717e-07,
      -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
      7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026,
      1.0103004648645343977,      4.8499064014085844221};
  const Array w = -numpy::log1p(-x * x);
  auto polynomial = [](const Array& t, std::span<const double> c) {
    Array p = numpy::full_like(t, c[0]);
    for (std::size_t i = 1; i < c.size(); ++i) p = c[i] + p * t;
    return p;
  };
  const Array is_small = w < 6.25;
  const Array root = numpy::sqrt(where(is_small, 6.25, w));  // no derivative of sqrt at 0
  const Array p =
      where(is_small, polynomial(w - 3.125, small),
            where(w < 16, polynomial(root - 3.25, middle), polynomial(root - 5, large)));
  return where(numpy::abs(x) == 1, numpy::sign(x) * inf, p * x);
}

}  // namespace

Array erf_inv(const Operand& x) {
  Site site(x);
  const WeakDType type{x->dtype(), x->weak()};
  if (!is_inexact(type.dtype) || is_complex(type.dtype))
    fail("erf_inv", "real numbers are needed, got {}", describe(x->type()));
  if (type.dtype == DType::f64) return erf_inv_f64(cast(x, type));
  return cast(erf_inv_f32(cast(x, {DType::f32, type.weak})), type);
}

}  // namespace strata::lax
