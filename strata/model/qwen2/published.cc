#include "strata/model/qwen2/published.h"

#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

bool slides(const Config& c, std::int64_t layer) {
  return c.flag("use_sliding_window", false) && layer >= c.integer("max_window_layers", 28);
}

decoder::Options options(const Config& c) {
  decoder::Options o = usual_options(c, "qwen2");
  o.qkv_bias = true;
  o.ropes = {rope_of(c, o.head_dim)};
  if (c.flag("use_sliding_window", false))
    o.windows = windows_of(c, o.layers, c.integer("sliding_window", 4096), &slides);
  return o;
}

Names names(const decoder::Options& o) { return usual_names(o, false); }

std::string from_gguf(const GgufMetadata& m) { return usual_config(m, "qwen2"); }

}  // namespace

Family qwen2() {
  return {"qwen2",  "qwen2", "Qwen 2 and 2.5: Llama with biased queries, keys and values",
          &options, &names,  &from_gguf};
}

}  // namespace strata::model::published
