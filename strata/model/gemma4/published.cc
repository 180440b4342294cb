#include "strata/model/gemma4/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "strata/base/error.h"
#include "strata/model/gemma/published.h"
#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

/// Where the file says nothing each sixth layer and the last one have no window.
bool slides(const Config& c, std::int64_t layer) {
  return (layer + 1) % 6 != 0 && layer + 1 != c.integer("num_hidden_layers");
}

constexpr std::string_view kDefaults = R"({"vocab_size": 262144, "hidden_size": 2304,
  "intermediate_size": 9216, "num_hidden_layers": 30, "num_attention_heads": 8,
  "num_key_value_heads": 4, "head_dim": 256, "global_head_dim": 512,
  "max_position_embeddings": 131072, "hidden_size_per_layer_input": 256,
  "vocab_size_per_layer_input": 262144,
  "rope_parameters": {
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25,
                       "rope_theta": 1000000.0}}})";

void refuse_other(const Config& c) {
  // Of text "vision" has no effect.
  if (c.text("use_bidirectional_attention", "vision") != "vision")
    throw Error("config.json", "use_bidirectional_attention={} is not supported",
                c.as_json("use_bidirectional_attention"))
        .unsupported();
  if (!c.flag("tie_word_embeddings", true))
    throw Error("config.json", "{}", "tie_word_embeddings=false is not supported").unsupported();
}

/// Heads of layers without a window, where a file lists what differs from layer to layer.
void apply_listed(const Config& c, decoder::FullOptions& full) {
  const auto listed = c.child("per_layer_config");
  if (!listed) return;
  const std::int64_t layers = c.integer("num_hidden_layers");
  const std::size_t digits = std::to_string(layers - 1).size();
  for (std::int64_t i = 0; i < layers; ++i) {
    // transformers fills numbers up to one width: "05", "11".
    auto own = listed->child(fmt::format("{:0{}}", i, digits));
    if (!own) own = listed->child(std::to_string(i));
    if (!own) continue;
    const bool is_full = std::binary_search(full.layers.begin(), full.layers.end(), i);
    const std::int64_t dim = own->integer("head_dim", full.head_dim),
                       heads = own->integer("num_key_value_heads", full.kv_heads);
    if (is_full && i == full.layers.front()) full.head_dim = dim, full.kv_heads = heads;
    if (!is_full || full.head_dim != dim || full.kv_heads != heads)
      throw Error("config.json",
                  "per_layer_config of layer {}: allowed are the same heads in all layers of "
                  "full_attention, and no others",
                  i)
          .unsupported();
  }
}

decoder::Options options(const Config& stated) {
  const Config c = stated.over(Config::parse(kDefaults));
  refuse_other(c);
  decoder::Options o = usual_options(c, "gemma4_text", 256);
  o.norm = decoder::NormKind::olmo2;
  o.norm_place = decoder::NormPlace::around;
  o.head_norm = decoder::HeadNorm::each_head;
  o.tied = true;
  o.qkv_bias = o.out_bias = c.flag("attention_bias", false);
  o.activation = activation_of(c.text("hidden_activation", "gelu_pytorch_tanh"));
  o.embedding_scale = std::sqrt(static_cast<double>(o.width));
  o.attention_scale = 1;
  o.logit_cap = c.cap("final_logit_softcapping", 0);
  o.unit_values = o.layer_scalar = true;
  o.windows = windows_of(c, o.layers, c.integer("sliding_window", 512), &slides);
  o.ropes = {rope_of(c, o.head_dim, {.layer_type = "sliding_attention"})};
  const bool alone = c.flag("attention_k_eq_v", false);
  decoder::FullOptions full{
      .kv_heads = o.kv_heads, .head_dim = c.integer("global_head_dim"), .keys_are_values = alone};
  if (alone) full.kv_heads = c.integer("num_global_key_value_heads", o.kv_heads);
  for (std::int64_t i = 0; i < o.layers; ++i)
    if (o.windows.empty() || o.windows[static_cast<std::size_t>(i)] == 0) full.layers.push_back(i);
  apply_listed(c, full);
  o.ropes.push_back(rope_of(c, full.head_dim, {.theta = 1e6, .layer_type = "full_attention"}));
  o.full = full;
  o.per_layer_input = {.width = c.integer("hidden_size_per_layer_input"),
                       .vocab_size = c.integer("vocab_size_per_layer_input")};
  o.shared_kv.layers = c.integer("num_kv_shared_layers", 0);
  if (o.shared_kv.layers != 0 && c.flag("use_double_wide_mlp", false))
    o.shared_kv.mlp_width = 2 * o.mlp_width;
  if (!c.flag("enable_moe_block", false)) return o;
  o.experts = {.count = c.integer("num_experts"),
               .active = c.integer("top_k_experts"),
               .width = c.integer("moe_intermediate_size"),
               .capacity = c.number("capacity_factor", 0)};
  o.experts.beside_mlp = true;
  return o;
}

/// Names of Hugging Face's that are not the usual ones, by what ends our path.
struct Other {
  std::string_view ours, published;
};
constexpr Other kOthers[] = {
    {"experts/router/kernel", "router.proj.weight"},
    {"experts/router_scale", "router.scale"},
    {"experts/expert_scale", "router.per_expert_scale"},
    {"experts/gate/kernel", "experts.gate_up_proj"},
    {"experts/up/kernel", "experts.gate_up_proj"},
    {"experts/down/kernel", "experts.down_proj"},
    {"mlp_own_post_norm/scale", "post_feedforward_layernorm_1.weight"},
    {"experts_norm/scale", "pre_feedforward_layernorm_2.weight"},
    {"experts_post_norm/scale", "post_feedforward_layernorm_2.weight"},
    {"layers/scalar", "layer_scalar"},
};

Names names(const decoder::Options& o) {
  Names out = usual_names(o, false);
  for (WeightName& w : out.weights) {
    for (const Other& other : kOthers)
      if (w.path.ends_with(other.ours))
        w.hugging_face = "model.layers.{}." + std::string(other.published);
    // The language model of a multimodal one has another place, "model.language_model.".
    w.hugging_face.erase(0, std::string_view("model.").size());
    if (w.experts == 0) continue;
    // Of each layer one tensor for all experts, (E, out, in), gates before what they gate.
    w.stacked = true;
    if (w.path.ends_with("experts/down/kernel")) continue;
    w.parts = 2;
    w.part = w.path.ends_with("experts/up/kernel");
  }
  out.prefixes = {"model.", "model.language_model.", "language_model.model."};
  out.ignored.insert(out.ignored.end(),
                     {"*vision_tower.*", "*embed_vision.*", "*audio_tower.*", "*embed_audio.*"});
  // Released files have them too; nothing reads them.
  for (std::int64_t i = o.layers - o.shared_kv.layers; i < o.layers; ++i)
    for (const char* unused : {"k_proj", "v_proj", "k_norm", "v_norm"})
      out.ignored.push_back(fmt::format("*layers.{}.self_attn.{}.*", i, unused));
  return out;
}

std::string from_gguf(const GgufMetadata&) {
  throw Error("gemma4_text", "{}",
              "GGUF files of Gemma 4 are not supported; a Hugging Face "
              "directory is")
      .unsupported();
}

}  // namespace

Family gemma4() {
  return {"gemma4_text",
          "gemma4",
          "Gemma 4: windows and fewer, wider heads whose keys are values in turn; experts beside "
          "the feed-forward branch, or embeddings of each layer and shared keys",
          &options,
          &names,
          &from_gguf};
}

}  // namespace strata::model::published
