// bitcast_convert: the same bits as another dtype. A narrower dtype appends a dimension of the parts, low bits first;
// a wider one joins the elements of the last dimension.
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
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
  if ((is_bool(in.dtype()) != is_bool(out.dtype())) || (is_complex(in.dtype()) != is_complex(out.dtype())))  // bitcast_convert_c2
    throw Error(self, "cannot reinterpret {} as {}", name(in.dtype()), name(out.dtype()));
  std::vector<Dim> narrow = (from < to ? in : out).shape().dims(), wide = (from < to ? out : in).shape().dims();
  if (from != to) {  // bitcast_convert_c1
    std::int64_t parts = from < to ? to / from : from / to;
    if (narrow.empty() || !may_equal(narrow.back(), Dim(parts)))
      throw Error(self, "{} as {}: the last dimension of the narrower array must be {}", in.to_string(), out.to_string(), parts);
    narrow.pop_back();
  }
  if (!may_equal(Shape(narrow), Shape(wide))) throw Error(self, "{} cannot be seen as {}", in.to_string(), out.to_string());
}

/// Bits are stored low byte first, so the bytes are the answer already.
Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  return {Literal(op.result()->type(), operands[0].storage())};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>&, std::int64_t size) {
  Op& out = b.create(op.info(), {operands[0]}, op.attrs, {}, {with_leading(op.result()->type(), size)});
  return {out.results(), {true}};
}

DType unsigned_of(int bits) { return bits == 8 ? DType::ui8 : bits == 16 ? DType::ui16 : bits == 32 ? DType::ui32 : DType::ui64; }

/// Part number `part` of the bits of x.
loop::Inst* split(loop::Builder& b, loop::Inst* x, const loop::Index& part, DType to) {
  DType wide = unsigned_of(bit_width(x->type.dtype)), narrow = unsigned_of(bit_width(to));
  loop::Inst* shift = b.convert(wide, b.value(part * bit_width(to)));
  return b.bitcast(to, b.convert(narrow, b.binary(loop::Opcode::shr, b.bitcast(wide, x), shift)));
}

loop::Inst* join(LowerContext& c, const Op& op, std::span<const loop::Index> index) {
  DType from = op.operand(0)->dtype(), to = op.result()->dtype();
  DType narrow = unsigned_of(bit_width(from)), wide = unsigned_of(bit_width(to));
  loop::Inst* bits = c.b.constant_int(wide, 0);
  for (int part = 0; part < bit_width(to) / bit_width(from); ++part) {
    std::vector<loop::Index> at(index.begin(), index.end());
    at.emplace_back(part);
    loop::Inst* piece = c.b.convert(wide, c.b.bitcast(narrow, c.operand(op, 0, at)));
    bits = c.b.binary(loop::Opcode::or_, bits, c.b.binary(loop::Opcode::shl, piece, c.b.constant_int(wide, part * bit_width(from))));
  }
  return c.b.bitcast(to, bits);
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  DType from = op.operand(0)->dtype(), to = op.result()->dtype();
  if (from == to) return c.operand(op, 0, index);
  if (bit_width(from) == bit_width(to)) return c.b.bitcast(to, c.operand(op, 0, index));
  if (bit_width(from) > bit_width(to)) return split(c.b, c.operand(op, 0, index.first(index.size() - 1)), index.back(), to);
  return join(c, op, index);
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
      .info = {.name = "stablehlo.bitcast_convert", .text = &ir::formats::functional, .verify = verify},
      .summary = "the same bits as another dtype (spec: bitcast_convert)",
      .traits = {.cheap = true},
      .evaluate = evaluate,
      .jvp = zero_jvp,
      .linearize = None{"no regions"},
      .transpose = None{"not linear"},
      .batch = batch,
      .shard = shard,
      .cost = move_cost,
      .lowering = Elemental{element},
  };
  return def;
}

}  // namespace strata::op
