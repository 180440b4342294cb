// What a decoder is made of: one struct of options at run time, from which all families are built.
//
//   decoder::Options o{.vocab_size = 49152, .width = 576, .layers = 30, .query_heads = 9,
//                      .kv_heads = 3, .head_dim = 64, .mlp_width = 1536, .tied = true};
//   o.ropes = {{.theta = 1e5, .width = 64}};
//
// A family turns its config.json into this (strata/model/<family>/published.h); it states nothing
// else, so a difference between two families is a difference between two values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "strata/type/block_format.h"
#include "strata/type/dtype.h"

namespace strata::model::decoder {

/// How a norm computes and rounds; x is in the dtype of activations.
enum class NormKind {
  llama,       // x / rms in f32, rounded, times the weight
  gemma,       // x / rms * (1 + weight) in f32, rounded
  olmo2,       // x / rms * weight in f32, rounded
  layer_norm,  // (x - mean) / deviation * weight + bias in f32, rounded
};

/// Where the norms of a layer's two branches stand.
enum class NormPlace {
  before,          // x + f(norm(x))
  after,           // x + norm(f(x))
  around,          // x + norm(f(norm(x)))
  after_residual,  // norm(x + f(x))
};

/// Norms of queries and keys ahead of rotary positions.
enum class HeadNorm {
  none,
  each_head,  // over the width of each head
  all_heads,  // over all heads together
};

/// The function in a feed-forward layer.
enum class Activation { silu, gelu, gelu_tanh, relu };

/// Which elements of a head a rotary embedding turns together.
enum class Pairing {
  halves,      // j and j + width / 2
  neighbours,  // 2 j and 2 j + 1
};

/// Rotary frequencies, as `rope_parameters` of a config.json states them.
struct Rope {
  /// By name as upstream: "default", "linear", "dynamic", "llama3", "yarn", "longrope",
  /// "proportional".
  enum class Type { plain, linear, dynamic, llama3, yarn, longrope, proportional };
  Type type = Type::plain;
  double theta = 10000;
  /// How many elements of a head are turned: the first ones; even.
  std::int64_t width = 0;
  double factor = 1;
  /// Positions that the model was trained on before it was stretched.
  std::int64_t original_length = 0;
  /// Positions that the model is made for (dynamic).
  std::int64_t length = 0;
  double low_freq_factor = 1, high_freq_factor = 4;  // llama3
  double beta_fast = 32, beta_slow = 1;              // yarn
  bool truncate = true;                              // yarn
  double attention_factor = 1;                       // yarn, longrope: of cos and sin
  double proportion = 1;  // proportional: of the pairs, the first so many turn
  std::vector<double> short_factor = {}, long_factor = {};  // longrope: width / 2 each
  /// Whether frequencies depend on how long the sequence gets.
  bool depends_on_length() const {
    return type == Type::dynamic || (type == Type::longrope && short_factor != long_factor);
  }
};

/// How the first A of an adapter is drawn.
enum class AdapterInit {
  kaiming_uniform,  // U(-1/sqrt in, 1/sqrt in), PEFT's
  he_uniform,       // U(-sqrt(6/in), sqrt(6/in)), Tunix' and Qwix'
  gaussian,         // normal, of deviation 1/r
};

/// An adapter of low rank beside a weight: y += scale (x A) B.
struct AdapterOptions {
  std::int64_t rank = 8;
  double alpha = 8;
  /// Whether the scale is alpha / sqrt r instead of alpha / r. Source: Kalajdzievski, A Rank
  /// Stabilization Scaling Factor for Fine-Tuning with LoRA (2023).
  bool rslora = false;
  AdapterInit init = AdapterInit::kaiming_uniform;
  double scale() const;
  bool operator==(const AdapterOptions&) const = default;
};

/// What a router's scores become.
enum class RouterScore {
  softmax,        // over all experts
  sigmoid,        // of each
  sqrt_softplus,  // of each: sqrt(log(1 + exp(x)))
};

/// Experts in the place of a layer's feed-forward branch: of `count`, each token goes through the
/// `active` whose router scores are highest.
struct ExpertOptions {
  /// 0: there are none.
  std::int64_t count = 0;
  std::int64_t active = 2;
  /// The width of one, as mlp_width.
  std::int64_t width = 0;
  /// The width of the one that all tokens go through, times sigmoid(x g) where it is gated; 0:
  /// there is none.
  std::int64_t shared_width = 0;
  /// Whether the weights of the chosen ones are divided by their sum.
  bool renormalise = true;
  /// So many layers ahead of the others have feed-forward branches of mlp_width.
  std::int64_t dense_layers = 0;
  bool shared_gated = true;
  /// The numbers of those layers, ascending, where they are not the first ones.
  std::vector<std::int64_t> dense_at = {};

  RouterScore score = RouterScore::softmax;
  /// Whether a bias (E), which is no part of weights, is added to scores to choose by.
  bool choice_bias = false;
  /// Factor of weights.
  double scaling = 1;
  /// Experts stand in so many groups, of which `active_groups` may be chosen from: those whose best
  /// `group_score_of` experts add up to most. 1: no groups.
  std::int64_t groups = 1, active_groups = 1, group_score_of = 1;
  /// Whether a token's vector is multiplied by the weight ahead of the expert, not what comes out.
  bool weigh_input = false;
  /// Whether the router and the experts have biases.
  bool biased = false;
  /// Above 0: gates g are at most this and what they gate, u, within plus and minus it, and the
  /// product is (u + 1) g sigmoid(gate_alpha g).
  double gate_limit = 0, gate_alpha = 1.702;
  /// Whether they stand beside a feed-forward branch of mlp_width, from which they differ in norms,
  /// and the router reads the residual stream over its root mean square, times a weight / sqrt(D);
  /// what it gives each expert is times a weight of that expert (Gemma 4).
  bool beside_mlp = false;
  /// Of a sequence's tokens an expert takes so many times their even share, rounded up, and drops
  /// later ones; 0: all. What is read through a cache is never dropped.
  double capacity = 0;
  bool operator==(const ExpertOptions&) const = default;
};

/// Latent attention (latent_attention.h): keys and values of all heads come of one vector of each
/// token.
struct LatentOptions {
  /// The width of that vector; 0: attention is not latent.
  std::int64_t kv_rank = 0;
  /// What queries go through; 0: they are projected at once.
  std::int64_t query_rank = 0;
  /// Elements of a query that are not turned by rotary positions and that are, in this order; and
  /// of a value.
  std::int64_t plain_dim = 0, turned_dim = 0, value_dim = 0;
  bool operator==(const LatentOptions&) const = default;
};

/// The gated delta rule (delta_net.h) in the place of some layers' attention.
struct DeltaOptions {
  /// Heads of queries and keys, and of values: a multiple.
  std::int64_t key_heads = 0, value_heads = 0;
  std::int64_t key_dim = 0, value_dim = 0;
  /// So many tokens, the token itself among them, go into the convolution.
  std::int64_t taps = 4;
  /// The numbers of those layers, ascending; empty: there are none.
  std::vector<std::int64_t> layers = {};
  bool operator==(const DeltaOptions&) const = default;
};

/// Layers whose attention has other heads than that of the others (Gemma 4's without a window).
struct FullOptions {
  /// Their numbers, ascending; empty: there are none. ropes[1] is theirs, ropes[0] the others'.
  std::vector<std::int64_t> layers = {};
  std::int64_t kv_heads = 0, head_dim = 0;
  /// Whether values are what keys are ahead of their norm and rotary positions.
  bool keys_are_values = false;
  bool operator==(const FullOptions&) const = default;
};

/// Embeddings that each layer has of its own (per_layer_input.h; Gemma 4's E2B and E4B).
struct PerLayerInputOptions {
  /// The width of what a layer gets; 0: layers get nothing.
  std::int64_t width = 0;
  /// Rows of their table: at least vocab_size.
  std::int64_t vocab_size = 0;
  bool operator==(const PerLayerInputOptions&) const = default;
};

/// Last layers that have no keys and values of their own (Gemma 4's E2B and E4B): each attends to
/// those of the last layer ahead of all of them that is of its kind, which FullOptions names.
struct SharedKvOptions {
  /// How many; 0: none.
  std::int64_t layers = 0;
  /// The width of their feed-forward branches; 0: as the others'.
  std::int64_t mlp_width = 0;
  bool operator==(const SharedKvOptions&) const = default;
};

/// The options of a model.
struct Options {
  /// The family, as config.json's model_type names it.
  std::string family;
  std::int64_t vocab_size = 0, width = 0, layers = 0;
  std::int64_t query_heads = 0, kv_heads = 0, head_dim = 0, mlp_width = 0;

  NormKind norm = NormKind::llama;
  NormPlace norm_place = NormPlace::before;
  double epsilon = 1e-6;
  HeadNorm head_norm = HeadNorm::none;
  /// Whether a norm stands behind the last layer, and one behind the embedding.
  bool final_norm = true, embedding_norm = false;

  bool qkv_bias = false, out_bias = false, mlp_bias = false;
  bool gated = true;
  Activation activation = Activation::silu;
  ExpertOptions experts = {};
  /// Instead of heads of keys and values; head_dim is then plain_dim + turned_dim.
  LatentOptions latent = {};
  DeltaOptions delta = {};
  FullOptions full = {};
  PerLayerInputOptions per_layer_input = {};
  SharedKvOptions shared_kv = {};
  /// Layers behind the others that predict one token further each (multi_token.h); training reads
  /// them alone.
  std::int64_t mtp_layers = 0;
  /// Whether values are divided by their root mean square, of each head.
  bool unit_values = false;
  /// Whether what leaves a layer is multiplied by a weight of it.
  bool layer_scalar = false;
  /// Whether what attention gives is multiplied by the sigmoid of a second half of each head's
  /// query.
  bool gated_attention = false;
  /// The output matrix is the embedding.
  bool tied = false;
  /// Whether there are logits at all; an encoder has none.
  bool has_logits = true;
  bool causal = true;
  /// Whether each head has a score that joins the denominators of softmax alone.
  bool sinks = false;
  /// Rows of a learned table of positions, and of token types; 0: none.
  std::int64_t learned_positions = 0, token_types = 0;

  /// Factor of scores; soft caps c tanh(x / c) of scores and of logits, 0: none.
  double attention_scale = 1, attention_cap = 0, logit_cap = 0;
  /// Factor of embeddings, rounded to the weights' dtype.
  double embedding_scale = 1;
  /// Further factors of scores, one a layer; empty: none.
  std::vector<double> layer_scales = {};
  /// How many keys a token of a layer sees, itself among them; 0: all. One a layer; empty: all of
  /// all.
  std::vector<std::int64_t> windows = {};
  /// How many positions a chunk of a layer has: a token sees keys of its own chunk only; 0: no
  /// chunks. One a layer; empty: no layer has any.
  std::vector<std::int64_t> chunks = {};
  /// Whether queries and keys are divided by their root mean square behind rotary positions, in
  /// layers that have them.
  bool unit_heads = false;
  /// Above 0: in layers without rotary positions queries are multiplied by 1 + temperature_scale
  /// log(1 + floor((position + 1) / temperature_length)).
  std::int64_t temperature_length = 0;
  double temperature_scale = 0;
  /// Rotary embeddings, and which of them a layer has (-1: none); empty `rope_of_layer`: the first.
  std::vector<Rope> ropes = {};
  std::vector<int> rope_of_layer = {};
  Pairing pairing = Pairing::halves;

  /// Positions that the model is made for.
  std::int64_t context = 0;
  /// The longest sequence that will be read, which decides frequencies that depend on length; 0:
  /// decided by each call.
  std::int64_t max_length = 0;
  /// The dtype of activations and logits.
  DType dtype = DType::f32;
  /// Weights that are kept in packed blocks, by their paths: ui8 ([L,] out, bytes of a row).
  std::map<std::string, BlockFormat, std::less<>> packed = {};
  /// Adapters by the paths of what they stand beside: "layers/attention/query". In all layers
  /// alike.
  std::map<std::string, AdapterOptions, std::less<>> adapters = {};
  /// What the backward pass keeps of a layer, as MaxText names it: "full_save" (all), "minimal"
  /// (results of products), "full" (nothing) and what else model/remat_policy.h has.
  std::string remat_policy = "full_save";
  /// The standard deviation of first weights.
  double initial_deviation = 0.02;
};

/// Throws Error where options contradict each other: heads that do not divide, odd rotary widths,
/// lists of another length than the layers.
void check(const Options& options);

}  // namespace strata::model::decoder
