#include "strata/model/gemma/published.h"

#include <cmath>

#include "strata/base/error.h"
#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

decoder::Options gemma_options(const Config& c, std::string_view model_type) {
  decoder::Options o = usual_options(c, model_type, 256);
  o.norm = decoder::NormKind::gemma;
  o.tied = c.flag("tie_word_embeddings", true);
  o.qkv_bias = o.out_bias = c.flag("attention_bias", false);
  // Files of the first models say gelu and mean its form by tanh.
  const std::string named = c.text("hidden_activation", c.text("hidden_act", "gelu_pytorch_tanh"));
  o.activation = named == "gelu" ? decoder::Activation::gelu_tanh : activation_of(named);
  o.embedding_scale = std::sqrt(static_cast<double>(o.width));
  if (c.flag("use_bidirectional_attention", false))
    throw Error("config.json", "{}", "use_bidirectional_attention=true is not supported")
        .unsupported();
  return o;
}

namespace {

decoder::Options options(const Config& c) {
  decoder::Options o = gemma_options(c, "gemma");
  o.ropes = {rope_of(c, o.head_dim)};
  return o;
}

Names names(const decoder::Options& o) { return usual_names(o, false); }

std::string from_gguf(const GgufMetadata& m) { return usual_config(m, "gemma"); }

}  // namespace

Family gemma() {
  return {"gemma",  "gemma", "Gemma 1: scaled embeddings, norms of 1 + weight, GELU",
          &options, &names,  &from_gguf};
}

}  // namespace strata::model::published
