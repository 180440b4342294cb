// Embeddings of tokens that each layer has of its own, beside those that go through all of them.
//
//   Array each_LBSP = w.per_layer_embedder(tokens_BS, x_BSD, options);   // once
//   y = layer.per_layer_input(y, each_LBSP[i], options);                 // at the end of layer i
//
// Gemma calls them per-layer embeddings. Source: Gemma4TextModel and Gemma4TextDecoderLayer in
// modeling_gemma4.py of transformers; MaxText's gemma4_small.
#pragma once

#include "strata/model/decoder/linear.h"
#include "strata/model/decoder/norms.h"
#include "strata/nn/linear/embed.h"

namespace strata::model::decoder {

/// What all layers get, of P = PerLayerInputOptions::width numbers each.
struct PerLayerEmbedder {
  nn::Embed table;    // (V, L*P)
  Linear projection;  // (D, L*P)
  Norm norm;          // (P)
  STRATA_FIELDS(table, projection, norm)

  /// (sqrt(P) table[token] + norm(projection(x) / sqrt(D))) / sqrt(2) for tokens (B, S) and their
  /// embeddings x (B, S, D): (L, B, S, P) of x's dtype.
  Array operator()(const Array& tokens_BS, const Array& x_BSD, const Options& options) const;
};

/// What a layer makes of its own.
struct PerLayerInput {
  Linear gate;        // (D, P)
  Linear projection;  // (P, D)
  Norm norm;          // (D)
  STRATA_FIELDS(gate, projection, norm)

  /// x + norm(projection(f(gate(x)) * own)), f the options' activation: x (B, S, D), own (B, S, P).
  Array operator()(const Array& x_BSD, const Array& own_BSP, const Options& options) const;
};

}  // namespace strata::model::decoder
