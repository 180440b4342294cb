#include "strata/model/gemma2/published.h"

#include <fmt/format.h>

#include <cmath>

#include "strata/model/gemma/published.h"
#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

bool slides(const Config&, std::int64_t layer) { return (layer + 1) % 2 != 0; }

decoder::Options options(const Config& c) {
  decoder::Options o = gemma_options(c, "gemma2");
  o.norm_place = decoder::NormPlace::around;
  o.attention_scale = 1 / std::sqrt(c.number("query_pre_attn_scalar", 256));
  o.attention_cap = c.cap("attn_logit_softcapping", 50);
  o.logit_cap = c.cap("final_logit_softcapping", 30);
  o.windows = windows_of(c, o.layers, c.integer("sliding_window", 4096), &slides);
  o.ropes = {rope_of(c, o.head_dim)};
  return o;
}

Names names(const decoder::Options& o) { return usual_names(o, false); }

/// The largest model divides its queries by width / heads, which no key says.
std::string from_gguf(const GgufMetadata& m) {
  constexpr std::int64_t kLargestLayers = 46;
  const Config c = Config::parse(usual_config(m, "gemma2"));
  const std::int64_t layers = c.integer("num_hidden_layers"), width = c.integer("hidden_size"),
                     heads = c.integer("num_attention_heads");
  const std::int64_t scalar =
      layers == kLargestLayers && heads > 0 ? width / heads : c.integer("head_dim", 256);
  return usual_config(
      m, "gemma2",
      fmt::format(R"({{"query_pre_attn_scalar": {}, "attn_logit_softcapping": {}, )"
                  R"("final_logit_softcapping": {}}})",
                  scalar, architecture_value(m, "attn_logit_softcapping").value_or("50"),
                  architecture_value(m, "final_logit_softcapping").value_or("30")));
}

}  // namespace

Family gemma2() {
  return {"gemma2",
          "gemma2",
          "Gemma 2: norms around both branches, soft caps, every other layer a "
          "window",
          &options,
          &names,
          &from_gguf};
}

}  // namespace strata::model::published
