#include "strata/nn/conv/conv.h"

#include "strata/nn/conv/convolved.h"

namespace strata::nn {

Conv::Conv(std::int64_t in_features, std::int64_t out_features, const Sizes& kernel_size,
           Rngs& rngs, const ConvOptions& o)
    : padding(o.padding), feature_group_count(o.feature_group_count), product(o.product) {
  using strata::internal::fail;
  const std::size_t axes = kernel_size.size();
  strides = for_each_axis("Conv", "strides", o.strides, axes);
  input_dilation = for_each_axis("Conv", "input_dilation", o.input_dilation, axes);
  kernel_dilation = for_each_axis("Conv", "kernel_dilation", o.kernel_dilation, axes);
  if (feature_group_count < 1 || in_features % feature_group_count != 0 ||
      out_features % feature_group_count != 0)
    fail("Conv", "{} input and {} output features do not go into {} groups", in_features,
         out_features, feature_group_count);
  if (padding.name() == "CAUSAL" && axes != 1)
    fail("Conv", "CAUSAL padding is for one spatial axis, the kernel's size has {}", axes);
  (void)padding.of("Conv", axes);
  std::vector<std::int64_t> shape = kernel_size;
  shape.push_back(in_features / feature_group_count);
  shape.push_back(out_features);
  kernel = Param(o.kernel_init(rngs("params"), shape, o.param_dtype), o.kernel_metadata);
  if (o.use_bias)
    bias = Param(o.bias_init(rngs("params"), {out_features}, o.param_dtype), o.bias_metadata);
  if (o.mask) mask = detail::checked_mask("Conv", *o.mask, kernel);
}

Array Conv::operator()(const Array& given) const {
  const ModuleScope scope(*this, "Conv");
  const detail::Batched batched("Conv", given, kernel, kernel.shape(-2) * feature_group_count);
  Array x = batched.x;
  const std::size_t axes = static_cast<std::size_t>(kernel.ndim()) - 2;
  // Widths around the spatial axes, for what lax does not pad.
  const auto padded = [&](const char* mode, const auto& before_after) {
    std::vector<numpy::PadWidth> widths(axes + 2);
    for (std::size_t i = 0; i < axes; ++i)
      widths[i + 1] =
          before_after((kernel.shape(static_cast<std::int64_t>(i)) - 1) * kernel_dilation[i]);
    return numpy::pad(x, widths, {.mode = mode});
  };
  const auto centred = [](std::int64_t extent) {
    return numpy::PadWidth{extent / 2, (extent + 1) / 2};
  };
  lax::WindowPadding around = "VALID";
  if (padding.name() == "CIRCULAR")
    x = padded("wrap", centred);
  else if (padding.name() == "REFLECT")
    x = padded("reflect", centred);
  else if (padding.name() == "CAUSAL")
    x = padded("constant", [](std::int64_t extent) { return numpy::PadWidth{extent, 0}; });
  else
    around = padding.of("Conv", axes);

  const auto convolve = [&](const Array& a, const Array& k) {
    return lax::conv_general_dilated(a, k, strides, around,
                                     {.lhs_dilation = input_dilation,
                                      .rhs_dilation = kernel_dilation,
                                      .dimension_numbers = detail::channels_last(axes),
                                      .feature_group_count = feature_group_count,
                                      .preferred_element_type = product.preferred_element_type});
  };
  const Array y =
      detail::convolved("conv_general_dilated", x, kernel, mask, bias, product, convolve);
  return scope.returns(batched.restore(y), given);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::Conv)
