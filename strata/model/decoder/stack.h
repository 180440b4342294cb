// What decoders and encoders share: embeddings, the layers as one scan, logits.
#pragma once

#include <functional>

#include "strata/model/decoder/balance.h"
#include "strata/model/decoder/weights.h"

namespace strata::model::decoder {

/// Keys and values in pages, those of a layer behind those of the one before: (L N, P, K, d), in
/// the dtype of activations. Values of latent attention are part of its keys.
struct Cache {
  Array key;
  std::optional<Array> value;
  /// Of layers with the delta rule.
  std::optional<DeltaPages> delta;
  STRATA_FIELDS(key, value, delta)
};

/// What a layer's attention gets: the heads, and how it compares them (window, scale, cap).
using LayerAttending = std::function<Array(const Heads& heads, const AttendOptions& options)>;
/// The same with the pages of all layers, (L N, P, K, d), which it may replace, and the number of
/// this layer's first one, an i32 scalar.
using CachedAttending =
    std::function<Array(const Heads& heads, const AttendOptions& options, Array& key_pages,
                        Array& value_pages, const Array& first_page)>;

/// What goes into the layers: x (B, S, D), and of PerLayerInputOptions what each gets of its own,
/// (L, B, S, P).
struct LayerInputs {
  Array x;
  std::optional<Array> each;
  LayerInputs(Array x) : x(std::move(x)) {}
};

/// Embeddings of tokens at positions, both (B, S), in the options' dtype. `types` (B, S)
/// where the options have token types; none: all 0.
LayerInputs embed(const Weights& weights, const Options& options, const Array& tokens_BS,
                  const Array& positions_BS, const std::optional<Array>& types_BS = {});
/// Inputs through all layers and the last norm: (B, S, D). `length`: how long sequences get, for
/// rotary frequencies that depend on it. `segments` (B, S): documents of rows that hold several,
/// which `attending` finds in its options.
Array run_layers(const Weights& weights, const Options& options, const LayerInputs& inputs,
                 const Array& positions_BS, std::int64_t length, const LayerAttending& attending,
                 const std::optional<Array>& segments_BS = {});
/// How many layers have pages of keys and values in a cache.
std::int64_t layers_in_cache(const Options& options);
/// The same with a cache, and what it holds afterwards; `places` are those of the rows, pages as a
/// sequence has them. Pages are carried from layer to layer, so
/// that writes happen in place.
std::pair<Array, Cache> run_layers(const Weights& weights, const Options& options,
                                   const LayerInputs& inputs, const Array& positions_BS,
                                   std::int64_t length, const Cache& cache,
                                   const DeltaPlaces& places, const CachedAttending& attending);
/// The same as the first, and what the routers of layers with experts came to.
std::pair<Array, RouterSums> run_layers(const Weights& weights, const Options& options,
                                        const LayerInputs& inputs, const Array& positions_BS,
                                        std::int64_t length, const LayerAttending& attending,
                                        const RouterAsk& ask,
                                        const std::optional<Array>& segments_BS = {});
/// x (..., D) -> logits (..., V) of the options' dtype, softly capped where the options say so.
Array logits_of(const Weights& weights, const Options& options, const Array& x);

}  // namespace strata::model::decoder
