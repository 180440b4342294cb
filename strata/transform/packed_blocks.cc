#include "strata/transform/packed_blocks.h"

#include <numeric>

#include "strata/base/error.h"
#include "strata/op/build.h"

namespace strata::transform {
namespace {

using ir::Builder;
using ir::Value;
using op::Ints;

Shape sized(const Ints& dims) { return Shape(std::vector<Dim>(dims.begin(), dims.end())); }

/// Blocks as rows of bytes, and the steps in which their layouts (type/block_format.cc) are read.
/// Values are i32 or f32, their first dimension counts the blocks.
class Blocks {
 public:
  Blocks(Builder& b, Value* bytes) : b_(b), bytes_(bytes), count_(bytes->shape()[0]) {}

  /// `n` bytes from `start` on: i32 [blocks, dims...], whose product is n.
  Value* bytes(int start, const Ints& dims) const { return number(raw(start, dims)); }
  /// The same, each byte an i8.
  Value* signed_bytes(int start, const Ints& dims) const {
    return number(op::bitcast_convert(b_, raw(start, dims), DType::i8));
  }
  /// The f16 at `start` as f32 [blocks, 1...] of `rank` dimensions.
  Value* half(int start, int rank) const {
    Value* f16 = op::bitcast_convert(b_, raw(start, {2}), DType::f16);  // [blocks]
    return op::convert(b_, shaped(f16, Ints(static_cast<std::size_t>(rank) - 1, 1)), DType::f32);
  }
  /// Nibbles of `n` bytes, the low ones of all first: [blocks, 2 n].
  Value* nibbles(int start, int n) const {
    Value* q = bytes(start, {1, n});
    return shaped(bits(q, steps({2, 1}, 4), 15), {2 * n});
  }
  /// Bits of `n` bytes, the lowest of each first: [blocks, 8 n].
  Value* single_bits(int start, int n) const {
    return shaped(bits(bytes(start, {n, 1}), steps({1, 8}, 1), 1), {8 * n});
  }
  /// (x >> shift) & mask; sizes of 1 stretch.
  Value* bits(Value* x, Value* shift, int mask) const {
    return masked(both(op::shift_right_logical, x, shift), mask);
  }
  Value* bits(Value* x, int shift, int mask) const { return bits(x, whole(shift), mask); }
  /// low | high << 4.
  Value* with_high_bits(Value* low, Value* high, int shift = 4) const {
    return both(op::or_, low, both(op::shift_left, high, whole(shift)));
  }
  /// i32 [1, dims...]: 0, step, 2 step, ... along the only dimension that is not 1, or along all in
  /// row-major order.
  Value* steps(const Ints& dims, int step) const {
    const Ints all = led(dims, 1);
    std::int64_t n = 1;
    for (std::int64_t d : dims) n *= d;
    std::vector<std::int32_t> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i) * step;
    return op::constant(b_, Literal::of(sized(all), values));
  }
  /// The value at each index of a table of 16.
  Value* lookup(const std::int8_t (&table)[16], Value* index) const {
    Value* out = op::full_like(b_, index, table[0]);
    for (int k = 1; k < 16; ++k)
      out = op::select(b_, op::compare(b_, index, op::full_like(b_, index, k), "EQ"),
                       op::full_like(b_, index, table[k]), out);
    return out;
  }
  Value* minus(Value* x, int n) const { return both(op::sub, x, whole(n)); }
  Value* times(Value* x, Value* y) const { return both(op::mul, real(x), real(y)); }
  Value* plus(Value* x, Value* y) const { return both(op::add, real(x), real(y)); }
  Value* minus(Value* x, Value* y) const { return both(op::sub, x, y); }
  Value* either(Value* x, Value* y) const { return op::concatenate(b_, {x, y}, 1); }
  /// Parts of a dimension of which each has a scale: [blocks, dims..., 1] -> [blocks, ..., n].
  Value* repeated(Value* x, const Ints& dims) const {
    return op::broadcast_to(b_, x, sized(led(dims, count_)));
  }
  Value* shaped(Value* x, const Ints& dims) const {
    return op::reshape(b_, x, sized(led(dims, x->shape()[0])));
  }
  /// e -> 2^(e - 128): the bits of an f32, the first two of them subnormal.
  Value* power(Value* e) const {
    Value* one = op::full_like(b_, e, 1);
    Value* small = op::shift_left(b_, op::full_like(b_, e, 0x00200000), e);
    Value* normal = op::shift_left(b_, op::sub(b_, e, one), op::full_like(b_, e, 23));
    Value* is_small = op::compare(b_, e, op::full_like(b_, e, 2), "LT");
    return op::bitcast_convert(b_, op::select(b_, is_small, small, normal), DType::f32);
  }

 private:
  using Binary = Value* (*)(Builder&, Value*, Value*);

  static Ints led(const Ints& dims, std::int64_t first) {
    Ints out{first};
    out.insert(out.end(), dims.begin(), dims.end());
    return out;
  }
  Value* raw(int start, const Ints& dims) const {
    const auto n = std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
    return shaped(op::slice_dim(b_, bytes_, 1, start, start + n), dims);
  }
  Value* number(Value* bytes) const { return op::convert(b_, bytes, DType::i32); }
  Value* real(Value* x) const {
    return x->type().dtype() == DType::f32 ? x : op::convert(b_, x, DType::f32);
  }
  Value* whole(int n) const { return op::scalar(b_, DType::i32, n); }
  Value* masked(Value* x, int mask) const { return both(op::and_, x, whole(mask)); }
  Value* both(Binary f, Value* x, Value* y) const {
    const int rank = std::max(x->rank(), y->rank());
    Ints dims;
    for (int d = 0; d < rank; ++d) {
      const auto size = [&](Value* v) {
        const int at = d - (rank - v->rank());
        return at < 0 ? std::int64_t{1} : v->shape()[at];
      };
      dims.push_back(size(x) == 1 ? size(y) : size(x));
    }
    const Shape shape = sized(dims);
    return f(b_, op::broadcast_to(b_, x, shape), op::broadcast_to(b_, y, shape));
  }

  Builder& b_;
  Value* bytes_;
  std::int64_t count_;
};

// The layouts, as type/block_format.cc has them; of 256 elements, element i = 128 h + 32 g + l.

/// Elements by two bits each of `bytes` from `start` on: [blocks, h, g, l].
Value* two_bits(const Blocks& k, int start) {
  return k.bits(k.bytes(start, {2, 1, 32}), k.steps({1, 4, 1}, 2), 3);
}
/// A number for each 16 elements, [blocks, 16], as [blocks, h, g, l].
Value* of_sixteens(const Blocks& k, Value* x) {
  return k.shaped(k.repeated(k.shaped(x, {2, 4, 2, 1}), {2, 4, 2, 16}), {2, 4, 32});
}
/// Elements by the nibbles of 128 bytes: [blocks, 8, 32].
Value* nibbles_of_rows(const Blocks& k, int start) {
  return k.shaped(k.bits(k.bytes(start, {4, 1, 32}), k.steps({2, 1}, 4), 15), {8, 32});
}
/// The scales of six bits, [blocks, 8, 1], of Q4_K and Q5_K, and their minima.
std::pair<Value*, Value*> six_bits(const Blocks& k) {
  Value *a = k.bytes(4, {4, 1}), *c = k.bytes(8, {4, 1}), *e = k.bytes(12, {4, 1});
  return {k.either(k.bits(a, 0, 63), k.with_high_bits(k.bits(e, 0, 15), k.bits(a, 6, 3))),
          k.either(k.bits(c, 0, 63), k.with_high_bits(k.bits(e, 4, 15), k.bits(c, 6, 3)))};
}
/// d * scale * v - dmin * minimum.
Value* scaled(const Blocks& k, Value* scale, Value* v, Value* minimum, int d) {
  return k.minus(k.times(k.times(k.half(d, 3), scale), v), k.times(k.half(d + 2, 3), minimum));
}

Value* q3_scales(const Blocks& k) {
  Value* s = k.bytes(96, {8});
  Value* high = k.bits(k.bytes(104, {1, 4}), k.steps({4, 1}, 2), 3);
  Value* low = k.either(k.bits(s, 0, 15), k.bits(s, 4, 15));
  return k.minus(k.with_high_bits(low, k.shaped(high, {16})), 32);
}

/// f32 of [blocks, ...].
Value* decoded(const Blocks& k, BlockKind kind) {
  switch (kind) {
    case BlockKind::q4_0: return k.times(k.half(0, 2), k.minus(k.nibbles(2, 16), 8));
    case BlockKind::q4_1: return k.plus(k.times(k.half(0, 2), k.nibbles(4, 16)), k.half(2, 2));
    case BlockKind::q5_0:
      return k.times(k.half(0, 2),
                     k.minus(k.with_high_bits(k.nibbles(6, 16), k.single_bits(2, 4)), 16));
    case BlockKind::q5_1:
      return k.plus(k.times(k.half(0, 2), k.with_high_bits(k.nibbles(8, 16), k.single_bits(4, 4))),
                    k.half(2, 2));
    case BlockKind::q8_0: return k.times(k.half(0, 2), k.signed_bytes(2, {32}));
    case BlockKind::iq4_nl: return k.times(k.half(0, 2), k.lookup(kIq4Values, k.nibbles(2, 16)));
    case BlockKind::mxfp4:
      return k.times(k.power(k.bytes(0, {1})), k.lookup(kMxfp4Values, k.nibbles(1, 16)));
    case BlockKind::q2_k: {
      Value* t = of_sixteens(k, k.bytes(0, {16}));
      return k.minus(k.times(k.times(k.half(80, 4), k.bits(t, 0, 15)), two_bits(k, 16)),
                     k.times(k.half(82, 4), k.bits(t, 4, 15)));
    }
    case BlockKind::q3_k: {
      Value* mask = k.bits(k.bytes(0, {1, 1, 32}), k.steps({2, 4, 1}, 1), 1);
      // Where the mask has no bit, 4 is taken off: (v | mask << 2) - 4.
      Value* v = k.minus(k.with_high_bits(two_bits(k, 32), mask, 2), 4);
      return k.times(k.times(k.half(108, 4), of_sixteens(k, q3_scales(k))), v);
    }
    case BlockKind::q4_k: {
      const auto [scale, minimum] = six_bits(k);
      return scaled(k, scale, nibbles_of_rows(k, 16), minimum, 0);
    }
    case BlockKind::q5_k: {
      const auto [scale, minimum] = six_bits(k);
      Value* fifth = k.bits(k.bytes(16, {1, 32}), k.steps({8, 1}, 1), 1);
      return scaled(k, scale, k.with_high_bits(nibbles_of_rows(k, 48), fifth), minimum, 0);
    }
    case BlockKind::q6_k: {
      Value* low = k.bits(k.bytes(0, {2, 1, 2, 32}), k.steps({2, 1, 1}, 4), 15);
      Value* v = k.with_high_bits(k.shaped(low, {2, 4, 32}), two_bits(k, 128));
      Value* scale = of_sixteens(k, k.signed_bytes(192, {16}));
      return k.times(k.times(k.half(208, 4), scale), k.minus(v, 32));
    }
    case BlockKind::iq4_xs: {
      Value* low = k.shaped(k.bits(k.bytes(4, {4, 1}), k.steps({1, 2}, 4), 15), {8, 1});
      Value* sh = k.with_high_bits(k.bytes(2, {1, 1}), k.bytes(3, {1, 1}), 8);
      Value* scale = k.with_high_bits(low, k.bits(sh, k.steps({8, 1}, 2), 3));
      Value* index = k.bits(k.bytes(8, {8, 1, 16}), k.steps({2, 1}, 4), 15);
      return k.times(k.times(k.half(0, 3), k.minus(scale, 32)),
                     k.lookup(kIq4Values, k.shaped(index, {8, 32})));
    }
  }
  STRATA_CHECK(false, "a block format without a layout");
}

/// x with 32 elements at a time rounded to eight bits (loop/kernel/block/block_int8.h).
Value* rounded_to_int8(Builder& b, Value* x) {
  const Shape& whole = x->shape();
  const int last = x->rank() - 1;
  Ints dims(whole.dims().size() + 1);
  for (int d = 0; d < last; ++d) dims[static_cast<std::size_t>(d)] = whole[d];
  dims[static_cast<std::size_t>(last)] = whole[last] / 32;
  dims.back() = 32;
  const Shape parts = sized(dims);
  Value* groups = op::reshape(b, x, parts);
  Value* largest = op::reduce_max(b, op::abs(b, groups), {last + 1});
  dims.back() = 1;
  Value* d = op::reshape(b, op::div(b, largest, op::full_like(b, largest, 127)), sized(dims));
  Value* zero = op::full_like(b, d, 0);
  Value* inverse =
      op::select(b, op::compare(b, d, zero, "EQ"), zero, op::div(b, op::full_like(b, d, 1), d));
  Value* n = op::round_nearest_even(b, op::mul(b, groups, op::broadcast_to(b, inverse, parts)));
  return op::reshape(b, op::mul(b, n, op::broadcast_to(b, d, parts)), whole);
}

}  // namespace

ir::Value* packed_numbers(Builder& b, Value* blocks, BlockFormat format) {
  const Shape& shape = blocks->shape();
  if (!shape.is_static())
    throw Error("strata.block_dequantize", "packed blocks {} of unknown sizes",
                blocks->type().to_string())
        .unsupported();
  const std::int64_t count = shape.count() / format.bytes();
  Ints dims;
  for (int d = 0; d < blocks->rank() - 1; ++d) dims.push_back(shape[d]);
  dims.push_back(format.row_elements(shape[blocks->rank() - 1]));
  if (count == 0) return op::zeros(b, Type(DType::f32, sized(dims)));
  Value* rows = op::reshape(b, blocks, Shape({count, format.bytes()}));
  return op::reshape(b, decoded(Blocks(b, rows), format.kind()), sized(dims));
}

bool is_on_packed_blocks(const ir::Op& op) { return op.name().starts_with("strata.block_d"); }

ir::Values in_stablehlo(Builder& b, const ir::Op& op, const ir::Values& operands) {
  const BlockFormat format = op::block_format_of(op.name(), op.attrs);
  if (operands.size() == 1) return {packed_numbers(b, operands[0], format)};
  Value *x = operands[0], *w = packed_numbers(b, operands[1], format);
  if (op.name() == "strata.block_dot_int8") x = rounded_to_int8(b, x);
  const int batch = w->rank() - 2, last = x->rank() - 1;
  op::DotDims dims;
  for (int d = 0; d < batch; ++d) dims.lhs_batch.push_back(d), dims.rhs_batch.push_back(d);
  dims.lhs_contract = {last};
  dims.rhs_contract = {op.name() == "strata.block_dot_transposed" ? batch : batch + 1};
  return {op::dot_general(b, x, w, dims)};
}

}  // namespace strata::transform
