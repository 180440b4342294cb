#include "strata/api/random/basic.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/random/draw.h"

namespace strata::random {
namespace {

using internal::Builder;
using internal::describe;
using internal::fail;
using internal::Value;
using internal::Values;

DType unsigned_of(int bits) {
  return bits == 8 ? DType::ui8 : bits == 16 ? DType::ui16 : bits == 32 ? DType::ui32 : DType::ui64;
}

/// Floats in [0, 1) whose mantissas are the upper bits of random words.
Array unit_interval(const Key& key, const Sizes& shape, DType dtype) {
  const int width = bit_width(dtype), mantissa = mantissa_bits(dtype),
            drawn = mantissa < 8 ? 8 : width;
  return internal::emit_one(
      {bits(key, shape, unsigned_of(drawn))}, false, [&](Builder& b, const Values& v) {
        Value* word = op::convert(b, v[0], unsigned_of(width));
        Value* fraction =
            op::shift_right_logical(b, word, op::full_like(b, word, drawn - mantissa));
        Value* one = op::constant(b, Type(dtype, word->shape()), 1);
        Value* in_1_2 = op::or_(b, fraction, op::bitcast_convert(b, one, unsigned_of(width)));
        return op::sub(b, op::bitcast_convert(b, in_1_2, dtype), one);
      });
}

/// The neighbour of -1 towards zero.
double above_minus_one(DType dtype) { return std::ldexp(1.0, -mantissa_bits(dtype) - 1) - 1; }

Array normal_real(const Key& key, const Sizes& shape, DType dtype) {
  const Array u =
      uniform(key, shape, dtype, number(dtype, above_minus_one(dtype)), number(dtype, 1));
  return number(dtype, std::numbers::sqrt2) * lax::erf_inv(u);
}

struct Range {
  Array low, high;
};
/// The smallest and the largest number of an integer type.
double smallest(DType d) { return is_signed(d) ? -std::ldexp(1, bit_width(d) - 1) : 0; }
double beyond(DType d) { return std::ldexp(1, bit_width(d) - (is_signed(d) ? 1 : 0)); }

/// A C++ number within [low, high] as an integer; high is at most 2^64.
Array clipped_number(double v, double low, double high, DType dtype) {
  const double x = std::clamp(v, low, high);
  if (x < 0) return Array::scalar(static_cast<std::int64_t>(x), dtype, false);
  return Array::scalar(x >= std::ldexp(1, 64) ? ~std::uint64_t{0} : static_cast<std::uint64_t>(x),
                       dtype, false);
}
/// The largest number itself, which f64 does not hold for 64 bits.
Array largest(DType d) {
  return Array::scalar((~std::uint64_t{0}) >> (64 - bit_width(d) + (is_signed(d) ? 1 : 0)), d,
                       false);
}

struct Bound {
  Array value;   // in the dtype of the draw
  Array beyond;  // whether the number was greater than the dtype holds
};
/// A bound for draws of `drawn`, limited to the range of `dtype`, above it by one where `end`.
Bound bound_of(const Array& x, DType dtype, DType drawn, bool end) {
  const bool narrow = dtype != drawn;
  if (x.state()->scalar && !is_complex(x.dtype())) {
    const bool is_unsigned_word = std::holds_alternative<std::uint64_t>(*x.state()->scalar);
    const double v = is_float(x.dtype())
                         ? std::trunc(internal::element<double>(
                               internal::scalar_literal(*x.state()->scalar, DType::f64), 0))
                         : internal::element<double>(
                               internal::scalar_literal(
                                   *x.state()->scalar, is_unsigned_word ? DType::ui64 : DType::i64),
                               0);
    if (narrow)
      return {clipped_number(v, smallest(dtype), beyond(dtype) - (end ? 0 : 1), drawn), false};
    if (v >= beyond(drawn)) return {largest(drawn), true};
    if (v < smallest(drawn)) return {clipped_number(v, smallest(drawn), 0, drawn), false};
    return {Array::scalar(*x.state()->scalar, drawn, false), false};
  }
  const Array whole = is_integer(x.dtype()) ? x : as(x, canonical(DType::i64, x64_enabled()));
  if (narrow)
    return {numpy::clip(as(whole, drawn), number(drawn, smallest(dtype)),
                        number(drawn, beyond(dtype) - (end ? 0 : 1))),
            false};
  if (whole.dtype() == drawn) return {whole, false};
  const DType from = whole.dtype();
  const Array low =
      clipped_number(std::max(smallest(drawn), smallest(from)), smallest(from), 0, from);
  const Array high = beyond(drawn) < beyond(from) ? as(largest(drawn), from) : largest(from);
  return {as(numpy::clip(whole, low, high), drawn), whole > high};
}

Array randint_of(const Key& key, const Sizes& shape, const Bound& low, const Bound& high,
                 DType drawn) {
  const DType word = unsigned_of(bit_width(drawn));
  const auto [k1, k2] = split2(key);
  const Array upper_bits = bits(k1, shape, word), lower_bits = bits(k2, shape, word);
  const Array one = Array::scalar(std::int64_t{1}, word, false), empty = high.value <= low.value;
  // Differences wrap. Where the bound is beyond, the span grows by one, and may wrap to 0, by which
  // a remainder is the number itself.
  Array span = numpy::where(
      empty, one,
      internal::emit_one({high.value, low.value}, false, [&](Builder& b, const Values& v) {
        const Shape common =
            Shape::of(numpy::broadcast_shapes({high.value.shape(), low.value.shape()}));
        return op::convert(
            b, op::sub(b, op::broadcast_to(b, v[0], common), op::broadcast_to(b, v[1], common)),
            word);
      }));
  span = numpy::where(high.beyond & ~empty, span + one, span);
  // 2^bits mod span, from its root, lest it overflow.
  const Array root = numpy::full(span.shape(), std::int64_t{1} << (bit_width(drawn) / 2), word);
  const Array step = lax::rem(root, span),
              multiplier = broadcast(lax::rem(step * step, span), shape),
              spans = broadcast(span, shape);
  const Array offset =
      lax::rem(lax::rem(upper_bits, spans) * multiplier + lax::rem(lower_bits, spans), spans);
  return low.value + as(offset, drawn);
}

}  // namespace

Array uniform(const KeyOperand& key, const Sizes& shape, DType wanted, const Operand& minval,
              const Operand& maxval) {
  const Use use("uniform", key);
  const DType dtype = float_type("uniform", wanted);
  sample_shape("uniform", shape, {minval->shape(), maxval->shape()});
  const Array low = as(minval, dtype), high = as(maxval, dtype);
  return numpy::maximum(low, unit_interval(key.key, shape, dtype) * (high - low) + low);
}

Array normal(const KeyOperand& key, const Sizes& shape, DType wanted) {
  const Use use("normal", key);
  if (!is_complex(wanted)) return normal_real(key.key, shape, float_type("normal", wanted));
  const DType dtype = canonical(wanted, x64_enabled()),
              real = dtype == DType::c64 ? DType::f32 : DType::f64;
  const auto [k1, k2] = split2(key.key);
  return lax::complex(normal_real(k1, shape, real), normal_real(k2, shape, real)) /
         Array::scalar(std::complex<double>(std::numbers::sqrt2), dtype, false);
}

Array truncated_normal(const KeyOperand& key, const Operand& lower, const Operand& upper,
                       const SampleShape& given, DType wanted) {
  const Use use("truncated_normal", key);
  const DType dtype = float_type("truncated_normal", wanted);
  const Sizes shape = sample_shape("truncated_normal", given, {lower->shape(), upper->shape()});
  const Array low = as(lower, dtype), high = as(upper, dtype),
              root = number(dtype, std::numbers::sqrt2);
  const Array out = root * lax::erf_inv(uniform(key.key, shape, dtype, lax::erf(low / root),
                                                lax::erf(high / root)));
  // Rounding may lead out of the open interval.
  auto towards = [&](const Array& x, double limit) {
    return numpy::nextafter(lax::stop_gradient(x), number(dtype, limit));
  };
  return numpy::clip(out, towards(low, numpy::inf), towards(high, -numpy::inf));
}

Array randint(const KeyOperand& key, const Sizes& shape, const Operand& minval,
              const Operand& maxval, DType wanted) {
  const Use use("randint", key);
  const DType dtype = integer_type("randint", wanted);
  if (bit_width(dtype) < 8)
    fail("randint", "the dtype is an integer of 8 to 64 bits, got {}", strata::name(dtype));
  sample_shape("randint", shape, {minval->shape(), maxval->shape()});
  const DType drawn = bit_width(dtype) < 32 ? DType::i32 : dtype;
  return as(randint_of(key.key, shape, bound_of(minval, dtype, drawn, false),
                       bound_of(maxval, dtype, drawn, true), drawn),
            dtype);
}

Array bernoulli(const KeyOperand& key, const Operand& p, const SampleShape& given,
                const std::string& mode) {
  const Use use("bernoulli", key);
  if (mode != "low" && mode != "high")
    fail("bernoulli", "mode is \"low\" or \"high\", got \"{}\"", mode);
  if (!is_float(p->dtype()))
    fail("bernoulli", "a probability is a float, got {}", describe(p->type()));
  const Sizes shape = sample_shape("bernoulli", given, {p->shape()});
  const DType dtype = p->dtype();
  const Array probability = as(p, dtype);
  if (mode == "low") return uniform(key.key, shape, dtype) < probability;
  std::vector<std::int64_t> twice = {2};
  twice.insert(twice.end(), shape.begin(), shape.end());
  const Array u = uniform(key.key, twice, dtype);
  return u[1] * number(dtype, epsilon(dtype)) < probability - u[0];
}

Array rademacher(const KeyOperand& key, const Sizes& shape, DType wanted) {
  const Use use("rademacher", key);
  const DType dtype = canonical(wanted, x64_enabled());
  const Array heads = as(bernoulli(key.key, 0.5f, shape), dtype);
  return as(heads * 2 - 1, dtype);
}

}  // namespace strata::random
