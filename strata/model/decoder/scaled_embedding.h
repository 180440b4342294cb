// Embeddings times a factor, as Gemma has them.
//
//   Array x = decoder::scaled_embedding(w.embedder, tokens, std::sqrt(2048.0));
#pragma once

#include "strata/nn/linear/embed.h"

namespace strata::model::decoder {

/// The rows of a table for tokens (...) times a factor: (..., D). The factor is rounded to the
/// table's dtype, or of a table in packed blocks to that of its numbers. Source:
/// Gemma4TextScaledWordEmbedding of transformers.
Array scaled_embedding(const nn::Embed& table, const Array& tokens, double factor);

}  // namespace strata::model::decoder
