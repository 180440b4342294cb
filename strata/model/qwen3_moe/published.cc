#include "strata/model/qwen3_moe/published.h"

#include "strata/base/error.h"
#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

decoder::Options options(const Config& c) {
  decoder::Options o = usual_options(c, "qwen3_moe", 128);
  o.qkv_bias = o.out_bias = c.flag("attention_bias", false);
  o.head_norm = decoder::HeadNorm::each_head;
  o.ropes = {rope_of(c, o.head_dim)};
  o.experts = experts_of(c, o.layers);
  if (c.flag("use_sliding_window", false))
    o.windows = std::vector<std::int64_t>(static_cast<std::size_t>(o.layers),
                                          c.integer("sliding_window", 4096));
  return o;
}

Names names(const decoder::Options& o) { return usual_names(o, false); }

std::string from_gguf(const GgufMetadata&) {
  throw Error("GGUF", "files of architecture qwen3moe are not read").unsupported();
}

}  // namespace

Family qwen3_moe() {
  return {"qwen3_moe", "qwen3moe", "Qwen 3 with experts", &options, &names, &from_gguf};
}

}  // namespace strata::model::published
