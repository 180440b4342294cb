#include "strata/nn/attention/attention.h"

#include <cmath>

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/base/error.h"
#include "strata/nn/linear/products.h"
#include "strata/nn/sharding/logical_sharding.h"
#include "strata/nn/transform/named_tensors.h"
#include "strata/nn/wide.h"

namespace strata::nn {

Array causal_attention(const Array& q, const Array& k, const Array& v, const Array& first) {
  std::int64_t batch = q.shape(0), length = q.shape(1), heads = q.shape(2), dim = q.shape(3),
               keys = k.shape(1), groups = k.shape(2);
  if (heads % groups != 0)
    throw Error("causal_attention", "{} query heads do not divide into {} key heads", heads,
                groups);
  Array grouped = reshape(q, {batch, length, groups, heads / groups, dim});
  Array scores = astype(nn::einsum("bskgd,btkd->bkgst", grouped, k), wide(q.dtype())) /
                 std::sqrt(static_cast<double>(dim));
  Array visible =
      greater_equal(expand_dims(arange(length), 1) + first, expand_dims(arange(keys), 0));
  Array masked = where(visible, scores, -1e30);
  Array exponentials =
      exp(masked - lax::stop_gradient(max(masked, {.axis = -1, .keepdims = true})));
  Array weights =
      astype(exponentials / sum(exponentials, {.axis = -1, .keepdims = true}), q.dtype());
  return reshape(nn::einsum("bkgst,btkd->bskgd", weights, v), {batch, length, heads, dim});
}

Array causal_attention(const Array& q, const Array& k, const Array& v) {
  return causal_attention(q, k, v, k.shape(1) - q.shape(1));
}

Attention Attention::init(const Array& key, std::int64_t features, const AttentionOptions& o) {
  if (o.num_query_heads % o.num_kv_heads != 0)
    throw Error("Attention", "{} query heads do not divide into {} key heads", o.num_query_heads,
                o.num_kv_heads);
  const std::int64_t q = o.num_query_heads * o.head_dim, kv = o.num_kv_heads * o.head_dim;
  const Array keys = random::split(key, 4);
  auto kernel = [&](std::int64_t i, std::int64_t in, std::int64_t out) {
    return o.kernel_init(keys[i], {in, out}, o.param_dtype);
  };
  return {kernel(0, features, q), kernel(1, features, kv), kernel(2, features, kv),
          kernel(3, q, features), o.num_query_heads,       o.num_kv_heads};
}

Attention::Heads Attention::heads(const Array& x, const RotaryTables& rotary) const {
  auto split_heads = [&](const Array& weight, std::int64_t count) {
    return reshape(nn::matmul(x, weight),
                   {x.shape(0), x.shape(1), count, weight.shape(-1) / count});
  };
  const auto keys = [](const Array& x) {
    return with_logical_constraint(
        x, {"activation_kv_batch", "activation_kv_length", "activation_kv_heads", ""});
  };
  return {named(with_logical_constraint(
                    apply_rotary(split_heads(query, num_query_heads), rotary),
                    {"activation_batch_attn", "activation_length_attn", "activation_heads", ""}),
                "query_proj"),
          named(keys(apply_rotary(split_heads(key, num_kv_heads), rotary)), "key_proj"),
          named(keys(split_heads(value, num_kv_heads)), "value_proj")};
}

Array Attention::merged(const Array& attended) const {
  const Array given = named(named(attended, "context"), "attention_out");
  const std::int64_t width = given.shape(2) * given.shape(3);
  return named(nn::matmul(reshape(given, {given.shape(0), given.shape(1), width}), out),
               "out_proj");
}

Array Attention::operator()(const Array& x, const RotaryTables& rotary) const {
  const ModuleScope scope(*this, "Attention");
  const Heads h = heads(x, rotary);
  return scope.returns(merged(causal_attention(h.q_BSHd, h.k_BSKd, h.v_BSKd)), x);
}

std::pair<Array, KeyValues> Attention::extend(const Array& x, const RotaryTables& rotary,
                                              const KeyValues& kept, const Array& first) const {
  const ModuleScope scope(*this, "Attention", "extend");
  const Heads h = heads(x, rotary);
  KeyValues now{lax::dynamic_update_slice_in_dim(kept.key, h.k_BSKd, first, 1),
                lax::dynamic_update_slice_in_dim(kept.value, h.v_BSKd, first, 1)};
  Array attended = causal_attention(h.q_BSHd, now.key, now.value, first);
  return {merged(attended), std::move(now)};
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::Attention)
