#include <cmath>
#include <limits>

#include "strata/api/lax/operations.h"
#include "strata/api/lax/products.h"
#include "strata/api/matrices.h"
#include "strata/api/nn/attention.h"
#include "strata/api/nn/attention_by.h"
#include "strata/api/nn/functions.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/numpy/types.h"
#include "strata/api/operators.h"

namespace strata::nn {
namespace {

using detail::AttentionProduct;
using internal::describe;
using internal::fail;
using internal::Site;
using internal::strong_number;

const char* const kName = "dot_product_attention";

/// With dimensions of size 1 in front.
Array in_four(Array x) {
  while (x.ndim() < 4) x = expand_dims(x, 0);
  return x;
}

/// Sizes: batch, queries, keys, heads of queries, heads of keys, queries' heads for each of these,
/// features.
struct Sizes4 {
  std::int64_t B, T, S, N, K, G, H;
};

void require_lengths(const char* what, const std::optional<Array>& lengths, std::int64_t batch) {
  if (lengths &&
      (lengths->dtype() != DType::i32 || lengths->ndim() != 1 || lengths->shape(0) != batch))
    fail(kName, "{} are i32[{}], got {}", what, batch, describe(lengths->type()));
}

Sizes4 sizes_of(const Array& q, const Array& k, const Array& v, const DotProductAttention& o) {
  if (q.ndim() != 4 || k.ndim() != 4)
    fail(kName, "queries and keys are [B, T, N, H] and [B, S, K, H], got {} and {}",
         describe(q.type()), describe(k.type()));
  if (v.type() != k.type())
    fail(kName, "values are like keys, {}, got {}", describe(k.type()), describe(v.type()));
  const Sizes4 n{k.shape(0), q.shape(1), k.shape(1),
                 q.shape(2), k.shape(2), k.shape(2) ? q.shape(2) / k.shape(2) : 0,
                 k.shape(3)};
  if (q.dtype() != k.dtype() || q.shape(0) != n.B || q.shape(3) != n.H)
    fail(kName, "queries {} do not go with keys {}", describe(q.type()), describe(k.type()));
  if (is_complex(q.dtype())) fail(kName, "real numbers are taken, got {}", describe(q.type()));
  if (n.K == 0 || n.N % n.K != 0)
    fail(kName, "{} heads of queries do not share {} of keys", n.N, n.K);
  if (o.mask && !is_bool(o.mask->dtype()))
    fail(kName, "the mask is boolean, got {}", describe(o.mask->type()));
  require_lengths("query_seq_lengths", o.query_seq_lengths, n.B);
  require_lengths("key_value_seq_lengths", o.key_value_seq_lengths, n.B);
  return n;
}

/// What is broadcast to [B, N, T, S], beside scores [B, K, T, G, S].
Array beside_scores(const char* what, const Array& given, const Sizes4& n) {
  const Array x = in_four(given);
  if (x.ndim() != 4 || (x.shape(1) != 1 && x.shape(1) != n.N))
    fail(kName, "the {} is [B, N, T, S], got {}", what, describe(given.type()));
  const bool is_shared = x.shape(1) == 1;
  return swapaxes(
      x.reshape({x.shape(0), is_shared ? 1 : n.K, is_shared ? 1 : n.G, x.shape(2), x.shape(3)}), 2,
      3);
}

/// Which scores count, to be broadcast; nothing where all do.
std::optional<Array> mask_of(const Sizes4& n, const DotProductAttention& o) {
  std::optional<Array> out;
  auto also = [&](const Array& mask) { out = out ? *out & mask : mask; };
  const Array query = numpy::arange(n.T).reshape({n.T, 1, 1}), key = numpy::arange(n.S);
  auto lengths = [](const Array& x) { return x.reshape({-1, 1, 1, 1, 1}); };
  if (o.mask) also(beside_scores("mask", *o.mask, n));
  if (o.is_causal) also(key <= query);
  if (o.local_window_size)
    also((query <= key + o.local_window_size->left) & (query >= key - o.local_window_size->right));
  if (o.query_seq_lengths) also(query < lengths(*o.query_seq_lengths));
  if (o.key_value_seq_lengths) also(key < lengths(*o.key_value_seq_lengths));
  return out;
}

struct Attended {
  Array encoded, scores;  // [B, T, N, H], [B, K, T, G, S]
};
Array plain_product(const Array& lhs, const Array& rhs, const lax::DotDimensionNumbers& dimensions,
                    std::optional<DType> preferred) {
  return lax::dot_general(lhs, rhs, dimensions, {.preferred_element_type = preferred});
}
Attended attend(const AttentionProduct& product, const Array& query, const Array& key,
                const Array& value, const DotProductAttention& o) {
  const Sizes4 n = sizes_of(query, key, value, o);
  const DType wide = numpy::promote_types(query.dtype(), DType::f32);
  Array scores = product(
      query.reshape({n.B, n.T, n.K, n.G, n.H}), key,
      {.lhs_contracting = {4}, .rhs_contracting = {3}, .lhs_batch = {0, 2}, .rhs_batch = {0, 2}},
      wide);
  scores =
      scores * strong_number(scores, o.scale.value_or(1 / std::sqrt(static_cast<double>(n.H))));
  if (o.bias) scores = (scores + beside_scores("bias", *o.bias, n)).astype(wide);
  if (const std::optional<Array> mask = mask_of(n, o))
    scores =
        where(*mask, scores,
              strong_number(scores, -0.7 * static_cast<double>(std::numeric_limits<float>::max())));
  if (scores.ndim() != 5 || scores.shape() != Shape({n.B, n.K, n.T, n.G, n.S}))
    fail(kName, "the bias or the mask does not go with scores [{}, {}, {}, {}]", n.B, n.N, n.T,
         n.S);
  const Array probabilities = softmax(scores).astype(key.dtype());
  const Array by_head = product(
      probabilities, value,
      {.lhs_contracting = {4}, .rhs_contracting = {1}, .lhs_batch = {0, 1}, .rhs_batch = {0, 2}},
      std::nullopt);
  Array encoded = swapaxes(by_head, 1, 2).reshape({n.B, n.T, n.N, n.H});
  if (o.query_seq_lengths)
    encoded = encoded * (numpy::arange(n.T).reshape({n.T, 1, 1}) <
                         o.query_seq_lengths->reshape({-1, 1, 1, 1}))
                            .astype(encoded.dtype());
  return {encoded, scores};
}

}  // namespace

Array dot_product_attention(const Operand& query, const Operand& key, const Operand& value,
                            const DotProductAttention& options) {
  return detail::dot_product_attention_by(plain_product, query, key, value, options);
}

Array detail::dot_product_attention_by(const AttentionProduct& product, const Operand& query,
                                       const Operand& key, const Operand& value,
                                       const DotProductAttention& options) {
  Site site(query);
  return attend(product, in_four(query), in_four(key), in_four(value), options)
      .encoded.reshape(query->shape());
}

std::pair<Array, Array> dot_product_attention_with_residual(const Operand& query,
                                                            const Operand& key,
                                                            const Operand& value,
                                                            const DotProductAttention& options) {
  Site site(query);
  const auto [encoded, scores] =
      attend(plain_product, in_four(query), in_four(key), in_four(value), options);
  const Array sums = swapaxes(logsumexp(scores, -1), 1, 2).astype(key->dtype());  // [B, T, K, G]
  std::vector<std::int64_t> shape = query->shape().sizes();
  shape.pop_back();
  return {encoded.reshape(query->shape()), lax::stop_gradient(sums.reshape(shape))};
}

}  // namespace strata::nn
