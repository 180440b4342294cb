// Low-rank adapters.
//
//   nn::LoRALinear layer(256, 128, 8, rngs);                     // x W + b + (x A) B
//   nn::LoRA<nn::Linear> around(256, 8, 128, std::move(linear), rngs);
//   auto grads = nn::grad(loss, nn::of<nn::LoRAParam>())(model, x);
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/dtypes.h"
#include "strata/nn/linear/linear.h"

namespace strata::nn {

/// How the two matrices are made.
struct LoRAOptions {
  strata::internal::Named named = strata::internal::Named();
  Initializer a_init = initializers::he_uniform();
  Initializer b_init = initializers::zeros;
  DType param_dtype = DType::f32;
  /// The dtype in which it computes, and precision.
  ProductOptions product = {};
  Metadata a_metadata = {}, b_metadata = {};
};

/// No layer: a LoRA without one below it.
struct NoModule {
  STRATA_FIELDS()
};

namespace detail {
/// Two matrices of the stream "params", A first.
void make_lora(LoRAParam& a, LoRAParam& b, std::int64_t in, std::int64_t rank, std::int64_t out,
               Rngs& rngs, const LoRAOptions& options);
/// (x A) B; x comes back in the dtype in which it met the matrices.
Array apply_lora(Array& x, const LoRAParam& a, const LoRAParam& b, const ProductOptions& product);
}  // namespace detail

/// (x A) B + base_module(x): x (..., I), A (I, r), B (r, O), result (..., O). There is no factor
/// alpha / r. The layer below gets x in the dtype in which it met A and B. Source: Flax NNX's LoRA.
/// Deviation: the type of the layer below stands in this one's.
template <class Base = NoModule>
struct LoRA {
  LoRAParam lora_a;  // (I, r)
  LoRAParam lora_b;  // (r, O)
  Base base_module;
  ProductOptions product;
  STRATA_FIELDS(lora_a, lora_b, base_module, product)

  LoRA() = default;
  /// Takes two keys of the stream "params": for A, then for B.
  LoRA(std::int64_t in_features, std::int64_t lora_rank, std::int64_t out_features, Rngs& rngs,
       const LoRAOptions& options = {})
    requires std::same_as<Base, NoModule>
      : product(options.product) {
    detail::make_lora(lora_a, lora_b, in_features, lora_rank, out_features, rngs, options);
  }
  LoRA(std::int64_t in_features, std::int64_t lora_rank, std::int64_t out_features, Base base,
       Rngs& rngs, const LoRAOptions& options = {})
      : base_module(std::move(base)), product(options.product) {
    detail::make_lora(lora_a, lora_b, in_features, lora_rank, out_features, rngs, options);
  }

  /// Throws Error where the last axis of x is not I.
  Array operator()(const Array& x) const
    requires std::same_as<Base, NoModule> || std::is_invocable_v<const Base&, const Array&>
  {
    return call(*this, x);
  }
  Array operator()(const Array& x) { return call(*this, x); }

 private:
  template <class Self>
  static Array call(Self& self, const Array& given) {
    const ModuleScope scope(self, "LoRA");
    Array x = given;
    const Array y = detail::apply_lora(x, self.lora_a, self.lora_b, self.product);
    if constexpr (std::same_as<Base, NoModule>)
      return scope.returns(y, given);
    else
      return scope.returns(y + self.base_module(x), given);
  }
};

struct LoRALinearOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Of the layer itself, and of its adapter.
  LinearOptions linear = {};
  LoRAOptions lora = {};
};

/// Linear(x) + LoRA(x), whose paths are Linear's and `lora/lora_a`, `lora/lora_b`. Source: Flax
/// NNX's LoRALinear.
struct LoRALinear {
  Param kernel;               // (I, O)
  std::optional<Param> bias;  // (O)
  LoRA<> lora;
  ProductOptions product;
  STRATA_FIELDS(kernel, bias, lora, product)

  LoRALinear() = default;
  /// Takes keys of the stream "params": Linear's, then those of the adapter.
  LoRALinear(std::int64_t in_features, std::int64_t out_features, std::int64_t lora_rank,
             Rngs& rngs, const LoRALinearOptions& options = {});
  /// Throws Error where the last axis of x is not I.
  Array operator()(const Array& x) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::LoRALinear)
