// The gated feed-forward layer.
#pragma once

#include "strata/api/initializers.h"
#include "strata/nn/compiled_visit.h"

namespace strata::nn {

/// down(silu(x gate) * (x up)): x (..., D), gate and up (D, F), down (F, D), without biases.
/// Source: Shazeer, GLU Variants Improve Transformer (2020).
Array swiglu(const Array& x, const Array& gate, const Array& up, const Array& down);

/// swiglu as a layer.
struct SwiGLU {
  Array gate, up;  // (D, F)
  Array down;      // (F, D)
  STRATA_FIELDS(gate, up, down)

  /// Weights drawn by a key for inputs (..., features).
  static SwiGLU init(const Array& key, std::int64_t features, std::int64_t hidden,
                     const Initializer& kernel_init = initializers::lecun_normal(),
                     DType param_dtype = DType::f32);
  Array operator()(const Array& x) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::SwiGLU)
