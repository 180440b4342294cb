#include "strata/api/numpy/floating.h"

#include "strata/api/lax/operations.h"
#include "strata/api/lax_elementwise.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {
namespace {

using internal::as_inexact;
using internal::Builder;
using internal::cast;
using internal::describe;
using internal::fail;
using internal::Site;
using internal::strong;
using internal::Values;

/// How a float of 16, 32 or 64 bits is laid out.
struct Layout {
  DType bits;
  int width, mantissa, bias;
};
Layout layout_of(const char* name, DType d) {
  switch (d) {
    case DType::f16: return {DType::i16, 16, 10, 15};
    case DType::bf16: return {DType::i16, 16, 7, 127};
    case DType::f32: return {DType::i32, 32, 23, 127};
    case DType::f64: return {DType::i64, 64, 52, 1023};
    default: fail(name, "floats of 16, 32 or 64 bits are needed, got {}", strata::name(d));
  }
}

/// The bits of x as an integer of its width.
Array bits_of(const Array& x, DType bits) {
  return internal::emit_one(
      {x}, false, [&](Builder& b, const Values& v) { return op::bitcast_convert(b, v[0], bits); });
}
/// Signed integers shifted towards the right, each by as much.
Array right_shifted(const Array& x, const Array& by) {
  return internal::binary("right_shift", x, by, op::shift_right_arithmetic);
}
Array integer(std::int64_t value, DType dtype) { return Array::scalar(value, dtype, false); }

void require_real_float(const char* name, const Array& x) {
  if (is_complex(x.dtype())) fail(name, "real numbers are needed, got {}", describe(x.type()));
}

std::vector<Array> real_pair(const char* name, const Array& x, const Array& y) {
  require_real_float(name, x);
  require_real_float(name, y);
  std::vector<Array> both = internal::broadcast_promoted(name, {x, y});
  return {as_inexact(both[0]), as_inexact(both[1])};
}

}  // namespace

Array isfinite(const Operand& x) {
  Site site(x);
  if (!is_inexact(x->dtype())) return full(x->shape(), true);
  if (is_complex(x->dtype())) return isfinite(real(x)) & isfinite(imag(x));
  return internal::emit_one({x}, false,
                            [](Builder& b, const Values& v) { return op::is_finite(b, v[0]); });
}
Array isnan(const Operand& x) {
  Site site(x);
  return not_equal(x, x);
}
Array isinf(const Operand& x) {
  Site site(x);
  if (!is_inexact(x->dtype())) return full(x->shape(), false);
  if (is_complex(x->dtype())) return isinf(real(x)) | isinf(imag(x));
  return equal(abs(x), inf);
}
Array isneginf(const Operand& x) {
  Site site(x);
  require_real_float("isneginf", x);
  return is_inexact(x->dtype()) ? equal(x, -inf) : full(x->shape(), false);
}
Array isposinf(const Operand& x) {
  Site site(x);
  require_real_float("isposinf", x);
  return is_inexact(x->dtype()) ? equal(x, inf) : full(x->shape(), false);
}

Array signbit(const Operand& x) {
  Site site(x);
  if (is_bool(x->dtype())) return full(x->shape(), false);
  if (!is_inexact(x->dtype())) return less(x, 0);
  const Layout l = layout_of("signbit", x->dtype());
  return less(bits_of(x, l.bits), integer(0, l.bits));
}

Array copysign(const Operand& x, const Operand& y) {
  Site site(x);
  const std::vector<Array> both = real_pair("copysign", x, y);
  const Array magnitude = abs(both[0]);
  return where(signbit(both[1]), -magnitude, magnitude);
}

Array nextafter(const Operand& x, const Operand& y) {
  Site site(x);
  const std::vector<Array> both = real_pair("nextafter", x, y);
  return internal::emit_one(both, both[0].weak(), [](Builder& b, const Values& v) {
    return b.create("chlo.next_after", {v[0], v[1]}).result();
  });
}

Array spacing(const Operand& operand) {
  Site site(operand);
  const Array x = as_inexact(operand);
  const Layout l = layout_of("spacing", x.dtype());
  if (x.dtype() == DType::f16) return strong(nextafter(x, internal::number_like(x, inf)) - x);
  const Array step = nextafter(x, copysign(internal::number_like(x, inf), x)) - x;
  const Array smallest = bits_of(integer(1, l.bits), x.dtype());
  return strong(where(step == 0, copysign(cast(smallest, {x.dtype(), x.weak()}), x), step));
}

std::pair<Array, Array> frexp(const Operand& operand) {
  Site site(operand);
  const Array x = as_inexact(operand);
  const Layout l = layout_of("frexp", x.dtype());
  const Array zero = integer(0, l.bits), bits = bits_of(x, l.bits);
  const std::int64_t exponents = (std::int64_t{1} << (l.width - 1 - l.mantissa)) - 1;
  // Subnormal numbers are made normal by a power of two first.
  const Array raw_exponent =
      right_shifted(bits, integer(l.mantissa, l.bits)) & integer(exponents, l.bits);
  const Array subnormal = raw_exponent == zero;
  const Array scaled = where(subnormal, x * std::ldexp(1.0, l.mantissa + 1), x);
  const Array scaled_bits = bits_of(scaled, l.bits);
  const Array exponent =
      right_shifted(scaled_bits, integer(l.mantissa, l.bits)) & integer(exponents, l.bits);
  const Array of_half = (scaled_bits & integer(~(exponents << l.mantissa), l.bits)) |
                        integer(static_cast<std::int64_t>(l.bias - 1) << l.mantissa, l.bits);
  const Array plain = (x == 0) | ~isfinite(x);
  const Array e = exponent.astype(int32) - (l.bias - 1) - where(subnormal, l.mantissa + 1, 0);
  // Times a power of two rather than the bits themselves, so that there is a derivative.
  const Array one = internal::number_like(scaled, 1),
              down = lax::stop_gradient(
                  where(plain, one, bits_of(of_half, x.dtype()) / where(plain, one, scaled)));
  return {cast(where(plain, x, scaled * down), {x.dtype(), x.weak()}),
          where(plain, zeros_like(e), e)};
}
Array ldexp(const Operand& operand, const Operand& n) {
  Site site(operand);
  if (is_complex(operand->dtype()) || is_inexact(n->dtype()))
    fail("ldexp", "a real number and an integer are needed, got {} and {}",
         describe(operand->type()), describe(n->type()));
  const Array x = as_inexact(operand);
  const Array by = cast(n, {x.dtype(), n->weak()});
  auto [m, e] = frexp(x);
  Array power = cast(e, {x.dtype(), x.weak()}) + by;
  // A power of one more than the last may still give a finite number.
  m = where(power > 0, m * 2, m);
  power = where(power > 0, power - 1, power);
  // A power of 2 by exp2 may be off by a unit; pow is exact there.
  const Array whole = m * numpy::power(internal::number_like(power, 2), power);
  return where(isinf(x) | (x == 0), x, whole);
}

std::pair<Array, Array> modf(const Operand& operand) {
  Site site(operand);
  require_real_float("modf", operand);
  const Array x = as_inexact(operand), whole = where(x >= 0, floor(x), ceil(x));
  return {x - whole, whole};
}

Array heaviside(const Operand& left, const Operand& right) {
  Site site(left);
  const std::vector<Array> both = real_pair("heaviside", left, right);
  const Array &x = both[0], &y = both[1];
  return where(x < 0, internal::number_like(x, 0),
               where(x > 0, internal::number_like(x, 1), where(isnan(x), x, y)));
}

Array nan_to_num(const Operand& x, const NanToNum& options) {
  Site site(x);
  const DType d = x->dtype();
  if (!is_inexact(d)) return x;
  if (is_complex(d))
    return lax::complex(nan_to_num(real(x), options), nan_to_num(imag(x), options));
  auto number = [&](double v) { return Array::scalar(v, d, false); };
  Array out = where(isnan(x), number(options.nan), x);
  out = where(isposinf(out), options.posinf ? number(*options.posinf) : internal::greatest(d), out);
  return where(isneginf(out), options.neginf ? number(*options.neginf) : internal::least(d), out);
}

Array i0(const Operand& x) {
  Site site(x);
  internal::require_real("i0", x);
  const Array real = as_inexact(x);
  return exp(abs(real)) * lax::bessel_i0e(real);
}

}  // namespace strata::numpy
