#include "strata/train/maxtext/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "strata/train/maxtext/keys.h"

namespace strata::train::maxtext {
namespace {

using Json = nlohmann::ordered_json;

/// Names decide mathematics upstream: these have Llama 3.1's rotary positions.
bool has_llama3_rope(const Keys& k) {
  const std::string name = k.text("model_name");
  return k.text("rope_type") == "llama3.1" || name.starts_with("llama3.1") ||
         name.starts_with("llama3.3");
}

Json sizes(const Keys& k) {
  return {{"vocab_size", k.whole("vocab_size")},
          {"hidden_size", k.whole("emb_dim")},
          {"intermediate_size", k.whole("mlp_dim")},
          {"num_hidden_layers", k.whole("num_decoder_layers")},
          {"num_attention_heads", k.whole("num_query_heads")},
          {"num_key_value_heads", k.whole("num_kv_heads")},
          {"head_dim", k.whole("head_dim")},
          {"rms_norm_eps", k.real("normalization_layer_epsilon")},
          {"rope_theta", k.real("rope_max_timescale")},
          {"tie_word_embeddings", k.on("logits_via_embedding")},
          {"max_position_embeddings", k.whole("max_target_length")}};
}

void require_activation(const Keys& k, const char* name) {
  const Value wanted = List{name, "linear"};
  require(k["mlp_activations"] == wanted, "mlp_activations", k,
          fmt::format("decoder_block={} has [{}, linear]", k.text("decoder_block"), name));
}
void require_flag(const Keys& k, const std::string& key, bool wanted) {
  require(k.on(key) == wanted, key, k,
          fmt::format("decoder_block={} has {}={}", k.text("decoder_block"), key, wanted));
}
/// Of families without norms of heads, caps and norms behind the branches.
void require_plain(const Keys& k) {
  for (const char* key : {"use_qk_norm", "use_post_attn_norm", "use_post_ffw_norm",
                          "attn_logits_soft_cap", "final_logits_soft_cap", "sliding_window_size"})
    require_flag(k, key, false);
}

constexpr std::string_view kSmall = "gemma4_small";

/// Features that some blocks alone have: each changes what attention or a feed-forward layer
/// computes.
void require_own_features(const Keys& k) {
  struct Feature {
    const char* key;
    double usual;
    std::string_view block;
    /// Another one that has it.
    std::string_view other = "";
  };
  constexpr Feature kFeatures[] = {
      {"attention_sink", 0, "gpt_oss"},
      {"mlp_bias", 0, "gpt_oss"},
      {"mlp_activations_limit", -1, "gpt_oss"},
      {"temperature_tuning", 0, "llama4"},
      {"share_kv_projections", 0, "gemma4"},
      {"v_norm_with_scale", 1, "gemma4", kSmall},
      {"global_head_dim", 0, "gemma4", kSmall},
      {"global_num_kv_heads", 0, "gemma4", kSmall},
      {"global_rope_proportion", 0.25, "gemma4", kSmall},
      {"local_rope_proportion", 1, "gemma4", kSmall},
      {"hidden_size_per_layer_input", 0, kSmall},
      {"vocab_size_per_layer_input", 0, kSmall},
      {"num_kv_shared_layers", 0, kSmall},
      {"use_double_wide_mlp", 0, kSmall},
      {"use_mrope", 0, "qwen3_5"},
  };
  const std::string block = k.text("decoder_block"), rope = k.text("rope_type");
  for (const Feature& f : kFeatures)
    require(f.block == block || f.other == block || k.real(f.key) == f.usual, f.key, k,
            fmt::format("decoder_block={} alone has it", f.block));
  const bool yarn = block == "deepseek" || block == "gpt_oss" || block == "olmo3";
  require(
      rope == "default" || rope == "llama3.1" || (yarn && rope == "yarn"), "rope_type", k,
      "there are default and llama3.1, and yarn with decoder_block=deepseek, gpt_oss and olmo3");
  require(block == "deepseek" || k.text("attention_type") == "global", "attention_type", k,
          "there are global, and mla with decoder_block=deepseek");
}

/// Of a stack that repeats, the number of a layer within what is repeated.
std::int64_t within_cycle(const Keys& k, std::int64_t layer) {
  const std::int64_t cycle = k.whole("inhomogeneous_layer_cycle_interval");
  return k.on("scan_layers") && cycle > 0 ? layer % cycle : layer;
}
/// Whole cycles alone can be repeated.
void require_whole_cycles(const Keys& k) {
  const std::int64_t cycle = k.whole("inhomogeneous_layer_cycle_interval");
  require(cycle > 0 && k.whole("num_decoder_layers") % cycle == 0,
          "inhomogeneous_layer_cycle_interval", k,
          fmt::format("it divides the {} layers", k.whole("num_decoder_layers")));
}

Json llama3_rope() {
  return {{"rope_type", "llama3"},
          {"factor", 8.0},
          {"low_freq_factor", 1.0},
          {"high_freq_factor", 4.0},
          {"original_max_position_embeddings", 8192}};
}
/// Whether positions are stretched as in Llama 3.1.
bool has_stretched_rope(const Keys& k) { return has_llama3_rope(k) && k.on("rope_use_scale"); }

/// Stretched positions as the keys say; `mscale`: what the scaling of scores says of itself.
Json yarn_rope(const Keys& k) {
  Json out = {{"rope_type", "yarn"},
              {"rope_theta", k.real("rope_max_timescale")},
              {"factor", k.real("rope_factor")},
              {"beta_fast", k.real("beta_fast")},
              {"beta_slow", k.real("beta_slow")},
              {"truncate", k.on("rope_truncate")},
              {"original_max_position_embeddings", k.whole("original_max_position_embeddings")}};
  if (!k.on("rope_attention_scaling")) out["attention_factor"] = 1.0;
  return out;
}

Json llama_config(const Keys& k) {
  require_plain(k);
  require_activation(k, "silu");
  Json out = sizes(k);
  out["model_type"] = "llama";
  out["attention_bias"] = false;
  require_flag(k, "attention_bias", false);
  if (has_stretched_rope(k)) out["rope_scaling"] = llama3_rope();
  return out;
}

Json mistral_config(const Keys& k) {
  require_plain(k);
  require_activation(k, "silu");
  require_flag(k, "attention_bias", false);
  Json out = sizes(k);
  out["model_type"] = "mistral";
  out["sliding_window"] = nullptr;
  return out;
}

Json qwen2_config(const Keys& k) {
  require_plain(k);
  require_activation(k, "silu");
  require_flag(k, "attention_bias", true);
  Json out = sizes(k);
  out["model_type"] = "qwen2";
  return out;
}

Json qwen3_config(const Keys& k) {
  for (const char* key : {"use_post_attn_norm", "use_post_ffw_norm", "attn_logits_soft_cap",
                          "final_logits_soft_cap", "sliding_window_size", "attention_bias"})
    require_flag(k, key, false);
  require_activation(k, "silu");
  require_flag(k, "use_qk_norm", true);
  Json out = sizes(k);
  out["model_type"] = "qwen3";
  return out;
}

/// Of blocks without experts.
void require_dense(const Keys& k) {
  require(k.whole("num_experts") == 1, "num_experts", k,
          fmt::format("decoder_block={} has no experts", k.text("decoder_block")));
}

void require_wide_sums(const Keys& k) {
  const bool wide = k.text("dtype") == "float32";
  require(wide || !k.on("float32_gate_logits"), "float32_gate_logits", k,
          "the router's product has the dtype of activations");
  require(wide || k.on("float32_weight_sum"), "float32_weight_sum", k,
          "the sum over experts is float32");
}

/// The sparse path drops nothing upstream, whatever the factor.
void add_capacity(Json& out, const Keys& k) {
  if (!k.on("sparse_matmul") && k.real("capacity_factor") > 0)
    out["capacity_factor"] = k.real("capacity_factor");
}

/// Experts of blocks whose weights are a softmax over the chosen ones. Upstream's norm_topk_prob
/// divides by their sum, which is 1, once more.
Json with_experts(Json out, const Keys& k) {
  for (const auto& [key, usual] :
       std::initializer_list<std::pair<const char*, double>>{{"shared_experts", 0},
                                                             {"first_num_dense_layers", 0},
                                                             {"n_routing_groups", -1},
                                                             {"topk_routing_group", -1},
                                                             {"routed_scaling_factor", 1}})
    require(k.real(key) == usual, key, k,
            fmt::format("decoder_block={} has none", k.text("decoder_block")));
  require(k.text("routed_score_func").empty(), "routed_score_func", k,
          fmt::format("decoder_block={} has a softmax", k.text("decoder_block")));
  require(!k.on("routed_bias"), "routed_bias", k,
          fmt::format("decoder_block={} has none", k.text("decoder_block")));
  require_wide_sums(k);
  out["num_experts"] = out["num_local_experts"] = k.whole("num_experts");
  out["num_experts_per_tok"] = k.whole("num_experts_per_tok");
  out["norm_topk_prob"] = true;
  add_capacity(out, k);
  return out;
}

Json mixtral_config(const Keys& k) {
  require_plain(k);
  require_activation(k, "silu");
  require_flag(k, "attention_bias", false);
  Json out = with_experts(sizes(k), k);
  out["model_type"] = "mixtral";
  out["intermediate_size"] = k.whole("moe_mlp_dim");
  out["sliding_window"] = nullptr;
  return out;
}

Json qwen3_moe_config(const Keys& k) {
  Json out = with_experts(qwen3_config(k), k);
  out["model_type"] = "qwen3_moe";
  out["moe_intermediate_size"] = k.whole("moe_mlp_dim");
  return out;
}

/// V3 where experts are scored by sigmoids and chosen with a bias, V2 where by a softmax without.
Json deepseek_config(const Keys& k) {
  require_plain(k);
  require_activation(k, "silu");
  require_flag(k, "attention_bias", false);
  require(k.text("attention_type") == "mla", "attention_type", k, "decoder_block=deepseek has mla");
  require(k.whole("interleave_moe_layer_step") == 1, "interleave_moe_layer_step", k,
          "decoder_block=deepseek has 1");
  const bool v3 = k.text("routed_score_func") == "sigmoid";
  require(v3 || k.text("routed_score_func") == "softmax", "routed_score_func", k,
          "decoder_block=deepseek has sigmoid or softmax");
  require(k.on("routed_bias") == v3, "routed_bias", k,
          fmt::format("decoder_block=deepseek has it with routed_score_func=sigmoid alone"));
  require(v3 || k.whole("n_routing_groups") < 1, "n_routing_groups", k,
          "there are groups with routed_score_func=sigmoid alone");
  require(k.whole("first_num_dense_layers") < k.whole("num_decoder_layers"),
          "first_num_dense_layers", k, "one layer with experts must be left");
  const std::int64_t least = 1;
  const bool yarn = k.text("rope_type") == "yarn";
  require(yarn || k.text("rope_type") == "default", "rope_type", k,
          "decoder_block=deepseek has yarn or default");
  Json out = sizes(k);
  out.erase("head_dim");
  // Of latent attention MaxText does not read the key; others take it for the heads that there are.
  out["num_key_value_heads"] = k.whole("num_query_heads");
  require_wide_sums(k);
  out.update({{"model_type", v3 ? "deepseek_v3" : "deepseek_v2"},
              {"q_lora_rank", k.whole("q_lora_rank") > 0 ? Json(k.whole("q_lora_rank")) : Json()},
              {"kv_lora_rank", k.whole("kv_lora_rank")},
              {"qk_nope_head_dim", k.whole("qk_nope_head_dim")},
              {"qk_rope_head_dim", k.whole("qk_rope_head_dim")},
              {"v_head_dim", k.whole("v_head_dim")},
              // Upstream's plain positions turn halves whatever the key says.
              {"rope_interleave", yarn && k.on("rope_interleave")},
              {"n_routed_experts", k.whole("num_experts")},
              {"num_experts_per_tok", k.whole("num_experts_per_tok")},
              {"moe_intermediate_size", k.whole("moe_mlp_dim")},
              {"n_shared_experts", k.whole("shared_experts")},
              {"first_k_dense_replace", k.whole("first_num_dense_layers")},
              {"routed_scaling_factor", k.real("routed_scaling_factor")},
              {"norm_topk_prob", v3}});
  add_capacity(out, k);
  if (v3) {
    out["n_group"] = std::max(k.whole("n_routing_groups"), least);
    out["topk_group"] = std::max(k.whole("topk_routing_group"), least);
  }
  const bool stretched =
      k.whole("max_position_embeddings") > k.whole("original_max_position_embeddings");
  const double mscale = stretched ? k.real("mscale") : 0;
  // Upstream's scores grow by it whatever the type is; config.json can say so of yarn alone.
  require(yarn || mscale == 0 || k.real("rope_factor") == 1, "mscale", k,
          "with rope_type=default there is 0");
  if (!yarn) return out;
  require_flag(k, "rope_attention_scaling", false);
  out["max_position_embeddings"] = k.whole("max_position_embeddings");
  out["rope_scaling"] = yarn_rope(k);
  out["rope_scaling"]["mscale"] = out["rope_scaling"]["mscale_all_dim"] = mscale;
  return out;
}

/// Keys of routers that a block has none of.
void require_plain_routers(const Keys& k, bool shared, bool biased) {
  for (const auto& [key, usual] :
       std::initializer_list<std::pair<const char*, double>>{{"first_num_dense_layers", 0},
                                                             {"n_routing_groups", -1},
                                                             {"topk_routing_group", -1},
                                                             {"routed_scaling_factor", 1}})
    require(k.real(key) == usual, key, k,
            fmt::format("decoder_block={} has none", k.text("decoder_block")));
  require(shared || k.whole("shared_experts") == 0, "shared_experts", k,
          fmt::format("decoder_block={} has none", k.text("decoder_block")));
  require(k.text("routed_score_func").empty(), "routed_score_func", k,
          fmt::format("decoder_block={} has its own", k.text("decoder_block")));
  require(k.on("routed_bias") == biased, "routed_bias", k,
          fmt::format("decoder_block={} has {}", k.text("decoder_block"), biased));
  require_wide_sums(k);
}

/// Windows and none in turn, experts with biases behind a clipped gate.
Json gpt_oss_config(const Keys& k) {
  for (const char* key : {"use_qk_norm", "use_post_attn_norm", "use_post_ffw_norm",
                          "attn_logits_soft_cap", "final_logits_soft_cap"})
    require_flag(k, key, false);
  for (const char* key : {"attention_bias", "attention_sink", "mlp_bias"})
    require_flag(k, key, true);
  require_activation(k, "sigmoid");
  require_plain_routers(k, false, true);
  require_whole_cycles(k);
  require(k.whole("inhomogeneous_layer_cycle_interval") % 2 == 0,
          "inhomogeneous_layer_cycle_interval", k, "layers with a window and without alternate");
  require(k.real("mlp_activations_limit") > 0, "mlp_activations_limit", k,
          "decoder_block=gpt_oss clips its gates");
  require(k.whole("sliding_window_size") > 0, "sliding_window_size", k,
          "each second layer of decoder_block=gpt_oss has a window");
  Json out = sizes(k);
  out.update({{"model_type", "gpt_oss"},
              {"attention_bias", true},
              {"sliding_window", k.whole("sliding_window_size")},
              {"num_local_experts", k.whole("num_experts")},
              {"num_experts_per_tok", k.whole("num_experts_per_tok")},
              {"swiglu_limit", k.real("mlp_activations_limit")}});
  add_capacity(out, k);
  out.erase("rope_theta");
  out["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", k.real("rope_max_timescale")}};
  if (has_stretched_rope(k)) {
    out["rope_parameters"] = llama3_rope();
    out["rope_parameters"]["rope_theta"] = k.real("rope_max_timescale");
  }
  if (k.text("rope_type") != "yarn") return out;
  require_flag(k, "rope_interleave", false);
  out["max_position_embeddings"] = k.whole("max_position_embeddings");
  out["rope_parameters"] = yarn_rope(k);
  return out;
}

/// Chunks with positions, layers without positions between, experts whose input is weighted.
Json llama4_config(const Keys& k) {
  for (const char* key : {"use_post_attn_norm", "use_post_ffw_norm", "attn_logits_soft_cap",
                          "final_logits_soft_cap", "sliding_window_size", "attention_bias"})
    require_flag(k, key, false);
  require_activation(k, "silu");
  require_plain_routers(k, true, false);
  require_whole_cycles(k);
  require_flag(k, "norm_topk_prob", false);
  require(k.whole("shared_experts") == 1, "shared_experts", k, "decoder_block=llama4 has one");
  require(k.whole("chunk_attn_window_size") > 0, "chunk_attn_window_size", k,
          "layers with positions are chunked");
  require(k.text("rope_type") == "llama3.1", "rope_type", k, "decoder_block=llama4 has llama3.1");
  const auto each = [&](std::int64_t interval) {
    Json out = Json::array();
    for (std::int64_t i = 0; i < k.whole("num_decoder_layers"); ++i)
      out.push_back(interval > 0 && (within_cycle(k, i) + 1) % interval == 0);
    return out;
  };
  Json turned = Json::array(), experts = Json::array();
  for (const Json& plain : each(k.whole("nope_layer_interval")))
    turned.push_back(plain.get<bool>() ? 0 : 1);
  const Json has = each(k.whole("interleave_moe_layer_step"));
  for (std::size_t i = 0; i < has.size(); ++i)
    if (has[i].get<bool>()) experts.push_back(i);
  require(!experts.empty(), "interleave_moe_layer_step", k, "one layer with experts must be there");
  Json out = sizes(k);
  out.update({{"model_type", "llama4_text"},
              {"intermediate_size", k.whole("moe_mlp_dim")},
              {"intermediate_size_mlp", k.whole("mlp_dim")},
              {"num_local_experts", k.whole("num_experts")},
              {"num_experts_per_tok", k.whole("num_experts_per_tok")},
              {"no_rope_layers", turned},
              {"moe_layers", experts},
              {"attention_chunk_size", k.whole("chunk_attn_window_size")},
              {"use_qk_norm", k.on("use_qk_norm")},
              {"attn_temperature_tuning", k.on("temperature_tuning")}});
  if (has_stretched_rope(k)) out["rope_scaling"] = llama3_rope();
  add_capacity(out, k);
  return out;
}

/// The gated delta rule, and gated attention in each last layer of a cycle.
Json delta_config(const Keys& k, std::string_view model_type) {
  for (const char* key : {"use_post_attn_norm", "use_post_ffw_norm", "attn_logits_soft_cap",
                          "final_logits_soft_cap", "sliding_window_size", "attention_bias"})
    require_flag(k, key, false);
  require_activation(k, "silu");
  require_plain_routers(k, true, false);
  require(k.whole("shared_experts") <= 1, "shared_experts", k,
          "there is one with the gated delta rule");
  require_flag(k, "use_qk_norm_in_gdn", true);
  require(k.text("rope_type") == "default", "rope_type", k,
          "there is default with the gated delta rule");
  require_whole_cycles(k);
  Json out = sizes(k);
  out.update({{"model_type", model_type},
              {"full_attention_interval", k.whole("inhomogeneous_layer_cycle_interval")},
              {"partial_rotary_factor", k.real("partial_rotary_factor")},
              {"linear_conv_kernel_dim", k.whole("gdn_conv_kernel_dim")},
              {"linear_key_head_dim", k.whole("gdn_key_head_dim")},
              {"linear_value_head_dim", k.whole("gdn_value_head_dim")},
              {"linear_num_key_heads", k.whole("gdn_num_key_heads")},
              {"linear_num_value_heads", k.whole("gdn_num_value_heads")},
              {"num_experts", k.whole("num_experts")},
              {"num_experts_per_tok", k.whole("num_experts_per_tok")},
              {"norm_topk_prob", true},
              {"moe_intermediate_size", k.whole("moe_mlp_dim")},
              {"shared_expert_intermediate_size",
               k.whole("shared_experts") > 0 ? k.whole("moe_mlp_dim") : 0}});
  add_capacity(out, k);
  return out;
}
Json qwen3_next_config(const Keys& k) { return delta_config(k, "qwen3_next"); }
/// All of its layers have experts; positions of texts are the same for all of mrope's sections.
Json qwen3_5_config(const Keys& k) { return delta_config(k, "qwen3_5_moe_text"); }

/// Three layers with a window to one without, norms behind both branches.
Json olmo3_config(const Keys& k) {
  for (const char* key : {"use_post_attn_norm", "use_post_ffw_norm", "attn_logits_soft_cap",
                          "final_logits_soft_cap", "attention_bias"})
    require_flag(k, key, false);
  require_activation(k, "silu");
  require_flag(k, "use_qk_norm", true);
  require_whole_cycles(k);
  require(k.whole("sliding_window_size") > 0, "sliding_window_size", k,
          "three of four layers of decoder_block=olmo3 have a window");
  Json out = sizes(k), types = Json::array();
  for (std::int64_t i = 0; i < k.whole("num_decoder_layers"); ++i)
    types.push_back(within_cycle(k, i) % 4 == 3 ? "full_attention" : "sliding_attention");
  out.update({{"model_type", "olmo3"},
              {"sliding_window", k.whole("sliding_window_size")},
              {"layer_types", types}});
  require(k.text("rope_type") != "llama3.1", "rope_type", k, "decoder_block=olmo3 has yarn");
  if (k.text("rope_type") != "yarn") return out;
  require_flag(k, "rope_interleave", false);
  out["max_position_embeddings"] = k.whole("max_position_embeddings");
  // Layers with a window are stretched too.
  out["rope_parameters"] = {{"full_attention", yarn_rope(k)}, {"sliding_attention", yarn_rope(k)}};
  return out;
}

Json gemma_config(const Keys& k) {
  require_activation(k, "gelu");
  require_flag(k, "logits_via_embedding", true);
  require_flag(k, "attention_bias", false);
  Json out = sizes(k);
  out["model_type"] = "gemma";
  out["hidden_activation"] = "gelu_pytorch_tanh";
  out["hidden_act"] = "gelu_pytorch_tanh";
  // Norms of the block have this one upstream, whatever the key says.
  out["rms_norm_eps"] = 1e-6;
  return out;
}

Json gemma1_config(const Keys& k) {
  require_plain(k);
  return gemma_config(k);
}

Json caps_and_window(Json out, const Keys& k) {
  const auto cap = [&](const char* key) { return k.on(key) ? Json(k.real(key)) : Json(nullptr); };
  out["attn_logit_softcapping"] = cap("attn_logits_soft_cap");
  out["final_logit_softcapping"] = cap("final_logits_soft_cap");
  out["sliding_window"] = k.whole("sliding_window_size");
  for (const char* key : {"use_post_attn_norm", "use_post_ffw_norm"}) require_flag(k, key, true);
  return out;
}

/// A layer of MaxText's is two: one with a window, one without.
Json gemma2_config(const Keys& k) {
  require_flag(k, "use_qk_norm", false);
  Json out = caps_and_window(gemma_config(k), k);
  out["model_type"] = "gemma2";
  out["num_hidden_layers"] = 2 * k.whole("num_decoder_layers");
  out["query_pre_attn_scalar"] = k.whole("head_dim");
  return out;
}

Json gemma3_config(const Keys& k) {
  Json out = caps_and_window(gemma_config(k), k);
  out["model_type"] = "gemma3_text";
  const bool largest = k.text("model_name") == "gemma3-27b";
  out["query_pre_attn_scalar"] =
      largest ? k.whole("emb_dim") / k.whole("num_query_heads") : k.whole("head_dim");
  if (k.real("local_rope_max_timescale") > 0)
    out["rope_local_base_freq"] = k.real("local_rope_max_timescale");
  if (k.real("rope_linear_scaling_factor") != 1)
    out["rope_scaling"] = {{"rope_type", "linear"},
                           {"factor", k.real("rope_linear_scaling_factor")}};
  return out;
}

/// Of both kinds of Gemma 4: each `pattern`-th layer has no window and other heads.
Json gemma4_layers(const Keys& k, std::int64_t pattern) {
  const std::string block = k.text("decoder_block");
  require_activation(k, "gelu");
  for (const char* key : {"logits_via_embedding", "use_post_attn_norm", "use_post_ffw_norm"})
    require_flag(k, key, true);
  for (const char* key : {"attention_bias", "attn_logits_soft_cap", "v_norm_with_scale"})
    require_flag(k, key, false);
  // Names decide upstream what rotary positions are; most norms have 1e-6 whatever the key says.
  require(k.text("model_name").starts_with("gemma4-"), "model_name", k,
          fmt::format("decoder_block={} has the rotary positions of models of that name", block));
  require(k.real("normalization_layer_epsilon") == 1e-6, "normalization_layer_epsilon", k,
          fmt::format("decoder_block={} has 1e-6", block));
  require(k.whole("sliding_window_size") > 0, "sliding_window_size", k,
          fmt::format("{} of {} layers of decoder_block={} have a window", pattern - 1, pattern,
                      block));
  const auto or_else = [&](const char* key, const char* otherwise) {
    return k.real(key) > 0 ? k.real(key) : k.real(otherwise);
  };
  const auto rope = [&](const char* theta, const char* proportion) {
    return Json{{"rope_type", "proportional"},
                {"rope_theta", or_else(theta, "rope_max_timescale")},
                {"partial_rotary_factor", k.real(proportion)}};
  };
  Json out = sizes(k), types = Json::array(), heads = Json::object();
  for (std::int64_t i = 0; i < k.whole("num_decoder_layers"); ++i) {
    const bool full = i % pattern == pattern - 1;
    types.push_back(full ? "full_attention" : "sliding_attention");
    if (full)
      heads[std::to_string(i)] = {
          {"head_dim", static_cast<std::int64_t>(or_else("global_head_dim", "head_dim"))},
          {"num_key_value_heads",
           static_cast<std::int64_t>(or_else("global_num_kv_heads", "num_kv_heads"))}};
  }
  require(!heads.empty(), "base_num_decoder_layers", k,
          fmt::format("each {}th layer is of full attention", pattern));
  out.erase("rope_theta");
  out.update({{"model_type", "gemma4_text"},
              {"hidden_activation", "gelu_pytorch_tanh"},
              {"sliding_window", k.whole("sliding_window_size")},
              {"layer_types", types},
              {"per_layer_config", heads},
              {"attention_k_eq_v", k.on("share_kv_projections")},
              {"rope_parameters",
               {{"sliding_attention", rope("local_rope_max_timescale", "local_rope_proportion")},
                {"full_attention", rope("global_rope_max_timescale", "global_rope_proportion")}}}});
  if (k.on("final_logits_soft_cap"))
    out["final_logit_softcapping"] = k.real("final_logits_soft_cap");
  return out;
}

/// Experts beside the feed-forward branch.
Json gemma4_config(const Keys& k) {
  Json out = gemma4_layers(k, 6);
  out["hidden_size_per_layer_input"] = 0;
  if (k.whole("num_experts") == 1) return out;
  require_plain_routers(k, true, false);
  require_flag(k, "norm_topk_prob", true);
  require(k.whole("shared_experts") == 1, "shared_experts", k, "decoder_block=gemma4 has one");
  out.update({{"enable_moe_block", true},
              {"num_experts", k.whole("num_experts")},
              {"top_k_experts", k.whole("num_experts_per_tok")},
              {"moe_intermediate_size", k.whole("moe_mlp_dim")}});
  add_capacity(out, k);
  return out;
}

/// Embeddings of each layer, and last layers that attend to earlier ones' keys. The name alone
/// decides after how many layers one has no window.
Json gemma4_small_config(const Keys& k) {
  Json out = gemma4_layers(k, k.text("model_name") == "gemma4-e2b" ? 5 : 6);
  const std::int64_t width = k.whole("hidden_size_per_layer_input"),
                     rows = k.whole("vocab_size_per_layer_input");
  require((width > 0) == (rows > 0), "hidden_size_per_layer_input", k,
          fmt::format("vocab_size_per_layer_input={}, and both are 0 or neither", rows));
  out.update({{"hidden_size_per_layer_input", width},
              {"num_kv_shared_layers", k.whole("num_kv_shared_layers")},
              {"use_double_wide_mlp", k.on("use_double_wide_mlp")}});
  if (rows > 0) out["vocab_size_per_layer_input"] = rows;
  return out;
}

struct FamilyOf {
  std::string_view decoder_block;
  Json (*config)(const Keys& keys);
  bool has_experts = false;
  /// Whether its layers are alike, so that one may predict further tokens.
  bool has_further = false;
};
constexpr FamilyOf kFamilies[] = {
    {"llama2", &llama_config, false, true},
    {"mistral", &mistral_config, false, true},
    {"qwen2", &qwen2_config, false, true},
    {"qwen3", &qwen3_config, false, true},
    {"gemma", &gemma1_config, false, true},
    {"gemma2", &gemma2_config},
    {"gemma3", &gemma3_config},
    {"gemma4", &gemma4_config, true},
    {kSmall, &gemma4_small_config},
    {"mixtral", &mixtral_config, true, true},
    {"qwen3_moe", &qwen3_moe_config, true, true},
    {"deepseek", &deepseek_config, true, true},
    {"gpt_oss", &gpt_oss_config, true},
    {"llama4", &llama4_config, true},
    {"qwen3_next", &qwen3_next_config, true},
    {"qwen3_5", &qwen3_5_config, true},
    {"olmo3", &olmo3_config},
};

}  // namespace

bool has_experts(const Resolved& resolved) {
  const Keys k(resolved);
  const std::string block = k.text("decoder_block");
  if (k.whole("num_experts") == 1) return false;
  return std::any_of(std::begin(kFamilies), std::end(kFamilies),
                     [&](const FamilyOf& f) { return f.has_experts && f.decoder_block == block; });
}

std::string stored_as(const Resolved& resolved, bool imported) {
  const Keys k(resolved);
  const std::string block = k.text("decoder_block");
  const bool is_gemma = block.starts_with("gemma");
  Json out = Json::array();
  if (!imported && (block == "llama2" || block == "mistral" || block == "mixtral" ||
                    block == "gemma" || block == "gemma2"))
    out.push_back({{"match", "*/attention/query/kernel"},
                   {"factor", 1 / std::sqrt(static_cast<double>(k.whole("head_dim")))}});
  if (is_gemma) {
    out.push_back({{"match", "embedder/embedding"},
                   {"factor", std::sqrt(static_cast<double>(k.whole("emb_dim")))}});
    if (!block.starts_with("gemma4")) out.push_back({{"match", "*/scale"}, {"plus", 1.0}});
  }
  return out.empty() ? "" : out.dump();
}

std::string decoder_blocks() {
  std::vector<std::string_view> out;
  for (const FamilyOf& f : kFamilies) out.push_back(f.decoder_block);
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string model_config(const Resolved& resolved) {
  const Keys k(resolved);
  for (const FamilyOf& family : kFamilies)
    if (family.decoder_block == k.text("decoder_block")) {
      require_own_features(k);
      if (!family.has_experts) require_dense(k);
      const std::int64_t further = k.whole("mtp_num_layers");
      require(further == 0 || family.has_further, "mtp_num_layers", k,
              fmt::format("decoder_block={} has layers of several kinds", family.decoder_block));
      Json out = family.config(k);
      if (further > 0) out["mtp_num_layers"] = further;
      return out.dump();
    }
  not_yet("decoder_block", k, "there are " + decoder_blocks());
}

}  // namespace strata::train::maxtext
