#include "strata/model/qwen3_next/published.h"

#include "strata/base/error.h"
#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

constexpr std::string_view kDefaults = R"({"partial_rotary_factor": 0.25})";

/// The numbers of the layers that have the delta rule instead of attention.
std::vector<std::int64_t> delta_layers(const Config& c, std::int64_t layers) {
  const std::vector<std::string> types = c.texts("layer_types");
  const std::int64_t interval = c.integer("full_attention_interval", 4);
  if (interval < 1)
    throw Error("config.json", "full_attention_interval={}: allowed are numbers above 0", interval);
  if (!types.empty() && static_cast<std::int64_t>(types.size()) != layers)
    throw Error("config.json", "layer_types has {} entries for num_hidden_layers={}", types.size(),
                layers);
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string type = !types.empty()            ? types[static_cast<std::size_t>(i)]
                             : (i + 1) % interval != 0 ? "linear_attention"
                                                       : "full_attention";
    if (type == "linear_attention")
      out.push_back(i);
    else if (type != "full_attention")
      throw Error("config.json",
                  "layer_types has {}: there are full_attention and linear_attention", type)
          .unsupported();
  }
  return out;
}

decoder::Options options(const Config& stated) {
  const Config c = stated.over(Config::parse(kDefaults));
  decoder::Options o = delta_options(c, "qwen3_next");
  o.experts = experts_of(c, o.layers);
  if (o.experts.dense_layers > 0)
    throw Error("config.json", "mlp_only_layers={}: allowed is none beside linear attention",
                c.as_json("mlp_only_layers"))
        .unsupported();
  o.experts.shared_width = c.integer("shared_expert_intermediate_size", 512);
  return o;
}

Names names(const decoder::Options& o) {
  Names out = usual_names(o, false);
  out.ignored.push_back("mtp.*");
  return out;
}

std::string from_gguf(const GgufMetadata&) {
  throw Error("GGUF", "files of architecture qwen3next are not read").unsupported();
}

}  // namespace

decoder::Options delta_options(const Config& c, std::string_view model_type) {
  decoder::Options o = usual_options(c, model_type, 256);
  o.norm = decoder::NormKind::gemma;
  o.qkv_bias = o.out_bias = c.flag("attention_bias", false);
  o.head_norm = decoder::HeadNorm::each_head;
  o.gated_attention = true;
  o.ropes = {rope_of(c, o.head_dim)};
  o.delta = {.key_heads = c.integer("linear_num_key_heads", 16),
             .value_heads = c.integer("linear_num_value_heads", 32),
             .key_dim = c.integer("linear_key_head_dim", 128),
             .value_dim = c.integer("linear_value_head_dim", 128),
             .taps = c.integer("linear_conv_kernel_dim", 4),
             .layers = delta_layers(c, o.layers)};
  return o;
}

Family qwen3_next() {
  return {"qwen3_next",
          "qwen3next",
          "Qwen3-Next: three layers of the gated delta rule to one of gated attention, and experts",
          &options,
          &names,
          &from_gguf};
}

}  // namespace strata::model::published
