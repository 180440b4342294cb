// dynamic_conv: convolution with padding that an operand holds.
//
// Contract (spec: dynamic_conv): lhs, rhs, d_padding (integers [spatial dimensions, 2]); attributes
// as convolution's but for padding. (C4) d_padding has a row of two per spatial dimension; the
// other constraints are convolution's, by the same numbers.
#include "strata/op/shape/dynamic.h"

namespace strata::op {
namespace {

/// Attributes of the convolution that it stands for. Upstream's own programs state more strides
/// than there are spatial dimensions; the first ones count.
Attrs with_padding(Attrs attrs, Ints padding) {
  Ints strides = attrs.get_or<Ints>("window_strides", {});
  std::size_t spatial = padding.size() / 2;
  if (strides.size() > spatial)
    attrs.set("window_strides",
              Ints(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(spatial)));
  attrs.set("padding", std::move(padding));
  return attrs;
}

/// What does not depend on the padding: all but the sizes of spatial dimensions.
void expect_convolution(const Op& op, std::size_t spatial) {
  const char* self = "dynamic_conv";
  const Type& stated = op.result()->type();
  Type inferred;
  try {
    inferred = def("stablehlo.convolution")
                   .info.infer(std::span(op.operands).first(2),
                               with_padding(op.attrs, Ints(2 * spatial, 0)), {})[0];
  } catch (const Error& e) {
    throw Error(self, e.message());
  }
  if (!stated.is_tensor() || stated.rank() != inferred.rank())
    throw Error(self, "the result is {}, but the operands give {} (C26)", stated.to_string(),
                inferred.to_string());
  for (const char* name : {"output_batch_dimension", "output_feature_dimension"})
    if (auto d = static_cast<int>(op.attr<std::int64_t>(name));
        !may_equal(stated.shape().dim(d), inferred.shape().dim(d)))
      throw Error(self, "dimension {} of the result {} must be {} (C25)", d, stated.to_string(),
                  inferred.shape().dim(d).size());
}

void verify(const Op& op) {
  const char* self = "dynamic_conv";
  expect_operands(self, op.operands, 3);
  const Type& padding = op.operand(2)->type();
  int spatial = op.operand(0)->rank() - 2;
  bool fits = is_integer(padding.dtype()) && padding.rank() == 2 &&
              may_equal(padding.shape().dim(0), Dim(std::max(spatial, 0))) &&
              may_equal(padding.shape().dim(1), Dim(2));
  if (spatial < 0 || !fits)
    throw Error(self, "d_padding must be integers [{}, 2] for {}, got {} (C4)", spatial,
                op.operand(0)->type().to_string(), padding.to_string());
  expect_convolution(op, static_cast<std::size_t>(spatial));
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  const ir::OpInfo& info = def("stablehlo.convolution").info;
  Attrs attrs = with_padding(op.attrs, expect_known("dynamic_conv", "the padding", operands[2]));
  Values sides{operands[0], operands[1]};
  std::vector<Type> inferred = info.infer(sides, attrs, {});
  return b.create(info, sides, attrs, {}, {inferred[0].with(op.result()->dtype())}).results();
}

std::vector<int> needs(const Op&) { return {2}; }

}  // namespace

const OpDef& dynamic_conv_def() {
  static const OpDef def =
      dynamic({.name = "stablehlo.dynamic_conv",
               .summary = "convolution with padding that an operand holds (spec: dynamic_conv)",
               .verify = verify,
               .decompose = decompose,
               .needs = needs,
               .text = &ir::formats::dynamic_conv,
               .quantized = quantized::convolution});
  return def;
}

}  // namespace strata::op
