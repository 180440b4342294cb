// A sum of products by letters, with a weight.
//
//   nn::Einsum heads("abc,cde->abde", {64, 8, 16}, rngs, {.bias_shape = {8, 16}});
//   Array y = heads(x);                       // (a, b, 64) -> (a, b, 8, 16)
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/linear/linear.h"

namespace strata::nn {

struct EinsumOptions {
  strata::internal::Named named = strata::internal::Named();
  /// No bias without it; a scalar's is std::optional<Sizes>(Sizes{}).
  std::optional<Sizes> bias_shape = std::nullopt;
  Initializer kernel_init = initializers::lecun_normal();
  Initializer bias_init = initializers::zeros;
  DType param_dtype = DType::f32;
  ProductOptions product = {};
  Metadata kernel_metadata = {}, bias_metadata = {};
};

/// einsum(subscripts, x, kernel) + bias, which goes along the result's labels that the kernel has.
/// Source: Flax NNX's Einsum.
struct Einsum {
  Param kernel;
  std::optional<Param> bias;
  std::string subscripts;
  ProductOptions product;
  STRATA_FIELDS(kernel, bias, subscripts, product)

  Einsum() = default;
  /// Takes a key of the stream "params" for the kernel, and one for the bias where there is one.
  /// Throws Error where the subscripts do not have two operands and "->".
  Einsum(std::string subscripts, const Sizes& kernel_shape, Rngs& rngs,
         const EinsumOptions& options = {});
  Array operator()(const Array& x) const;
  /// With other subscripts than those it was made with.
  Array operator()(const Array& x, const std::string& subscripts) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::Einsum)
