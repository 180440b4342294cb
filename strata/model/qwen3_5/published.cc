#include "strata/model/qwen3_5/published.h"

#include "strata/base/error.h"
#include "strata/model/qwen3_next/published.h"

namespace strata::model::published {

namespace {

// What transformers' configurations of text have where a file says nothing.
constexpr std::string_view kDense = R"({"partial_rotary_factor": 0.25})";
constexpr std::string_view kExperts =
    R"({"partial_rotary_factor": 0.25, "num_experts": 256, "num_experts_per_tok": 8, )"
    R"("moe_intermediate_size": 512, "shared_expert_intermediate_size": 512})";

/// Positions of texts alone: those of pictures, which `mrope_section` interleaves, are equal there.
decoder::Options dense_options(const Config& stated) {
  return delta_options(stated.over(Config::parse(kDense)), "qwen3_5_text");
}

decoder::Options expert_options(const Config& stated) {
  const Config c = stated.over(Config::parse(kExperts));
  decoder::Options o = delta_options(c, "qwen3_5_moe_text");
  o.experts = experts_of(c, o.layers);
  o.experts.renormalise = true;
  o.experts.shared_width = c.integer("shared_expert_intermediate_size");
  return o;
}

Names names(const decoder::Options& o) {
  const std::int64_t each = o.delta.value_heads / o.delta.key_heads;
  const std::int64_t values = each * o.delta.value_dim;
  const std::string layer = "layers.{}.";
  const auto projection = [&](const std::string& name) {
    return layer + "linear_attn.in_proj_" + name + ".weight";
  };
  Names out = usual_names(o, false);
  for (WeightName& w : out.weights) {
    // The language model of a multimodal one has another place, "model.language_model.".
    if (w.hugging_face.starts_with("model.")) w.hugging_face.erase(0, 6);
    if (w.path.ends_with("delta_net/qkvz/kernel")) {
      w.groups = o.delta.key_heads;
      w.sections = {{projection("qkv"), o.delta.key_dim},
                    {projection("qkv"), o.delta.key_dim},
                    {projection("qkv"), values},
                    {projection("z"), values}};
    }
    if (w.path.ends_with("delta_net/ba/kernel")) {
      w.groups = o.delta.key_heads;
      w.sections = {{projection("b"), each}, {projection("a"), each}};
    }
    if (w.experts == 0) continue;
    // Released files have of each layer one tensor for all experts, (E, out, in), gates before what
    // they gate; transformers writes each expert's.
    WeightName stacked = w;
    const bool down = w.path.ends_with("experts/down/kernel");
    stacked.hugging_face = layer + (down ? "mlp.experts.down_proj" : "mlp.experts.gate_up_proj");
    stacked.stacked = true;
    stacked.parts = down ? 1 : 2;
    stacked.part = w.path.ends_with("experts/up/kernel");
    out.instead.push_back(std::move(stacked));
  }
  out.prefixes = {"model.", "model.language_model."};
  out.without_prefix = {"lm_head.weight"};
  out.ignored.insert(out.ignored.end(), {"mtp.*", "*visual.*"});
  return out;
}

std::string from_gguf(const GgufMetadata&) {
  throw Error("GGUF", "files of Qwen3.5 are not read; a Hugging Face directory is").unsupported();
}

}  // namespace

Family qwen3_5() {
  return {"qwen3_5_text",
          "qwen35",
          "Qwen3.5: three layers of the gated delta rule to one of gated attention",
          &dense_options,
          &names,
          &from_gguf};
}

Family qwen3_5_moe() {
  return {"qwen3_5_moe_text",
          "qwen35moe",
          "Qwen3.5 with experts: three layers of the gated delta rule to one of gated attention",
          &expert_options,
          &names,
          &from_gguf};
}

}  // namespace strata::model::published
