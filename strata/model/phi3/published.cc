#include "strata/model/phi3/published.h"

#include "strata/model/published/rope_parameters.h"

namespace strata::model::published {

namespace {

decoder::Options options(const Config& c) {
  decoder::Options o = usual_options(c, "phi3");
  o.epsilon = c.number("rms_norm_eps", 1e-5);
  o.ropes = {rope_of(c, o.head_dim, {.old_longrope = true})};
  if (const std::int64_t window = c.integer("sliding_window", 0); window > 0)
    o.windows = std::vector<std::int64_t>(static_cast<std::size_t>(o.layers), window);
  return o;
}

/// Queries, keys and values are one tensor, and so are gate and up, in this order of rows.
Names names(const decoder::Options& o) {
  Names out = usual_names(o, false);
  const std::int64_t q = o.query_heads * o.head_dim, kv = o.kv_heads * o.head_dim;
  const auto part = [&](const char* path, const char* hugging_face, const char* gguf,
                        std::int64_t begin, std::int64_t whole) {
    replace(
        out,
        {.path = path, .hugging_face = hugging_face, .gguf = gguf, .begin = begin, .whole = whole});
  };
  const char* qkv = "model.layers.{}.self_attn.qkv_proj.weight";
  part("layers/attention/query/kernel", qkv, "blk.{}.attn_qkv.weight", 0, q + 2 * kv);
  part("layers/attention/key/kernel", qkv, "blk.{}.attn_qkv.weight", q, q + 2 * kv);
  part("layers/attention/value/kernel", qkv, "blk.{}.attn_qkv.weight", q + kv, q + 2 * kv);
  const char* gate_up = "model.layers.{}.mlp.gate_up_proj.weight";
  part("layers/mlp/gate/kernel", gate_up, "blk.{}.ffn_up.weight", 0, 2 * o.mlp_width);
  part("layers/mlp/up/kernel", gate_up, "blk.{}.ffn_up.weight", o.mlp_width, 2 * o.mlp_width);
  out.gguf_ignored.push_back("rope_factors_*");
  return out;
}

std::string from_gguf(const GgufMetadata& m) { return usual_config(m, "phi3"); }

}  // namespace

Family phi3() {
  return {"phi3",
          "phi3",
          "Phi-3: Llama with fused projections, rotary positions stretched by "
          "longrope",
          &options,
          &names,
          &from_gguf};
}

}  // namespace strata::model::published
