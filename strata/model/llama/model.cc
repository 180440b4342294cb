#include "strata/model/llama/model.h"

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/random.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/custom.h"
#include "strata/base/error.h"
#include "strata/model/decoder/pipeline.h"
#include "strata/model/remat_policy.h"
#include "strata/model/z_loss.h"
#include "strata/nn/attention/attention.h"
#include "strata/nn/attention/cached_attention.h"
#include "strata/nn/attention/rotary.h"
#include "strata/nn/linear/embed.h"
#include "strata/nn/linear/swiglu.h"
#include "strata/nn/norm/norm.h"
#include "strata/nn/sharding/logical_sharding.h"
#include "strata/nn/transform/named_tensors.h"
#include "strata/nn/wide.h"

namespace strata::llama {
namespace {

nn::Attention attention(const Layers& w, const Config& c) {
  return {w.query, w.key, w.value, w.out, c.base_num_query_heads, c.base_num_kv_heads};
}

/// The residual stream, (B, S, D), as it is sharded over a mesh.
Array placed(const Array& x_BSD) {
  return nn::with_logical_constraint(
      x_BSD, {"activation_batch", "activation_norm_length", "activation_embed"});
}

/// One layer around its attention, a function from (B, S, D) to (B, S, D).
template <class Attend>
Array block(const Array& x_BSD, const Layers& w, const Config& c, Attend attend) {
  Array x =
      placed(x_BSD + attend(nn::rms_norm(x_BSD, w.attention_norm, c.normalization_layer_epsilon)));
  return placed(x + nn::swiglu(nn::rms_norm(x, w.mlp_norm, c.normalization_layer_epsilon), w.gate,
                               w.up, w.down));
}

Array embed(const Params& p, const Array& tokens) {
  if (tokens.ndim() != 2)
    throw Error("llama", "tokens must be (batch, length), got {}", tokens.type().to_string());
  return placed(nn::Embed{p.token_embedder}(tokens));
}

Array unembed(const Params& p, const Array& x, const Config& c) {
  return nn::with_logical_constraint(
      matmul(nn::rms_norm(x, p.decoder_norm, c.normalization_layer_epsilon), p.logits_dense),
      {"activation_embed_and_logits_batch", "activation_length", "activation_vocab"});
}

}  // namespace

Params init(const Array& key, const Config& c) {
  std::int64_t layers = c.base_num_decoder_layers, d = c.base_emb_dim,
               q = c.base_num_query_heads * c.head_dim, kv = c.base_num_kv_heads * c.head_dim;
  Array keys = random::split(key, 9);
  std::int64_t next = 0;
  // Stacked weights: the leading axis counts layers and is no part of the fan.
  auto normal = [&](const Sizes& shape, nn::initializers::FanAxes axes) {
    using namespace nn::initializers;
    return variance_scaling(1.0, Fan::in, Distribution::normal, axes)(keys[{next++}], shape,
                                                                      DType::f32);
  };
  auto embedding = [&](std::int64_t rows, std::int64_t width) {
    return normal({rows, width}, {.out_axis = 0});
  };
  auto stacked = [&](std::int64_t in, std::int64_t out) {
    return normal({layers, in, out}, {.batch_axis = {0}});
  };
  Params p;
  p.token_embedder = embedding(c.vocab_size, d);
  p.layers = {ones({layers, d}),
              stacked(d, q),
              stacked(d, kv),
              stacked(d, kv),
              stacked(q, d),
              ones({layers, d}),
              stacked(d, c.base_mlp_dim),
              stacked(d, c.base_mlp_dim),
              stacked(c.base_mlp_dim, d)};
  p.decoder_norm = ones({d});
  p.logits_dense = normal({d, c.vocab_size}, {});
  return p;
}

Params cast(const Params& params, DType dtype) {
  return tree::map([&](const Array& w) { return astype(w, dtype); }, params);
}

Array forward(const Params& params, const Array& tokens, const Config& c) {
  const Params p = cast(params, c.dtype);
  Array x = embed(p, tokens);
  const nn::RotaryTables rotary =
      nn::rotary_tables(tokens.shape(1), c.head_dim, c.rope_max_timescale);
  auto layer = [&](const Array& carry, const Layers& w) {
    return block(carry, w, c, [&](const Array& h) { return attention(w, c)(h, rotary); });
  };
  const auto through = [&](const Layers& layers, const Array& in) {
    const auto step = [&](const Array& carry, const Layers& w) {
      const nn::NamesTensors names(model::is_by_name(c.remat_policy));
      const std::optional<std::string> policy = model::remat_of(c.remat_policy);
      return std::pair(policy ? remat(layer, {.policy = *policy})(carry, w) : layer(carry, w),
                       nullptr);
    };
    return scan(step, in, layers).first;
  };
  if (const model::decoder::Pipeline* stages = model::decoder::current_pipeline()) {
    model::decoder::internal::check_pipeline(*stages, c.base_num_decoder_layers, x.shape(0));
    const auto stage = [&](const Layers& layers, const Array& in,
                           const model::decoder::NothingEach&) { return through(layers, in); };
    x = placed(
        model::decoder::run_pipeline(*stages, p.layers, model::decoder::NothingEach{}, x, stage));
  } else {
    x = through(p.layers, x);
  }
  return unembed(p, x, c);
}

Cache init_cache(const Config& c, std::int64_t batch, std::int64_t length) {
  const Sizes shape = {c.base_num_decoder_layers, batch, length, c.base_num_kv_heads, c.head_dim};
  return {zeros(shape, c.dtype), zeros(shape, c.dtype)};
}

std::pair<Array, Cache> extend(const Params& params, const Array& tokens, const Array& first,
                               const Cache& cache, const Config& c,
                               const std::optional<Array>& only) {
  const Params p = cast(params, c.dtype);
  Array x = embed(p, tokens);
  if (tokens.shape(1) > cache.key.shape(2))
    throw Error("llama", "{} tokens do not fit a cache of {}", tokens.shape(1), cache.key.shape(2));
  const nn::RotaryTables rotary =
      nn::rotary_tables(first + arange(tokens.shape(1)), c.head_dim, c.rope_max_timescale);
  auto layer = [&](const Array& carry, const std::pair<Layers, nn::KeyValues>& in) {
    const auto& [w, kept] = in;
    nn::KeyValues now;
    Array out = block(carry, w, c, [&](const Array& h) {
      auto [attended, more] = attention(w, c).extend(h, rotary, kept, first);
      now = std::move(more);
      return attended;
    });
    return std::pair(out, now);
  };
  auto [hidden, now] = scan(layer, x, std::pair(p.layers, nn::KeyValues{cache.key, cache.value}));
  if (only) hidden = lax::dynamic_slice_in_dim(hidden, *only, 1, 1);
  return {unembed(p, hidden, c), Cache{now.key, now.value}};
}

Pages init_pages(const Config& c, std::int64_t pages, std::int64_t page_size) {
  const Sizes shape = {c.base_num_decoder_layers * pages, page_size, c.base_num_kv_heads,
                       c.head_dim};
  return {zeros(shape, c.dtype), zeros(shape, c.dtype)};
}

std::pair<Array, Pages> extend_pages(const Params& params, const model::Batch& in,
                                     const Pages& pages, const Config& c, bool all_tokens) {
  const Params p = cast(params, c.dtype);
  const Array embedded = embed(p, in.tokens);
  const std::int64_t batch = in.tokens.shape(0), length = in.tokens.shape(1),
                     layers = c.base_num_decoder_layers, count = pages.key.shape(0) / layers;
  const nn::RotaryTables rotary =
      nn::rotary_tables(reshape(expand_dims(in.first, 1) + arange(length), {batch * length}),
                        c.head_dim, c.rope_max_timescale);
  const auto heads = [&](const Array& h, const Array& weight, std::int64_t number) {
    return reshape(matmul(h, weight), {batch, length, number, c.head_dim});
  };
  // Each token has a place of its own in the tables: rows are read as one.
  const auto rotated = [&](const Array& x) {
    return reshape(
        nn::apply_rotary(reshape(x, {1, batch * length, x.shape(2), c.head_dim}), rotary),
        x.shape());
  };
  // Layers' pages stand one after the other, and each layer has its numbers of them: what is
  // carried is written in place, and no layer is taken out.
  struct Carry {
    Array x, keys, values;
    STRATA_FIELDS(x, keys, values)
  };
  const auto layer = [&](const Carry& carry, const std::pair<Layers, Array>& of) {
    const auto& [w, number] = of;
    const Array table = in.pages + number * static_cast<std::int32_t>(count);
    Carry next;
    next.x = block(carry.x, w, c, [&](const Array& h) {
      const Array q = rotated(heads(h, w.query, c.base_num_query_heads)),
                  k = rotated(heads(h, w.key, c.base_num_kv_heads)),
                  v = heads(h, w.value, c.base_num_kv_heads);
      next.keys = nn::write_pages(carry.keys, k, table, in.first, in.count);
      next.values = nn::write_pages(carry.values, v, table, in.first, in.count);
      const Array seen = nn::cached_attention(q, next.keys, next.values, table, in.first, in.count);
      return matmul(reshape(seen, {batch, length, c.base_num_query_heads * c.head_dim}), w.out);
    });
    return std::pair(next, nullptr);
  };
  const Carry whole =
      scan(layer, Carry{embedded, pages.key, pages.value}, std::pair(p.layers, arange(layers)))
          .first;
  Array hidden = whole.x;
  if (!all_tokens) {
    const Array last = reshape(maximum(in.count - 1, 0), {batch, 1, 1});
    hidden = squeeze(take_along_axis(hidden, last, 1, {.mode = "clip"}), {1});
  }
  return {astype(unembed(p, hidden, c), nn::wide(c.dtype)), Pages{whole.keys, whole.values}};
}

Array token_losses(const Params& params, const Array& tokens, const Array& targets,
                   const Config& c) {
  Array logits = astype(forward(params, tokens, c), nn::wide(c.dtype));
  Array of_target =
      squeeze(take_along_axis(logits, expand_dims(targets, -1), -1, {.mode = "clip"}), {-1});
  const Array log_z = logsumexp(logits, -1);
  return model::with_z_loss(log_z - of_target, log_z);
}

Array loss(const Params& params, const Array& tokens, const Array& targets, const Config& c) {
  return mean(token_losses(params, tokens, targets, c));
}

std::int64_t count(const Config& c) {
  std::int64_t d = c.base_emb_dim, q = c.base_num_query_heads * c.head_dim,
               kv = c.base_num_kv_heads * c.head_dim;
  return 2 * c.vocab_size * d + d +
         c.base_num_decoder_layers * (2 * d + d * q * 2 + d * kv * 2 + 3 * d * c.base_mlp_dim);
}

double flops_per_step(const Config& c, std::int64_t batch, std::int64_t length) {
  auto tokens = static_cast<double>(batch * length);
  auto products = static_cast<double>(count(c) - c.vocab_size * c.base_emb_dim);
  auto attention =
      static_cast<double>(c.base_num_decoder_layers * c.base_num_query_heads * c.head_dim) *
      static_cast<double>(length) * 4;
  return 3 * tokens * (2 * products + attention / 2);
}

}  // namespace strata::llama
