// Attention.
//
//   nn::Attention layer = nn::Attention::init(key, 256, {.num_query_heads = 8, .num_kv_heads = 4,
//   .head_dim = 32}); Array y = layer(x, nn::rotary_tables(x.shape(1), 32));       // (B, S, 256)
//   -> (B, S, 256)
//
// and token by token, with the keys and values of earlier ones kept:
//
//   nn::KeyValues kept{zeros({B, T, 4, 32}), zeros({B, T, 4, 32})};
//   auto [y, now] = layer.extend(x, nn::rotary_tables(first + arange(S), 32), kept, first);
#pragma once

#include "strata/api/initializers.h"
#include "strata/nn/attention/rotary.h"
#include "strata/nn/compiled_visit.h"

namespace strata::nn {

/// softmax(q k^T / sqrt(D), causal) v with grouped heads: q (B, S, H, D), k and v (B, T, K, D), H a
/// multiple of K; query head h reads key head h / (H / K). Query i sees keys 0 .. first + i;
/// `first` is an i32 scalar, T - S unless given, so that the last query sees all. What is behind
/// has no part in the result as long as it is finite. Scores and softmax in f32 (f64 for f64),
/// weights rounded to q's dtype. Result (B, S, H, D). Source: Vaswani et al. (2017); Ainslie et
/// al., GQA (2023).
Array causal_attention(const Array& q_BSHD, const Array& k_BTKD, const Array& v_BTKD,
                       const Array& first);
Array causal_attention(const Array& q_BSHD, const Array& k_BTKD, const Array& v_BTKD);

/// Keys (rotated) and values of T positions, each (B, T, K, d).
struct KeyValues {
  Array key, value;
  STRATA_FIELDS(key, value)
};

struct AttentionOptions {
  internal::Named named = internal::Named();
  std::int64_t num_query_heads = 1, num_kv_heads = 1, head_dim = 64;
  Initializer kernel_init = initializers::lecun_normal();
  DType param_dtype = DType::f32;
};

/// Grouped-query self-attention with rotary positions and a causal mask, without biases. Names as
/// MaxText's Attention; heads are side by side in one axis of a kernel.
struct Attention {
  Array query, key, value;  // (D, H*d), (D, K*d), (D, K*d)
  Array out;                // (H*d, D)
  std::int64_t num_query_heads = 1, num_kv_heads = 1;
  STRATA_FIELDS(query, key, value, out, num_query_heads, num_kv_heads)

  /// Weights drawn by a key for inputs (..., features).
  static Attention init(const Array& key, std::int64_t features, const AttentionOptions& options);
  /// Causal self-attention of a sequence: x (B, S, D) holds the tokens at positions 0 .. S-1.
  Array operator()(const Array& x_BSD, const RotaryTables& rotary) const;
  /// One step of decoding: attends from S new tokens to the cached ones and to themselves, and
  /// returns the output with the updated cache. x (B, S, D) holds the tokens at positions first ..
  /// first+S-1, `rotary` the tables of these positions. first + S must not exceed T, the length of
  /// the cache: dynamic_update_slice clamps the start of a write that does not fit.
  std::pair<Array, KeyValues> extend(const Array& x_BSD, const RotaryTables& rotary,
                                     const KeyValues& kept, const Array& first) const;

 private:
  struct Heads {
    Array q_BSHd, k_BSKd, v_BSKd;
  };
  Heads heads(const Array& x, const RotaryTables& rotary) const;
  Array merged(const Array& attended_BSHd) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::Attention)
