#include "strata/model/olmo3/published.h"

#include "strata/base/error.h"
#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

bool slides(const Config&, std::int64_t layer) { return (layer + 1) % 4 != 0; }

/// Scaling that the file states for all layers is that of layers without a window; by layer type it
/// may be of both.
decoder::Rope local_rope(const Config& c, std::int64_t head_dim) {
  if (const auto all = c.child("rope_parameters"); all && all->has_object("sliding_attention"))
    return rope_of(c, head_dim, {.theta = 500000, .layer_type = "sliding_attention"});
  return {.theta = c.number("rope_theta", 500000),
          .width = head_dim,
          .length = c.integer("max_position_embeddings", 0)};
}

decoder::Options options(const Config& c) {
  decoder::Options o = usual_options(c, "olmo3");
  o.epsilon = c.number("rms_norm_eps", 1e-5);
  o.norm = decoder::NormKind::olmo2;
  o.norm_place = decoder::NormPlace::after;
  o.head_norm = decoder::HeadNorm::all_heads;
  o.qkv_bias = o.out_bias = c.flag("attention_bias", false);
  o.windows = windows_of(c, o.layers, c.integer("sliding_window", 4096), &slides);
  o.ropes = {rope_of(c, o.head_dim, {.theta = 500000, .layer_type = "full_attention"}),
             local_rope(c, o.head_dim)};
  for (std::int64_t i = 0; i < o.layers; ++i)
    o.rope_of_layer.push_back(!o.windows.empty() && o.windows[static_cast<std::size_t>(i)] > 0);
  return o;
}

Names names(const decoder::Options& o) { return usual_names(o, false); }

std::string from_gguf(const GgufMetadata&) {
  throw Error("GGUF", "files of architecture olmo3 are not read").unsupported();
}

}  // namespace

Family olmo3() {
  return {"olmo3",  "olmo3", "OLMo 3: OLMo 2 with three windows to one layer without",
          &options, &names,  &from_gguf};
}

}  // namespace strata::model::published
