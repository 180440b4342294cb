// Elementwise functions of numpy.h and the operators.
#include <cmath>
#include <numbers>

#include "strata/api/compose.h"
#include "strata/api/lax.h"

namespace strata {
namespace {

using internal::binary;
using internal::Binary;
using internal::Builder;
using internal::cast;
using internal::fail;
using internal::inexact;
using internal::Site;
using internal::unary;
using internal::Unary;
using internal::Value;
using internal::Values;

/// x as a float array (weakness kept).
Array as_inexact(const Array& x) { return cast(x, inexact({x.dtype(), x.weak()})); }

/// A function of real analysis: integers become floats.
Array analytic(const Operand& x, Unary f) {
  Site site(x);
  return unary(as_inexact(x), f);
}

/// Rounding: integers are what they are.
Array rounding(const Operand& x, Unary f) {
  Site site(x);
  return is_inexact(x->dtype()) ? unary(x, f) : x.array;
}

template <const char* direction>
Value* compare(Builder& b, Value* x, Value* y) { return op::compare(b, x, y, direction); }
constexpr char kEQ[] = "EQ", kNE[] = "NE", kLT[] = "LT", kLE[] = "LE", kGT[] = "GT", kGE[] = "GE";

Array comparison(const char* name, const Operand& x, const Operand& y, Binary f) {
  Site site(x);
  return binary(name, x, y, f, {.predicate = true});
}

void require_integers(const char* name, const Array& x) {
  if (is_inexact(x.dtype())) fail(name, "operands are integers or booleans, got {}", internal::describe(x.type()));
}

Array bitwise(const char* name, const Operand& x, const Operand& y, Binary f) {
  Site site(x);
  require_integers(name, x);
  require_integers(name, y);
  return binary(name, x, y, f);
}

Array as_bool(const Array& x) { return is_bool(x.dtype()) ? x : not_equal(x, 0); }

Array logical(const char* name, const Operand& x, const Operand& y, Binary f) {
  Site site(x);
  return binary(name, as_bool(x), as_bool(y), f);
}

/// Addition of booleans is "or", their product "and".
template <Binary numbers, Binary booleans>
Value* arithmetic(Builder& b, Value* x, Value* y) { return is_bool(x->dtype()) ? booleans(b, x, y) : numbers(b, x, y); }

Value* python_remainder(Builder& b, Value* x, Value* y) {
  Value* r = op::rem(b, x, y);
  if (is_unsigned(r->dtype())) return r;
  Value* zero = op::zeros_like(b, r);
  Value* signs_differ = op::compare(b, op::compare(b, r, zero, "LT"), op::compare(b, y, zero, "LT"), "NE");
  Value* adjust = op::and_(b, signs_differ, op::compare(b, r, zero, "NE"));
  return op::select(b, adjust, op::add(b, r, y), r);
}

Value* floor_div(Builder& b, Value* x, Value* y) {
  if (is_unsigned(x->dtype())) return op::div(b, x, y);
  Value* one = op::full_like(b, x, 1);
  if (is_integer(x->dtype())) {
    Value* q = op::div(b, x, y);
    Value* zero = op::zeros_like(b, x);
    Value* inexact_quotient = op::compare(b, op::rem(b, x, y), zero, "NE");
    Value* signs_differ = op::compare(b, op::sign(b, x), op::sign(b, y), "NE");
    return op::select(b, op::and_(b, signs_differ, inexact_quotient), op::sub(b, q, one), q);
  }
  Value* r = op::rem(b, x, y);
  Value* q = op::div(b, op::sub(b, x, r), y);
  Value* zero = op::zeros_like(b, r);
  Value* adjust = op::and_(b, op::compare(b, r, zero, "NE"), op::compare(b, op::sign(b, y), op::sign(b, r), "NE"));
  return op::round_nearest_even(b, op::select(b, adjust, op::sub(b, q, one), q));
}

Value* multiply_self(Builder& b, Value* x) { return is_bool(x->dtype()) ? x : op::mul(b, x, x); }

/// x to an integer power by repeated squaring.
Value* integer_power(Builder& b, Value* x, std::int64_t n) {
  if (n == 0) return op::full_like(b, x, 1);
  std::uint64_t rest = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
  Value* result = nullptr;
  for (Value* square = x; rest > 0;) {
    if (rest & 1) result = result ? op::mul(b, result, square) : square;
    rest >>= 1;
    if (rest > 0) square = op::mul(b, square, square);
  }
  return n < 0 ? op::div(b, op::full_like(b, x, 1), result) : result;
}

/// The C++ integer that y was made from, when it is one.
std::optional<std::int64_t> integer_scalar(const Array& y) {
  if (!y.state()->scalar) return std::nullopt;
  const std::int64_t* n = std::get_if<std::int64_t>(&*y.state()->scalar);
  return n ? std::optional(*n) : std::nullopt;
}

}  // namespace

Array abs(const Operand& x) { Site site(x); return is_bool(x->dtype()) || is_unsigned(x->dtype()) ? x.array : unary(x, op::abs); }
Array cbrt(const Operand& x) { return analytic(x, op::cbrt); }
Array ceil(const Operand& x) { return rounding(x, op::ceil); }
Array cos(const Operand& x) { return analytic(x, op::cos); }
Array erf(const Operand& x) { return analytic(x, op::erf); }
Array exp(const Operand& x) { return analytic(x, op::exp); }
Array expm1(const Operand& x) { return analytic(x, op::expm1); }
Array floor(const Operand& x) { return rounding(x, op::floor); }
Array log(const Operand& x) { return analytic(x, op::log); }
Array log1p(const Operand& x) { return analytic(x, op::log1p); }
Array round(const Operand& x) { return rounding(x, op::round_nearest_even); }
Array sin(const Operand& x) { return analytic(x, op::sin); }
Array sqrt(const Operand& x) { return analytic(x, op::sqrt); }
Array tan(const Operand& x) { return analytic(x, op::tan); }
Array tanh(const Operand& x) { return analytic(x, op::tanh); }
Array sign(const Operand& x) {
  Site site(x);
  return is_unsigned(x->dtype()) ? astype(x->astype(bool_), x->dtype()) : unary(x, op::sign);
}
Array square(const Operand& x) { Site site(x); return unary(x, multiply_self); }

Array exp2(const Operand& x) { Site site(x); return exp(as_inexact(x) * std::numbers::ln2); }
Array log2(const Operand& x) { Site site(x); return log(x) / std::numbers::ln2; }
Array log10(const Operand& x) { Site site(x); return log(x) / std::numbers::ln10; }
Array sinh(const Operand& x) {
  Site site(x);
  const Array e = expm1(abs(x));  // exact near zero, where exp(x) - exp(-x) cancels
  return sign(as_inexact(x)) * 0.5 * (e + e / (e + 1));
}
Array cosh(const Operand& x) {
  Site site(x);
  const Array e = exp(abs(as_inexact(x)) - std::numbers::ln2);  // half of exp(|x|): no overflow before the result's own
  return e + 0.25 / e;
}

Array negative(const Operand& x) {
  Site site(x);
  if (is_bool(x->dtype())) fail("negative", "a boolean has no negative; use logical_not or ~");
  return unary(x, op::neg);
}
Array invert(const Operand& x) {
  Site site(x);
  require_integers("invert", x);
  return unary(x, op::not_);
}
Array logical_not(const Operand& x) { Site site(x); return unary(as_bool(x), op::not_); }
Array reciprocal(const Operand& x) { Site site(x); return 1 / Operand(as_inexact(x)); }
Array isfinite(const Operand& x) {
  Site site(x);
  if (!is_inexact(x->dtype())) return full(x->shape(), true);
  return internal::emit_one({x}, false, [](Builder& b, const Values& v) { return op::is_finite(b, v[0]); });
}
Array isnan(const Operand& x) { Site site(x); return not_equal(x, x); }
Array isinf(const Operand& x) {
  Site site(x);
  if (!is_inexact(x->dtype())) return full(x->shape(), false);
  return equal(abs(x), inf);
}

Array add(const Operand& x, const Operand& y) { Site site(x); return binary("add", x, y, arithmetic<op::add, op::or_>); }
Array subtract(const Operand& x, const Operand& y) {
  Site site(x);
  if (is_bool(x->dtype()) && is_bool(y->dtype())) fail("subtract", "booleans have no difference; use logical_xor or ^");
  return binary("subtract", x, y, op::sub);
}
Array multiply(const Operand& x, const Operand& y) { Site site(x); return binary("multiply", x, y, arithmetic<op::mul, op::and_>); }
Array divide(const Operand& x, const Operand& y) { Site site(x); return binary("divide", x, y, op::div, {.to_inexact = true}); }
Array floor_divide(const Operand& x, const Operand& y) { Site site(x); return binary("floor_divide", x, y, floor_div); }
Array remainder(const Operand& x, const Operand& y) { Site site(x); return binary("remainder", x, y, python_remainder); }
Array mod(const Operand& x, const Operand& y) { return remainder(x, y); }
Array power(const Operand& x, const Operand& y) {
  Site site(x);
  if (std::optional<std::int64_t> n = integer_scalar(y)) {
    if (*n < 0 && !is_inexact(x->dtype())) fail("power", "integers cannot be raised to the negative power {}", *n);
    return internal::emit_one({x}, x->weak(), [&](Builder& b, const Values& v) { return integer_power(b, v[0], *n); });
  }
  return binary("power", x, y, op::pow);
}
Array maximum(const Operand& x, const Operand& y) { Site site(x); return binary("maximum", x, y, op::max); }
Array minimum(const Operand& x, const Operand& y) { Site site(x); return binary("minimum", x, y, op::min); }
Array arctan2(const Operand& y, const Operand& x) { Site site(y); return binary("arctan2", y, x, op::atan2, {.to_inexact = true}); }
Array hypot(const Operand& x, const Operand& y) {
  Site site(x);
  const Array a = abs(as_inexact(x)), b = abs(as_inexact(y)), large = maximum(a, b);
  const Array ratio = minimum(a, b) / where(large == 0, ones_like(large), large);
  return where(large == 0, zeros_like(large), large * sqrt(1 + square(ratio)));
}
Array logaddexp(const Operand& x, const Operand& y) {
  Site site(x);
  const Array a = as_inexact(x), b = as_inexact(y), top = lax::stop_gradient(maximum(a, b));
  const Array safe = where(isfinite(top), top, zeros_like(top));
  return log(exp(a - safe) + exp(b - safe)) + safe;
}

Array equal(const Operand& x, const Operand& y) { return comparison("equal", x, y, compare<kEQ>); }
Array not_equal(const Operand& x, const Operand& y) { return comparison("not_equal", x, y, compare<kNE>); }
Array less(const Operand& x, const Operand& y) { return comparison("less", x, y, compare<kLT>); }
Array less_equal(const Operand& x, const Operand& y) { return comparison("less_equal", x, y, compare<kLE>); }
Array greater(const Operand& x, const Operand& y) { return comparison("greater", x, y, compare<kGT>); }
Array greater_equal(const Operand& x, const Operand& y) { return comparison("greater_equal", x, y, compare<kGE>); }
Array logical_and(const Operand& x, const Operand& y) { return logical("logical_and", x, y, op::and_); }
Array logical_or(const Operand& x, const Operand& y) { return logical("logical_or", x, y, op::or_); }
Array logical_xor(const Operand& x, const Operand& y) { return logical("logical_xor", x, y, op::xor_); }
Array bitwise_and(const Operand& x, const Operand& y) { return bitwise("bitwise_and", x, y, op::and_); }
Array bitwise_or(const Operand& x, const Operand& y) { return bitwise("bitwise_or", x, y, op::or_); }
Array bitwise_xor(const Operand& x, const Operand& y) { return bitwise("bitwise_xor", x, y, op::xor_); }
Array left_shift(const Operand& x, const Operand& y) { return bitwise("left_shift", x, y, op::shift_left); }
Array right_shift(const Operand& x, const Operand& y) {
  return bitwise("right_shift", x, y, [](Builder& b, Value* v, Value* n) {
    return is_unsigned(v->dtype()) ? op::shift_right_logical(b, v, n) : op::shift_right_arithmetic(b, v, n);
  });
}

Array clip(const Operand& x, const Operand& low, const Operand& high) { Site site(x); return minimum(maximum(x, low), high); }

Array where(const Operand& condition, const Operand& x, const Operand& y) {
  Site site(condition);
  const Array branches[] = {x.array, y.array};
  const WeakDType type = internal::promoted("where", branches);
  const Array all[] = {condition.array, x.array, y.array};
  const Shape shape = internal::broadcast_shapes("where", all);
  const Array operands[] = {as_bool(condition), cast(x, type), cast(y, type)};
  return internal::emit_one(operands, type.weak, [&](Builder& b, const Values& v) {
    Value* predicate = v[0]->rank() == 0 ? v[0] : op::broadcast_to(b, v[0], shape);
    return op::select(b, predicate, op::broadcast_to(b, v[1], shape), op::broadcast_to(b, v[2], shape));
  });
}

Array astype(const Operand& x, DType dtype) {
  Site site(x);
  const DType to = canonical(dtype, x64_enabled());
  if (is_bool(to) && !is_bool(x->dtype())) return not_equal(x, 0);
  return cast(x, {to, false});
}

Array allclose(const Operand& x, const Operand& y, double rtol, double atol) {
  Site site(x);
  return all(logical_or(equal(x, y), less_equal(abs(x.array - y.array), atol + rtol * abs(y))));
}
Array array_equal(const Operand& x, const Operand& y) {
  Site site(x);
  if (x->shape() != y->shape()) return Array::scalar(false);
  return all(equal(x, y));
}

Array operator+(const Operand& x, const Operand& y) { return add(x, y); }
Array operator-(const Operand& x, const Operand& y) { return subtract(x, y); }
Array operator*(const Operand& x, const Operand& y) { return multiply(x, y); }
Array operator/(const Operand& x, const Operand& y) { return divide(x, y); }
Array operator%(const Operand& x, const Operand& y) { return remainder(x, y); }
Array operator-(const Operand& x) { return negative(x); }
Array operator+(const Operand& x) { return x.array; }
Array operator==(const Operand& x, const Operand& y) { return equal(x, y); }
Array operator!=(const Operand& x, const Operand& y) { return not_equal(x, y); }
Array operator<(const Operand& x, const Operand& y) { return less(x, y); }
Array operator<=(const Operand& x, const Operand& y) { return less_equal(x, y); }
Array operator>(const Operand& x, const Operand& y) { return greater(x, y); }
Array operator>=(const Operand& x, const Operand& y) { return greater_equal(x, y); }
Array operator&(const Operand& x, const Operand& y) { return bitwise_and(x, y); }
Array operator|(const Operand& x, const Operand& y) { return bitwise_or(x, y); }
Array operator^(const Operand& x, const Operand& y) { return bitwise_xor(x, y); }
Array operator~(const Operand& x) { return invert(x); }
Array operator<<(const Operand& x, const Operand& y) { return left_shift(x, y); }
Array operator>>(const Operand& x, const Operand& y) { return right_shift(x, y); }

Array Array::astype(DType dtype, std::source_location where) const { return strata::astype(Operand(*this, where), dtype); }

}  // namespace strata
