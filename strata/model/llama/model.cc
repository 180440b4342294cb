#include "strata/model/llama/model.h"

#include "strata/api/control.h"
#include "strata/api/custom.h"
#include "strata/api/index.h"
#include "strata/api/random.h"
#include "strata/base/error.h"
#include "strata/nn/attention.h"
#include "strata/nn/norm.h"
#include "strata/nn/rotary.h"

namespace strata::llama {
namespace {

Array block(const Array& x_BSD, const Layers& w, const nn::RotaryTables& rotary, const Config& c) {
  std::int64_t batch = x_BSD.shape(0), length = x_BSD.shape(1);
  Array h = nn::rms_norm(x_BSD, w.attention_norm, c.normalization_layer_epsilon);
  auto heads = [&](const Array& weight, std::int64_t count) { return reshape(matmul(h, weight), {batch, length, count, c.head_dim}); };
  Array q = nn::apply_rotary(heads(w.query, c.base_num_query_heads), rotary);
  Array k = nn::apply_rotary(heads(w.key, c.base_num_kv_heads), rotary);
  Array attended = nn::causal_attention(q, k, heads(w.value, c.base_num_kv_heads));
  Array x = x_BSD + matmul(reshape(attended, {batch, length, c.base_num_query_heads * c.head_dim}), w.out);
  return x + nn::swiglu(nn::rms_norm(x, w.mlp_norm, c.normalization_layer_epsilon), w.gate, w.up, w.down);
}

}  // namespace

Params init(const Array& key, const Config& c) {
  std::int64_t layers = c.base_num_decoder_layers, d = c.base_emb_dim, q = c.base_num_query_heads * c.head_dim,
               kv = c.base_num_kv_heads * c.head_dim;
  Array keys = random::split(key, 9);
  std::int64_t next = 0;
  auto normal = [&](const Sizes& shape, std::int64_t inputs) {
    return random::normal(keys[{next++}], shape) * (1.0 / std::sqrt(static_cast<double>(inputs)));
  };
  Params p;
  p.token_embedder = normal({c.vocab_size, d}, c.vocab_size);
  p.layers = {ones({layers, d}),
              normal({layers, d, q}, d),
              normal({layers, d, kv}, d),
              normal({layers, d, kv}, d),
              normal({layers, q, d}, q),
              ones({layers, d}),
              normal({layers, d, c.base_mlp_dim}, d),
              normal({layers, d, c.base_mlp_dim}, d),
              normal({layers, c.base_mlp_dim, d}, c.base_mlp_dim)};
  p.decoder_norm = ones({d});
  p.logits_dense = normal({d, c.vocab_size}, d);
  return p;
}

Array forward(const Params& params, const Array& tokens, const Config& c) {
  if (tokens.ndim() != 2) throw Error("llama", "tokens must be (batch, length), got {}", tokens.type().to_string());
  Params p = tree::map([&](const Array& w) { return astype(w, c.dtype); }, params);
  nn::RotaryTables rotary = nn::rotary_tables(tokens.shape(1), c.head_dim, c.rope_max_timescale);
  Array x = take(p.token_embedder, tokens, 0, "clip");
  auto layer = [&](const Array& carry, const Layers& w) { return block(carry, w, rotary, c); };
  x = scan(
          [&](const Array& carry, const Layers& w) {
            if (c.remat_policy == "full_save") return std::pair(layer(carry, w), nullptr);
            return std::pair(checkpoint(layer, {.policy = c.remat_policy == "minimal" ? "dots_no_batch" : "nothing"})(carry, w), nullptr);
          },
          x, p.layers)
          .first;
  return matmul(nn::rms_norm(x, p.decoder_norm, c.normalization_layer_epsilon), p.logits_dense);
}

Array loss(const Params& params, const Array& tokens, const Array& targets, const Config& c) {
  Array logits = astype(forward(params, tokens, c), DType::f32);
  Array of_target = squeeze(take_along_axis(logits, expand_dims(targets, -1), -1), {-1});
  return mean(logsumexp(logits, -1) - of_target);
}

std::int64_t count(const Config& c) {
  std::int64_t d = c.base_emb_dim, q = c.base_num_query_heads * c.head_dim, kv = c.base_num_kv_heads * c.head_dim;
  return 2 * c.vocab_size * d + d + c.base_num_decoder_layers * (2 * d + d * q * 2 + d * kv * 2 + 3 * d * c.base_mlp_dim);
}

double flops_per_step(const Config& c, std::int64_t batch, std::int64_t length) {
  auto tokens = static_cast<double>(batch * length);
  auto products = static_cast<double>(count(c) - c.vocab_size * c.base_emb_dim);
  auto attention = static_cast<double>(c.base_num_decoder_layers * c.base_num_query_heads * c.head_dim) * static_cast<double>(length) * 4;
  return 3 * tokens * (2 * products + attention / 2);
}

}  // namespace strata::llama
