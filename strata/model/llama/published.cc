#include "strata/model/llama/published.h"

#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

decoder::Options options(const Config& c) {
  decoder::Options o = usual_options(c, "llama");
  o.qkv_bias = o.out_bias = c.flag("attention_bias", false);
  o.mlp_bias = c.flag("mlp_bias", false);
  o.ropes = {rope_of(c, o.head_dim)};
  return o;
}

Names names(const decoder::Options& o) {
  Names out = usual_names(o, true);
  // Some files hold llama3's divisors, which the configuration has.
  out.gguf_ignored.push_back("rope_freqs.weight");
  return out;
}

std::string from_gguf(const GgufMetadata& m) { return usual_config(m, "llama"); }

}  // namespace

Family llama() {
  return {"llama",  "llama", "Llama 2 and 3, SmolLM2: RMSNorm, rotary positions, SwiGLU",
          &options, &names,  &from_gguf};
}

}  // namespace strata::model::published
