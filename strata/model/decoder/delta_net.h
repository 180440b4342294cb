// The gated delta rule in the place of attention: a matrix of each head, which every token reads
// and corrects, instead of keys and values of all tokens.
//
//   S_t = e^(g_t) S_(t-1) + k_t (beta_t (v_t - e^(g_t) S_(t-1)^T k_t))^T,    y_t = S_t^T q_t
#pragma once

#include <optional>

#include "strata/model/decoder/linear.h"
#include "strata/model/decoder/norms.h"
#include "strata/model/decoder/options.h"

namespace strata::model::decoder {

/// What a cache holds of such layers, those of a layer behind those of the one before: at each page
/// what there is behind the last token that was read into it. f32 (f64 of f64) but for `inputs`.
struct DeltaPages {
  Array inputs;  // (L N, 1, W - 1, C): what the convolution saw last
  Array state;   // (L N, Hv, dk, dv)
  Array tokens;  // (L N, 1) i32: how many tokens of the sequence that is
  STRATA_FIELDS(inputs, state, tokens)
};
/// Where the rows of a call are: as of model::Batch, pages those of this layer, of P positions.
struct DeltaPlaces {
  Array pages, first, count;  // (B, M), (B), (B) i32
  std::int64_t page_size = 1;
};

/// One layer's branch. Hk heads of queries and keys of dk elements, Hv of values of dv, Hv a
/// multiple of Hk; C = 2 Hk dk + Hv dv.
struct DeltaNet {
  Linear qkvz;        // (D, 2 Hk dk + 2 Hv dv): of each head of keys q, k, its v and its z
  Linear ba;          // (D, 2 Hv): of each head of keys b and a of its values
  nn::Param conv;     // (W, C)
  nn::Param dt_bias;  // (Hv)
  nn::Param a_log;    // (Hv)
  Norm norm;          // (dv)
  Linear out;         // (Hv dv, D)
  STRATA_FIELDS(qkvz, ba, conv, dt_bias, a_log, norm, out)

  /// x (B, S, D) -> (B, S, D): projections, a causal convolution of W tokens with silu, the rule
  /// over tokens with g = -e^a_log softplus(a + dt_bias), beta = sigmoid(b) and q, k of unit
  /// length, norm, times silu(z). A token at position 0 of `positions` (B or 1, S) sees nothing of
  /// what stands before it in the row. Token by token, in f32 (f64 of f64), so that bits do not
  /// depend on how a sequence is cut. Source: Yang et al., Gated Delta Networks (2025);
  /// modeling_qwen3_next.py of transformers, which takes chunks of 64 tokens.
  Array operator()(const Array& x_BSD, const Options& options, const Array& positions_BS) const;
  /// The same of sequences that go on where `pages` say, which then hold what there is behind
  /// these. A sequence that does not go on at a page's own number of tokens gives NaN: a state
  /// cannot be taken back.
  Array operator()(const Array& x_BSD, const Options& options, const Array& positions_BS,
                   DeltaPages& pages, const DeltaPlaces& places) const;
};

}  // namespace strata::model::decoder
