// Attention of queries to the keys of the same call; to those in a cache of pages:
// nn/attention/cached_attention.h.
//
//   Array y = decoder::attend(q_BSHd, k_BTKd, v_BTKe, {.scale = 0.125});     // causal
#pragma once

#include <optional>

#include "strata/api/array.h"

namespace strata::model::decoder {

/// How scores become weights.
struct AttendOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Factor of scores.
  double scale = 1;
  /// How many keys a query sees, that of its own position among them: an i32 scalar, traced or not,
  /// 0 for all; none: all.
  std::optional<Array> window = {};
  /// How many positions a chunk has, an i32 scalar, 0 for no chunks: a query sees keys of its own
  /// chunk only, position / chunk; none: all.
  std::optional<Array> chunk = {};
  /// (B or 1, S) of i32, where they are not 0, 1, 2, ...; chunks alone ask.
  std::optional<Array> positions = {};
  /// Scores become c tanh(s / c) ahead of the mask; 0: they stay.
  double soft_cap = 0;
  /// (H) f32, which join the denominators of softmax only.
  std::optional<Array> sinks = {};
  /// Whether a query sees no keys behind its own position.
  bool causal = true;
  /// (B, T) of i1: keys that are there at all.
  std::optional<Array> key_mask = {};
  /// (B, S) of i32, of as many keys as queries: a query sees keys of its own number only.
  std::optional<Array> segments = {};
};

/// softmax(scale q k^T) v with grouped heads: q (B, S, H, d), k (B, T, K, d), v (B, T, K, e), H a
/// multiple of K; query head h reads key head h / (H / K). Key t and query t stand at position t.
/// Scores and softmax in f32 (f64 for f64), weights rounded to q's dtype. Result (B, S, H, e).
Array attend(const Array& q_BSHd, const Array& k_BTKd, const Array& v_BTKe,
             const AttendOptions& options);

}  // namespace strata::model::decoder
