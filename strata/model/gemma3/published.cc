#include "strata/model/gemma3/published.h"

#include <fmt/format.h>

#include <cmath>

#include "strata/base/error.h"
#include "strata/model/gemma/published.h"
#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

bool slides(const Config& c, std::int64_t layer) {
  const std::int64_t pattern =
      c.integer("sliding_window_pattern", c.integer("_sliding_window_pattern", 6));
  if (pattern < 1)
    throw Error("config.json", "sliding_window_pattern={}: allowed are numbers above 0", pattern);
  return (layer + 1) % pattern != 0;
}

/// Layers with a window turn by a base of their own, and are not stretched.
decoder::Rope local_rope(const Config& c, std::int64_t head_dim) {
  if (const auto all = c.child("rope_parameters"); all && all->has_object("sliding_attention"))
    return rope_of(c, head_dim, {.layer_type = "sliding_attention"});
  return {.theta = c.number("rope_local_base_freq", 1e4),
          .width = head_dim,
          .length = c.integer("max_position_embeddings", 0)};
}

decoder::Options options(const Config& c) {
  decoder::Options o = gemma_options(c, "gemma3_text");
  o.norm_place = decoder::NormPlace::around;
  o.head_norm = decoder::HeadNorm::each_head;
  o.attention_scale = 1 / std::sqrt(c.number("query_pre_attn_scalar", 256));
  o.attention_cap = c.cap("attn_logit_softcapping", 0);
  o.logit_cap = c.cap("final_logit_softcapping", 0);
  o.windows = windows_of(c, o.layers, c.integer("sliding_window", 4096), &slides);
  o.ropes = {rope_of(c, o.head_dim, {.theta = 1e6, .layer_type = "full_attention"}),
             local_rope(c, o.head_dim)};
  for (std::int64_t i = 0; i < o.layers; ++i)
    o.rope_of_layer.push_back(!o.windows.empty() && o.windows[static_cast<std::size_t>(i)] > 0);
  return o;
}

Names names(const decoder::Options& o) {
  Names out = usual_names(o, false);
  // Below text_config of a multimodal model, whose other parts are no part of this one.
  out.prefixes = {"", "language_model.", "model.language_model."};
  return out;
}

/// Which layers slide: a list, a period, or upstream's code.
std::string pattern_of(const GgufMetadata& m) {
  const std::string value = architecture_value(m, "attention.sliding_window_pattern").value_or("6");
  if (!value.starts_with('[')) return fmt::format(R"("sliding_window_pattern": {})", value);
  std::vector<std::string_view> types;
  for (bool sliding : Config::parse(R"({"p": )" + value + "}").flags("p"))
    types.push_back(sliding ? R"("sliding_attention")" : R"("full_attention")");
  return fmt::format(R"("layer_types": [{}])", fmt::join(types, ", "));
}

/// That the largest model divides its queries by width / heads no key says.
std::string from_gguf(const GgufMetadata& m) {
  constexpr std::int64_t kLargestLayers = 62;
  const Config c = Config::parse(usual_config(m, "gemma3_text"));
  const std::int64_t layers = c.integer("num_hidden_layers"), width = c.integer("hidden_size"),
                     heads = c.integer("num_attention_heads");
  const std::int64_t scalar =
      layers == kLargestLayers && heads > 0 ? width / heads : c.integer("head_dim", 256);
  return usual_config(
      m, "gemma3_text",
      fmt::format(R"({{"query_pre_attn_scalar": {}, "rope_local_base_freq": {}, {}}})", scalar,
                  architecture_value(m, "rope.freq_base_swa").value_or("10000.0"), pattern_of(m)));
}

}  // namespace

Family gemma3() {
  return {"gemma3_text",
          "gemma3",
          "Gemma 3: Gemma 2 with normed heads instead of caps, five windows "
          "to one layer without",
          &options,
          &names,
          &from_gguf};
}

}  // namespace strata::model::published
