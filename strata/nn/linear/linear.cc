#include "strata/nn/linear/linear.h"

#include "strata/nn/dtypes.h"

namespace strata::nn {

Linear::Linear(Param kernel, std::optional<Param> bias, ProductOptions product)
    : kernel(std::move(kernel)), bias(std::move(bias)), product(std::move(product)) {}

Linear::Linear(std::int64_t in_features, std::int64_t out_features, Rngs& rngs,
               const LinearOptions& o)
    : product(o.product) {
  kernel = Param(o.kernel_init(rngs("params"), {in_features, out_features}, o.param_dtype),
                 o.kernel_metadata);
  if (o.use_bias)
    bias = Param(o.bias_init(rngs("params"), {out_features}, o.param_dtype), o.bias_metadata);
}

Linear Linear::init(const Array& key, std::int64_t in_features, std::int64_t out_features,
                    const LinearOptions& o) {
  const auto [kernel_key, bias_key] = random::split2(key);
  Linear out(Param(o.kernel_init(kernel_key, {in_features, out_features}, o.param_dtype),
                   o.kernel_metadata),
             {}, o.product);
  if (o.use_bias)
    out.bias = Param(o.bias_init(bias_key, {out_features}, o.param_dtype), o.bias_metadata);
  return out;
}

Array Linear::operator()(const Array& x) const {
  const ModuleScope scope(*this, "Linear");
  return scope.returns(affine("Linear", x, kernel, bias, product), x);
}

Array affine(const char* layer, const Array& x, const Param& kernel,
             const std::optional<Param>& bias, const ProductOptions& product) {
  if (product.packed) {
    const Array y = packed_dot(x, kernel, product);
    return bias ? y + astype(*bias, y.dtype()) : y;
  }
  if (x.ndim() == 0 || x.shape(-1) != kernel.shape(0))
    strata::internal::fail(layer, "the input has {} features ({}), the kernel {} takes {}",
                           x.ndim() == 0 ? 0 : x.shape(-1), strata::internal::describe(x.type()),
                           strata::internal::describe(kernel.type()), kernel.shape(0));
  const DType met = bias ? canonicalize_dtype({x, kernel, *bias}, product.dtype)
                         : canonicalize_dtype({x, kernel}, product.dtype);
  const Array y = dot_general(
      x, kernel, {.lhs_contracting = {x.ndim() - 1}, .rhs_contracting = {0}}, product.in(met));
  return bias ? y + astype(*bias, met) : y;
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::Linear)
