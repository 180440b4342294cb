#include "strata/model/qwen2_moe/published.h"

#include "strata/base/error.h"
#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

bool slides(const Config& c, std::int64_t layer) {
  return layer >= c.integer("max_window_layers", 28);
}

decoder::Options options(const Config& c) {
  decoder::Options o = usual_options(c, "qwen2_moe");
  o.qkv_bias = c.flag("qkv_bias", true);
  o.ropes = {rope_of(c, o.head_dim)};
  o.experts = experts_of(c, o.layers);
  o.experts.shared_width = c.integer("shared_expert_intermediate_size", 5632);
  if (c.flag("use_sliding_window", false))
    o.windows = windows_of(c, o.layers, c.integer("sliding_window", 4096), &slides);
  return o;
}

Names names(const decoder::Options& o) { return usual_names(o, false); }

std::string from_gguf(const GgufMetadata&) {
  throw Error("GGUF", "files of architecture qwen2moe are not read").unsupported();
}

}  // namespace

Family qwen2_moe() {
  return {"qwen2_moe", "qwen2moe", "Qwen 2 with experts, one of them for all tokens",
          &options,    &names,     &from_gguf};
}

}  // namespace strata::model::published
