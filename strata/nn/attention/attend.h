// Attention of queries to keys and values, and masks for it: Flax NNX's functions.
//
//   Array mask = nn::make_attention_mask(tokens > 0, tokens > 0);       // (B, 1, T, T)
//   Array y = nn::attend(q, k, v, {.mask = mask, .is_causal = true});   // (B, T, H, d)
//
// Two numerical paths, as upstream. Without dropout and without an observer of the weights:
// nn::dot_product_attention (that of jax.nn), where scores are f32 at least and are scaled after
// the product. Else: q / sqrt(d) first, scores and softmax in the common dtype. Both give the mean
// of the values to a query that may see no key.
//
// Source: flax/nnx/nn/attention.py (0.12.8). Vaswani et al., Attention is all you need (2017);
// Ainslie et al., GQA (2023). Names: upstream's `dot_product_attention` is `attend` and its
// `dot_product_attention_weights` `attention_weights` here, since jax.nn's have those names.
#pragma once

#include <functional>

#include "strata/api/random/key.h"
#include "strata/nn/linear/products.h"

namespace strata::nn {

struct AttendOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Added to the scores; broadcasts to (batch..., H, Q, K).
  std::optional<Array> bias = std::nullopt;
  /// Of any type: where it is 0 a score does not count. Broadcasts likewise.
  std::optional<Array> mask = std::nullopt;
  /// Query t sees keys 0 .. t.
  bool is_causal = false;
  double dropout_rate = 0;
  /// One mask of dropout (1..., Q, K) for the whole batch and all heads.
  bool broadcast_dropout = true;
  /// Needed where there is dropout.
  std::optional<random::Key> dropout_rng = std::nullopt;
  /// No dropout, but the second path where the rate is not 0.
  bool deterministic = false;
  /// In which it computes; none: that in which the operands meet.
  std::optional<DType> dtype = std::nullopt;
  /// Of the products of the second path.
  lax::DotPrecision precision = lax::Precision::DEFAULT;
  /// Gets the weights (batch..., H, Q, K) before dropout; with one the second path is taken.
  std::function<void(const Array& weights)> observe = nullptr;
};

/// softmax(q k^T / sqrt(d) + bias, masked) v by head: query (batch..., Q, H, d), key (batch..., K,
/// G, d), value (batch..., K, G, e) give (batch..., Q, H, e). H is a multiple of G: H / G queries
/// share a head of keys. Throws Error for shapes that do not fit, and for dropout without a key.
Array attend(const Array& query, const Array& key, const Array& value,
             const AttendOptions& options = {});
/// The weights of the second path, (batch..., H, Q, K), after dropout.
Array attention_weights(const Array& query, const Array& key, const AttendOptions& options = {});

struct AttentionMaskOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Of a query's and a key's element; their product unless given.
  std::function<Array(const Array&, const Array&)> pairwise_fn = nullptr;
  /// Leading axes of size 1.
  std::int64_t extra_batch_dims = 0;
  DType dtype = DType::f32;
};
/// pairwise_fn of queries (batch..., Q) and keys (batch..., K): (batch..., 1, Q, K).
Array make_attention_mask(const Operand& query_input, const Operand& key_input,
                          const AttentionMaskOptions& options = {});
/// For x (batch..., T): (batch..., 1, T, T), 1 where the key is not behind the query. Only the
/// shape of x counts. `pairwise_fn` is left out of account.
Array make_causal_mask(const Operand& x, const AttentionMaskOptions& options = {});
/// The logical and of the masks there are, as `dtype`; none where there are none. Throws Error for
/// masks of different ranks.
std::optional<Array> combine_masks(const std::vector<std::optional<Array>>& masks,
                                   DType dtype = DType::f32);

}  // namespace strata::nn
