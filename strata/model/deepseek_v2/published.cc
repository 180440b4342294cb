#include "strata/model/deepseek_v2/published.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "strata/base/error.h"
#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

using json = nlohmann::ordered_json;

/// What stretched rotary positions multiply scores by.
double scale_of(const Config& c) {
  const char* const key = c.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  const std::optional<Config> rope = c.child(key);
  if (!rope || rope->text("rope_type", rope->text("type", "default")) == "default") return 1;
  const double by = rope->number("mscale_all_dim", 0), factor = rope->number("factor", 1);
  if (by == 0 || factor <= 1) return 1;
  const double m = 0.1 * by * std::log(factor) + 1;
  return m * m;
}

decoder::Options options(const Config& c) {
  decoder::Options o = deepseek_options(c, "deepseek_v2");
  require_text(c, "scoring_func", "softmax");
  const std::string method = c.text("topk_method", "greedy");
  if (method != "greedy" && method != "group_limited_greedy")
    throw Error("config.json", "topk_method={}: there are greedy and group_limited_greedy", method)
        .unsupported();
  if (c.flag("norm_topk_prob", false))
    throw Error("config.json", "norm_topk_prob=true is not supported in deepseek_v2").unsupported();
  o.experts.renormalise = false;
  o.experts.scaling = c.number("routed_scaling_factor", 1);
  if (method == "group_limited_greedy") {
    o.experts.groups = c.integer("n_group");
    o.experts.active_groups = c.integer("topk_group");
    o.experts.group_score_of = 1;
  }
  return o;
}

std::string from_gguf(const GgufMetadata& m) {
  const auto groups = architecture_value(m, "expert_group_count");
  const bool limited = groups && *groups != "0" && *groups != "1";
  return deepseek_config(
      m, "deepseek_v2",
      limited ? R"({"topk_method": "group_limited_greedy"})" : R"({"topk_method": "greedy"})");
}

}  // namespace

void require_text(const Config& c, std::string_view key, std::string_view value) {
  const std::string stated = c.text(key, value);
  if (stated != value)
    throw Error("config.json", "{}={}: there is {}", key, stated, value).unsupported();
}

decoder::Options deepseek_options(const Config& c, std::string_view model_type) {
  const decoder::LatentOptions latent{.kv_rank = c.integer("kv_lora_rank", 512),
                                      .query_rank = c.integer("q_lora_rank", 0),
                                      .plain_dim = c.integer("qk_nope_head_dim", 128),
                                      .turned_dim = c.integer("qk_rope_head_dim", 64),
                                      .value_dim = c.integer("v_head_dim", 128)};
  // Their head_dim is the part that is turned.
  decoder::Options o = usual_options(c, model_type, latent.turned_dim);
  if (latent.kv_rank < 1)
    throw Error("config.json", "kv_lora_rank={}: allowed are numbers above 0", latent.kv_rank);
  o.latent = latent;
  o.kv_heads = o.query_heads;
  o.head_dim = latent.plain_dim + latent.turned_dim;
  o.attention_scale =
      scale_of(c) / std::sqrt(static_cast<double>(std::max<std::int64_t>(o.head_dim, 1)));
  o.qkv_bias = o.out_bias = c.flag("attention_bias", false);
  o.ropes = {rope_of(c, latent.turned_dim)};
  o.pairing =
      c.flag("rope_interleave", true) ? decoder::Pairing::neighbours : decoder::Pairing::halves;
  if (c.integer("moe_layer_freq", 1) != 1)
    throw Error("config.json", "moe_layer_freq={}: allowed is 1", c.as_json("moe_layer_freq"))
        .unsupported();
  if (c.flag("mlp_bias", false))
    throw Error("config.json", "mlp_bias=true is not supported in {}", model_type).unsupported();
  const std::int64_t width = c.integer("moe_intermediate_size");
  const std::int64_t shared = c.integer("n_shared_experts", 0);
  if (shared < 0 || shared > 1 << 10)
    throw Error("config.json", "n_shared_experts={}: allowed is an integer from 0 to 1024", shared);
  o.experts = {.count = c.integer("n_routed_experts"),
               .active = c.integer("num_experts_per_tok"),
               .width = width,
               .shared_width = width * shared,
               .dense_layers = c.integer("first_k_dense_replace", 0)};
  o.experts.shared_gated = false;
  return o;
}

Names deepseek_names(const decoder::Options& o) {
  Names out = usual_names(o, false);
  add_further_names(out, o);
  for (WeightName& w : out.weights) {
    if (w.path.ends_with("/choice_bias"))
      w.hugging_face = "model.layers.{}.mlp.gate.e_score_correction_bias";
    const std::string shared = "mlp.shared_expert.";
    if (const auto at = w.hugging_face.find(shared); at != std::string::npos)
      w.hugging_face.replace(at, shared.size(), "mlp.shared_experts.");
  }
  return out;
}

std::string deepseek_config(const GgufMetadata& m, std::string_view model_type,
                            std::string_view more) {
  const auto needed = [&](const char* key) {
    const auto value = architecture_value(m, key);
    if (!value) throw Error("GGUF", "deepseek2.{} is missing", key);
    return json::parse(*value);
  };
  const auto integer = [&](const char* key) {
    const json value = needed(key);
    if (!value.is_number_integer())
      throw Error("GGUF", "deepseek2.{}={}: allowed is an integer", key, value.dump());
    return value.get<std::int64_t>();
  };
  // Newer files state the cache's widths, and those of heads beside them.
  const bool absorbed = architecture_value(m, "attention.key_length_mla").has_value();
  const std::int64_t turned = integer("rope.dimension_count");
  json c = {
      {"kv_lora_rank", needed("attention.kv_lora_rank")},
      {"qk_rope_head_dim", turned},
      {"qk_nope_head_dim",
       integer(absorbed ? "attention.key_length_mla" : "attention.key_length") - turned},
      {"v_head_dim", needed(absorbed ? "attention.value_length_mla" : "attention.value_length")}};
  const std::pair<const char*, const char*> optional[] = {
      {"q_lora_rank", "attention.q_lora_rank"},
      {"n_routed_experts", "expert_count"},
      {"num_experts_per_tok", "expert_used_count"},
      {"moe_intermediate_size", "expert_feed_forward_length"},
      {"n_shared_experts", "expert_shared_count"},
      {"first_k_dense_replace", "leading_dense_block_count"},
      {"routed_scaling_factor", "expert_weights_scale"},
      {"norm_topk_prob", "expert_weights_norm"},
      {"n_group", "expert_group_count"},
      {"topk_group", "expert_group_used_count"}};
  for (const auto& [to, from] : optional)
    if (const auto value = architecture_value(m, from)) c[to] = json::parse(*value);
  const json joined = json::parse(more);
  for (const auto& [key, value] : joined.items()) c[key] = value;

  GgufMetadata rest = m;
  for (const char* key : {"attention.key_length", "attention.value_length", "rope.dimension_count",
                          "attention.head_count_kv"})
    rest.values.erase(std::string("deepseek2.") + key);
  json whole = json::parse(usual_config(rest, model_type, c.dump()));
  whole.erase("head_dim");
  // It is a tenth of mscale_all_dim, which mscale equals in what was published.
  if (const auto log = architecture_value(m, "rope.scaling.yarn_log_multiplier"))
    if (const json by = json::parse(*log); by.is_number())
      whole["rope_parameters"]["mscale"] = whole["rope_parameters"]["mscale_all_dim"] =
          std::round(by.get<double>() * 1e7) / 1e6;
  return whole.dump(2, ' ', true);
}

Family deepseek_v2() {
  return {"deepseek_v2",
          "deepseek2",
          "DeepSeek V2: latent attention, and experts beside one for all tokens",
          &options,
          &deepseek_names,
          &from_gguf};
}

}  // namespace strata::model::published
