#include "strata/model/llama4/published.h"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/error.h"
#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

using Layers = std::vector<std::int64_t>;

/// Multimodal models state what differs from these.
constexpr std::string_view kDefaults = R"({"vocab_size": 202048, "hidden_size": 5120,
  "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_hidden_layers": 48,
  "num_attention_heads": 40, "num_key_value_heads": 8, "max_position_embeddings": 131072,
  "rms_norm_eps": 1e-05})";

/// Whether each layer has rotary positions.
std::vector<bool> turned_of(const Config& c, std::int64_t layers) {
  const std::vector<std::int64_t> stated = c.integers("no_rope_layers");
  const std::int64_t interval = c.integer("no_rope_layer_interval", 4);
  if (interval < 1)
    throw Error("config.json", "no_rope_layer_interval={}: allowed are numbers above 0", interval);
  if (!stated.empty() && static_cast<std::int64_t>(stated.size()) < layers)
    throw Error("config.json", "no_rope_layers has {} entries for num_hidden_layers={}",
                stated.size(), layers);
  std::vector<bool> out;
  for (std::int64_t i = 0; i < layers; ++i)
    out.push_back(stated.empty() ? (i + 1) % interval != 0
                                 : stated[static_cast<std::size_t>(i)] != 0);
  return out;
}

/// How many keys a chunk of each layer has; 0: no chunks.
Layers chunks_of(const Config& c, const std::vector<bool>& turned) {
  const std::vector<std::string> types = c.texts("layer_types");
  if (!types.empty() && types.size() != turned.size())
    throw Error("config.json", "layer_types has {} entries for num_hidden_layers={}", types.size(),
                turned.size());
  const bool none = c.names("attention_chunk_size") && !c.has("attention_chunk_size");
  const std::int64_t size = none ? 0 : c.integer("attention_chunk_size", 8192);
  Layers out;
  for (std::size_t i = 0; i < turned.size(); ++i) {
    const bool chunked = types.empty() ? turned[i] && !none : types[i] == "chunked_attention";
    if (!types.empty() && !chunked && types[i] != "full_attention")
      throw Error("config.json",
                  "layer_types has {}: there are full_attention and chunked_attention", types[i])
          .unsupported();
    if (chunked && size < 1)
      throw Error("config.json", "attention_chunk_size={}: allowed are numbers above 0",
                  c.as_json("attention_chunk_size"));
    out.push_back(chunked ? size : 0);
  }
  return out;
}

/// The numbers of the layers that have no experts.
Layers dense_of(const Config& c, std::int64_t layers) {
  const std::int64_t step = c.integer("interleave_moe_layer_step", 1);
  if (step < 1)
    throw Error("config.json", "interleave_moe_layer_step={}: allowed are numbers above 0", step);
  const Layers stated = c.integers("moe_layers");
  Layers out;
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool experts = c.has("moe_layers")
                             ? std::find(stated.begin(), stated.end(), i) != stated.end()
                             : (i + 1) % step == 0;
    if (!experts) out.push_back(i);
  }
  return out;
}

decoder::Options options(const Config& stated) {
  const Config c = stated.over(Config::parse(kDefaults));
  decoder::Options o = usual_options(c, "llama4_text", 128);
  o.qkv_bias = o.out_bias = c.flag("attention_bias", false);
  o.ropes = {rope_of(c, o.head_dim, {.theta = 500000})};
  o.pairing = decoder::Pairing::neighbours;
  const std::vector<bool> turned = turned_of(c, o.layers);
  for (bool is_turned : turned) o.rope_of_layer.push_back(is_turned ? 0 : -1);
  o.chunks = chunks_of(c, turned);
  if (std::all_of(o.chunks.begin(), o.chunks.end(), [](std::int64_t n) { return n == 0; }))
    o.chunks.clear();
  o.unit_heads = c.flag("use_qk_norm", true);
  if (c.flag("attn_temperature_tuning", true)) {
    o.temperature_length = c.integer("floor_scale", 8192);
    o.temperature_scale = c.number("attn_scale", 0.1);
    if (o.temperature_length < 1)
      throw Error("config.json", "floor_scale={}: allowed are numbers above 0",
                  o.temperature_length);
  }
  o.experts = {.count = c.integer("num_local_experts", 16),
               .active = c.integer("num_experts_per_tok", 1),
               .width = o.mlp_width,
               .shared_width = o.mlp_width,
               .renormalise = false};
  o.experts.shared_gated = false;
  o.experts.score = decoder::RouterScore::sigmoid;
  o.experts.weigh_input = true;
  o.experts.dense_at = dense_of(c, o.layers);
  o.experts.dense_layers = static_cast<std::int64_t>(o.experts.dense_at.size());
  o.mlp_width = c.integer("intermediate_size_mlp");
  return o;
}

Names names(const decoder::Options& o) {
  Names out = usual_names(o, false);
  for (WeightName& w : out.weights) {
    const std::string old = ".mlp.";
    if (const auto at = w.hugging_face.find(old); at != std::string::npos)
      w.hugging_face.replace(at, old.size(), ".feed_forward.");
    if (w.path == "layers/experts/router/kernel")
      w.hugging_face = "model.layers.{}.feed_forward.router.weight";
    if (w.experts == 0) continue;
    // Of each layer one tensor for all experts, (E, in, out), gates before what they gate.
    const bool is_down = w.path.find("/down/") != w.path.npos;
    w.hugging_face = std::string("model.layers.{}.feed_forward.experts.") +
                     (is_down ? "down_proj" : "gate_up_proj");
    w.as_ours = w.stacked = true;
    if (is_down) continue;
    w.parts = 2;
    w.part = w.path.find("/up/") != w.path.npos;
  }
  // Of a multimodal model this is the language model; its other parts are left out.
  out.prefixes = {"", "language_model."};
  out.ignored.insert(out.ignored.end(), {"vision_model.*", "multi_modal_projector.*"});
  return out;
}

/// What is code upstream: chunks of 8192, each fourth layer without positions, and that the model
/// of 128 experts does not norm its heads.
std::string from_gguf(const GgufMetadata& m) {
  const auto value = [&](const char* key, const char* otherwise) {
    return architecture_value(m, key).value_or(otherwise);
  };
  const std::string count = value("expert_count", "16");
  return usual_config(
      m, "llama4_text",
      fmt::format(R"({{"num_local_experts": {}, "num_experts_per_tok": {}, "intermediate_size": {},
                       "intermediate_size_mlp": {}, "interleave_moe_layer_step": {},
                       "use_qk_norm": {}}})",
                  count, value("expert_used_count", "1"),
                  value("expert_feed_forward_length", "8192"),
                  value("feed_forward_length", "16384"), value("interleave_moe_layer_step", "1"),
                  count == "128" ? "false" : "true"));
}

}  // namespace

Family llama4() {
  return {"llama4_text",
          "llama4",
          "Llama 4: chunks with positions beside layers without, experts whose input is weighted",
          &options,
          &names,
          &from_gguf};
}

}  // namespace strata::model::published
