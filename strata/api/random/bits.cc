// Bits of a key, and keys of a key, for each generator: how the counters are laid out is JAX's.
#include "strata/api/random/draw.h"
#include "strata/api/random/generators.h"

namespace strata::random {
namespace {

using internal::Builder;
using internal::describe;
using internal::emit_one;
using internal::fail;
using internal::Site;
using internal::Value;
using internal::Values;

thread_local bool partitionable = true;

bool by_rng_bit_generator(Implementation i) {
  return i == Implementation::rbg || i == Implementation::unsafe_rbg;
}

/// Word i of a key as an array of a shape.
Value* key_word(Builder& b, Value* key, std::int64_t i, const Shape& shape) {
  return op::broadcast_to(b, op::reshape(b, op::slice(b, key, {i}, {i + 1}), Shape{}), shape);
}
Values all_words(Builder& b, Value* key, std::int64_t count, const Shape& shape) {
  Values out;
  for (std::int64_t i = 0; i < count; ++i) out.push_back(key_word(b, key, i, shape));
  return out;
}

/// Low words of the row-major positions of a shape; the high words are 0 below 2^32 elements.
Value* positions(Builder& b, const Shape& shape) {
  return op::reshape(b, op::iota(b, Type(DType::ui32, Shape{shape.count()}), 0), shape);
}

void check_count(const char* name, const Shape& shape) {
  if (shape.count() >= std::int64_t{1} << 32)
    fail(name, "{} elements are more than 2^32 - 1", shape.count());
}

/// The last word of the counter, or for bits of four-word blocks the second; the others are 0.
Values counter(Builder& b, Implementation generator, Value* low, bool for_bits) {
  Values words(block_words(generator), op::zeros_like(b, low));
  words[for_bits ? 1 : words.size() - 1] = low;
  return words;
}

/// The words along a new last axis.
Value* stacked(Builder& b, const Values& words) {
  std::vector<std::int64_t> sizes = words[0]->shape().sizes();
  sizes.push_back(1);
  const Shape shape = Shape::of(sizes);
  Values all;
  for (Value* word : words) all.push_back(op::reshape(b, word, shape));
  return op::concatenate(b, all, shape.rank() - 1);
}

Value* wide_word(Builder& b, Value* high, Value* low) {
  Value* upper = op::convert(b, high, DType::ui64);
  return op::or_(b, op::shift_left(b, upper, op::full_like(b, upper, 32)),
                 op::convert(b, low, DType::ui64));
}

/// The first words of a block that a key has.
Value* key_of(Builder& b, Implementation generator, Values block) {
  block.resize(static_cast<std::size_t>(key_words(generator)));
  return stacked(b, block);
}

// ---- Threefry's original layout ----------------------------------------------------------------

/// `count` words: the first half of the counters is paired with the second, an odd one with 0.
Value* paired(Builder& b, Value* key, std::int64_t count) {
  const std::int64_t half = (count + 1) / 2;
  const Shape shape{half};
  Value* first = op::iota(b, Type(DType::ui32, shape), 0);
  Value* second = op::add(b, first, op::full_like(b, first, static_cast<double>(half)));
  if (count % 2 == 1)
    second = op::select(
        b, op::compare(b, second, op::full_like(b, second, static_cast<double>(count)), "LT"),
        second, op::zeros_like(b, second));
  const Values out =
      block(b, Implementation::threefry2x32, all_words(b, key, 2, shape), {first, second});
  return op::slice_dim(b, op::concatenate(b, out, 0), 0, 0, count);
}

/// Each word as 32 / width elements, its low bits first.
Value* pieces(Builder& b, Value* words, int width) {
  const std::int64_t count = words->shape().count(), each = 32 / width;
  const Shape shape{count, each};
  Value* wide = op::broadcast_in_dim(b, words, shape, {0});
  Value* shift = op::mul(b, op::iota(b, Type(DType::ui32, shape), 1),
                         op::constant(b, Type(DType::ui32, shape), width));
  return op::reshape(b, op::shift_right_logical(b, wide, shift), Shape{count * each});
}

Value* original_bits(Builder& b, Value* key, const Shape& shape, DType dtype) {
  const int width = bit_width(dtype);
  const std::int64_t size = shape.count(), count = (width * size + 31) / 32;
  Value* words = paired(b, key, count);
  if (width == 64)
    words = wide_word(b, op::slice_dim(b, words, 0, 0, size),
                      op::slice_dim(b, words, 0, size, 2 * size));
  if (width < 32)
    words = op::slice_dim(b, op::convert(b, pieces(b, words, width), dtype), 0, 0, size);
  return op::reshape(b, words, shape);
}

// ---- rng_bit_generator -------------------------------------------------------------------------

/// Bits by XLA's default generator, whose state is the key as two words of 64 bits.
Value* generated(Builder& b, Value* key, const Shape& shape, DType dtype) {
  auto state_word = [&](std::int64_t i) {
    return op::reshape(
        b, wide_word(b, key_word(b, key, 2 * i + 1, Shape{}), key_word(b, key, 2 * i, Shape{})),
        Shape{1});
  };
  Value* state = op::concatenate(b, {state_word(0), state_word(1)}, 0);
  const ir::OpInfo& info = *ir::Registry::global().find("stablehlo.rng_bit_generator");
  return b
      .create(info, {state}, {{"rng_algorithm", std::string("DEFAULT")}}, {},
              {state->type(), Type(dtype, shape)})
      .result(1);
}

/// Every tenth row of four words: upstream throws the others away, lest neighbours be alike.
Value* sparse_keys(Builder& b, Value* key, const Shape& shape) {
  std::vector<std::int64_t> sizes = shape.sizes();
  sizes.push_back(4);
  Value* rows = generated(b, key, Shape{10 * shape.count(), 4}, DType::ui32);
  return op::reshape(b, op::slice(b, rows, {0, 0}, {10 * shape.count(), 4}, {10, 1}),
                     Shape::of(sizes));
}

// ---- keys of a key -----------------------------------------------------------------------------

Value* split_block(Builder& b, Implementation generator, Value* key, const Shape& shape) {
  if (generator == Implementation::threefry2x32 && !partitionable) {
    std::vector<std::int64_t> sizes = shape.sizes();
    sizes.push_back(2);
    return op::reshape(b, paired(b, key, 2 * shape.count()), Shape::of(sizes));
  }
  const Values words = all_words(b, key, key_words(generator), shape);
  return key_of(b, generator,
                block(b, generator, words, counter(b, generator, positions(b, shape), false)));
}

Value* fold_block(Builder& b, Implementation generator, Value* key, Value* data) {
  const Values words = all_words(b, key, key_words(generator), Shape{});
  return key_of(b, generator, block(b, generator, words, counter(b, generator, data, false)));
}

/// What Threefry does with each half of a key.
template <class F>
Value* by_halves(Builder& b, Value* key, F f) {
  Value* first = f(op::slice(b, key, {0}, {2}));
  Value* second = f(op::slice(b, key, {2}, {4}));
  return op::concatenate(b, {first, second}, first->shape().rank() - 1);
}

Value* split_value(Builder& b, Implementation generator, Value* key, const Shape& shape) {
  if (generator == Implementation::unsafe_rbg) return sparse_keys(b, key, shape);
  if (generator == Implementation::rbg)
    return by_halves(b, key, [&](Value* half) {
      return split_block(b, Implementation::threefry2x32, half, shape);
    });
  return split_block(b, generator, key, shape);
}

/// The words of a seed, high and low, as a key.
Value* seed_value(Builder& b, Implementation generator, Value* high, Value* low) {
  if (generator == Implementation::threefry2x32) return stacked(b, {high, low});
  if (by_rng_bit_generator(generator)) return stacked(b, {high, low, high, low});
  Value* zero = op::zeros_like(b, low);
  // Threefry takes the seed as a key, Philox, whose keys are shorter, as a counter.
  const bool as_key = generator == Implementation::threefry4x32;
  Values key(static_cast<std::size_t>(key_words(generator)), zero),
      count(block_words(generator), zero);
  (as_key ? key : count)[0] = high;
  (as_key ? key : count)[1] = low;
  return key_of(b, generator, block(b, generator, key, count));
}

Value* fold_value(Builder& b, Implementation generator, Value* key, Value* data) {
  if (generator == Implementation::rbg)
    return by_halves(b, key, [&](Value* half) {
      return fold_block(b, Implementation::threefry2x32, half, data);
    });
  if (generator != Implementation::unsafe_rbg) return fold_block(b, generator, key, data);
  Value* rows = generated(b, seed_value(b, generator, op::zeros_like(b, data), data), Shape{10, 4},
                          DType::ui32);
  return op::xor_(b, key, op::reshape(b, op::slice(b, rows, {9, 0}, {10, 4}), Shape{4}));
}

Value* bits_value(Builder& b, Implementation generator, Value* key, const Shape& shape,
                  DType dtype) {
  if (by_rng_bit_generator(generator)) return generated(b, key, shape, dtype);
  if (generator == Implementation::threefry2x32 && !partitionable)
    return original_bits(b, key, shape, dtype);
  const Values words = all_words(b, key, key_words(generator), shape);
  const Values x = block(b, generator, words, counter(b, generator, positions(b, shape), true));
  if (dtype == DType::ui64) {
    const bool folded = generator == Implementation::threefry4x32;
    return folded ? wide_word(b, op::xor_(b, x[0], x[2]), op::xor_(b, x[1], x[3]))
                  : wide_word(b, x[0], x[1]);
  }
  Value* all = x[0];
  for (std::size_t i = 1; i < x.size(); ++i) all = op::xor_(b, all, x[i]);
  return op::convert(b, all, dtype);
}

/// The words of a seed as ui32 scalars: high, low.
std::pair<Array, Array> seed_words(const Array& seed) {
  if (!seed.is_traced() && seed.state()->scalar) {
    const internal::ScalarValue& scalar = *seed.state()->scalar;
    const DType wide = std::holds_alternative<std::uint64_t>(scalar) ? DType::ui64 : DType::i64;
    const std::uint64_t s = static_cast<std::uint64_t>(
        internal::element<std::int64_t>(internal::scalar_literal(scalar, wide), 0));
    return {Array::scalar(x64_enabled() ? s >> 32 : std::uint64_t{0}, DType::ui32, false),
            Array::scalar(s & 0xffffffff, DType::ui32, false)};
  }
  const bool wide = bit_width(seed.dtype()) == 64;
  return {wide ? as(as(seed, DType::ui64) >> 32, DType::ui32) : zeros({}, DType::ui32),
          as(seed, DType::ui32)};
}

}  // namespace

ThreefryPartitionable::ThreefryPartitionable(bool on) : before_(std::exchange(partitionable, on)) {}
ThreefryPartitionable::~ThreefryPartitionable() { partitionable = before_; }

Key key(const Operand& seed, Implementation implementation) {
  const Site site(seed);
  if (!is_integer(seed->dtype()) || seed->ndim() != 0)
    fail("key", "a seed is an integer scalar, got {}", describe(seed->type()));
  const auto [high, low] = seed_words(seed);
  return {emit_one({high, low}, false,
                   [&](Builder& b, const Values& v) {
                     return seed_value(b, implementation, v[0], v[1]);
                   }),
          implementation};
}
Array PRNGKey(const Operand& seed, Implementation implementation) {
  const Site site(seed);
  return key(seed, implementation).words;
}

Key split(const KeyOperand& key, const Sizes& num) {
  const Use use("split", key);
  for (std::int64_t n : num)
    if (n < 0) fail("split", "the number of keys is at least 0, got {}", n);
  const Shape shape = Shape::of(num);
  check_count("split", shape);
  const Implementation generator = key.key.implementation;
  return {
      emit_one({key.key.words}, false,
               [&](Builder& b, const Values& v) { return split_value(b, generator, v[0], shape); }),
      generator};
}
std::pair<Key, Key> split2(const KeyOperand& key) {
  const Use use("split", key);
  const auto [first, second] = split(key);
  return {first, second};
}
Key detail::element(const Key& keys, std::int64_t i) { return at(keys, i); }
Key fold_in(const KeyOperand& key, const Operand& data) {
  const Use use("fold_in", key, false, false);
  if (data->ndim() != 0 || !is_integer(data->dtype()))
    fail("fold_in", "the number is an integer scalar, got {}", describe(data->type()));
  const Implementation generator = key.key.implementation;
  return {
      emit_one({key.key.words, as(data, DType::ui32)}, false,
               [&](Builder& b, const Values& v) { return fold_value(b, generator, v[0], v[1]); }),
      generator};
}

Array bits(const KeyOperand& key, const Sizes& sizes, std::optional<DType> wanted) {
  const Use use("bits", key);
  const DType dtype = wanted.value_or(canonical(DType::ui64, x64_enabled()));
  if (!is_unsigned(dtype) || bit_width(dtype) < 8)
    fail("bits", "bits are ui8, ui16, ui32 or ui64, got {}", strata::name(dtype));
  const Shape shape = Shape::of(sizes);
  check_count("bits", shape);
  return emit_one({key.key.words}, false, [&](Builder& b, const Values& v) {
    return bits_value(b, key.key.implementation, v[0], shape, dtype);
  });
}

}  // namespace strata::random
