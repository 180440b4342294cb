// Elementwise functions of numpy.h and the operators.
#include "strata/api/numpy/elementwise.h"

#include <cmath>
#include <numbers>

#include "strata/api/numpy/shape/creation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"
#include "strata/api/trace/eager.h"

namespace strata::numpy {
namespace {

using internal::as_inexact;
using internal::binary;
using internal::Binary;
using internal::Builder;
using internal::cast;
using internal::EagerKey;
using internal::emit_known;
using internal::fail;
using internal::inexact;
using internal::Site;
using internal::strong;
using internal::unary;
using internal::Unary;
using internal::Value;
using internal::Values;

/// A function of real analysis: integers become floats.
Array analytic(const Operand& x, Unary f) {
  Site site(x);
  return unary(as_inexact(x), f);
}

/// Rounding: integers are what they are.
Array rounding(const char* name, const Operand& x, Unary f) {
  Site site(x);
  if (is_complex(x->dtype()))
    fail(name, "complex numbers have no order, got {}", internal::describe(x->type()));
  return is_inexact(x->dtype()) ? unary(x, f) : x.array;
}

template <const char* direction>
Value* compare(Builder& b, Value* x, Value* y) {
  return op::compare(b, x, y, direction);
}
constexpr char kEQ[] = "EQ", kNE[] = "NE", kLT[] = "LT", kLE[] = "LE", kGT[] = "GT", kGE[] = "GE";

Array comparison(const char* name, const Operand& x, const Operand& y, Binary f) {
  Site site(x);
  return binary(name, x, y, f, {.predicate = true});
}

Array as_bool(const Array& x) { return is_bool(x.dtype()) ? x : not_equal(x, 0); }

Array logical(const char* name, const Operand& x, const Operand& y, Binary f) {
  Site site(x);
  return binary(name, as_bool(x), as_bool(y), f);
}

/// Addition of booleans is "or", their product "and".
template <Binary numbers, Binary booleans>
Value* arithmetic(Builder& b, Value* x, Value* y) {
  return is_bool(x->dtype()) ? booleans(b, x, y) : numbers(b, x, y);
}

/// The remainder with the sign of y. Of integers by 0 it is 0, as by 1.
Value* python_remainder(Builder& b, Value* x, Value* y) {
  if (is_integer(x->dtype()))
    y = op::select(b, op::compare(b, y, op::zeros_like(b, y), "EQ"), op::full_like(b, y, 1), y);
  Value* r = op::rem(b, x, y);
  if (is_unsigned(r->dtype())) return r;
  Value* zero = op::zeros_like(b, r);
  Value* signs_differ =
      op::compare(b, op::compare(b, r, zero, "LT"), op::compare(b, y, zero, "LT"), "NE");
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
  Value* zero = op::zeros_like(b, r);
  // By 0 there is no remainder to take off, and the quotient is infinite.
  Value* q = op::div(b, op::select(b, op::compare(b, y, zero, "EQ"), x, op::sub(b, x, r)), y);
  Value* adjust = op::and_(b, op::compare(b, r, zero, "NE"),
                           op::compare(b, op::sign(b, y), op::sign(b, r), "NE"));
  return op::round_nearest_even(b, op::select(b, adjust, op::sub(b, q, one), q));
}

Value* multiply_self(Builder& b, Value* x) { return op::mul(b, x, x); }

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

/// Integers to powers that are not known: by squaring, six bits of the exponent, with which every
/// base above 1 overflows.
Array integer_power_of(Array x, Array y) {
  const Array one = ones_like(x);
  Array power = where((x == 0) & (y != 0), zeros_like(x), one);
  for (int bit = 0; bit < 6; ++bit) {
    power = where((y & one) != 0, power * x, power);
    x = x * x;
    y = binary("shift_right_logical", y, one, op::shift_right_logical);
  }
  return power;
}

/// Booleans as integers.
Array numeric(const Array& x) { return is_bool(x.dtype()) ? cast(x, {DType::i32, x.weak()}) : x; }
bool both_bool(const Array& x, const Array& y) { return is_bool(x.dtype()) && is_bool(y.dtype()); }

/// The C++ integer that y was made from, when it is one.
std::optional<std::int64_t> integer_scalar(const Array& y) {
  if (!y.state()->scalar) return std::nullopt;
  const std::int64_t* n = std::get_if<std::int64_t>(&*y.state()->scalar);
  return n ? std::optional(*n) : std::nullopt;
}

}  // namespace

Array abs(const Operand& x) {
  Site site(x);
  if (is_bool(x->dtype()) || is_unsigned(x->dtype())) return x;
  return internal::emit_one({x}, x->weak(),
                            [](Builder& b, const Values& v) { return op::abs(b, v[0]); });
}
Array fabs(const Operand& x) {
  Site site(x);
  internal::require_real("fabs", x);
  return abs(as_inexact(x));
}
Array positive(const Operand& x) {
  Site site(x);
  return x;
}
Array cbrt(const Operand& x) { return analytic(x, op::cbrt); }
Array ceil(const Operand& x) { return rounding("ceil", x, op::ceil); }
Array exp(const Operand& x) { return analytic(x, op::exp); }
Array expm1(const Operand& x) { return analytic(x, op::expm1); }
Array floor(const Operand& x) { return rounding("floor", x, op::floor); }
Array log(const Operand& x) { return analytic(x, op::log); }
Array log1p(const Operand& x) { return analytic(x, op::log1p); }
Array sqrt(const Operand& x) { return analytic(x, op::sqrt); }
Array sign(const Operand& x) {
  Site site(x);
  if (is_bool(x->dtype())) fail("sign", "a boolean has no sign");
  return is_unsigned(x->dtype()) ? astype(x->astype(bool_), x->dtype()) : unary(x, op::sign);
}
Array square(const Operand& x) {
  Site site(x);
  return unary(numeric(x), multiply_self);
}

Array exp2(const Operand& x) {
  Site site(x);
  return exp(as_inexact(x) * std::numbers::ln2);
}
// Strongly typed: upstream divides by a constant of the dtype.
Array log2(const Operand& x) {
  Site site(x);
  return strong(log(x) / std::numbers::ln2);
}
Array log10(const Operand& x) {
  Site site(x);
  return strong(log(x) / std::numbers::ln10);
}

Array negative(const Operand& x) {
  Site site(x);
  if (is_bool(x->dtype())) fail("negative", "a boolean has no negative; use logical_not or ~");
  return unary(x, op::neg);
}
Array logical_not(const Operand& x) {
  Site site(x);
  return unary(as_bool(x), op::not_);
}
Array reciprocal(const Operand& x) {
  Site site(x);
  return 1 / Operand(as_inexact(x));
}

Array add(const Operand& x, const Operand& y) {
  Site site(x);
  return binary("add", x, y, arithmetic<op::add, op::or_>);
}
Array subtract(const Operand& x, const Operand& y) {
  Site site(x);
  if (is_bool(x->dtype()) && is_bool(y->dtype()))
    fail("subtract", "booleans have no difference; use logical_xor or ^");
  return binary("subtract", x, y, op::sub);
}
Array multiply(const Operand& x, const Operand& y) {
  Site site(x);
  return binary("multiply", x, y, arithmetic<op::mul, op::and_>);
}
Array divide(const Operand& x, const Operand& y) {
  Site site(x);
  return binary("divide", x, y, op::div, {.to_inexact = true});
}
Array floor_divide(const Operand& x, const Operand& y) {
  Site site(x);
  if (both_bool(x, y)) return floor_divide(numeric(x), numeric(y));
  internal::require_real("floor_divide", x);
  internal::require_real("floor_divide", y);
  return binary("floor_divide", x, y, floor_div);
}
Array remainder(const Operand& x, const Operand& y) {
  Site site(x);
  if (both_bool(x, y)) return remainder(numeric(x), numeric(y));
  internal::require_real("remainder", x);
  internal::require_real("remainder", y);
  return binary("remainder", x, y, python_remainder);
}
Array power(const Operand& x, const Operand& y) {
  Site site(x);
  if (std::optional<std::int64_t> n = integer_scalar(y)) {
    if (*n < 0 && !is_inexact(x->dtype()))
      fail("power", "integers cannot be raised to the negative power {}", *n);
    return internal::emit_one({numeric(x)}, x->weak(), [&](Builder& b, const Values& v) {
      return integer_power(b, v[0], *n);
    });
  }
  if (!is_inexact(x->dtype()) && !is_inexact(y->dtype())) {
    const std::vector<Array> both = internal::broadcast_promoted("power", {numeric(x), numeric(y)});
    return integer_power_of(both[0], both[1]);
  }
  return binary("power", x, y, op::pow);
}
Array maximum(const Operand& x, const Operand& y) {
  Site site(x);
  return binary("maximum", x, y, op::max);
}
Array minimum(const Operand& x, const Operand& y) {
  Site site(x);
  return binary("minimum", x, y, op::min);
}

Array equal(const Operand& x, const Operand& y) { return comparison("equal", x, y, compare<kEQ>); }
Array not_equal(const Operand& x, const Operand& y) {
  return comparison("not_equal", x, y, compare<kNE>);
}
Array less(const Operand& x, const Operand& y) { return comparison("less", x, y, compare<kLT>); }
Array less_equal(const Operand& x, const Operand& y) {
  return comparison("less_equal", x, y, compare<kLE>);
}
Array greater(const Operand& x, const Operand& y) {
  return comparison("greater", x, y, compare<kGT>);
}
Array greater_equal(const Operand& x, const Operand& y) {
  return comparison("greater_equal", x, y, compare<kGE>);
}
Array logical_and(const Operand& x, const Operand& y) {
  return logical("logical_and", x, y, op::and_);
}
Array logical_or(const Operand& x, const Operand& y) {
  return logical("logical_or", x, y, op::or_);
}
Array logical_xor(const Operand& x, const Operand& y) {
  return logical("logical_xor", x, y, op::xor_);
}

Array where(const Operand& condition, const Operand& x, const Operand& y) {
  Site site(condition);
  const Array branches[] = {x.array, y.array};
  const WeakDType type = internal::promoted("where", branches);
  const Array predicate = as_bool(condition), on_true = cast(x, type), on_false = cast(y, type);
  const bool is_same = on_true.state() == on_false.state();
  return emit_known(
      EagerKey().add("where").add(is_same).add(predicate).add(on_true).add(on_false),
      {&predicate, &on_true, &on_false}, [&] {
        const Array all[] = {condition.array, x.array, y.array};
        return internal::Emitted{
            {predicate, on_true, on_false},
            type.weak,
            [shape = internal::broadcast_shapes("where", all)](Builder& b, const Values& v) {
              Value* chosen_by = v[0]->rank() == 0 ? v[0] : op::broadcast_to(b, v[0], shape);
              return op::select(b, chosen_by, op::broadcast_to(b, v[1], shape),
                                op::broadcast_to(b, v[2], shape));
            }};
      });
}

Array astype(const Operand& x, DType dtype) {
  Site site(x);
  const DType to = canonical(dtype, x64_enabled());
  if (is_bool(to) && !is_bool(x->dtype())) return not_equal(x, 0);
  return cast(x, {to, false});
}

Array clip(const Operand& x, const std::optional<Operand>& low,
           const std::optional<Operand>& high) {
  Site site(x);
  internal::require_real("clip", x);
  Array out = x;
  if (low) out = maximum(*low, out);
  return high ? minimum(*high, out) : out;
}

Array round(const Operand& x, std::int64_t decimals) {
  Site site(x);
  if (!is_inexact(x->dtype())) {
    if (decimals < 0) fail("round", "integers are not rounded to {} decimals", decimals);
    if (is_bool(x->dtype())) fail("round", "booleans are not rounded");
    return x;
  }
  if (is_complex(x->dtype()))
    return binary("complex", round(real(x), decimals), round(imag(x), decimals), op::complex);
  if (decimals == 0) return unary(x, op::round_nearest_even);
  const Array wide = x->dtype() == DType::f16 ? cast(x, {DType::f32, x->weak()}) : x.array;
  const Array factor = internal::number_like(wide, std::pow(10.0, static_cast<double>(decimals)));
  return cast(unary(wide * factor, op::round_nearest_even) / factor, {x->dtype(), x->weak()});
}
Array rint(const Operand& x) {
  Site site(x);
  return is_inexact(x->dtype()) ? round(x) : cast(x, {canonical(DType::f64, x64_enabled()), false});
}
Array trunc(const Operand& x) {
  Site site(x);
  internal::require_real("trunc", x);
  return is_inexact(x->dtype()) ? where(x.array < 0, ceil(x), floor(x)) : x.array;
}

Array fmod(const Operand& left, const Operand& right) {
  Site site(left);
  std::vector<Array> both = internal::broadcast_promoted("fmod", {left, right});
  internal::require_real("fmod", both[0]);
  // Upstream guards against 0 before booleans become integers, so False as a divisor leaves x.
  if (is_bool(both[0].dtype())) return binary("fmod", numeric(both[0]), numeric(both[1]), op::rem);
  if (!is_inexact(both[0].dtype())) both[1] = where(both[1] == 0, ones_like(both[1]), both[1]);
  return binary("fmod", both[0], both[1], op::rem);
}
std::pair<Array, Array> divmod(const Operand& x, const Operand& y) {
  Site site(x);
  return {floor_divide(x, y), remainder(x, y)};
}
Array float_power(const Operand& x, const Operand& y) {
  Site site(x);
  return binary("float_power", x, y, op::pow, {.to_inexact = true});
}

Array real(const Operand& x) {
  Site site(x);
  return is_complex(x->dtype()) ? unary(x, op::real) : x.array;
}
Array imag(const Operand& x) {
  Site site(x);
  return is_complex(x->dtype()) ? unary(x, op::imag) : zeros_like(x);
}
Array conj(const Operand& x) {
  Site site(x);
  return is_complex(x->dtype()) ? unary(x, "chlo.conj") : x.array;
}
Array isreal(const Operand& x) {
  Site site(x);
  return imag(x) == 0;
}
Array iscomplex(const Operand& x) {
  Site site(x);
  return imag(x) != 0;
}

}  // namespace strata::numpy
