#include "strata/model/smollm3/published.h"

#include "strata/base/error.h"
#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

/// 1 for each layer with rotary positions.
std::vector<std::int64_t> rotary_layers(const Config& c, std::int64_t layers) {
  std::vector<std::int64_t> out = c.integers("no_rope_layers");
  if (out.empty()) {
    const std::int64_t interval = c.integer("no_rope_layer_interval", 4);
    if (interval < 1)
      throw Error("config.json", "no_rope_layer_interval={}: allowed are numbers above 0",
                  interval);
    for (std::int64_t i = 0; i < layers; ++i) out.push_back((i + 1) % interval != 0 ? 1 : 0);
  }
  if (static_cast<std::int64_t>(out.size()) != layers)
    throw Error("config.json", "no_rope_layers has {} entries for num_hidden_layers={}", out.size(),
                layers);
  return out;
}

bool slides(const Config& c, std::int64_t layer) {
  return c.flag("use_sliding_window", false) && c.has("sliding_window") &&
         rotary_layers(c, c.integer("num_hidden_layers"))[static_cast<std::size_t>(layer)] == 0;
}

decoder::Options options(const Config& c) {
  decoder::Options o = usual_options(c, "smollm3");
  o.tied = c.flag("tie_word_embeddings", true);
  o.qkv_bias = o.out_bias = c.flag("attention_bias", false);
  o.mlp_bias = c.flag("mlp_bias", false);
  o.ropes = {rope_of(c, o.head_dim, {.theta = 2e6})};
  for (std::int64_t has : rotary_layers(c, o.layers)) o.rope_of_layer.push_back(has != 0 ? 0 : -1);
  o.windows = windows_of(c, o.layers, c.integer("sliding_window", 0), &slides);
  return o;
}

Names names(const decoder::Options& o) { return usual_names(o, true); }

std::string from_gguf(const GgufMetadata& m) { return usual_config(m, "smollm3"); }

}  // namespace

Family smollm3() {
  return {"smollm3", "smollm3", "SmolLM3: Llama, some of whose layers know no positions",
          &options,  &names,    &from_gguf};
}

}  // namespace strata::model::published
