#include "strata/model/published/names.h"

#include <algorithm>

#include "strata/base/error.h"
#include "strata/model/decoder/weights.h"

namespace strata::model::published {

using decoder::HeadNorm;
using decoder::NormPlace;
using decoder::Options;

namespace {

struct Pair {
  const char *hugging_face, *gguf;
};

/// Published names of a part of a layer, without .weight and .bias.
Pair of_layer(const Options& o, std::string_view part) {
  if (part == "attention/query") return {"self_attn.q_proj", "attn_q"};
  if (part == "attention/key") return {"self_attn.k_proj", "attn_k"};
  if (part == "attention/value") return {"self_attn.v_proj", "attn_v"};
  if (part == "attention/out") return {"self_attn.o_proj", "attn_output"};
  if (part == "attention/query_norm") return {"self_attn.q_norm", "attn_q_norm"};
  if (part == "attention/key_norm") return {"self_attn.k_norm", "attn_k_norm"};
  if (part == "latent_attention/query") return {"self_attn.q_proj", "attn_q"};
  if (part == "latent_attention/query_a") return {"self_attn.q_a_proj", "attn_q_a"};
  if (part == "latent_attention/query_a_norm") return {"self_attn.q_a_layernorm", "attn_q_a_norm"};
  if (part == "latent_attention/query_b") return {"self_attn.q_b_proj", "attn_q_b"};
  if (part == "latent_attention/kv_a") return {"self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"};
  if (part == "latent_attention/kv_a_norm") return {"self_attn.kv_a_layernorm", "attn_kv_a_norm"};
  if (part == "latent_attention/kv_b") return {"self_attn.kv_b_proj", "attn_kv_b"};
  if (part == "latent_attention/out") return {"self_attn.o_proj", "attn_output"};
  if (part == "delta_net/qkvz") return {"linear_attn.in_proj_qkvz", "ssm_in"};
  if (part == "delta_net/ba") return {"linear_attn.in_proj_ba", "ssm_ba"};
  if (part == "delta_net/norm") return {"linear_attn.norm", "ssm_norm"};
  if (part == "delta_net/out") return {"linear_attn.out_proj", "ssm_out"};
  if (part == "mlp/gate") return {"mlp.gate_proj", "ffn_gate"};
  if (part == "mlp/up") return {"mlp.up_proj", "ffn_up"};
  if (part == "mlp/down") return {"mlp.down_proj", "ffn_down"};
  if (part == "experts/router") return {"mlp.gate", "ffn_gate_inp"};
  if (part == "experts/gate") return {"mlp.experts.{}.gate_proj", "ffn_gate_exps"};
  if (part == "experts/up") return {"mlp.experts.{}.up_proj", "ffn_up_exps"};
  if (part == "experts/down") return {"mlp.experts.{}.down_proj", "ffn_down_exps"};
  if (part == "attention") return {"self_attn.sinks", "attn_sinks"};
  if (part == "experts") return {"mlp.gate.e_score_correction_bias", "exp_probs_b"};
  if (part == "experts/shared/gate") return {"mlp.shared_expert.gate_proj", "ffn_gate_shexp"};
  if (part == "experts/shared/up") return {"mlp.shared_expert.up_proj", "ffn_up_shexp"};
  if (part == "experts/shared/down") return {"mlp.shared_expert.down_proj", "ffn_down_shexp"};
  if (part == "experts/shared_gate") return {"mlp.shared_expert_gate", "ffn_gate_inp_shexp"};
  if (part == "attention_norm") return {"input_layernorm", "attn_norm"};
  if (part == "attention_post_norm") return {"post_attention_layernorm", "post_attention_norm"};
  if (part == "mlp_norm") {
    if (o.norm_place == NormPlace::before) return {"post_attention_layernorm", "ffn_norm"};
    return {"pre_feedforward_layernorm", "ffn_norm"};
  }
  if (part == "mlp_own_post_norm") return {"post_feedforward_layernorm_1", "post_ffw_norm_1"};
  if (part == "experts_norm") return {"pre_feedforward_layernorm_2", "pre_ffw_norm_2"};
  if (part == "experts_post_norm") return {"post_feedforward_layernorm_2", "post_ffw_norm_2"};
  if (part == "per_layer_input/gate") return {"per_layer_input_gate", "inp_gate"};
  if (part == "per_layer_input/projection") return {"per_layer_projection", "proj"};
  if (part == "per_layer_input/norm") return {"post_per_layer_input_norm", "post_norm"};
  if (part == "mlp_post_norm") return {"post_feedforward_layernorm", "post_ffw_norm"};
  STRATA_UNREACHABLE("no part {}", part);
}

/// Those of layers that have no .weight and .bias; nothing of others.
Pair of_lone(std::string_view path) {
  if (path.ends_with("delta_net/conv")) return {"linear_attn.conv1d.weight", "ssm_conv1d.weight"};
  if (path.ends_with("delta_net/dt_bias")) return {"linear_attn.dt_bias", "ssm_dt.bias"};
  if (path.ends_with("delta_net/a_log")) return {"linear_attn.A_log", "ssm_a"};
  if (path.ends_with("layers/scalar")) return {"layer_scalar", "layer_output_scale.weight"};
  if (path.ends_with("experts/router_scale")) return {"router.scale", "ffn_gate_inp.scale"};
  if (path.ends_with("experts/expert_scale"))
    return {"router.per_expert_scale", "ffn_down_exps.scale"};
  return {nullptr, nullptr};
}

Pair of_rest(std::string_view part) {
  if (part == "embedder") return {"model.embed_tokens", "token_embd"};
  if (part == "positions") return {"model.embed_positions", "position_embd"};
  if (part == "types") return {"model.token_types", "token_types"};
  if (part == "embedding_norm") return {"model.embed_norm", "token_embd_norm"};
  if (part == "per_layer_embedder/table")
    return {"model.embed_tokens_per_layer", "per_layer_token_embd"};
  if (part == "per_layer_embedder/projection")
    return {"model.per_layer_model_projection", "per_layer_model_proj"};
  if (part == "per_layer_embedder/norm")
    return {"model.per_layer_projection_norm", "per_layer_proj_norm"};
  if (part == "final_norm") return {"model.norm", "output_norm"};
  if (part == "logits") return {"lm_head", "output"};
  STRATA_UNREACHABLE("no part {}", part);
}

/// Of what a further layer has beside a layer's parts.
Pair of_further(std::string_view part) {
  if (part == "embedding_norm") return {"enorm", "nextn.enorm"};
  if (part == "hidden_norm") return {"hnorm", "nextn.hnorm"};
  if (part == "projection") return {"eh_proj", "nextn.eh_proj"};
  if (part == "final_norm") return {"shared_head.norm", "nextn.shared_head_norm"};
  STRATA_UNREACHABLE("no part {}", part);
}

constexpr std::string_view kFurther = "mtp_layers/";

}  // namespace

void add_further_names(Names& names, const Options& o) {
  for (const decoder::WeightShape& w : decoder::weight_shapes(o)) {
    if (!w.path.starts_with(kFurther)) continue;
    std::string_view part = std::string_view(w.path).substr(kFurther.size());
    part = part.substr(0, part.rfind('/'));
    const bool of_a_layer = part.starts_with("layers/");
    const Pair pair = of_a_layer ? of_layer(o, part.substr(part.find('/') + 1)) : of_further(part);
    const std::string ending = w.path.ends_with("bias") ? ".bias" : ".weight";
    WeightName name{.path = w.path};
    name.layers = decoder::layer_numbers(o, w.path);
    if (w.kind == decoder::WeightKind::experts) name.experts = o.experts.count;
    name.hugging_face = std::string("model.layers.{}.") + pair.hugging_face + ending;
    name.gguf = std::string("blk.{}.") + pair.gguf + ending;
    names.weights.push_back(std::move(name));
  }
  for (std::int64_t i = o.layers; i < o.layers + o.mtp_layers; ++i) {
    const std::string head = o.tied ? "model.embed_tokens.weight" : "lm_head.weight";
    names.copies.emplace_back(numbered("model.layers.{}.embed_tokens.weight", i),
                              "model.embed_tokens.weight");
    names.copies.emplace_back(numbered("model.layers.{}.shared_head.head.weight", i), head);
    for (const char* copy : {"embed_tokens", "shared_head_head"})
      names.gguf_ignored.push_back(numbered("blk.{}.nextn.", i).append(copy).append(".weight"));
  }
  for (const auto& [copy, of] : names.copies) names.ignored.push_back(copy);
  names.ignored.push_back(numbered("model.layers.{}.*", o.layers + o.mtp_layers));
}

bool is_published(const Names& names, std::string_view path) {
  return std::any_of(names.weights.begin(), names.weights.end(),
                     [&](const WeightName& w) { return w.path == path; });
}

Names usual_names(const Options& o, bool paired) {
  Names out;
  for (const decoder::WeightShape& w : decoder::weight_shapes(o)) {
    if (w.path.starts_with(kFurther)) continue;
    const std::size_t slash = w.path.rfind('/');
    const std::string_view part = std::string_view(w.path).substr(0, slash);
    const std::string ending = w.path.ends_with("bias") ? ".bias" : ".weight";
    WeightName name{.path = w.path};
    if (const Pair lone = of_lone(w.path); lone.hugging_face) {
      name.layers = decoder::layer_numbers(o, w.path);
      name.hugging_face = std::string("model.layers.{}.") + lone.hugging_face;
      name.gguf = std::string("blk.{}.") + lone.gguf;
      name.conv1d = w.kind == decoder::WeightKind::convolution;
    } else if (decoder::layers_in(o, w.path) > 0) {
      const Pair pair = of_layer(o, part.substr(part.find('/') + 1));
      name.layers = decoder::layer_numbers(o, w.path);
      if (w.kind == decoder::WeightKind::experts || w.kind == decoder::WeightKind::expert_bias)
        name.experts = o.experts.count;
      name.hugging_face = std::string("model.layers.{}.") + pair.hugging_face + ending;
      name.gguf = std::string("blk.{}.") + pair.gguf + ending;
    } else {
      const Pair pair = of_rest(part);
      name.hugging_face = pair.hugging_face + ending;
      name.gguf = pair.gguf + ending;
    }
    if (paired && part.ends_with("layers/attention/query")) name.paired_heads = o.query_heads;
    if (paired && part.ends_with("layers/attention/key")) name.paired_heads = o.kv_heads;
    if (o.norm == decoder::NormKind::gemma && w.kind == decoder::WeightKind::scale)
      name.gguf_plus = 1;
    out.weights.push_back(std::move(name));
  }
  out.ignored = {"*.rotary_emb.inv_freq"};
  if (o.tied) out.ignored.push_back("lm_head.weight");
  if (o.tied) out.gguf_ignored.push_back("output.weight");
  return out;
}

std::int64_t layer_of(const WeightName& name, std::int64_t piece) {
  const std::int64_t at = piece / std::max<std::int64_t>(name.experts, 1);
  return name.layers.empty() ? at : name.layers[static_cast<std::size_t>(at)];
}

void replace(Names& names, const WeightName& name) {
  for (WeightName& w : names.weights) {
    if (w.path != name.path) continue;
    w = name;
    return;
  }
  throw Error("published names", "there is no weight {}", name.path);
}

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  // Each text between two stars at its first place; the last one at the end.
  while (true) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    if (star == std::string_view::npos) return name.ends_with(pattern);
    const std::size_t at = name.find(pattern.substr(0, star));
    if (at == std::string_view::npos) return false;
    name.remove_prefix(at + star);
  }
}

std::string numbered(std::string_view pattern, std::int64_t layer, std::int64_t expert) {
  std::string out(pattern);
  for (const std::int64_t number : {layer, expert})
    if (const std::size_t at = out.find("{}"); at != std::string::npos)
      out.replace(at, 2, std::to_string(number));
  return out;
}

}  // namespace strata::model::published
