#include "strata/model/qwen3/published.h"

#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

bool slides(const Config& c, std::int64_t layer) {
  return c.flag("use_sliding_window", false) && layer >= c.integer("max_window_layers", 28);
}

decoder::Options options(const Config& c) {
  decoder::Options o = usual_options(c, "qwen3", 128);
  o.qkv_bias = o.out_bias = c.flag("attention_bias", false);
  o.head_norm = decoder::HeadNorm::each_head;
  o.ropes = {rope_of(c, o.head_dim)};
  if (c.flag("use_sliding_window", false))
    o.windows = windows_of(c, o.layers, c.integer("sliding_window", 4096), &slides);
  return o;
}

Names names(const decoder::Options& o) { return usual_names(o, false); }

std::string from_gguf(const GgufMetadata& m) { return usual_config(m, "qwen3"); }

}  // namespace

Family qwen3() {
  return {"qwen3",  "qwen3", "Qwen 3: Llama whose heads of queries and keys are normed",
          &options, &names,  &from_gguf};
}

}  // namespace strata::model::published
