#include "strata/model/convert/keys.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "strata/base/error.h"
#include "strata/model/published/gguf_config.h"
#include "strata/model/published/gguf_source.h"

namespace strata::model::conversion {

using checkpoint::GgufValue;
using decoder::Options;
using decoder::Rope;

void set(GgufMetadata& metadata, const std::string& key, GgufValue value) {
  for (auto& [name, held] : metadata)
    if (name == key) {
      held = std::move(value);
      return;
    }
  metadata.emplace_back(key, std::move(value));
}

bool same_value(const GgufValue& a, const GgufValue& b) {
  if (a == b) return true;
  const auto x = checkpoint::as_number(a), y = checkpoint::as_number(b);
  // What a config.json says of an f32 is its shortest decimal.
  return x && y && (*x == *y || static_cast<float>(*x) == static_cast<float>(*y));
}

namespace {

/// llama3's scaling, as divisors of frequencies.
std::vector<float> llama3_divisors(const Rope& r) {
  std::vector<float> out;
  const double longest = static_cast<double>(r.original_length) / r.low_freq_factor,
               shortest = static_cast<double>(r.original_length) / r.high_freq_factor;
  for (std::int64_t i = 0; i < r.width / 2; ++i) {
    const double wave =
        2 * std::numbers::pi *
        std::pow(r.theta, 2.0 * static_cast<double>(i) / static_cast<double>(r.width));
    const double smooth = (static_cast<double>(r.original_length) / wave - r.low_freq_factor) /
                          (r.high_freq_factor - r.low_freq_factor);
    out.push_back(static_cast<float>(wave < shortest  ? 1
                                     : wave > longest ? r.factor
                                                      : 1 / ((1 - smooth) / r.factor + smooth)));
  }
  return out;
}
std::vector<float> as_floats(const std::vector<double>& x) { return {x.begin(), x.end()}; }

}  // namespace

std::map<std::string, std::vector<float>> rope_tensors(const Options& o) {
  if (o.ropes.empty()) return {};
  const Rope& r = o.ropes[0];
  if (r.type == Rope::Type::llama3) return {{"rope_freqs.weight", llama3_divisors(r)}};
  if (r.type != Rope::Type::longrope) return {};
  // Factors of every length are what llama3's divisors are read as.
  if (r.short_factor == r.long_factor && r.attention_factor == 1)
    return {{"rope_freqs.weight", as_floats(r.long_factor)}};
  return {{"rope_factors_long.weight", as_floats(r.long_factor)},
          {"rope_factors_short.weight", as_floats(r.short_factor)}};
}

namespace {

constexpr const char* kWindows = "windows";

}  // namespace

std::string difference(const Options& a, const Options& b) {
  const bool has_divisors = rope_tensors(a).contains("rope_freqs.weight");
  std::string out;
  auto compare = [&](const char* what, const auto& x, const auto& y) {
    if (x != y && out.empty()) out = what;
  };
  auto near = [&](const char* what, double x, double y) {
    if (static_cast<float>(x) != static_cast<float>(y) && out.empty()) out = what;
  };
  compare("vocab_size", a.vocab_size, b.vocab_size);
  compare("the experts", a.experts, b.experts);
  compare("latent attention", a.latent, b.latent);
  compare("which elements rotary positions turn together", a.pairing, b.pairing);
  compare("hidden_size", a.width, b.width);
  compare("num_hidden_layers", a.layers, b.layers);
  compare("num_attention_heads", a.query_heads, b.query_heads);
  compare("num_key_value_heads", a.kv_heads, b.kv_heads);
  compare("head_dim", a.head_dim, b.head_dim);
  compare("intermediate_size", a.mlp_width, b.mlp_width);
  compare("norms", a.norm, b.norm);
  compare("places of norms", a.norm_place, b.norm_place);
  compare("norms of heads", a.head_norm, b.head_norm);
  near("rms_norm_eps", a.epsilon, b.epsilon);
  compare("biases of queries, keys and values", a.qkv_bias, b.qkv_bias);
  compare("biases of the attention's output", a.out_bias, b.out_bias);
  compare("biases of the feed-forward layers", a.mlp_bias, b.mlp_bias);
  compare("hidden_act", a.activation, b.activation);
  compare("tie_word_embeddings", a.tied, b.tied);
  near("the factor of scores", a.attention_scale, b.attention_scale);
  near("attn_logit_softcapping", a.attention_cap, b.attention_cap);
  near("final_logit_softcapping", a.logit_cap, b.logit_cap);
  near("the factor of embeddings", a.embedding_scale, b.embedding_scale);
  compare("factors of scores by layer", a.layer_scales, b.layer_scales);
  compare(kWindows, a.windows, b.windows);
  compare("rotary embeddings by layer", a.rope_of_layer, b.rope_of_layer);
  compare("the number of rotary embeddings", a.ropes.size(), b.ropes.size());
  for (std::size_t i = 0; i < std::min(a.ropes.size(), b.ropes.size()); ++i) {
    const Rope &x = a.ropes[i], &y = b.ropes[i];
    near("rope_theta", x.theta, y.theta);
    compare("the width of rotary embeddings", x.width, y.width);
    if (has_divisors) continue;  // a tensor says the rest
    compare("rope_type", x.type, y.type);
    if (x.type != Rope::Type::longrope)  // there attention_factor is all that it decides
      near("the factor of rotary scaling", x.factor, y.factor);
    if (x.type == Rope::Type::yarn)
      compare("original_max_position_embeddings", x.original_length, y.original_length);
    if (x.type == Rope::Type::yarn)
      near("attention_factor", x.attention_factor, y.attention_factor);
    if (x.type == Rope::Type::longrope) {
      compare("original_max_position_embeddings", x.original_length, y.original_length);
      near("attention_factor", x.attention_factor, y.attention_factor);
      compare("short_factor", as_floats(x.short_factor), as_floats(y.short_factor));
      compare("long_factor", as_floats(x.long_factor), as_floats(y.long_factor));
    }
  }
  return out;
}

namespace {

std::uint32_t u32(std::int64_t x) { return static_cast<std::uint32_t>(x); }

void add_rope(GgufMetadata& out, const std::string& a, const Options& o) {
  const Rope& r = o.ropes[0];
  out.emplace_back(a + "rope.dimension_count", u32(r.width));
  out.emplace_back(a + "rope.freq_base", static_cast<float>(r.theta));
  const char* type = r.type == Rope::Type::linear ? "linear"
                     : r.type == Rope::Type::yarn ? "yarn"
                                                  : nullptr;
  if (rope_tensors(o).contains("rope_factors_long.weight")) {
    out.emplace_back(a + "rope.scaling.original_context_length", u32(r.original_length));
    out.emplace_back(a + "rope.scaling.attn_factor", static_cast<float>(r.attention_factor));
  }
  if (!type) return;
  out.emplace_back(a + "rope.scaling.type", std::string(type));
  out.emplace_back(a + "rope.scaling.factor", static_cast<float>(r.factor));
  if (r.type == Rope::Type::linear) return;
  out.emplace_back(a + "rope.scaling.original_context_length", u32(r.original_length));
  out.emplace_back(a + "rope.scaling.yarn_beta_fast", static_cast<float>(r.beta_fast));
  out.emplace_back(a + "rope.scaling.yarn_beta_slow", static_cast<float>(r.beta_slow));
}

/// What latent attention and the gate of its models' experts are.
void add_latent(GgufMetadata& out, const std::string& a, const Options& o) {
  const decoder::LatentOptions& l = o.latent;
  const decoder::ExpertOptions& e = o.experts;
  out.emplace_back(a + "attention.key_length", u32(o.head_dim));
  out.emplace_back(a + "attention.value_length", u32(l.value_dim));
  out.emplace_back(a + "attention.kv_lora_rank", u32(l.kv_rank));
  if (l.query_rank > 0) out.emplace_back(a + "attention.q_lora_rank", u32(l.query_rank));
  out.emplace_back(a + "leading_dense_block_count", u32(e.dense_layers));
  out.emplace_back(a + "expert_feed_forward_length", u32(e.width));
  out.emplace_back(a + "expert_shared_count", u32(e.shared_width / e.width));
  out.emplace_back(a + "expert_weights_scale", static_cast<float>(e.scaling));
  out.emplace_back(a + "expert_weights_norm", e.renormalise);
  out.emplace_back(a + "expert_gating_func", u32(e.score == decoder::RouterScore::sigmoid ? 2 : 1));
  if (e.groups > 1) {
    out.emplace_back(a + "expert_group_count", u32(e.groups));
    out.emplace_back(a + "expert_group_used_count", u32(e.active_groups));
  }
  if (o.ropes.empty() || o.ropes[0].factor <= 1) return;
  // A tenth of mscale_all_dim, whose square is in the factor of scores.
  const double m = std::sqrt(o.attention_scale * std::sqrt(static_cast<double>(o.head_dim)));
  const double log_multiplier = (m - 1) / std::log(o.ropes[0].factor);
  if (std::abs(log_multiplier) > 1e-9)
    out.emplace_back(a + "rope.scaling.yarn_log_multiplier", static_cast<float>(log_multiplier));
}

/// The options that a reader of these keys takes the model for.
Options read_back(const GgufMetadata& keys, const Options& o) {
  published::GgufMetadata seen;
  for (const auto& [key, value] : keys) seen.values[key] = published::json_of(value);
  seen.embedding_shape = {o.vocab_size, o.width};
  seen.has_output = !o.tied;
  seen.query_bias = o.qkv_bias, seen.out_bias = o.out_bias, seen.mlp_bias = o.mlp_bias;
  for (const auto& [tensor, factors] : rope_tensors(o)) {
    std::vector<double>& into = tensor == "rope_freqs.weight"        ? seen.rope_divisors
                                : tensor.find("long") != tensor.npos ? seen.long_factors
                                                                     : seen.short_factors;
    into.assign(factors.begin(), factors.end());
  }
  const published::Family& reader = published::family_of(seen);
  return reader.options(published::Config::parse(reader.from_gguf(seen)));
}

}  // namespace

GgufMetadata keys_of(const Described& model) {
  const Options& o = model.options;
  const std::string name(model.family->architecture), a = name + ".";
  GgufMetadata out = {{"general.architecture", name}, {"general.type", std::string("model")}};
  out.emplace_back(a + "block_count", u32(o.layers));
  out.emplace_back(a + "context_length", u32(o.context));
  out.emplace_back(a + "embedding_length", u32(o.width));
  out.emplace_back(a + "feed_forward_length", u32(o.mlp_width));
  out.emplace_back(a + "attention.head_count", u32(o.query_heads));
  out.emplace_back(a + "attention.head_count_kv", u32(o.kv_heads));
  if (o.latent.kv_rank > 0)
    add_latent(out, a, o);
  else if (o.head_dim * o.query_heads != o.width)
    for (const char* key : {"attention.key_length", "attention.value_length"})
      out.emplace_back(a + key, u32(o.head_dim));
  if (o.experts.count > 0) {
    out.emplace_back(a + "expert_count", u32(o.experts.count));
    out.emplace_back(a + "expert_used_count", u32(o.experts.active));
  }
  if (!o.ropes.empty()) add_rope(out, a, o);
  const bool is_rms = o.norm != decoder::NormKind::layer_norm;
  out.emplace_back(
      a + (is_rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon"),
      static_cast<float>(o.epsilon));
  for (std::int64_t window : o.windows)
    if (window > 0) {
      out.emplace_back(a + "attention.sliding_window", u32(window));
      break;
    }
  if (o.attention_cap != 0)
    out.emplace_back(a + "attn_logit_softcapping", static_cast<float>(o.attention_cap));
  if (o.logit_cap != 0)
    out.emplace_back(a + "final_logit_softcapping", static_cast<float>(o.logit_cap));
  if (!o.causal) out.emplace_back(a + "attention.causal", false);
  out.emplace_back(a + "vocab_size", u32(o.vocab_size));

  std::string what = difference(o, read_back(out, o));
  if (what == kWindows && !o.windows.empty()) {
    std::vector<bool> slides;
    for (std::int64_t window : o.windows) slides.push_back(window > 0);
    out.emplace_back(a + "attention.sliding_window_pattern", slides);
    what = difference(o, read_back(out, o));
  }
  if (!what.empty())
    throw Error("convert",
                "a GGUF file of architecture {} cannot say what this config.json says: {} would be "
                "another",
                name, what)
        .unsupported();
  return out;
}

}  // namespace strata::model::conversion
