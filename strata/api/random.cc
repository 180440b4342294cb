#include "strata/api/random.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "strata/api/compose.h"
#include "strata/api/index.h"
#include "strata/api/lax.h"

namespace strata::random {
namespace {

using internal::Builder;
using internal::describe;
using internal::fail;
using internal::Site;
using internal::Value;
using internal::Values;

Value* rotate_left(Builder& b, Value* x, int by) {
  return op::or_(b, op::shift_left(b, x, op::full_like(b, x, by)), op::shift_right_logical(b, x, op::full_like(b, x, 32 - by)));
}

/// The 20 rounds of Threefry-2x32 on arrays of equal shape.
std::pair<Value*, Value*> threefry(Builder& b, Value* k0, Value* k1, Value* x0, Value* x1) {
  static constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Value* k2 = op::xor_(b, op::xor_(b, k0, k1), op::full_like(b, k0, 0x1BD11BDA));
  Value* const keys[] = {k0, k1, k2};
  x0 = op::add(b, x0, k0);
  x1 = op::add(b, x1, k1);
  for (int group = 0; group < 5; ++group) {
    for (int r : rotations[group % 2]) {
      x0 = op::add(b, x0, x1);
      x1 = op::xor_(b, rotate_left(b, x1, r), x0);
    }
    x0 = op::add(b, x0, keys[(group + 1) % 3]);
    x1 = op::add(b, op::add(b, x1, keys[(group + 2) % 3]), op::full_like(b, x1, group + 1));
  }
  return {x0, x1};
}

/// Both halves of the key as arrays of a shape.
std::pair<Value*, Value*> key_words(Builder& b, Value* key, const Shape& shape) {
  auto word = [&](std::int64_t i) { return op::broadcast_to(b, op::reshape(b, op::slice(b, key, {i}, {i + 1}), Shape{}), shape); };
  Value* first = word(0);
  return {first, word(1)};
}

/// Low words of the row-major positions of a shape; the high words are 0 below 2^32 elements.
Value* positions(Builder& b, const Shape& shape) {
  return op::reshape(b, op::iota(b, Type(DType::ui32, Shape{shape.count()}), 0), shape);
}

void check_key(const char* name, const Array& key) {
  if (key.type() != Type(DType::ui32, Shape{2})) fail(name, "a key is ui32[2], got {}", describe(key.type()));
}

void check_count(const char* name, const Shape& shape) {
  if (shape.count() >= std::int64_t{1} << 32) fail(name, "{} elements are more than 2^32 - 1", shape.count());
}

Array emit_hash(const Array& key, const Shape& shape, const std::function<Value*(Builder&, Value*, Value*)>& finish) {
  return internal::emit_one({key}, false, [&](Builder& b, const Values& v) {
    const auto [k0, k1] = key_words(b, v[0], shape);
    const auto [x0, x1] = threefry(b, k0, k1, op::zeros(b, Type(DType::ui32, shape)), positions(b, shape));
    return finish(b, x0, x1);
  });
}

Value* joined_last(Builder& b, Value* x0, Value* x1) {
  std::vector<std::int64_t> sizes = x0->shape().sizes();
  sizes.push_back(1);
  const Shape shape = Shape::of(sizes);
  return op::concatenate(b, {op::reshape(b, x0, shape), op::reshape(b, x1, shape)}, shape.rank() - 1);
}

struct FloatFormat {
  int bits, mantissa;
  DType unsigned_type;
  std::uint64_t one;  // the bits of 1.0
};
FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::bf16: return {16, 7, DType::ui16, 0x3f80};
    case DType::f16: return {16, 10, DType::ui16, 0x3c00};
    case DType::f32: return {32, 23, DType::ui32, 0x3f800000};
    case DType::f64: return {64, 52, DType::ui64, 0x3ff0000000000000};
    default: fail("random", "floats are bf16, f16, f32 or f64, got {}", name(dtype));
  }
}
DType unsigned_of(int bits) { return bits == 8 ? DType::ui8 : bits == 16 ? DType::ui16 : bits == 32 ? DType::ui32 : DType::ui64; }

/// The neighbour of v towards zero in a float type.
double next_towards_zero(DType dtype, double v) { return v * (1 - std::ldexp(1.0, -format_of(dtype).mantissa - 1)); }

Array scalar_of(DType dtype, double v) { return Array::scalar(v, dtype, false); }

}  // namespace

Array key(const Operand& seed) {
  Site site(seed);
  if (!is_integer(seed->dtype()) || seed->ndim() != 0) fail("key", "a seed is an integer scalar, got {}", describe(seed->type()));
  if (!seed->is_traced() && seed->state()->scalar) {
    const std::uint64_t s = static_cast<std::uint64_t>(internal::element<std::int64_t>(internal::scalar_literal(*seed->state()->scalar, std::holds_alternative<std::uint64_t>(*seed->state()->scalar) ? DType::ui64 : DType::i64), 0));
    const std::uint32_t high = x64_enabled() ? static_cast<std::uint32_t>(s >> 32) : 0;
    return array(std::vector<std::uint32_t>{high, static_cast<std::uint32_t>(s)});
  }
  const bool wide = bit_width(seed->dtype()) == 64;
  const Array low = internal::cast(seed, {DType::ui32, false});
  const Array high = wide ? internal::cast(internal::cast(seed, {DType::ui64, false}) >> 32, {DType::ui32, false}) : zeros({}, DType::ui32);
  return stack({high, low});
}

Array split(const Operand& key, std::int64_t num) {
  Site site(key);
  check_key("split", key);
  if (num < 0) fail("split", "the number of keys is at least 0, got {}", num);
  return emit_hash(key, Shape{num}, joined_last);
}
std::pair<Array, Array> split2(const Operand& key) {
  Site site(key);
  const Array both = split(key);
  return {both[0], both[1]};
}
Array fold_in(const Operand& key, const Operand& data) {
  Site site(key);
  check_key("fold_in", key);
  if (data->ndim() != 0 || !is_integer(data->dtype())) fail("fold_in", "the number is an integer scalar, got {}", describe(data->type()));
  const Array word = internal::cast(data, {DType::ui32, false});
  return internal::emit_one({key.array, word}, false, [&](Builder& b, const Values& v) {
    const auto [k0, k1] = key_words(b, v[0], Shape{});
    const auto [x0, x1] = threefry(b, k0, k1, op::scalar(b, DType::ui32, 0), v[1]);
    return joined_last(b, x0, x1);
  });
}

Array bits(const Operand& key, const Sizes& sizes, DType dtype) {
  Site site(key);
  check_key("bits", key);
  if (!is_unsigned(dtype) || bit_width(dtype) < 8) fail("bits", "bits are ui8, ui16, ui32 or ui64, got {}", name(dtype));
  const Shape shape = Shape::of(sizes);
  check_count("bits", shape);
  return emit_hash(key, shape, [&](Builder& b, Value* x0, Value* x1) -> Value* {
    if (dtype != DType::ui64) return op::convert(b, op::xor_(b, x0, x1), dtype);
    Value* high = op::convert(b, x0, DType::ui64);
    return op::or_(b, op::shift_left(b, high, op::full_like(b, high, 32)), op::convert(b, x1, DType::ui64));
  });
}

Array uniform(const Operand& key, const Sizes& sizes, DType wanted, const Array& minval, const Array& maxval) {
  Site site(key);
  const DType dtype = canonical(wanted, x64_enabled());
  const FloatFormat format = format_of(dtype);
  const int drawn = format.mantissa < 8 ? 8 : format.bits;
  const Array low = internal::cast(minval, {dtype, false}), high = internal::cast(maxval, {dtype, false});
  const Array raw = bits(key, sizes, unsigned_of(drawn));
  const Array floats = internal::emit_one({raw}, false, [&](Builder& b, const Values& v) {
    Value* word = op::convert(b, v[0], format.unsigned_type);
    Value* mantissa = op::shift_right_logical(b, word, op::full_like(b, word, drawn - format.mantissa));
    Literal one(Type::scalar(format.unsigned_type));
    one.set_integer(0, static_cast<std::int64_t>(format.one));
    Value* in_1_2 = op::or_(b, mantissa, op::broadcast_to(b, op::constant(b, one), word->shape()));
    Value* x = op::bitcast_convert(b, in_1_2, dtype);
    return op::sub(b, x, op::full_like(b, x, 1));
  });
  return maximum(low, floats * (high - low) + low);
}

Array normal(const Operand& key, const Sizes& shape, DType wanted) {
  Site site(key);
  const DType dtype = canonical(wanted, x64_enabled());
  const Array u = uniform(key, shape, dtype, scalar_of(dtype, next_towards_zero(dtype, -1)), scalar_of(dtype, 1));
  return scalar_of(dtype, std::numbers::sqrt2) * lax::erf_inv(u);
}

Array truncated_normal(const Operand& key, double lower, double upper, const Sizes& shape, DType wanted) {
  Site site(key);
  if (!(lower < upper)) fail("truncated_normal", "lower is below upper, got {} and {}", lower, upper);
  const DType dtype = canonical(wanted, x64_enabled());
  const Array root = scalar_of(dtype, std::numbers::sqrt2);
  const Array a = erf(scalar_of(dtype, lower) / root), b = erf(scalar_of(dtype, upper) / root);
  const Array out = root * lax::erf_inv(uniform(key, shape, dtype, a, b));
  auto inside = [&](double v, double towards) {
    return dtype == DType::f64 ? std::nextafter(v, towards) : static_cast<double>(std::nextafter(static_cast<float>(v), static_cast<float>(towards)));
  };
  return clip(out, scalar_of(dtype, inside(lower, inf)), scalar_of(dtype, inside(upper, -inf)));
}

Array randint(const Operand& key, const Sizes& shape, const Array& minval, const Array& maxval, DType wanted) {
  Site site(key);
  const DType dtype = canonical(wanted, x64_enabled());
  if (!is_integer(dtype) || bit_width(dtype) < 8) fail("randint", "the dtype is an integer of 8 to 64 bits, got {}", name(dtype));
  if (!is_integer(minval.dtype()) || !is_integer(maxval.dtype())) fail("randint", "bounds are integers, got {} and {}", describe(minval.type()), describe(maxval.type()));
  const int width = bit_width(dtype);
  const DType word = unsigned_of(width);
  // A bound of one past the largest number stands for "every number": the span then wraps to 0 and is counted by one more.
  bool past_the_end = false;
  Array high = maxval;
  if (maxval.state()->scalar) {
    const double largest = std::ldexp(1.0, is_signed(dtype) ? width - 1 : width);
    const double value = internal::element<double>(internal::scalar_literal(*maxval.state()->scalar, DType::f64), 0);
    past_the_end = value >= largest;
    if (past_the_end) high = Array::scalar(is_signed(dtype) ? (~std::uint64_t{0} >> (65 - width)) : (~std::uint64_t{0} >> (64 - width)), dtype, false);
  }
  const Array low = internal::cast(minval, {dtype, false});
  high = internal::cast(high, {dtype, false});
  // Negative bounds wrap: a conversion of the array, not of the C++ number, which would not fit.
  auto as_word = [&](const Array& x) { return internal::cast(x.is_traced() ? x : Array(x.buffer()), {word, false}); };
  const auto [k1, k2] = split2(key);
  const Array upper_bits = bits(k1, shape, word), lower_bits = bits(k2, shape, word);
  Array span = as_word(high) - as_word(low);
  const Array one = Array::scalar(std::int64_t{1}, word, false);
  span = where(high <= low, one, span);
  if (past_the_end) span = where(high > low, span + one, span);
  const Array half = Array::scalar(std::int64_t{1} << (width / 2), word, false);
  const Array step = lax::rem(half, span);
  const Array multiplier = lax::rem(step * step, span);
  const Array wide_span = broadcast_to(span, shape.size() ? shape : Sizes(span.shape()));
  const Array offset = lax::rem(lax::rem(upper_bits, wide_span) * multiplier + lax::rem(lower_bits, wide_span), wide_span);
  return low + internal::cast(offset, {dtype, false});
}

Array bernoulli(const Operand& key, const Operand& p, std::optional<Sizes> shape) {
  Site site(key);
  const WeakDType type = internal::inexact({p->dtype(), p->weak()});
  return less(uniform(key, shape.value_or(Sizes(p->shape())), type.dtype), internal::cast(p, {type.dtype, false}));
}

Array gumbel(const Operand& key, const Sizes& shape, DType wanted) {
  Site site(key);
  const DType dtype = canonical(wanted, x64_enabled());
  const double tiny = dtype == DType::f64 ? std::numeric_limits<double>::min() : dtype == DType::f16 ? 0x1p-14 : static_cast<double>(std::numeric_limits<float>::min());
  return -log(-log(uniform(key, shape, dtype, scalar_of(dtype, tiny), scalar_of(dtype, 1))));
}

Array categorical(const Operand& key, const Operand& logits, std::int64_t axis) {
  Site site(key);
  if (!is_float(logits->dtype())) fail("categorical", "logits are floats, got {}", describe(logits->type()));
  return argmax(gumbel(key, logits->shape(), logits->dtype()) + logits.array, axis);
}

}  // namespace strata::random
