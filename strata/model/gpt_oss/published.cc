#include "strata/model/gpt_oss/published.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "strata/base/error.h"
#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

bool slides(const Config&, std::int64_t layer) { return layer % 2 == 0; }

/// What rotary positions are where the file says nothing.
constexpr std::string_view kRope = R"({"rope_parameters": {"rope_type": "yarn", "factor": 32.0,
  "beta_fast": 32.0, "beta_slow": 1.0, "truncate": false,
  "original_max_position_embeddings": 4096}})";

decoder::Options options(const Config& stated) {
  const bool has_rope = stated.has("rope_parameters") || stated.has("rope_scaling");
  const Config c = has_rope ? stated : stated.over(Config::parse(kRope));
  decoder::Options o = usual_options(c, "gpt_oss", 64);
  o.epsilon = c.number("rms_norm_eps", 1e-5);
  o.norm = decoder::NormKind::olmo2;
  o.qkv_bias = o.out_bias = c.flag("attention_bias", true);
  o.sinks = true;
  o.ropes = {rope_of(c, o.head_dim, {.theta = 150000})};
  o.windows = windows_of(c, o.layers, c.integer("sliding_window", 128), &slides);
  o.experts = {.count = c.integer("num_local_experts", c.integer("num_experts", 128)),
               .active = c.integer("num_experts_per_tok", c.integer("experts_per_token", 4)),
               .width = o.mlp_width};
  o.experts.biased = true;
  o.experts.gate_limit = c.number("swiglu_limit", 7);
  o.experts.gate_alpha = c.number("swiglu_alpha", 1.702);
  return o;
}

Names names(const decoder::Options& o) {
  Names out = usual_names(o, false);
  for (WeightName& w : out.weights) {
    const auto part = [&](const char* of) { return w.path == std::string("layers/") + of; };
    const std::string layer = "model.layers.{}.";
    if (part("experts/router/kernel")) w.hugging_face = layer + "mlp.router.weight";
    if (part("experts/router/bias")) w.hugging_face = layer + "mlp.router.bias";
    if (part("attention/sinks")) w.hugging_face = layer + "self_attn.sinks";
    if (part("mlp_norm/scale")) w.gguf = "blk.{}.post_attention_norm.weight";
    if (!w.path.starts_with("layers/experts/") || w.experts == 0) continue;
    // Of each layer one tensor for all experts, (E, in, out); columns of gates and of what they
    // gate alternate.
    const bool is_bias = w.path.ends_with("/bias"), is_down = w.path.find("/down/") != w.path.npos;
    w.hugging_face = layer + "mlp.experts." + (is_down ? "down_proj" : "gate_up_proj") +
                     (is_bias ? "_bias" : "");
    w.as_ours = w.stacked = true;
    if (is_down) continue;
    w.parts = 2;
    w.part = w.path.find("/up/") != w.path.npos;
    w.parts_alternate = true;
  }
  return out;
}

std::string from_gguf(const GgufMetadata& m) {
  const auto value = [&](const char* key, const char* otherwise) {
    return architecture_value(m, key).value_or(otherwise);
  };
  // That yarn's borders are not rounded no key says.
  auto config = nlohmann::ordered_json::parse(usual_config(
      m, "gpt_oss",
      fmt::format(
          R"({{"num_local_experts": {}, "num_experts_per_tok": {}, "attention_bias": true,
                       "intermediate_size": {}}})",
          value("expert_count", "128"), value("expert_used_count", "4"),
          value("expert_feed_forward_length", value("feed_forward_length", "2880").c_str()))));
  config["rope_parameters"]["truncate"] = false;
  return config.dump(2, ' ', true);
}

}  // namespace

Family gpt_oss() {
  return {"gpt_oss",
          "gpt-oss",
          "GPT-OSS: experts with biases behind a clipped gate, attention with sinks",
          &options,
          &names,
          &from_gguf};
}

}  // namespace strata::model::published
