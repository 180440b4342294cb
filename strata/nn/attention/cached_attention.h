// Attention to keys and values in a cache of pages: the one function by which sequences that are
// read piece by piece see what they read before.
//
//   Array y = nn::cached_attention(q, key_pages, value_pages, page_table, first, count,
//                                  {.scale = 1 / std::sqrt(64.0)});
//
// Why it is made so: docs/decision/0031-attention-over-a-cache.md.
#pragma once

#include <optional>

#include "strata/api/array.h"

namespace strata::nn {

/// How scores become weights.
struct CachedAttention {
  internal::Named named = internal::Named();
  /// Factor of scores; 1 / sqrt(d) where left out.
  std::optional<double> scale = std::nullopt;
  /// How many keys a query sees, that of its own position among them: an i32 scalar, traced or not;
  /// 0 or none: all.
  std::optional<Array> window = std::nullopt;
  /// How many positions a chunk has: a query sees keys of its own chunk, position / chunk, only. An
  /// i32 scalar, traced or not; 0 or none: all.
  std::optional<Array> chunk = std::nullopt;
  /// Scores become c tanh(s / c); 0: they stay.
  double soft_cap = 0;
  /// (H): a score of each head that joins the denominators of softmax alone.
  std::optional<Array> sinks = std::nullopt;
  /// Values are the first so many elements of each key, and value_pages are the key pages once
  /// more; none: value_pages hold values. So attention is whose keys and values are one vector
  /// (DeepSeek's latent attention).
  std::optional<std::int64_t> value_width = std::nullopt;
};

/// softmax(scale q k^T) v by head over sequences that are kept in pages: q (B, S, H, d), key_pages
/// (N, P, K, d), value_pages (N, P, K, e), page_table (B, M) of i32, first and count (B) of i32;
/// the result (B, S, H, e) has q's dtype. H is a multiple of K: H / K queries share a head of keys.
/// Pages have q's dtype or hold it in a narrower one (page_format.h), which is what queries see.
///
/// Position t of row b's sequence is place t % P of page page_table[b][t / P]. Query s of row b
/// stands at first[b] + s and sees the keys up to its own position, which are in their pages by
/// then. Queries from count[b] on give zeros; nothing else in the pages has a part in the result,
/// whatever it is. Entries of the table that no query needs may be any number.
///
/// Keys are taken in chunks of `kCachedAttentionChunk` positions from 0 on, whatever P is; the
/// largest score, the sum of exponentials and the weighted sum of values are carried from chunk to
/// chunk, in f32 (f64 for f64). Exponentials are rounded to v's dtype for their product. So the
/// bits of a row depend on its own sequence alone: not on other rows, on how it was cut into calls,
/// on M, N and P, or on threads. What it costs grows with the longest sequence of the call (with
/// the window, where that is shorter), not with M. Forward only: the loop has no static length.
///
/// Throws Error for shapes and dtypes that do not fit. Source: Dao et al., FlashAttention (2022);
/// Kwon et al., PagedAttention (2023); Xiao et al., attention sinks (2023); Gemma 2's soft cap.
Array cached_attention(const Array& q_BSHd, const Array& key_pages_NPKd,
                       const Array& value_pages_NPKe, const Array& page_table_BM,
                       const Array& first_B, const Array& count_B,
                       const CachedAttention& options = {});

/// Positions of a chunk.
inline constexpr std::int64_t kCachedAttentionChunk = 128;

/// What writes keys or values (B, S, K, d) into pages (N, P, K, d), in their format, at the places
/// that `cached_attention` reads: tokens from count[b] on, and those behind the table, are left
/// out.
Array write_pages(const Array& pages_NPKd, const Array& tokens_BSKd, const Array& page_table_BM,
                  const Array& first_B, const Array& count_B);

}  // namespace strata::nn
