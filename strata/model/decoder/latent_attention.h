// Latent attention: keys and values of all heads are products of one short vector of each token,
// which is all that a cache holds, beside one turned key that all heads share.
//
//   c = norm(x W_kv_a)            (r), and a key of the width that rotary positions turn
//   k_h, v_h = c W_kv_b           of each head
#pragma once

#include "strata/model/decoder/attention.h"

namespace strata::model::decoder {

/// The attention branch of DeepSeek's layers. Queries are (D, H (n + t)) at once, or by way of a
/// rank, with a norm between.
struct LatentAttention {
  std::optional<Linear> query;       // (D, H (n + t))
  std::optional<Linear> query_a;     // (D, q)
  std::optional<Norm> query_a_norm;  // (q)
  std::optional<Linear> query_b;     // (q, H (n + t))
  Linear kv_a;                       // (D, r + t)
  Norm kv_a_norm;                    // (r)
  Linear kv_b;                       // (r, H (n + v)), of each head keys and then values
  Linear out;                        // (H v, D)
  STRATA_FIELDS(query, query_a, query_a_norm, query_b, kv_a, kv_a_norm, kv_b, out)

  /// x (B, S, D) -> (B, S, D); the last t elements of queries and the shared key are turned by
  /// `rotary` where there is one. What `attending` gets: of a whole text, heads as of other
  /// attentions, keys (B, S, H, n + t) and values (B, S, H, v). Where `absorbed`, W_kv_b is
  /// multiplied into queries and results instead, so that one head of keys [c; shared], (B, S, 1, r
  /// + t), serves all queries (B, S, H, r + t), and its first r elements are the values. Both are
  /// the same function. Source: DeepSeek-AI, DeepSeek-V2 (2024), section 2.1;
  /// modeling_deepseek_v3.py of transformers.
  Array operator()(const Array& x_BSD, const Options& options,
                   const std::optional<RotaryTable>& rotary, bool absorbed,
                   const Attending& attending) const;
};

}  // namespace strata::model::decoder
