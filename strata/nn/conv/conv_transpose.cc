#include "strata/nn/conv/conv_transpose.h"

#include "strata/nn/conv/convolved.h"

namespace strata::nn {

ConvTranspose::ConvTranspose(std::int64_t in_features, std::int64_t out_features,
                             const Sizes& kernel_size, Rngs& rngs, const ConvTransposeOptions& o)
    : padding(o.padding), transpose_kernel(o.transpose_kernel), product(o.product) {
  const std::size_t axes = kernel_size.size();
  strides = for_each_axis("ConvTranspose", "strides", o.strides, axes);
  kernel_dilation = for_each_axis("ConvTranspose", "kernel_dilation", o.kernel_dilation, axes);
  (void)padding.of("ConvTranspose", axes);
  const std::string& name = padding.name();
  if (!name.empty() && name != "SAME" && name != "VALID" && name != "CIRCULAR")
    strata::internal::fail("ConvTranspose",
                           "the padding is SAME, VALID, CIRCULAR or numbers, got {}", name);
  std::vector<std::int64_t> shape = kernel_size;
  shape.push_back(transpose_kernel ? out_features : in_features);
  shape.push_back(transpose_kernel ? in_features : out_features);
  kernel = Param(o.kernel_init(rngs("params"), shape, o.param_dtype), o.kernel_metadata);
  if (o.use_bias)
    bias = Param(o.bias_init(rngs("params"), {out_features}, o.param_dtype), o.bias_metadata);
  if (o.mask) mask = detail::checked_mask("ConvTranspose", *o.mask, kernel);
}

namespace {

/// Adds up what is whole periods apart: each spatial axis of y becomes as long as its period.
Array wrapped(Array y, const std::vector<std::int64_t>& periods, bool longer_behind) {
  std::vector<numpy::PadWidth> widths(periods.size() + 2);
  for (std::size_t i = 0; i < periods.size(); ++i) {
    // To an even number of periods, so that what is centred stays where it is.
    const std::int64_t twice = 2 * periods[i];
    const std::int64_t size = y.shape(static_cast<std::int64_t>(i) + 1);
    const std::int64_t missing = ((periods[i] - size) % twice + twice) % twice;
    const std::int64_t half = missing / 2, rest = missing - half;
    widths[i + 1] = longer_behind ? numpy::PadWidth{half, rest} : numpy::PadWidth{rest, half};
  }
  y = numpy::pad(y, widths);
  for (std::size_t i = 0; i < periods.size(); ++i) {
    std::vector<std::int64_t> shape = y.shape().sizes();
    const auto at = shape.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const std::int64_t count = *at / periods[i];
    *at = periods[i];
    shape.insert(at, count);
    y = numpy::sum(numpy::reshape(y, shape), static_cast<std::int64_t>(i) + 1);
  }
  return y;
}

}  // namespace

Array ConvTranspose::operator()(const Array& given) const {
  const ModuleScope scope(*this, "ConvTranspose");
  const detail::Batched batched("ConvTranspose", given, kernel,
                                kernel.shape(transpose_kernel ? -1 : -2));
  const std::size_t axes = static_cast<std::size_t>(kernel.ndim()) - 2;
  const bool circular = padding.name() == "CIRCULAR";
  const lax::WindowPadding around =
      circular ? lax::WindowPadding("VALID") : padding.of("ConvTranspose", axes);
  const auto convolve = [&](const Array& a, const Array& k) {
    return lax::conv_transpose(a, k, strides, around,
                               {.rhs_dilation = kernel_dilation,
                                .dimension_numbers = detail::channels_last(axes),
                                .transpose_kernel = transpose_kernel,
                                .preferred_element_type = product.preferred_element_type});
  };
  std::function<Array(const Array&)> finish;
  if (circular)
    finish = [&](const Array& y) {
      std::vector<std::int64_t> periods;
      for (std::size_t i = 0; i < axes; ++i)
        periods.push_back(batched.x.shape(static_cast<std::int64_t>(i) + 1) * strides[i]);
      return wrapped(y, periods, transpose_kernel);
    };
  const Array y =
      detail::convolved("conv_transpose", batched.x, kernel, mask, bias, product, convolve, finish);
  return scope.returns(batched.restore(y), given);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::ConvTranspose)
