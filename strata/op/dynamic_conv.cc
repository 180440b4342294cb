// dynamic_conv: convolution with padding that an operand holds.
//
// Contract (spec: dynamic_conv): lhs, rhs, d_padding (integers [spatial dimensions, 2]); attributes as convolution's but for
// padding. (C4) d_padding has a row of two per spatial dimension; the other constraints are convolution's, checked where the
// padding is known.
#include "strata/op/dynamic.h"

namespace strata::op {
namespace {

void verify(const Op& op) {
  const char* self = "dynamic_conv";
  expect_operands(self, op.operands, 3);
  const Type& padding = op.operand(2)->type();
  int spatial = op.operand(0)->rank() - 2;
  bool fits = is_integer(padding.dtype()) && padding.rank() == 2 && may_equal(padding.shape().dim(0), Dim(std::max(spatial, 0))) &&
              may_equal(padding.shape().dim(1), Dim(2));
  if (spatial < 0 || !fits)
    throw Error(self, "(C4) d_padding must be integers [{}, 2] for {}, got {}", spatial, op.operand(0)->type().to_string(), padding.to_string());
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Attrs attrs = op.attrs;
  attrs.set("padding", expect_known("dynamic_conv", "the padding", operands[2]));
  const ir::OpInfo& info = def("stablehlo.convolution").info;
  // Upstream's own programs state more strides than there are spatial dimensions; the first ones count.
  Ints strides = attrs.get_or<Ints>("window_strides", {});
  auto spatial = static_cast<std::size_t>(op.operand(0)->rank() - 2);
  if (strides.size() > spatial) attrs.set("window_strides", Ints(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(spatial)));
  Values sides{operands[0], operands[1]};
  std::vector<Type> inferred = info.infer(sides, attrs, {});
  return b.create(info, sides, attrs, {}, {inferred[0].with(op.result()->dtype())}).results();
}

}  // namespace

const OpDef& dynamic_conv_def() {
  static const OpDef def = dynamic({.name = "stablehlo.dynamic_conv",
                                    .summary = "convolution with padding that an operand holds (spec: dynamic_conv)",
                                    .verify = verify,
                                    .decompose = decompose,
                                    .text = &ir::formats::dynamic_conv});
  return def;
}

}  // namespace strata::op
