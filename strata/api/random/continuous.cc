#include "strata/api/random/continuous.h"

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/random/basic.h"
#include "strata/api/random/draw.h"

namespace strata::random {
namespace {

using internal::Builder;
using internal::fail;
using internal::Value;
using internal::Values;

Sizes with_leading(std::int64_t size, const Sizes& shape) {
  std::vector<std::int64_t> out = {size};
  out.insert(out.end(), shape.begin(), shape.end());
  return out;
}
Sizes joined(const Sizes& shape, const Sizes& more) {
  std::vector<std::int64_t> out = shape;
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

/// The f32 nearest below a number in [0, 1) of 64 bits, its words given: the leading ones of the
/// bits that are set are the mantissa's.
Value* fraction_of(Builder& b, Value* high, Value* low) {
  auto constant = [&](std::uint32_t v) { return op::full_like(b, high, v); };
  Value *high_zeros = b.create("stablehlo.count_leading_zeros", {high}).result(),
        *low_zeros = b.create("stablehlo.count_leading_zeros", {low}).result();
  Value* empty = op::compare(b, high_zeros, constant(32), "EQ");
  Value* rest = op::select(b, empty, op::shift_left(b, low, low_zeros),
                           op::shift_right_logical(b, low, op::sub(b, constant(32), high_zeros)));
  Value* leading = op::or_(b, op::shift_left(b, high, high_zeros), rest);
  Value* mantissa =
      op::and_(b, op::shift_right_logical(b, leading, constant(8)), constant((1u << 23) - 1));
  Value* zeros = op::select(b, empty, op::add(b, constant(32), low_zeros), high_zeros);
  Value* exponent = op::and_(b, op::shift_left(b, op::sub(b, constant(126), zeros), constant(23)),
                             constant((1u << 30) - (1u << 22)));
  return op::bitcast_convert(b, op::or_(b, exponent, mantissa), DType::f32);
}

/// From 64 bits each: of the two ends of the interval the nearer one is the origin, so that small
/// distances keep their digits.
Array finest_gumbel(const Key& key, const Sizes& shape) {
  const Array raw = bits(key, with_leading(2, shape), DType::ui32);
  const Array near_zero = raw[0] < Array::scalar(std::int64_t{1} << 31, DType::ui32, false);
  const Array x =
      internal::emit_one({raw[0], raw[1], near_zero}, false, [&](Builder& b, const Values& v) {
        Value *one = op::full_like(b, v[0], 1), *all = op::full_like(b, v[0], 4294967295.0);
        // 1 - x as the two's complement, of which upstream takes the carry where the complement of
        // the low word is all ones.
        Value *not_low = op::not_(b, v[1]),
              *carry = op::convert(b, op::compare(b, not_low, all, "EQ"), DType::ui32);
        Value *high = op::add(b, op::not_(b, v[0]), carry), *low = op::add(b, not_low, one);
        return fraction_of(b, op::select(b, v[2], v[0], high), op::select(b, v[2], v[1], low));
      });
  return numpy::where(near_zero, -numpy::log(-numpy::log1p(-x)), -numpy::log(-numpy::log(x)));
}

Array high_gumbel(const Key& key, const Sizes& shape, DType dtype) {
  const Array u = uniform(key, with_leading(2, shape), dtype), high = u[0], low = u[1];
  const Array x = numpy::where(
      high >= 0.5, high, high + number(dtype, epsilon(dtype)) * low + number(dtype, tiny(dtype)));
  return -numpy::log(-numpy::log1p(-x));
}

}  // namespace

Array cauchy(const KeyOperand& key, const Sizes& shape, DType wanted) {
  const Use use("cauchy", key);
  const DType dtype = float_type("cauchy", wanted);
  return numpy::tan(numpy::pi *
                    (uniform(key.key, shape, dtype, number(dtype, epsilon(dtype)), 1.0f) - 0.5));
}

Array exponential(const KeyOperand& key, const Sizes& shape, DType wanted) {
  const Use use("exponential", key);
  return -numpy::log1p(-uniform(key.key, shape, float_type("exponential", wanted)));
}

Array laplace(const KeyOperand& key, const Sizes& shape, DType wanted) {
  const Use use("laplace", key);
  const DType dtype = float_type("laplace", wanted);
  const Array u = uniform(key.key, shape, dtype, number(dtype, epsilon(dtype) / 2 - 1), 1.0f);
  return numpy::sign(u) * numpy::log1p(-numpy::abs(u));
}

Array logistic(const KeyOperand& key, const Sizes& shape, DType wanted) {
  const Use use("logistic", key);
  const DType dtype = float_type("logistic", wanted);
  const Array x = uniform(key.key, shape, dtype, number(dtype, tiny(dtype)), 1.0f);
  return numpy::log(x) - numpy::log1p(-x);
}

Array gumbel(const KeyOperand& key, const Sizes& shape, DType wanted, const std::string& mode) {
  const Use use("gumbel", key);
  const DType dtype = float_type("gumbel", wanted);
  if (mode != "low" && mode != "high" && mode != "highest")
    fail("gumbel", "mode is \"low\", \"high\" or \"highest\", got \"{}\"", mode);
  if (mode == "highest" && dtype == DType::f32) return finest_gumbel(key.key, shape);
  if (mode != "low") return high_gumbel(key.key, shape, dtype);
  return -numpy::log(-numpy::log(uniform(key.key, shape, dtype, number(dtype, tiny(dtype)), 1.0f)));
}

Array pareto(const KeyOperand& key, const Operand& b, const SampleShape& given, DType wanted) {
  const Use use("pareto", key);
  const DType dtype = float_type("pareto", wanted);
  const Array power = safely_as("pareto", b, dtype);
  return numpy::exp(exponential(key.key, sample_shape("pareto", given, {b->shape()}), dtype) /
                    power);
}

Array rayleigh(const KeyOperand& key, const Operand& scale, const SampleShape& given,
               DType wanted) {
  const Use use("rayleigh", key);
  const DType dtype = float_type("rayleigh", wanted);
  const Sizes shape = sample_shape("rayleigh", given, {scale->shape()});
  return safely_as("rayleigh", scale, dtype) *
         numpy::sqrt(numpy::log(uniform(key.key, shape, dtype)) * -2);
}

Array maxwell(const KeyOperand& key, const Sizes& shape, DType wanted) {
  const Use use("maxwell", key);
  return numpy::sqrt(numpy::sum(
      numpy::square(normal(key.key, joined(shape, 3), float_type("maxwell", wanted))), -1));
}

Array double_sided_maxwell(const KeyOperand& key, const Operand& loc, const Operand& scale,
                           const Sizes& given, DType wanted) {
  const Use use("double_sided_maxwell", key);
  const DType dtype = float_type("double_sided_maxwell", wanted);
  const Sizes parameters = sample_shape("double_sided_maxwell", {}, {loc->shape(), scale->shape()});
  const Sizes shape = joined(given.size() == 0 ? parameters : given, parameters);
  const auto [k1, k2] = split2(key.key);
  const Array length = maxwell(k1, shape, dtype);
  return rademacher(k2, shape, dtype) * length * scale + loc.array;
}

Array wald(const KeyOperand& key, const Operand& mean, const SampleShape& given, DType wanted) {
  const Use use("wald", key);
  const DType dtype = float_type("wald", wanted);
  const Sizes shape = sample_shape("wald", given, {mean->shape()});
  const Array m = broadcast(safely_as("wald", mean, dtype), shape), m2 = numpy::square(m);
  const auto [k1, k2] = split2(key.key);
  const Array y = numpy::square(normal(k1, shape, dtype)), z = uniform(k2, shape, dtype);
  const Array x = m + m2 * y / 2 - m / 2 * numpy::sqrt(4 * m * y + m2 * numpy::square(y));
  return numpy::where(z <= m / (m + x), x, m2 / x);
}

Array weibull_min(const KeyOperand& key, const Operand& scale, const Operand& concentration,
                  const Sizes& shape, DType wanted) {
  const Use use("weibull_min", key);
  const Array e = -numpy::log1p(-uniform(key.key, shape, float_type("weibull_min", wanted)));
  return numpy::power(e, 1.0 / concentration.array) * scale;
}

Array triangular(const KeyOperand& key, const Operand& left, const Operand& mode,
                 const Operand& right, const SampleShape& given, DType wanted) {
  const Use use("triangular", key);
  const DType dtype = float_type("triangular", wanted);
  const Sizes shape =
      sample_shape("triangular", given, {left->shape(), mode->shape(), right->shape()});
  const Array l = safely_as("triangular", left, dtype), m = safely_as("triangular", mode, dtype),
              r = safely_as("triangular", right, dtype);
  const Array u = uniform(key.key, shape, dtype), width = r - l;
  const Array rising = l + numpy::sqrt(u * width * (m - l)),
              falling = r - numpy::sqrt((1 - u) * width * (r - m));
  return numpy::where(u < (m - l) / width, rising, falling);
}

Array lognormal(const KeyOperand& key, const Operand& sigma, const SampleShape& given,
                DType wanted) {
  const Use use("lognormal", key);
  if (!is_inexact(wanted))
    fail("lognormal", "the dtype is a float or complex, got {}", strata::name(wanted));
  const DType dtype = canonical(wanted, x64_enabled());
  return numpy::exp(normal(key.key, sample_shape("lognormal", given, {sigma->shape()}), dtype) *
                    safely_as("lognormal", sigma, dtype));
}

}  // namespace strata::random
