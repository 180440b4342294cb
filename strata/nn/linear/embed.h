// A table of vectors, one for each token.
//
//   nn::Embed table(32000, 512, rngs);
//   Array x = table(tokens);             // (...) -> (..., 512)
//   Array logits = table.attend(x);      // (..., 512) -> (..., 32000)
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/linear/linear.h"

namespace strata::nn {

/// Flax's for embeddings: normal, of variance 1 / D (in JAX's words fan_in with out_axis 0, which
/// leaves D as the receptive field).
Initializer default_embed_init();

struct EmbedOptions {
  strata::internal::Named named = strata::internal::Named();
  Initializer embedding_init = default_embed_init();
  DType param_dtype = DType::f32;
  /// The dtype of the result and of `attend`; none: the table's.
  std::optional<DType> dtype = std::nullopt;
  Metadata embedding_metadata = {};
};

/// Rows of a table: tokens (...) of integers, result (..., D). Source: Flax NNX's Embed, whose
/// names these are.
struct Embed {
  /// What a token reads for which there is no row.
  enum class Outside {
    nearest,  // the nearest row
    nan  // NaN, as upstream; -1 is the last row, and a table of one row has that for every token
  };

  Param embedding;  // (V, D)
  std::optional<DType> dtype;
  Outside outside = Outside::nearest;
  /// The rows are packed blocks of this format, ui8 (V, bytes of D numbers); tokens outside read
  /// the nearest row then.
  std::optional<BlockFormat> packed;
  STRATA_FIELDS(embedding, dtype, outside, packed)

  Embed() = default;
  /// From a table that there is.
  explicit Embed(Param embedding, std::optional<DType> dtype = {},
                 Outside outside = Outside::nearest);
  /// As Flax's: takes a key of the stream "params", and reads NaN outside.
  Embed(std::int64_t num_embeddings, std::int64_t features, Rngs& rngs,
        const EmbedOptions& options = {});
  /// From one key; reads the nearest row outside, and computes in the dtype in which values meet.
  static Embed init(const Array& key, std::int64_t num_embeddings, std::int64_t features,
                    const Initializer& embedding_init = default_embed_init(),
                    DType param_dtype = DType::f32);
  /// Throws Error for tokens that are no integers.
  Array operator()(const Array& tokens) const;
  /// x times the transposed table: x (..., D), result (..., V), the logits of a model whose output
  /// matrix is its embedding. Throws Error where the last axis of x is not D.
  Array attend(const Array& x) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::Embed)
