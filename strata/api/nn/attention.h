// jax.nn.dot_product_attention.
#pragma once

#include <optional>
#include <utility>

#include "strata/api/array.h"

namespace strata::nn {

/// How many keys before and after its own place a query sees: `3` (both), or `Window(3, 0)`.
struct Window {
  std::int64_t left, right;
  template <std::integral T>
  Window(T both)
      : left(static_cast<std::int64_t>(both)), right(left) {}  // NOLINT: implicit by intent
  Window(std::int64_t before, std::int64_t behind) : left(before), right(behind) {}
};

struct DotProductAttention {
  internal::Named named = internal::Named();
  /// Added to the scores; and (boolean) which of them count. Broadcast to [B, N, T, S].
  std::optional<Array> bias = std::nullopt, mask = std::nullopt;
  /// 1 / sqrt(H) where left out.
  std::optional<double> scale = std::nullopt;
  /// Query i sees keys up to i.
  bool is_causal = false;
  /// Lengths (i32[B]) up to which queries and keys count; results of further queries are 0.
  std::optional<Array> query_seq_lengths = std::nullopt, key_value_seq_lengths = std::nullopt;
  std::optional<Window> local_window_size = std::nullopt;
};

/// softmax(scale q k^T + bias) v by head: query [B, T, N, H], key and value [B, S, K, H], or
/// without B; the result is like the query. N is a multiple of K: N / K queries share a head of
/// keys. Dtypes are equal. Scores are f32 at least (those of f64 are f64 throughout, where
/// upstream's softmax is f32), probabilities have the keys' dtype. Scores that do not count are
/// -0.7 times the greatest f32, so a query that sees no key gets the mean of the values. Upstream's
/// choice of implementation is left out: compiled, scores of long sequences stay out of memory
/// where kernels allow (docs/decision/0017-attention.md). Throws Error for shapes and dtypes that
/// do not fit.
Array dot_product_attention(const Operand& query, const Operand& key, const Operand& value,
                            const DotProductAttention& options = {});
/// `dot_product_attention` with the logarithms of the sums of exponentials, [B, T, N] in the keys'
/// dtype, of which derivatives know nothing (upstream's return_residual=True).
[[nodiscard]] std::pair<Array, Array> dot_product_attention_with_residual(
    const Operand& query, const Operand& key, const Operand& value,
    const DotProductAttention& options = {});

}  // namespace strata::nn
