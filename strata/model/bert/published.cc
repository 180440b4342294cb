#include "strata/model/bert/published.h"

#include <fmt/format.h>

#include <cmath>

#include "strata/base/error.h"

namespace strata::model::published {

namespace {

decoder::Options options(const Config& c) {
  decoder::Options o = usual_options(c, "bert");
  o.context = o.learned_positions = c.integer("max_position_embeddings", 512);
  o.token_types = c.integer("type_vocab_size", 2);
  o.norm = decoder::NormKind::layer_norm;
  o.norm_place = decoder::NormPlace::after_residual;
  o.epsilon = c.number("layer_norm_eps", 1e-12);
  o.embedding_norm = true;
  o.final_norm = false;
  o.qkv_bias = o.out_bias = o.mlp_bias = true;
  o.gated = false;
  o.activation = activation_of(c.text("hidden_act", "gelu"));
  o.causal = false;
  o.has_logits = false;
  const std::string positions = c.text("position_embedding_type", "absolute");
  if (positions != "absolute")
    throw Error("config.json", "position_embedding_type={}: there is absolute", positions)
        .unsupported();
  if (c.flag("is_decoder", false) || c.flag("add_cross_attention", false))
    throw Error("config.json", "{}", "a bert that decodes is not supported").unsupported();
  return o;
}

Names names(const decoder::Options& o) {
  Names out = usual_names(o, false);
  const auto name = [&](const std::string& path, const std::string& hugging_face,
                        const std::string& gguf) {
    for (WeightName& w : out.weights) {
      if (!w.path.starts_with(path + "/")) continue;
      const std::string ending = w.path.ends_with("/bias") ? ".bias" : ".weight";
      w.hugging_face = hugging_face + ending;
      w.gguf = gguf + ending;
    }
  };
  name("embedder", "embeddings.word_embeddings", "token_embd");
  name("positions", "embeddings.position_embeddings", "position_embd");
  name("types", "embeddings.token_type_embeddings", "token_types");
  name("embedding_norm", "embeddings.LayerNorm", "token_embd_norm");
  const std::string layer = "encoder.layer.{}.";
  name("layers/attention/query", layer + "attention.self.query", "blk.{}.attn_q");
  name("layers/attention/key", layer + "attention.self.key", "blk.{}.attn_k");
  name("layers/attention/value", layer + "attention.self.value", "blk.{}.attn_v");
  name("layers/attention/out", layer + "attention.output.dense", "blk.{}.attn_output");
  name("layers/attention_post_norm", layer + "attention.output.LayerNorm",
       "blk.{}.attn_output_norm");
  name("layers/mlp/up", layer + "intermediate.dense", "blk.{}.ffn_up");
  name("layers/mlp/down", layer + "output.dense", "blk.{}.ffn_down");
  name("layers/mlp_post_norm", layer + "output.LayerNorm", "blk.{}.layer_output_norm");
  out.prefixes = {"", "bert."};
  out.old_endings = {{".gamma", ".weight"}, {".beta", ".bias"}};
  // What classifiers and the training of words have besides.
  out.ignored = {"*position_ids", "*pooler.dense.*", "cls.*"};
  return out;
}

std::string from_gguf(const GgufMetadata& m) {
  return usual_config(
      m, "bert",
      fmt::format(R"({{"hidden_act": "gelu", "layer_norm_eps": {}, "tie_word_embeddings": true}})",
                  architecture_value(m, "attention.layer_norm_epsilon").value_or("1e-12")));
}

}  // namespace

Family bert() {
  return {"bert",   "bert", "BERT and MiniLM: an encoder with LayerNorm behind each branch",
          &options, &names, &from_gguf};
}

}  // namespace strata::model::published
