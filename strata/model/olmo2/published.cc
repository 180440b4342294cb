#include "strata/model/olmo2/published.h"

#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

decoder::Options options(const Config& c) {
  decoder::Options o = usual_options(c, "olmo2");
  o.epsilon = c.number("rms_norm_eps", 1e-5);
  o.norm = decoder::NormKind::olmo2;
  o.norm_place = decoder::NormPlace::after;
  o.head_norm = decoder::HeadNorm::all_heads;
  o.qkv_bias = o.out_bias = c.flag("attention_bias", false);
  o.ropes = {rope_of(c, o.head_dim)};
  return o;
}

Names names(const decoder::Options& o) { return usual_names(o, false); }

std::string from_gguf(const GgufMetadata& m) { return usual_config(m, "olmo2"); }

}  // namespace

Family olmo2() {
  return {"olmo2",  "olmo2", "OLMo 2: norms behind both branches, and of all queries and keys",
          &options, &names,  &from_gguf};
}

}  // namespace strata::model::published
