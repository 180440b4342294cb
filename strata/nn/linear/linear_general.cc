#include "strata/nn/linear/linear_general.h"

#include <algorithm>
#include <numeric>

#include "strata/nn/dtypes.h"

namespace strata::nn {

namespace {

using Ints = std::vector<std::int64_t>;

std::int64_t product_of(std::span<const std::int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}
Ints joined(std::initializer_list<std::span<const std::int64_t>> parts) {
  Ints out;
  for (const auto& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

}  // namespace

LinearGeneral::LinearGeneral(const Sizes& in_features, const Sizes& out_features, Rngs& rngs,
                             const LinearGeneralOptions& o)
    : axis(o.axis.get()),
      batch_axes(static_cast<std::int64_t>(o.batch_sizes.size())),
      product(o.product) {
  if (in_features.size() != axis.size())
    strata::internal::fail("LinearGeneral", "there are {} numbers of input features for {} axes",
                           in_features.size(), axis.size());
  const Ints& batch = o.batch_sizes.get();
  const std::int64_t inputs = product_of(in_features.get()),
                     outputs = product_of(out_features.get());
  kernel = Param(numpy::reshape(o.kernel_init(rngs("params"), {product_of(batch) * inputs, outputs},
                                              o.param_dtype),
                                joined({batch, in_features.get(), out_features.get()})),
                 o.kernel_metadata);
  if (o.use_bias)
    bias = Param(
        numpy::reshape(o.bias_init(rngs("params"), {product_of(batch) * outputs}, o.param_dtype),
                       joined({batch, out_features.get()})),
        o.bias_metadata);
}

Array LinearGeneral::operator()(const Array& x) const {
  const ModuleScope scope(*this, "LinearGeneral");
  using strata::internal::describe;
  using strata::internal::fail;
  Ints over;
  for (std::int64_t a : axis) {
    if (a < -x.ndim() || a >= x.ndim())
      fail("LinearGeneral", "the input {} has no axis {}", describe(x.type()), a);
    over.push_back(a < 0 ? a + x.ndim() : a);
  }
  std::sort(over.begin(), over.end());
  lax::DotDimensionNumbers dimensions;
  for (std::int64_t i = 0; i < batch_axes; ++i) {
    if (i >= x.ndim() || x.shape(i) != kernel.shape(i))
      fail("LinearGeneral",
           "axis {} goes along with the weights and must have size {}, the input is {}", i,
           kernel.shape(i), describe(x.type()));
    if (std::find(over.begin(), over.end(), i) != over.end())
      fail("LinearGeneral", "axis {} is both summed over and one of {} batch axes", i, batch_axes);
    dimensions.lhs_batch.push_back(i);
    dimensions.rhs_batch.push_back(i);
  }
  for (std::size_t k = 0; k < over.size(); ++k) {
    const auto of_kernel = batch_axes + static_cast<std::int64_t>(k);
    if (x.shape(over[k]) != kernel.shape(of_kernel))
      fail("LinearGeneral", "the input has {} features along axis {} ({}), the kernel {} takes {}",
           x.shape(over[k]), over[k], describe(x.type()), describe(kernel.type()),
           kernel.shape(of_kernel));
    dimensions.lhs_contracting.push_back(over[k]);
    dimensions.rhs_contracting.push_back(of_kernel);
  }
  const DType met = bias ? canonicalize_dtype({x, kernel, *bias}, product.dtype)
                         : canonicalize_dtype({x, kernel}, product.dtype);
  const Array y = dot_general(x, kernel, dimensions, product.in(met));
  if (!bias) return scope.returns(y, x);
  // The bias has the batch axes first and the features last, 1 for the axes between.
  const Ints sizes = bias->shape().sizes();
  const auto batch = sizes.begin() + batch_axes;
  Ints shape(sizes.begin(), batch);
  shape.resize(static_cast<std::size_t>(y.ndim()) - static_cast<std::size_t>(sizes.end() - batch),
               1);
  shape.insert(shape.end(), batch, sizes.end());
  return scope.returns(y + numpy::reshape(astype(*bias, met), shape), x);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::LinearGeneral)
