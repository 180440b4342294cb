// Norms of published decoders, which round in different places.
//
//   decoder::Norm norm{.scale = ones({64})};
//   Array y = norm(x, decoder::NormKind::gemma, 1e-6);     // times 1 + scale
#pragma once

#include <optional>

#include "strata/model/decoder/options.h"
#include "strata/nn/variable.h"

namespace strata::model::decoder {

/// A norm over the last axis. scale, bias: (D).
struct Norm {
  nn::Param scale;
  std::optional<nn::Param> bias;
  STRATA_FIELDS(scale, bias)

  /// x (..., D) -> (..., D) of x's dtype, computed in f32 (f64 for f64) and rounded as the kind
  /// says. Source: modeling_{llama,gemma,olmo2,bert}.py of transformers.
  Array operator()(const Array& x, NormKind kind, double epsilon) const;
};

}  // namespace strata::model::decoder
