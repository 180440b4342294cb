// A table of vectors, one for each token.
#pragma once

#include "strata/api/initializers.h"

namespace strata::nn {

/// Flax's for embeddings: normal, of variance 1 / D (in JAX's words fan_in with out_axis 0, which
/// leaves D as the receptive field).
Initializer default_embed_init();

/// Rows of a table: tokens (...) of integers, result (..., D). A token outside 0 .. V-1 reads the
/// nearest row. Source: Flax NNX's Embed, whose names these are (there a token out of range gives
/// NaN).
struct Embed {
  Array embedding;  // (V, D)
  STRATA_FIELDS(embedding)

  /// A table of num_embeddings rows of so many features, drawn by a key.
  static Embed init(const Array& key, std::int64_t num_embeddings, std::int64_t features,
                    const Initializer& embedding_init = default_embed_init(),
                    DType param_dtype = DType::f32);
  Array operator()(const Array& tokens) const;
  /// x times the transposed table: x (..., D), result (..., V), the logits of a model whose output
  /// matrix is its embedding.
  Array attend(const Array& x) const;
};

}  // namespace strata::nn
