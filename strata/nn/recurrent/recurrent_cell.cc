#include "strata/nn/recurrent/recurrent_cell.h"

namespace strata::nn {

namespace activations {
Activation sigmoid() {
  return {"sigmoid", [](const Array& x) { return nn::sigmoid(x); }};
}
Activation tanh() {
  return {"tanh", [](const Array& x) { return numpy::tanh(x); }};
}
}  // namespace activations

namespace detail {

LinearOptions input_layer(const CellOptions& o, bool use_bias) {
  return {.use_bias = use_bias,
          .kernel_init = o.kernel_init,
          .bias_init = o.bias_init,
          .param_dtype = o.param_dtype,
          .product = o.product,
          .kernel_metadata = o.kernel_metadata,
          .bias_metadata = o.bias_metadata};
}

LinearOptions carry_layer(const CellOptions& o, bool use_bias, const Initializer& init) {
  LinearOptions out = input_layer(o, use_bias);
  out.kernel_init = o.recurrent_kernel_init.value_or(init);
  out.kernel_metadata = o.recurrent_kernel_metadata;
  return out;
}

void check_step(const char* cell, const Array& x, std::int64_t in_features, const Array& carry,
                std::int64_t hidden_features) {
  using strata::internal::describe;
  if (x.ndim() == 0 || x.shape(-1) != in_features)
    strata::internal::fail(cell, "the input {} has {} features, the cell takes {}",
                           describe(x.type()), x.ndim() == 0 ? 0 : x.shape(-1), in_features);
  if (carry.ndim() == 0 || carry.shape(-1) != hidden_features)
    strata::internal::fail(cell, "the carry {} has {} features, the cell {}",
                           describe(carry.type()), carry.ndim() == 0 ? 0 : carry.shape(-1),
                           hidden_features);
}

Array first_carry(const char* cell, const Sizes& input_shape, std::int64_t hidden_features,
                  RngStream& rngs, const Initializer& init, DType dtype) {
  std::vector<std::int64_t> shape = input_shape.get();
  if (shape.empty())
    strata::internal::fail(cell, "the shape of the input is empty; its last axis is of features");
  shape.back() = hidden_features;
  return init(rngs(), shape, dtype);
}

}  // namespace detail

}  // namespace strata::nn
