// dynamic_broadcast_in_dim: broadcast_in_dim to sizes that an operand holds.
//
// Contract (spec: dynamic_broadcast_in_dim): operand, output_dimensions (integers of rank 1);
// attributes `broadcast_dimensions`, and, of no consequence here, `known_expanding_dimensions` and
// `known_nonexpanding_dimensions`.
//   (C1) the result has the operand's element type; (C2) an entry of broadcast_dimensions per
//   dimension of the operand, (C3) each within the result, (C4) no two equal; (C5) a dimension is 1
//   or that of the result; (C6) of a result quantised along an axis, that is where the operand's
//   goes; (C8) known dimensions are unique and (C9, C10) dimensions of the operand; (C7)
//   output_dimensions has an entry per dimension of the result.
#include <algorithm>
#include <set>

#include "strata/op/shape/dynamic.h"

namespace strata::op {
namespace {

void verify(const Op& op) {
  const char* self = "dynamic_broadcast_in_dim";
  expect_operands(self, op.operands, 2);
  expect_element_type(op, "C1");
  const Type &in = op.operand(0)->type(), &out = op.result()->type();
  const Ints& dims = expect_attr<Ints>(self, op.attrs, "broadcast_dimensions");
  expect_length(self, "broadcast_dimensions (C2)", dims, in.rank());
  for (int d = 0; d < in.rank(); ++d) {
    std::int64_t to = dims[static_cast<std::size_t>(d)];
    if (to < 0 || to >= out.rank())
      throw Error(self, "broadcast_dimensions[{}] = {} is outside of the result {} (C3)", d, to,
                  out.to_string());
    if (std::count(dims.begin(), dims.end(), to) > 1)
      throw Error(self, "broadcast_dimensions names dimension {} twice (C4)", to);
    const Dim &from = in.shape().dim(d), &into = out.shape().dim(static_cast<int>(to));
    if (!(from == Dim(1)) && !may_equal(from, into))
      throw Error(self, "dimension {} of {} fits neither 1 nor dimension {} of {} (C5)", d,
                  in.to_string(), to, out.to_string());
  }
  std::set<std::int64_t> known;
  for (auto [list, number] :
       {std::pair("known_expanding_dimensions", 9), std::pair("known_nonexpanding_dimensions", 10)})
    for (std::int64_t d : op.attrs.get_or<Ints>(list, {})) {
      if (d < 0 || d >= in.rank())
        throw Error(self, "{} names dimension {} of {} (C{})", list, d, in.to_string(), number);
      if (!known.insert(d).second)
        throw Error(self, "dimension {} of {} is named twice, also by {} (C8)", d, in.to_string(),
                    list);
    }
  expect_shape_operand(self, "output_dimensions (C7)", op.operand(1), out.rank());
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Type type = op.result()->type().with(refined_shape(op, operands[1]));
  Attrs attrs{{"broadcast_dimensions", op.attr<Ints>("broadcast_dimensions")}};
  Op& made =
      b.create(def("stablehlo.broadcast_in_dim").info, {operands[0]}, std::move(attrs), {}, {type});
  made.info().verify(made);
  return made.results();
}

}  // namespace

const OpDef& dynamic_broadcast_in_dim_def() {
  static const OpDef def = dynamic(
      {.name = "stablehlo.dynamic_broadcast_in_dim",
       .summary =
           "repeats an array to a shape that an operand holds (spec: dynamic_broadcast_in_dim)",
       .verify = verify,
       .decompose = decompose,
       .needs = unstated_sizes,
       .text = &ir::formats::dynamic_broadcast_in_dim,
       .quantized = quantized::broadcast});
  return def;
}

}  // namespace strata::op
