// The weights of a decoder or encoder: typed modules whose layers are stacked along a leading axis.
//
//   decoder::Weights w = decoder::make_weights(options, [](std::string_view path, const Sizes& s,
//                                              bool is_matrix) { return zeros(s); });
//   tree::of(w).names()   // {"embedder/embedding", "layers/attention_norm/scale", ...}
#pragma once

#include <functional>

#include "strata/model/decoder/attention.h"
#include "strata/model/decoder/delta_net.h"
#include "strata/model/decoder/feed_forward.h"
#include "strata/model/decoder/latent_attention.h"
#include "strata/model/decoder/per_layer_input.h"
#include "strata/nn/linear/embed.h"

namespace strata::model::decoder {

/// A layer, or all of them stacked: every leaf then has a leading axis L. Which norms there are is
/// the options' norm_place.
struct Layer {
  std::optional<Norm> attention_norm;  // ahead of attention
  std::optional<Attention> attention;  // one of these three
  std::optional<LatentAttention> latent_attention;
  std::optional<DeltaNet> delta_net;
  std::optional<Norm> attention_post_norm;  // behind it
  std::optional<Norm> mlp_norm;
  std::optional<FeedForward> mlp;  // one of these two, or with ExpertOptions::beside_mlp both
  std::optional<Experts> experts;
  /// With both: behind the first, ahead of the second and behind it.
  std::optional<Norm> mlp_own_post_norm, experts_norm, experts_post_norm;
  std::optional<Norm> mlp_post_norm;
  std::optional<PerLayerInput> per_layer_input;
  std::optional<nn::Param> scalar;  // (1), of what leaves the layer
  STRATA_FIELDS(attention_norm, attention, latent_attention, delta_net, attention_post_norm,
                mlp_norm, mlp, experts, mlp_own_post_norm, experts_norm, experts_post_norm,
                mlp_post_norm, per_layer_input, scalar)
};

/// What predicts a token further than the layers ahead of it (multi_token.h), or all such stacked.
struct FurtherLayer {
  Norm embedding_norm, hidden_norm;
  Linear projection;  // (2 D, D)
  Layer layers;
  Norm final_norm;
  STRATA_FIELDS(embedding_norm, hidden_norm, projection, layers, final_norm)
};

/// All weights. Matrices are (in, out), embeddings (rows, D).
struct Weights {
  nn::Embed embedder;
  std::optional<nn::Embed> positions, types;
  std::optional<Norm> embedding_norm;
  std::optional<PerLayerEmbedder> per_layer_embedder;
  /// Of a model of experts: the layers ahead of the others, which have none.
  std::optional<Layer> dense_layers;
  /// The layers that have the delta rule.
  std::optional<Layer> delta_layers;
  /// The layers of FullOptions.
  std::optional<Layer> full_layers;
  Layer layers;
  /// The layers of SharedKvOptions that are of FullOptions, and those that are not.
  std::optional<Layer> shared_full_layers, shared_layers;
  std::optional<Norm> final_norm;
  std::optional<Linear> logits;
  /// Options::mtp_layers of them.
  std::optional<FurtherLayer> mtp_layers;
  STRATA_FIELDS(embedder, positions, types, embedding_norm, per_layer_embedder, dense_layers,
                delta_layers, full_layers, layers, shared_full_layers, shared_layers, final_norm,
                logits, mtp_layers)
};

/// What a weight is: how its first value is drawn, and which logical axes it has.
/// A and B of an adapter are kinds of their own.
/// The matrices of a layer's experts are one weight (E, I, O), their biases one (E, O). The bias
/// that experts are chosen by is f32 whatever the others are: its differences are small beside it.
enum class WeightKind {
  embedding,
  matrix,
  experts,
  scale,
  bias,
  expert_bias,
  choice_bias,
  convolution,
  ones,
  decay,
  adapter_a,
  adapter_b
};
/// A weight of this path and shape.
using WeightMaker =
    std::function<Array(std::string_view path, const std::vector<std::int64_t>&, WeightKind kind)>;
/// The weights that a model of these options has, each made by `make`, in the order of the tree.
Weights make_weights(const Options& options, const WeightMaker& make);

/// The stack that holds a layer: "layers", or "dense_layers" and so on, as Weights names them.
std::string_view stack_of(const Options& options, std::int64_t layer);
/// The numbers of the layers that a weight holds, stacked along its first axis in this order; none
/// of a weight of no layer.
std::vector<std::int64_t> layer_numbers(const Options& options, std::string_view path);
/// How many they are.
std::int64_t layers_in(const Options& options, std::string_view path);

/// Path and shape of each weight, in the order of the tree.
struct WeightShape {
  std::string path;
  std::vector<std::int64_t> shape;
  WeightKind kind;
};
std::vector<WeightShape> weight_shapes(const Options& options);
/// The weights of a tree that has each of them. Throws Error otherwise.
Weights weights_of(const Options& options, const tree::Tree& params);
/// The logical axes of a weight, MaxText's names: {"layers", "embed", "q_heads"}.
tree::MetadataPtr logical_axes(std::string_view path);
/// The first A (..., I, r) of an adapter; f32, traceable.
Array first_adapter_a(const AdapterOptions& options, const Array& key,
                      const std::vector<std::int64_t>& shape);
/// First weights: matrices and embeddings normal with the options' deviation, norms that change
/// nothing, no biases, adapters whose B is zero. f32; the key as of random::key; traceable.
tree::Tree first_weights(const Options& options, const Array& key);

}  // namespace strata::model::decoder
