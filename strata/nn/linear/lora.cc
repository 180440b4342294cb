#include "strata/nn/linear/lora.h"

namespace strata::nn {

namespace detail {

void make_lora(LoRAParam& a, LoRAParam& b, std::int64_t in, std::int64_t rank, std::int64_t out,
               Rngs& rngs, const LoRAOptions& o) {
  a = LoRAParam(o.a_init(rngs("params"), {in, rank}, o.param_dtype), o.a_metadata);
  b = LoRAParam(o.b_init(rngs("params"), {rank, out}, o.param_dtype), o.b_metadata);
}

Array apply_lora(Array& x, const LoRAParam& a, const LoRAParam& b, const ProductOptions& product) {
  if (x.ndim() == 0 || x.shape(-1) != a.shape(0))
    strata::internal::fail("LoRA", "the input has {} features ({}), the adapter {} takes {}",
                           x.ndim() == 0 ? 0 : x.shape(-1), strata::internal::describe(x.type()),
                           strata::internal::describe(a.type()), a.shape(0));
  const DType met = canonicalize_dtype({x, a, b}, product.dtype);
  if (x.dtype() != met) x = astype(x, met);
  const lax::DotDimensionNumbers dimensions{.lhs_contracting = {x.ndim() - 1},
                                            .rhs_contracting = {0}};
  return dot_general(dot_general(x, a, dimensions, product.in(met)), b, dimensions,
                     product.in(met));
}

}  // namespace detail

LoRALinear::LoRALinear(std::int64_t in_features, std::int64_t out_features, std::int64_t lora_rank,
                       Rngs& rngs, const LoRALinearOptions& o) {
  Linear linear(in_features, out_features, rngs, o.linear);
  kernel = std::move(linear.kernel);
  bias = std::move(linear.bias);
  product = std::move(linear.product);
  lora = LoRA<>(in_features, lora_rank, out_features, rngs, o.lora);
}

Array LoRALinear::operator()(const Array& x) const {
  const ModuleScope scope(*this, "LoRALinear");
  return scope.returns(affine("LoRALinear", x, kernel, bias, product) + lora(x), x);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::LoRALinear)
