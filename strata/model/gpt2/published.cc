#include "strata/model/gpt2/published.h"

#include <fmt/format.h>

#include <cmath>

#include "strata/base/error.h"
#include "strata/model/decoder/weights.h"

namespace strata::model::published {

namespace {

decoder::Options options(const Config& c) {
  decoder::Options o;
  o.family = "gpt2";
  o.vocab_size = c.integer("vocab_size");
  o.width = c.integer("n_embd");
  o.layers = layers_of(c, "n_layer");
  o.query_heads = o.kv_heads = c.integer("n_head");
  if (o.query_heads < 1 || o.width % o.query_heads != 0)
    throw Error("config.json", "n_head={} does not divide n_embd={}", o.query_heads, o.width);
  o.head_dim = o.width / o.query_heads;
  o.mlp_width = c.integer("n_inner", 4 * o.width);
  o.context = o.learned_positions = c.integer("n_positions", 1024);
  o.norm = decoder::NormKind::layer_norm;
  o.epsilon = c.number("layer_norm_epsilon", 1e-5);
  o.qkv_bias = o.out_bias = o.mlp_bias = true;
  o.gated = false;
  o.activation = activation_of(c.text("activation_function", "gelu_new"));
  o.tied = c.flag("tie_word_embeddings", true);
  o.initial_deviation = c.number("initializer_range", 0.02);
  if (c.flag("add_cross_attention", false))
    throw Error("config.json", "{}", "add_cross_attention=true is not supported").unsupported();
  if (c.flag("scale_attn_weights", true))
    o.attention_scale = 1 / std::sqrt(static_cast<double>(o.head_dim));
  if (c.flag("scale_attn_by_inverse_layer_idx", false))
    for (std::int64_t i = 0; i < o.layers; ++i)
      o.layer_scales.push_back(1 / static_cast<double>(i + 1));
  return o;
}

Names names(const decoder::Options& o) {
  Names out = usual_names(o, false);
  const auto name = [&](const std::string& path, const std::string& hugging_face,
                        const std::string& gguf, std::int64_t begin = 0, std::int64_t whole = 0) {
    for (const char* kind : {"kernel", "bias", "scale"}) {
      const std::string ending = std::string(kind) == "bias" ? ".bias" : ".weight";
      const std::string own = path + "/" + kind;
      for (const WeightName& w : out.weights) {
        if (w.path != own) continue;
        replace(out, {.path = own,
                      .hugging_face = hugging_face + ending,
                      .gguf = gguf + ending,
                      .begin = begin,
                      .whole = whole,
                      .as_ours = std::string(kind) == "kernel"});
        break;
      }
    }
  };
  replace(
      out,
      {.path = "embedder/embedding", .hugging_face = "wte.weight", .gguf = "token_embd.weight"});
  replace(out, {.path = "positions/embedding",
                .hugging_face = "wpe.weight",
                .gguf = "position_embd.weight"});
  name("layers/attention/query", "h.{}.attn.c_attn", "blk.{}.attn_qkv", 0, 3 * o.width);
  name("layers/attention/key", "h.{}.attn.c_attn", "blk.{}.attn_qkv", o.width, 3 * o.width);
  name("layers/attention/value", "h.{}.attn.c_attn", "blk.{}.attn_qkv", 2 * o.width, 3 * o.width);
  name("layers/attention/out", "h.{}.attn.c_proj", "blk.{}.attn_output");
  name("layers/mlp/up", "h.{}.mlp.c_fc", "blk.{}.ffn_up");
  name("layers/mlp/down", "h.{}.mlp.c_proj", "blk.{}.ffn_down");
  name("layers/attention_norm", "h.{}.ln_1", "blk.{}.attn_norm");
  name("layers/mlp_norm", "h.{}.ln_2", "blk.{}.ffn_norm");
  name("final_norm", "ln_f", "output_norm");
  out.prefixes = {"transformer.", ""};
  // Masks that old files hold.
  out.ignored.insert(out.ignored.end(), {"*.attn.bias", "*.attn.masked_bias", "lm_head.weight"});
  return out;
}

std::string from_gguf(const GgufMetadata& m) {
  const auto needed = [&](std::string_view key) {
    const auto value = architecture_value(m, key);
    if (!value) throw Error("GGUF", "gpt2.{} is missing", key);
    return *value;
  };
  if (m.embedding_shape.size() != 2)
    throw Error("GGUF", "token_embd.weight has {} dimensions; 2 are needed",
                m.embedding_shape.size());
  return fmt::format(
      R"({{"model_type": "gpt2", "vocab_size": {}, "n_embd": {}, "n_layer": {}, "n_head": {}, )"
      R"("n_inner": {}, "n_positions": {}, "layer_norm_epsilon": {}}})",
      m.embedding_shape[0], needed("embedding_length"), needed("block_count"),
      needed("attention.head_count"), needed("feed_forward_length"), needed("context_length"),
      needed("attention.layer_norm_epsilon"));
}

}  // namespace

Family gpt2() {
  return {"gpt2",   "gpt2", "GPT-2: LayerNorm, learned positions, GELU, everything biased",
          &options, &names, &from_gguf};
}

}  // namespace strata::model::published
