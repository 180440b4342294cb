// chlo.broadcast_*: elementwise operations on operands of different shapes.
//
// Contract (CHLO): two operands (select: three); attribute `broadcast_dimensions` names, for each
// dimension of the operand of lower rank, the result's dimension that it becomes; absent,
// dimensions align at the right. A dimension of size 1 stretches. The result is that of the plain
// operation on the stretched operands, whose constraints hold.
//
// Where shapes are not static the sizes are computed: that is the export as plain StableHLO.
#include <algorithm>
#include <numeric>

#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/shape/dynamic.h"

namespace strata::op {
namespace {

/// The operation on operands of one shape: "chlo.broadcast_add" -> "stablehlo.add".
const OpDef& plain(const std::string& name) {
  std::string word = name.substr(std::string("chlo.broadcast_").size());
  for (const char* dialect : {"stablehlo.", "chlo."})
    if (ir::Registry::global().find(dialect + word)) return def(dialect + word);
  throw Error(name, "there is no operation {} on equal shapes", word).unsupported();
}

/// Where an operand's dimensions stand in a result of `rank`.
Ints placed(const Type& type, int rank, const Attrs& attrs) {
  if (type.rank() < rank && attrs.has("broadcast_dimensions"))
    return attrs.get<Ints>("broadcast_dimensions");
  Ints out(static_cast<std::size_t>(type.rank()));
  std::iota(out.begin(), out.end(), rank - type.rank());
  return out;
}

Shape joined_shape(std::string_view self, std::span<Value* const> operands, const Attrs& attrs) {
  int rank = 0;
  for (Value* v : operands) rank = std::max(rank, v->rank());
  std::vector<Dim> dims(static_cast<std::size_t>(rank), Dim(1));
  for (Value* v : operands) {
    Ints at = placed(v->type(), rank, attrs);
    expect_length(self, "broadcast_dimensions", at, v->rank());
    for (int d = 0; d < v->rank(); ++d) {
      std::int64_t to = at[static_cast<std::size_t>(d)];
      if (to < 0 || to >= rank || (d > 0 && to <= at[static_cast<std::size_t>(d - 1)]))
        throw Error(std::string(self),
                    "broadcast_dimensions [{}] = {} is not in order within {} dimensions", d, to,
                    rank);
      Dim &have = dims[static_cast<std::size_t>(to)], next = v->shape().dim(d);
      if (have == Dim(1))
        have = next;
      else if (!(next == Dim(1)) && !may_equal(have, next))
        throw Error(std::string(self), "{} and {} do not stretch to one shape",
                    operands[0]->type().to_string(), v->type().to_string());
      else if (!(next == Dim(1)))
        have = have.is_static() || next.is_static() ? merged(have, next)
               : have == next                       ? have
                                                    : Dim::unknown();
    }
  }
  return Shape(std::move(dims));
}

Attrs plain_attrs(const Attrs& attrs) {
  Attrs out = attrs;
  out.erase("broadcast_dimensions");
  return out;
}

/// What the plain operation infers for operands of the joined shape.
std::vector<Type> inferred(const std::string& name, std::span<Value* const> operands,
                           const Attrs& attrs) {
  std::string self(short_name(name));
  for (Value* v : operands)
    if (!v->type().is_tensor())
      throw Error(self, "operands must be arrays, got {}", v->type().to_string());
  Shape shape = joined_shape(self, operands, attrs);
  Block block;
  Values stretched;
  for (Value* v : operands) stretched.push_back(block.add_argument(v->type().with(shape)));
  return plain(name).info.infer(stretched, plain_attrs(attrs), {});
}

/// The size of result dimension `to` as tensor<1xi32>: of the first operand that is not 1 there.
Value* size_of(Builder& b, std::span<Value* const> operands, const Attrs& attrs, int rank, int to) {
  auto vector = [&](Value* scalar) { return reshape(b, scalar, Shape{1}); };
  Value* size = nullptr;
  for (Value* v : operands) {
    Ints at = placed(v->type(), rank, attrs);
    auto it = std::find(at.begin(), at.end(), to);
    if (it == at.end()) continue;
    const Dim& dim = v->shape().dim(static_cast<int>(it - at.begin()));
    if (dim == Dim(1)) continue;
    Attrs dimension{{"dimension", static_cast<std::int64_t>(it - at.begin())}};
    Value* next = dim.is_static()
                      ? constant(b, Literal::scalar(static_cast<std::int32_t>(dim.size())))
                      : b.create(def("stablehlo.get_dimension_size").info, {v}, dimension, {},
                                 {Type::scalar(DType::i32)})
                            .result();
    if (dim.is_static()) return vector(next);
    size = size ? select(b, compare(b, size, full_like(b, size, 1), "EQ"), next, size) : next;
  }
  return vector(size ? size : constant(b, Literal::scalar(std::int32_t{1})));
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Shape shape = joined_shape(short_name(op.name()), operands, op.attrs);
  Value* sizes = nullptr;
  if (!shape.is_static()) {
    Values each;
    for (int d = 0; d < shape.rank(); ++d)
      each.push_back(size_of(b, operands, op.attrs, shape.rank(), d));
    sizes = concatenate(b, each, 0);
  }
  Values stretched;
  for (Value* v : operands) {
    Ints at = placed(v->type(), shape.rank(), op.attrs);
    if (v->shape() == shape && shape.is_static())
      stretched.push_back(v);
    else if (!sizes)
      stretched.push_back(broadcast_in_dim(b, v, shape, at));
    else
      stretched.push_back(b.create(def("stablehlo.dynamic_broadcast_in_dim").info, {v, sizes},
                                   {{"broadcast_dimensions", at}}, {}, {v->type().with(shape)})
                              .result());
  }
  return b.create(plain(op.name()).info, stretched, plain_attrs(op.attrs)).results();
}

Factors shard(const Op& op) {
  FactorTable t(op);
  int rank = op.result()->rank();
  for (int r = 0; r < rank; ++r) {
    int f = t.factor('p', op.result()->shape().dim(r).bound());
    t.result(0, r, f);
    for (int i = 0; i < static_cast<int>(op.operands.size()); ++i) {
      Ints at = placed(op.operand(i)->type(), rank, op.attrs);
      auto it = std::find(at.begin(), at.end(), r);
      int d = static_cast<int>(it - at.begin());
      if (it != at.end() && op.operand(i)->shape().dim(d) == op.result()->shape().dim(r))
        t.operand(i, d, f);
    }
  }
  return t.take();
}

Work cost(const Op& op) { return {elements(op), bytes_moved(op)}; }

}  // namespace

std::span<const OpDef> chlo_broadcast_defs() {
  static const std::vector<OpDef> rows = [] {
    std::vector<OpDef> out;
    for (const char* word : {"add",
                             "and",
                             "atan2",
                             "compare",
                             "complex",
                             "divide",
                             "maximum",
                             "minimum",
                             "multiply",
                             "next_after",
                             "or",
                             "polygamma",
                             "power",
                             "remainder",
                             "select",
                             "shift_left",
                             "shift_right_arithmetic",
                             "shift_right_logical",
                             "subtract",
                             "xor",
                             "zeta"}) {
      std::string name = std::string("chlo.broadcast_") + word;
      int count = name == "chlo.broadcast_select" ? 3 : 2;
      out.push_back(OpDef{
          .info = {.name = name,
                   .infer =
                       [name, count](std::span<Value* const> operands, const Attrs& attrs,
                                     std::span<const std::unique_ptr<Block>>) {
                         expect_operands(short_name(name), operands, count);
                         return inferred(name, operands, attrs);
                       },
                   .text = name == "chlo.broadcast_compare" ? &ir::formats::chlo_compare
                                                            : &ir::formats::functional},
          .summary = "the plain operation on operands stretched to one shape (CHLO)",
          .traits = {},
          .evaluate = evaluate_decomposed,
          .jvp = jvp_decomposed,
          .linearize = None{"no regions"},
          .transpose = transpose_decomposed,
          .batch = batch_decomposed,
          .shard = shard,
          .cost = cost,
          .lowering = None{"said by broadcast_in_dim and the plain operation"},
          .decompose = decompose,
      });
    }
    return out;
  }();
  return rows;
}

}  // namespace strata::op
