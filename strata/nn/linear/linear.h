// An affine layer.
//
//   nn::Linear layer(256, 128, rngs);
//   Array y = layer(x);      // (..., 256) -> (..., 128)
#pragma once

#include <optional>

#include "strata/api/initializers.h"
#include "strata/nn/compiled_visit.h"
#include "strata/nn/linear/products.h"
#include "strata/nn/random/rngs.h"

namespace strata::nn {

struct LinearOptions {
  strata::internal::Named named = strata::internal::Named();
  bool use_bias = true;
  Initializer kernel_init = initializers::lecun_normal();
  Initializer bias_init = initializers::zeros;
  DType param_dtype = DType::f32;
  /// The dtype in which it computes (none: that in which input and weights meet), and precision.
  ProductOptions product = {};
  /// Notes of the variables, such as {.out_sharding = {"embed", "mlp"}}.
  Metadata kernel_metadata = {}, bias_metadata = {};
};

/// x kernel + bias: x (..., I), result (..., O), in the dtype in which x and the weights meet.
/// Where product.packed names a format, the kernel is packed, ui8 (O, bytes of I numbers), and the
/// result has x's dtype.
/// Source: Flax NNX's Linear, whose names these are.
struct Linear {
  Param kernel;               // (I, O)
  std::optional<Param> bias;  // (O)
  ProductOptions product;
  STRATA_FIELDS(kernel, bias, product)

  Linear() = default;
  /// From weights that there are.
  explicit Linear(Param kernel, std::optional<Param> bias = {}, ProductOptions product = {});
  /// Takes a key of the stream "params" for the kernel, and one for the bias where there is one.
  Linear(std::int64_t in_features, std::int64_t out_features, Rngs& rngs,
         const LinearOptions& options = {});
  /// From one key, which is split: other numbers than Flax's.
  static Linear init(const Array& key, std::int64_t in_features, std::int64_t out_features,
                     const LinearOptions& options = {});
  /// Throws Error where the last axis of x is not I.
  Array operator()(const Array& x) const;
};

/// x kernel + bias, as Linear computes it, for layers that have it in them: products are theirs.
/// Throws Error in the name of `layer` where the last axis of x is not I.
Array affine(const char* layer, const Array& x, const Param& kernel,
             const std::optional<Param>& bias, const ProductOptions& product);

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::Linear)
