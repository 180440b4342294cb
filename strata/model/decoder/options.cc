#include "strata/model/decoder/options.h"

#include <algorithm>
#include <cmath>

#include "strata/base/error.h"
#include "strata/model/remat_policy.h"

namespace strata::model::decoder {

namespace {

template <class T>
bool all_equal(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(), [&](T v) { return v == values[0]; });
}

/// Whether the last layer computes what each does.
bool has_alike_layers(const Options& o) {
  return o.causal && o.has_logits && o.learned_positions == 0 && o.token_types == 0 &&
         o.delta.layers.empty() && o.full.layers.empty() && o.per_layer_input.width == 0 &&
         o.shared_kv.layers == 0 && o.experts.dense_at.empty() && o.chunks.empty() &&
         all_equal(o.windows) && all_equal(o.layer_scales) && all_equal(o.rope_of_layer);
}

void check(const Options& o, const Rope& rope) {
  const bool full = !o.full.layers.empty() && &rope == &o.ropes.back();
  const std::int64_t head_dim = full ? o.full.head_dim : o.head_dim;
  if (rope.width < 2 || rope.width % 2 != 0 || rope.width > head_dim)
    throw Error(o.family,
                "rotary positions turn {} elements of heads of {}: allowed are even "
                "numbers up to that",
                rope.width, head_dim);
  if (!(rope.proportion > 0) || rope.proportion > 1)
    throw Error(o.family, "partial_rotary_factor={}: allowed are numbers above 0, up to 1",
                rope.proportion);
  if (!(rope.theta > 0) || !std::isfinite(rope.theta))
    throw Error(o.family, "rope_theta={}: allowed are finite numbers above 0", rope.theta);
  if (rope.type != Rope::Type::plain && (!(rope.factor > 0) || !std::isfinite(rope.factor)))
    throw Error(o.family, "the factor of rotary scaling is {}: allowed are finite numbers above 0",
                rope.factor);
  const auto half = static_cast<std::size_t>(rope.width / 2);
  if (rope.type == Rope::Type::longrope &&
      (rope.short_factor.size() != half || rope.long_factor.size() != half))
    throw Error(o.family, "longrope needs {} factors, got short_factor of {} and long_factor of {}",
                half, rope.short_factor.size(), rope.long_factor.size());
  const bool needs_original = rope.type == Rope::Type::llama3 || rope.type == Rope::Type::yarn ||
                              rope.type == Rope::Type::longrope;
  if (needs_original && rope.original_length < 1)
    throw Error(o.family,
                "original_max_position_embeddings={}: rotary scaling of this type needs "
                "a number above 0",
                rope.original_length);
  if (rope.type == Rope::Type::dynamic && (rope.length < 1 || rope.width < 4))
    throw Error(o.family,
                "dynamic rotary scaling needs max_position_embeddings above 0 and 4 "
                "elements to turn, got {} and {}",
                rope.length, rope.width);
}

}  // namespace

double AdapterOptions::scale() const {
  const auto r = static_cast<double>(rank);
  return alpha / (rslora ? std::sqrt(r) : r);
}

void check(const Options& o) {
  const auto positive = [&](const char* what, std::int64_t n, std::int64_t most) {
    if (n < 1 || n > most)
      throw Error(o.family, "{}={}: allowed is an integer from 1 to {}", what, n, most);
  };
  positive("vocab_size", o.vocab_size, 1 << 24);
  positive("hidden_size", o.width, 1 << 20);
  positive("num_hidden_layers", o.layers, 1 << 14);
  positive("num_attention_heads", o.query_heads, 1 << 14);
  positive("num_key_value_heads", o.kv_heads, 1 << 14);
  positive("head_dim", o.head_dim, 1 << 16);
  positive("intermediate_size", o.mlp_width, 1 << 22);
  if (const ExpertOptions& e = o.experts; e.count != 0) {
    positive("num_experts", e.count, 1 << 14);
    positive("num_experts_per_tok", e.active, e.count);
    positive("moe_intermediate_size", e.width, 1 << 22);
    if (e.shared_width < 0 || e.shared_width > 1 << 22)
      throw Error(o.family,
                  "shared_expert_intermediate_size={}: allowed is an integer from 0 to {}",
                  e.shared_width, 1 << 22);
    if (!e.dense_at.empty()) {
      bool fits = static_cast<std::int64_t>(e.dense_at.size()) == e.dense_layers;
      for (std::size_t i = 0; i < e.dense_at.size(); ++i)
        fits =
            fits && e.dense_at[i] > (i == 0 ? -1 : e.dense_at[i - 1]) && e.dense_at[i] < o.layers;
      if (!fits)
        throw Error(o.family, "the {} layers without experts are not ascending numbers below {}",
                    e.dense_layers, o.layers);
    }
    positive("n_group", e.groups, e.count);
    positive("topk_group", e.active_groups, e.groups);
    if (e.count % e.groups != 0)
      throw Error(o.family, "n_group={} does not divide {} experts", e.groups, e.count);
    if (const std::int64_t each = e.count / e.groups; e.groups > 1) {
      positive("experts that score a group", e.group_score_of, each);
      positive("num_experts_per_tok", e.active, e.active_groups * each);
    }
    if (!(e.gate_limit >= 0) || !std::isfinite(e.gate_alpha))
      throw Error(o.family, "swiglu_limit={}, swiglu_alpha={}: allowed are 0 and above, finite",
                  e.gate_limit, e.gate_alpha);
    if (!(e.capacity >= 0) || !std::isfinite(e.capacity))
      throw Error(o.family, "capacity_factor={}: allowed are finite numbers from 0", e.capacity);
    if (!std::isfinite(e.scaling))
      throw Error(o.family, "routed_scaling_factor={}: allowed are finite numbers", e.scaling);
    if (e.dense_layers < 0 || e.dense_layers >= o.layers)
      throw Error(o.family,
                  "{} leading layers without experts of {}: one with experts must be left",
                  e.dense_layers, o.layers);
    if (!o.gated || o.mlp_bias) throw Error(o.family, "experts are gated and have no biases");
  }
  if (const LatentOptions& l = o.latent; l.kv_rank != 0) {
    positive("kv_lora_rank", l.kv_rank, 1 << 20);
    if (l.query_rank != 0) positive("q_lora_rank", l.query_rank, 1 << 20);
    positive("qk_nope_head_dim", l.plain_dim, 1 << 16);
    positive("qk_rope_head_dim", l.turned_dim, 1 << 16);
    positive("v_head_dim", l.value_dim, 1 << 16);
    if (o.kv_heads != o.query_heads)
      throw Error(o.family, "num_key_value_heads={}: latent attention has num_attention_heads={}",
                  o.kv_heads, o.query_heads);
    for (const Rope& rope : o.ropes)
      if (rope.width != l.turned_dim)
        throw Error(o.family, "rotary positions turn {} elements of qk_rope_head_dim={}",
                    rope.width, l.turned_dim);
  }
  if (const DeltaOptions& d = o.delta; !d.layers.empty()) {
    positive("linear_num_key_heads", d.key_heads, 1 << 14);
    positive("linear_num_value_heads", d.value_heads, 1 << 14);
    positive("linear_key_head_dim", d.key_dim, 1 << 16);
    positive("linear_value_head_dim", d.value_dim, 1 << 16);
    positive("linear_conv_kernel_dim", d.taps, 1 << 8);
    if (d.value_heads % d.key_heads != 0 || d.taps < 2)
      throw Error(o.family,
                  "linear_num_key_heads={} does not divide linear_num_value_heads={}, or "
                  "linear_conv_kernel_dim={} is not above 1",
                  d.key_heads, d.value_heads, d.taps);
    if (static_cast<std::int64_t>(d.layers.size()) >= o.layers || o.experts.dense_layers > 0 ||
        o.latent.kv_rank > 0)
      throw Error(o.family, "{}",
                  "beside linear attention there must be layers of attention by heads, and none "
                  "without experts");
    for (std::size_t i = 0; i < d.layers.size(); ++i)
      if (d.layers[i] <= (i == 0 ? -1 : d.layers[i - 1]) || d.layers[i] >= o.layers)
        throw Error(o.family, "linear attention is in layer {} of {}", d.layers[i], o.layers);
  }
  if (const FullOptions& f = o.full; !f.layers.empty()) {
    positive("num_global_key_value_heads", f.kv_heads, 1 << 14);
    positive("global_head_dim", f.head_dim, 1 << 16);
    const std::int64_t most = std::max(f.kv_heads, o.kv_heads),
                       least = std::min(f.kv_heads, o.kv_heads);
    if (most % least != 0 || o.query_heads % most != 0)
      throw Error(o.family,
                  "num_key_value_heads={} and num_global_key_value_heads={}: one must divide the "
                  "other, and that num_attention_heads={}",
                  o.kv_heads, f.kv_heads, o.query_heads);
    if (static_cast<std::int64_t>(f.layers.size()) >= o.layers || o.experts.dense_layers > 0 ||
        o.latent.kv_rank > 0 || !o.delta.layers.empty() || o.ropes.size() != 2)
      throw Error(o.family, "{}",
                  "beside layers of full attention there must be others of attention by heads, "
                  "alike but for heads and rotary positions");
    for (std::size_t i = 0; i < f.layers.size(); ++i)
      if (f.layers[i] <= (i == 0 ? -1 : f.layers[i - 1]) || f.layers[i] >= o.layers)
        throw Error(o.family, "full attention is in layer {} of {}", f.layers[i], o.layers);
  }
  if (const PerLayerInputOptions& p = o.per_layer_input; p.width != 0) {
    positive("hidden_size_per_layer_input", p.width, 1 << 16);
    if (p.vocab_size < o.vocab_size || p.vocab_size > 1 << 24)
      throw Error(o.family, "vocab_size_per_layer_input={}: allowed is an integer from {} to {}",
                  p.vocab_size, o.vocab_size, 1 << 24);
  }
  if (const SharedKvOptions& s = o.shared_kv; s.layers != 0) {
    positive("num_kv_shared_layers", s.layers, o.layers - 1);
    if (s.mlp_width != 0) positive("intermediate_size", s.mlp_width, 1 << 22);
    const std::int64_t own = o.layers - s.layers,
                       full = std::lower_bound(o.full.layers.begin(), o.full.layers.end(), own) -
                              o.full.layers.begin();
    if (full == 0 || full == own)
      throw Error(o.family,
                  "num_kv_shared_layers={}: of the {} layers ahead of them {} are of full "
                  "attention, and both kinds must be there",
                  s.layers, own, full);
  }
  if (o.mtp_layers < 0 || o.mtp_layers > 1 << 8)
    throw Error(o.family, "mtp_num_layers={}: allowed is an integer from 0 to {}", o.mtp_layers,
                1 << 8);
  if (o.mtp_layers > 0 && !has_alike_layers(o))
    throw Error(o.family,
                "mtp_num_layers={}: further tokens are predicted by decoders whose layers are "
                "alike but for leading ones without experts",
                o.mtp_layers)
        .unsupported();
  if (o.query_heads % o.kv_heads != 0)
    throw Error(o.family, "num_key_value_heads={} does not divide num_attention_heads={}",
                o.kv_heads, o.query_heads);
  if (!(o.epsilon > 0) || !std::isfinite(o.epsilon))
    throw Error(o.family, "the epsilon of norms is {}: allowed are finite numbers above 0",
                o.epsilon);
  const auto per_layer = [&](const char* what, std::size_t n) {
    if (n != 0 && n != static_cast<std::size_t>(o.layers))
      throw Error(o.family, "{} has {} entries for {} layers", what, n, o.layers);
  };
  per_layer("layer_types", o.windows.size());
  per_layer("chunks of attention", o.chunks.size());
  for (std::int64_t chunk : o.chunks)
    if (chunk < 0)
      throw Error(o.family, "attention_chunk_size={}: allowed are numbers above 0", chunk);
  if (o.temperature_length < 0 || !std::isfinite(o.temperature_scale))
    throw Error(o.family, "floor_scale={}, attn_scale={}: allowed are finite numbers above 0",
                o.temperature_length, o.temperature_scale);
  per_layer("rotary embeddings", o.rope_of_layer.size());
  per_layer("scales of scores", o.layer_scales.size());
  for (std::int64_t window : o.windows)
    if (window < 0) throw Error(o.family, "sliding_window={}: allowed are numbers above 0", window);
  for (int rope : o.rope_of_layer)
    if (rope < -1 || rope >= static_cast<int>(o.ropes.size()))
      throw Error(o.family, "there is no rotary embedding {} of {}", rope, o.ropes.size());
  for (const Rope& rope : o.ropes) check(o, rope);
  for (const auto& [path, adapter] : o.adapters) {
    if (adapter.rank < 1 || adapter.rank > 1 << 16)
      throw Error("lora", "rank={} at {}: allowed is an integer from 1 to {}", adapter.rank, path,
                  1 << 16);
    if (!std::isfinite(adapter.alpha) || adapter.alpha == 0)
      throw Error("lora", "alpha={} at {}: allowed are finite numbers but 0", adapter.alpha, path);
  }
  check_remat_policy(o.family, o.remat_policy);
}

}  // namespace strata::model::decoder
