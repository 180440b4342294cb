// Llama: a decoder-only transformer with RMSNorm, rotary positions, grouped-query attention and
// SwiGLU.
//
//   llama::Config c{.vocab_size = 256, .base_emb_dim = 192};
//   llama::Params p = llama::init(random::key(0), c);
//   Array logits = llama::forward(p, tokens, c);
//
// and token by token, from what was kept of the tokens before:
//
//   llama::Cache cache = llama::init_cache(c, 1, 256);
//   auto [logits, kept] = llama::extend(p, prompt, 0, cache, c);                   // prompt (1,
//   12) auto [next, more] = llama::extend(p, token, 12, kept, c);                      // token (1,
//   1)
//
// Layers are stacked along a leading axis and run by one scan, so compile time does not grow with
// depth. Source: Touvron et al., LLaMA (2023); field names of the configuration are MaxText's.
#pragma once

#include <optional>
#include <utility>

#include "strata/api/numpy.h"
#include "strata/model/model.h"
#include "strata/tree/tree.h"

namespace strata::llama {

/// The sizes of a model, and how it computes; names are MaxText's.
struct Config {
  std::int64_t vocab_size = 256;
  std::int64_t base_emb_dim = 192;
  std::int64_t base_num_decoder_layers = 4;
  std::int64_t base_num_query_heads = 6;
  std::int64_t base_num_kv_heads = 3;
  std::int64_t head_dim = 32;
  std::int64_t base_mlp_dim = 512;
  double rope_max_timescale = 10000.0;
  double normalization_layer_epsilon = 1e-5;
  DType dtype = DType::f32;                // activations; parameters stay f32
  std::string remat_policy = "full_save";  // what backward keeps: model/remat_policy.h
};

/// Weights of all layers, stacked: leading axis L. Matrices are (in, out).
struct Layers {
  Array attention_norm;     // (L, D)
  Array query, key, value;  // (L, D, H*d), (L, D, K*d), (L, D, K*d)
  Array out;                // (L, H*d, D)
  Array mlp_norm;           // (L, D)
  Array gate, up, down;     // (L, D, F), (L, D, F), (L, F, D)
  STRATA_FIELDS(attention_norm, query, key, value, out, mlp_norm, gate, up, down)
};
/// All weights of a model; V is the vocabulary, D the embedding.
struct Params {
  Array token_embedder;  // (V, D)
  Layers layers;
  Array decoder_norm;  // (D)
  Array logits_dense;  // (D, V)
  STRATA_FIELDS(token_embedder, layers, decoder_norm, logits_dense)
};

/// Keys and values of the tokens seen, in config.dtype: T positions, of which the first ones are
/// filled.
struct Cache {
  Array key, value;  // (L, B, T, K, d)
  STRATA_FIELDS(key, value)
};

/// Normal weights of variance 1 / inputs (JAX's variance_scaling; the embedding 1 / D, as Flax's
/// Embed and MaxText have it), norms at one; f32. `key` as of random::key.
Params init(const Array& key, const Config& config);
/// The weights in another dtype. forward, loss and extend do this themselves; done once before many
/// steps it saves time.
Params cast(const Params& params, DType dtype);
/// tokens (B, S) of i32 -> logits (B, S, V) of config.dtype.
Array forward(const Params& params, const Array& tokens_BS, const Config& config);
/// An empty cache for sequences of at most `length` tokens.
Cache init_cache(const Config& config, std::int64_t batch, std::int64_t length);
/// Reads tokens (B, S) at positions first .. first+S-1 (`first`: i32 scalar, traced or not; first +
/// S at most T), which see the cache's positions before them and each other causally. Returns
/// logits (B, S, V) of config.dtype and the cache with them in it; given `only`, an i32 scalar, the
/// logits of that one of the S tokens, (B, 1, V). Shapes do not depend on `first`: one compiled
/// program reads all chunks of a size, and S = 1 is a step of decoding.
///
/// The logits are, bit for bit, those that `forward` gives at these positions for the same tokens
/// followed by any others up to length T, however the tokens were cut into chunks: products add in
/// an order that depends on T alone.
std::pair<Array, Cache> extend(const Params& params, const Array& tokens_BS, const Array& first,
                               const Cache& cache, const Config& config,
                               const std::optional<Array>& only = {});
/// Keys and values of positions in pages of P positions, in config.dtype: N of each layer, those of
/// layer l from page l N on.
struct Pages {
  Array key, value;  // (L N, P, K, d)
  STRATA_FIELDS(key, value)
};
/// Empty pages, which sequences share.
Pages init_pages(const Config& config, std::int64_t pages, std::int64_t page_size);
/// Reads a batch as `model::Model::extend_pages` says it: the logits of each row's last token,
/// (B, V) f32, or of all tokens, (B, S, V), and the pages with the keys and values of these tokens.
std::pair<Array, Pages> extend_pages(const Params& params, const model::Batch& batch,
                                     const Pages& pages, const Config& config, bool all_tokens);
/// Cross-entropy in nats of each of the targets (B, S) under the logits of tokens, (B, S), f32 (f64
/// where that is the dtype).
Array token_losses(const Params& params, const Array& tokens_BS, const Array& targets_BS,
                   const Config& config);
/// Its mean.
Array loss(const Params& params, const Array& tokens_BS, const Array& targets_BS,
           const Config& config);
/// Number of weights.
std::int64_t count(const Config& config);
/// Arithmetic operations of one training step on B x S tokens: 6 per weight of a product and token,
/// and attention.
double flops_per_step(const Config& config, std::int64_t batch, std::int64_t length);

}  // namespace strata::llama
