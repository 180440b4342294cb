// bitcast_convert: the same bits as another dtype. A narrower dtype appends a dimension of the
// parts, low bits first; a wider one joins the elements of the last dimension.
//
// Contract (spec: bitcast_convert): (C1) the shapes are equal but for that dimension, whose parts
// fill the wider dtype; (C2) both sides are complex or neither. i1 counts as one bit.
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

void verify(const Op& op) {
  const char* self = "bitcast_convert";
  expect_operands(self, op.operands, 1);
  const Type &in = op.operand(0)->type(), &out = op.result()->type();
  expect_storage(self, in.dtype());
  expect_storage(self, out.dtype());
  int from = bit_width(in.dtype()), to = bit_width(out.dtype());
  if (is_complex(in.dtype()) != is_complex(out.dtype()))
    throw Error(self, "cannot reinterpret {} as {} (C2)", in.to_string(), out.to_string());
  if (std::max(from, to) % std::min(from, to) != 0)
    throw Error(self, "cannot reinterpret {} as {}: {} bits are no multiple of {} (C1)",
                in.to_string(), out.to_string(), std::max(from, to), std::min(from, to));
  std::vector<Dim> narrow = (from < to ? in : out).shape().dims(),
                   wide = (from < to ? out : in).shape().dims();
  if (from != to) {
    std::int64_t parts = from < to ? to / from : from / to;
    if (narrow.empty() || !may_equal(narrow.back(), Dim(parts)))
      throw Error(self, "{} as {}: the last dimension of the narrower array must be {} (C1)",
                  in.to_string(), out.to_string(), parts);
    narrow.pop_back();
  }
  if (!may_equal(Shape(narrow), Shape(wide)))
    throw Error(self, "{} cannot be seen as {} (C1)", in.to_string(), out.to_string());
}

/// Eight i1 for each byte, the lowest bit first, and back.
Literal joined_bits(const Literal& x, Literal out) {
  std::span<const bool> bits = x.span<bool>();
  std::byte* bytes = out.mutable_data();
  std::fill_n(bytes, out.bytes(), std::byte{0});
  for (std::size_t i = 0; i < bits.size(); ++i)
    if (bits[i]) bytes[i / 8] |= std::byte{1} << (i % 8);
  return out;
}
Literal separate_bits(const Literal& x, Literal out) {
  std::span<bool> bits = out.mutable_span<bool>();
  for (std::size_t i = 0; i < bits.size(); ++i)
    bits[i] = (x.data()[i / 8] >> (i % 8) & std::byte{1}) != std::byte{0};
  return out;
}

/// Bits are stored low byte first, so the bytes are the answer already, but those of i1.
Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Literal& x = operands[0];
  const Type& type = op.result()->type();
  if (is_bool(x.dtype()) == is_bool(type.dtype())) return {Literal(type, x.storage())};
  return {is_bool(type.dtype()) ? separate_bits(x, Literal(type)) : joined_bits(x, Literal(type))};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>&,
              std::int64_t size) {
  Op& out =
      b.create(op.info(), {operands[0]}, op.attrs, {}, {with_leading(op.result()->type(), size)});
  return {out.results(), {true}};
}

DType unsigned_of(int bits) {
  return bits == 8 ? DType::ui8 : bits == 16 ? DType::ui16 : bits == 32 ? DType::ui32 : DType::ui64;
}

/// Part number `part` of the bits of x.
loop::Inst* split(loop::Builder& b, loop::Inst* x, const loop::Index& part, DType to) {
  DType wide = unsigned_of(bit_width(x->type.dtype)),
        narrow = is_bool(to) ? to : unsigned_of(bit_width(to));
  loop::Inst* shift = b.convert(wide, b.value(part * bit_width(to)));
  loop::Inst* bits = b.binary(loop::Opcode::shr, b.bitcast(wide, x), shift);
  if (is_bool(to))
    return b.convert(to, b.binary(loop::Opcode::and_, bits, b.constant_int(wide, 1)));
  return b.bitcast(to, b.convert(narrow, bits));
}

loop::Inst* join(LowerContext& c, const Op& op, std::span<const loop::Index> index) {
  DType from = op.operand(0)->dtype(), to = op.result()->dtype();
  DType narrow = is_bool(from) ? from : unsigned_of(bit_width(from)),
        wide = unsigned_of(bit_width(to));
  loop::Inst* bits = c.b.constant_int(wide, 0);
  for (int part = 0; part < bit_width(to) / bit_width(from); ++part) {
    std::vector<loop::Index> at(index.begin(), index.end());
    at.emplace_back(part);
    loop::Inst* piece = c.b.convert(wide, c.b.bitcast(narrow, c.operand(op, 0, at)));
    bits = c.b.binary(
        loop::Opcode::or_, bits,
        c.b.binary(loop::Opcode::shl, piece, c.b.constant_int(wide, part * bit_width(from))));
  }
  return c.b.bitcast(to, bits);
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  DType from = op.operand(0)->dtype(), to = op.result()->dtype();
  if (from == to) return c.operand(op, 0, index);
  if (bit_width(from) == bit_width(to)) return c.b.bitcast(to, c.operand(op, 0, index));
  if (bit_width(from) > bit_width(to))
    return split(c.b, c.operand(op, 0, index.first(index.size() - 1)), index.back(), to);
  return join(c, op, index);
}

// ---- types that kernels do not know ------------------------------------------------------------

/// The last dimension's pieces of `width` bits (ui8), low ones first, in one ui8.
Value* packed(Builder& b, Value* pieces, int width) {
  std::int64_t count = pieces->shape()[pieces->rank() - 1];
  std::vector<Dim> rest(pieces->shape().dims().begin(), pieces->shape().dims().end() - 1);
  Value* all = nullptr;
  for (std::int64_t i = 0; i < count; ++i) {
    Value* piece = reshape(b, slice_dim(b, pieces, pieces->rank() - 1, i, i + 1), Shape(rest));
    piece = shift_left(b, piece, full_like(b, piece, static_cast<double>(i * width)));
    all = all ? or_(b, all, piece) : piece;
  }
  return all;
}
/// The inverse: a new last dimension of `count` pieces.
Value* unpacked(Builder& b, Value* bytes, int width, std::int64_t count) {
  std::vector<Dim> dims = bytes->shape().dims();
  Ints own;
  for (int d = 0; d < bytes->rank(); ++d) own.push_back(d);
  dims.emplace_back(count);
  Value* spread = broadcast_in_dim(b, bytes, Shape(dims), own);
  Value* shift = iota(b, spread->type(), bytes->rank());
  shift = mul(b, shift, full_like(b, shift, width));
  return and_(b, shift_right_logical(b, spread, shift), full_like(b, spread, (1 << width) - 1));
}
/// The last dimension in groups of `size`.
Value* grouped(Builder& b, Value* x, std::int64_t size) {
  std::vector<Dim> dims = x->shape().dims();
  std::int64_t count = dims.back().size();
  dims.back() = Dim(count / size);
  dims.emplace_back(size);
  return reshape(b, x, Shape(dims));
}
Value* ungrouped(Builder& b, Value* x) {
  std::vector<Dim> dims = x->shape().dims();
  std::int64_t last = dims.back().size();
  dims.pop_back();
  dims.back() = Dim(dims.back().size() * last);
  return reshape(b, x, Shape(dims));
}

bool is_byte(DType dtype) { return byte_width(dtype) == 1; }
/// The bits of a part as ui8, zeros above the type's own, and back.
Value* bits_of_part(Builder& b, Value* part, DType dtype) {
  if (is_bool(dtype)) return convert(b, part, DType::ui8);
  Value* bits = bitcast_convert(b, part, DType::ui8);
  return bit_width(dtype) == 8 ? bits
                               : and_(b, bits, full_like(b, bits, (1 << bit_width(dtype)) - 1));
}
Value* part_of_bits(Builder& b, Value* bits, DType dtype) {
  if (is_bool(dtype)) return convert(b, bits, dtype);
  Value* part = bitcast_convert(b, bits, part_types(Type::scalar(dtype))[0].dtype());
  return is_integer(dtype) ? encode(b, part, dtype) : part;
}

/// Complex numbers as real ones with a last dimension of the two parts, and back.
Value* stacked(Builder& b, const Parts& parts) {
  std::vector<Dim> dims = parts[0]->shape().dims();
  dims.emplace_back(1);
  return concatenate(b, {reshape(b, parts[0], Shape(dims)), reshape(b, parts[1], Shape(dims))},
                     static_cast<int>(dims.size()) - 1);
}
Parts unstacked(Builder& b, Value* x, const Shape& shape) {
  int last = x->rank() - 1;
  return {reshape(b, slice_dim(b, x, last, 0, 1), shape),
          reshape(b, slice_dim(b, x, last, 1, 2), shape)};
}

Value* bytes_to(Builder& b, Value* bits, int from, DType to) {
  int width = bit_width(to);
  if (from < 8 && width > 8)
    return bitcast_convert(b, packed(b, grouped(b, bits, 8 / from), from), to);
  if (from < width) bits = width > 8 ? bits : packed(b, bits, from);
  if (from > width) bits = unpacked(b, bits, width, from / width);
  return is_byte(to) ? part_of_bits(b, bits, to) : bitcast_convert(b, bits, to);
}

std::vector<Parts> split_parts(Builder& b, const Op& op, std::span<const Parts> operands) {
  DType from = op.operand(0)->dtype(), to = op.result()->dtype();
  const Parts& x = operands[0];
  if (from == to) return {x};
  if (is_complex(from))
    return {unstacked(b, bitcast_convert(b, stacked(b, x), real_part(to)), op.result()->shape())};
  if (is_byte(from)) return {{bytes_to(b, bits_of_part(b, x[0], from), bit_width(from), to)}};
  Value* bytes = bitcast_convert(b, x[0], DType::ui8);
  if (bit_width(to) == 8) return {{part_of_bits(b, bytes, to)}};
  return {
      {part_of_bits(b, ungrouped(b, unpacked(b, bytes, bit_width(to), 8 / bit_width(to))), to)}};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  int shared = std::min(op.operand(0)->rank(), op.result()->rank());
  for (int d = 0; d < std::max(op.operand(0)->rank(), op.result()->rank()); ++d) {
    const Shape& shape = d < op.operand(0)->rank() ? op.operand(0)->shape() : op.result()->shape();
    int f = t.factor(d < shared ? 'p' : 'n', shape.dim(d).bound());
    if (d < op.operand(0)->rank()) t.operand(0, d, f);
    if (d < op.result()->rank()) t.result(0, d, f);
  }
  return t.take();
}

}  // namespace

const OpDef& bitcast_convert_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.bitcast_convert",
               .text = &ir::formats::functional,
               .verify = verify,
               .quantized = quantized::reinterpreted},
      .summary = "the same bits as another dtype (spec: bitcast_convert)",
      .traits = {.cheap = true, .takes_quantized = true},
      .evaluate = evaluate,
      .jvp = zero_jvp,
      .linearize = None{"no regions"},
      .transpose = None{"not linear"},
      .batch = batch,
      .shard = shard,
      .cost = move_cost,
      .lowering = Elementwise{element},
      .split = split_parts,
  };
  return def;
}

}  // namespace strata::op
