// Attention of queries to keys: to those of the same call, and to those in a cache of pages.
//
//   Array y = decoder::attend(q_BSHd, k_BTKd, v_BTKe, {.scale = 0.125});                  // causal
//   Array y = decoder::cached_attention(q, key_pages, value_pages, table, first, count, {.scale =
//   0.125});
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
  /// Scores become c tanh(s / c) ahead of the mask; 0: they stay.
  double soft_cap = 0;
  /// (H) f32, which join the denominators of softmax only.
  std::optional<Array> sinks = {};
  /// Whether a query sees no keys behind its own position.
  bool causal = true;
  /// (B, T) of i1: keys that are there at all.
  std::optional<Array> key_mask = {};
};

/// softmax(scale q k^T) v with grouped heads: q (B, S, H, d), k (B, T, K, d), v (B, T, K, e), H a
/// multiple of K; query head h reads key head h / (H / K). Key t stands at position t, query s of
/// row b at first[b] + s (first: (B) i32; none: 0). Scores and softmax in f32 (f64 for f64),
/// weights rounded to q's dtype. Result (B, S, H, e).
Array attend(const Array& q_BSHd, const Array& k_BTKd, const Array& v_BTKe,
             const AttendOptions& options, const std::optional<Array>& first_B = {});

/// The same of keys and values in pages: key_pages (N, P, K, d), value_pages (N, P, K, e); row b's
/// positions m P .. m P + P - 1 are in page page_table[b][m], page_table (B, M) of i32. Query s of
/// row b stands at first[b] + s and sees keys up to itself; what rows beyond count[b] give is not
/// meant. Takes no `key_mask`, and is causal.
Array cached_attention(const Array& q_BSHd, const Array& key_pages_NPKd,
                       const Array& value_pages_NPKe, const Array& page_table_BM,
                       const Array& first_B, const Array& count_B, const AttendOptions& options);

}  // namespace strata::model::decoder
