#include "strata/nn/conv/convolved.h"

#include "strata/nn/dtypes.h"

namespace strata::nn::detail {

using strata::internal::describe;

Batched::Batched(const char* layer, const Array& given, const Array& kernel,
                 std::int64_t features) {
  const int unbatched = kernel.ndim() - 1;
  if (given.ndim() < unbatched)
    strata::internal::fail(layer, "the input {} has {} axes, the kernel {} needs {} at least",
                           describe(given.type()), given.ndim(), describe(kernel.type()),
                           unbatched);
  if (given.shape(-1) != features)
    strata::internal::fail(layer, "the input has {} features ({}), the kernel {} takes {}",
                           given.shape(-1), describe(given.type()), describe(kernel.type()),
                           features);
  const std::vector<std::int64_t> sizes = given.shape().sizes();
  const auto first = sizes.begin() + (given.ndim() - unbatched);
  batch_.assign(sizes.begin(), first);
  x = given;
  if (batch_.size() == 1) return;
  std::int64_t count = 1;
  for (std::int64_t n : batch_) count *= n;
  std::vector<std::int64_t> flat = {count};
  flat.insert(flat.end(), first, sizes.end());
  x = numpy::reshape(given, flat);
}

Array Batched::restore(const Array& y) const {
  if (batch_.size() == 1) return y;
  std::vector<std::int64_t> shape = batch_;
  const std::vector<std::int64_t> sizes = y.shape().sizes();
  shape.insert(shape.end(), sizes.begin() + 1, sizes.end());
  return numpy::reshape(y, shape);
}

lax::ConvDimensionNumbers channels_last(std::size_t axes) {
  const auto n = static_cast<std::int64_t>(axes);
  lax::ConvDimensionNumbers out{{0, n + 1}, {n + 1, n}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    out.lhs_spec.push_back(i + 1);
    out.rhs_spec.push_back(i);
  }
  out.out_spec = out.lhs_spec;
  return out;
}

Constant checked_mask(const char* layer, const Array& mask, const Array& kernel) {
  if (mask.shape() != kernel.shape())
    strata::internal::fail(layer, "the mask is {}, the kernel {}; their shapes must be equal",
                           describe(mask.type()), describe(kernel.type()));
  return Constant(mask);
}

Array convolved(const char* op, const Array& x, const Param& kernel,
                const std::optional<Constant>& mask, const std::optional<Param>& bias,
                const ProductOptions& product, const PlainProduct& f,
                const std::function<Array(const Array&)>& finish) {
  std::vector<Array> all = {x, kernel};
  if (mask) all.push_back(*mask);
  if (bias) all.push_back(*bias);
  const DType met = canonicalize_dtype(all, product.dtype);
  const auto cast = [&](const Array& a) { return a.dtype() == met ? a : astype(a, met); };
  const PlainProduct plain = [&](const Array& a, const Array& k) {
    return f(cast(a), cast(mask ? k * *mask : k));
  };
  Array y = intercept({.op = op, .lhs = x, .rhs = kernel, .options = product.in(met)}, plain);
  if (finish) y = finish(y);
  return bias ? y + astype(*bias, met) : y;
}

}  // namespace strata::nn::detail
