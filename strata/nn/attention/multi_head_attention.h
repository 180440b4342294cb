// Multi-head attention with dropout, grouped heads, normalised queries and keys, and a cache.
//
//   nn::MultiHeadAttention layer(8, 256, rngs, {.num_kv_heads = 2, .decode = false});
//   Array y = layer(x);                                      // self-attention: (B, T, 256)
//   Array z = layer(x, memory, {.mask = mask});              // keys and values of `memory`
//
// and token by token:
//
//   nn::MultiHeadAttention layer(8, 256, rngs, {.decode = true});
//   layer.init_cache({B, max_length, 256});
//   for (const Array& token : tokens) y = layer(token);      // (B, 1, 256)
//
// Llama's layers use nn::Attention (attention.h), which rotates positions.
#pragma once

#include "strata/nn/attention/attend.h"
#include "strata/nn/compiled_visit.h"
#include "strata/nn/linear/linear_general.h"
#include "strata/nn/named_function.h"
#include "strata/nn/norm/layer_norm.h"
#include "strata/nn/random/lent_stream.h"

namespace strata::nn {

/// The function between projections: attend, or one like it.
using AttentionFunction =
    NamedFunction<const Array&, const Array&, const Array&, const AttendOptions&>;

struct MultiHeadAttentionOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Of queries, keys and values together (all heads), of the result, and of the input of keys and
  /// values; in_features unless given.
  std::optional<std::int64_t> qkv_features = std::nullopt, out_features = std::nullopt;
  /// Heads of keys and values; num_heads unless given, which must be a multiple.
  std::optional<std::int64_t> num_kv_heads = std::nullopt;
  std::optional<std::int64_t> in_kv_features = std::nullopt;
  DType param_dtype = DType::f32;
  bool broadcast_dropout = true;
  double dropout_rate = 0;
  /// Whether dropout is left out; needed here or in the call where there is dropout.
  std::optional<bool> deterministic = std::nullopt;
  /// The dtype in which it computes, and the precision of its products.
  ProductOptions product = {};
  Initializer kernel_init = initializers::lecun_normal(), bias_init = initializers::zeros;
  /// Of the last layer; as the others' unless given.
  std::optional<Initializer> out_kernel_init = std::nullopt, out_bias_init = std::nullopt;
  bool use_bias = true;
  AttentionFunction attention_fn = {"attend", attend};
  /// Whether it reads token by token; needed here or in the call.
  std::optional<bool> decode = std::nullopt;
  /// Queries and keys go through a LayerNorm without bias. Source: Dehghani et al., Scaling Vision
  /// Transformers to 22 Billion Parameters (2023).
  bool normalize_qk = false;
  /// Keeps a stream of its own for dropout, forked from the stream "dropout".
  bool keep_rngs = true;
  Metadata kernel_metadata = {}, bias_metadata = {};
  /// Of the last layer; as the others' where empty.
  Metadata out_kernel_metadata = {}, out_bias_metadata = {};
  Metadata query_ln_scale_metadata = {}, key_ln_scale_metadata = {};
};

/// What a call is told beside its inputs; it goes before what the constructor was told.
struct MultiHeadAttentionCall {
  strata::internal::Named named = strata::internal::Named();
  /// Broadcasts to (batch..., num_heads, queries, keys); where 0, the query does not see the key.
  std::optional<Array> mask = std::nullopt;
  std::optional<bool> deterministic = std::nullopt;
  LentStream rngs = {};
  /// Gets the weights (batch..., num_heads, queries, keys) before dropout.
  std::function<void(const Array& weights)> observe = nullptr;
  /// Sows them as the Intermediate "attention_weights".
  bool sow_weights = false;
  std::optional<bool> decode = std::nullopt;
  bool is_causal = false;
};

/// out(attend(query(q), key(k), value(v))): inputs (batch..., Q, in_features) and (batch..., K,
/// in_kv_features), result (batch..., Q, out_features). d = qkv_features / num_heads features a
/// head. Throws Error for features and heads that do not fit, where it is not said whether it
/// decodes, or (with dropout) whether it is deterministic, and for dropout without a stream.
/// Source: Flax NNX's MultiHeadAttention, whose names these are. Deviation: reading past the end of
/// the cache is an error where the index is known, not a write to the last place.
struct MultiHeadAttention {
  LinearGeneral query, key, value;  // kernels (in, H, d), (in_kv, G, d), (in_kv, G, d)
  LinearGeneral out;                // kernel (H, d, out)
  std::optional<LayerNorm> query_ln, key_ln;
  /// Of tokens that were read: (batch..., max_length, G, d), and how many there are, i32.
  std::optional<Cache> cached_key, cached_value, cache_index;
  std::optional<RngStream> rngs;
  std::int64_t num_heads = 1, num_kv_heads = 1;
  double dropout_rate = 0;
  bool broadcast_dropout = true;
  std::optional<bool> deterministic, decode;
  ProductOptions product;
  AttentionFunction attention_fn = {"attend", attend};
  STRATA_FIELDS(query, key, value, out, query_ln, key_ln, cached_key, cached_value, cache_index,
                rngs, num_heads, num_kv_heads, dropout_rate, broadcast_dropout, deterministic,
                decode, product, attention_fn)

  MultiHeadAttention() = default;
  /// Takes keys of "params" in this order: query, key, value (kernel, bias each), scales of the
  /// norms, out; then forks "dropout" where it keeps a stream for it.
  MultiHeadAttention(std::int64_t num_heads, std::int64_t in_features, Rngs& rngs,
                     const MultiHeadAttentionOptions& options = {});

  /// Self-attention; keys and values of another input; values of a third.
  Array operator()(const Array& q, const MultiHeadAttentionCall& call = {});
  Array operator()(const Array& q, const Array& k, const MultiHeadAttentionCall& call = {});
  Array operator()(const Array& q, const Array& k, const Array& v,
                   const MultiHeadAttentionCall& call = {});

  /// An empty cache for inputs (batch..., max_length, features), of which the features do not
  /// count.
  void init_cache(const Sizes& input_shape, DType dtype = DType::f32);

 private:
  std::optional<Array> remember(Array& k, Array& v, const std::optional<Array>& mask);
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::MultiHeadAttention)
