#include "strata/model/published/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "strata/base/error.h"
#include "strata/base/text.h"

namespace strata::model::published {

using decoder::Options;

const Family& family(std::string_view model_type) {
  std::vector<std::string_view> names;
  for (const Family& f : families()) {
    if (f.model_type == model_type) return f;
    names.push_back(f.model_type);
  }
  throw Error("model", "there is no family of model_type {}{}; there are {}", model_type,
              did_you_mean(model_type, names), fmt::join(names, ", "))
      .unsupported();
}

const Family& family_of(const GgufMetadata& metadata) {
  const std::string name = metadata.text("general.architecture");
  // So say Mixtral's and Mistral's files; experts and a window are what tells them apart.
  if (name == "llama" && architecture_value(metadata, "expert_count").value_or("0") != "0")
    return family("mixtral");
  if (name == "llama" &&
      architecture_value(metadata, "attention.sliding_window").value_or("0") != "0")
    return family("mistral");
  // DeepSeek V3's gate scores by sigmoid, function 2; V2's by softmax.
  if (name == "deepseek2")
    return family(architecture_value(metadata, "expert_gating_func").value_or("1") == "2"
                      ? "deepseek_v3"
                      : "deepseek_v2");
  std::vector<std::string_view> names;
  for (const Family& f : families()) {
    if (f.architecture == name) return f;
    if (std::find(names.begin(), names.end(), f.architecture) == names.end())
      names.push_back(f.architecture);
  }
  throw Error("model", "there is no family of GGUF's architecture {}; there are {}", name,
              fmt::join(names, ", "))
      .unsupported();
}

Options usual_options(const Config& c, std::string_view model_type, std::int64_t head_dim) {
  Options o;
  o.family = model_type;
  o.vocab_size = c.integer("vocab_size");
  o.width = c.integer("hidden_size");
  o.layers = layers_of(c, "num_hidden_layers");
  o.query_heads = c.integer("num_attention_heads");
  o.kv_heads = c.integer("num_key_value_heads", o.query_heads);
  if (o.query_heads < 1 || (!c.has("head_dim") && head_dim == 0 && o.width % o.query_heads != 0))
    throw Error("config.json", "num_attention_heads={} does not divide hidden_size={}",
                o.query_heads, o.width);
  o.head_dim = c.integer("head_dim", head_dim != 0 ? head_dim : o.width / o.query_heads);
  o.mlp_width = c.integer("intermediate_size");
  o.epsilon = c.number("rms_norm_eps", 1e-6);
  o.tied = c.flag("tie_word_embeddings", false);
  o.activation = activation_of(c.text("hidden_act", "silu"));
  o.context = c.integer("max_position_embeddings", 0);
  // No key of upstream's: DeepSeek's num_nextn_predict_layers says what a file has, this one what
  // is read of it.
  o.mtp_layers = c.integer("mtp_num_layers", 0);
  o.initial_deviation = c.number("initializer_range", 0.02);
  // Of most families upstream knows no such key; a run that goes on from MaxText's weights has it.
  const auto head = static_cast<double>(std::max<std::int64_t>(o.head_dim, 1));
  o.attention_scale = 1 / std::sqrt(c.number("query_pre_attn_scalar", head));
  return o;
}

std::int64_t layers_of(const Config& c, std::string_view key) {
  constexpr std::int64_t kMost = 1 << 14;
  const std::int64_t n = c.integer(key);
  if (n < 1 || n > kMost)
    throw Error("config.json", "{}={}: allowed is an integer from 1 to {}", key, n, kMost);
  return n;
}

decoder::ExpertOptions experts_of(const Config& c, std::int64_t layers) {
  decoder::ExpertOptions out{.count = c.integer("num_experts", c.integer("num_local_experts", 0)),
                             .active = c.integer("num_experts_per_tok"),
                             .width = c.integer("moe_intermediate_size"),
                             .renormalise = c.flag("norm_topk_prob", false),
                             .capacity = c.number("capacity_factor", 0)};
  if (c.integer("decoder_sparse_step", 1) != 1)
    throw Error("config.json", "decoder_sparse_step={}: allowed is 1",
                c.as_json("decoder_sparse_step"))
        .unsupported();
  std::vector<std::int64_t> dense = c.integers("mlp_only_layers");
  std::sort(dense.begin(), dense.end());
  for (std::size_t i = 0; i < dense.size(); ++i)
    if (dense[i] != static_cast<std::int64_t>(i) || dense[i] >= layers)
      throw Error("config.json", "mlp_only_layers={}: allowed are the leading layers, 0, 1, ...",
                  c.as_json("mlp_only_layers"))
          .unsupported();
  out.dense_layers = static_cast<std::int64_t>(dense.size());
  if (out.count == 0) throw Error("config.json", "num_experts is missing");
  return out;
}

decoder::Activation activation_of(const std::string& name) {
  if (name == "silu" || name == "swish") return decoder::Activation::silu;
  if (name == "gelu") return decoder::Activation::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return decoder::Activation::gelu_tanh;
  if (name == "relu") return decoder::Activation::relu;
  throw Error("config.json",
              "the activation {} is not there: there are silu, gelu, gelu_new, gelu_pytorch_tanh, "
              "relu",
              name)
      .unsupported();
}

std::vector<std::int64_t> windows_of(const Config& c, std::int64_t layers, std::int64_t window,
                                     bool (*slides)(const Config&, std::int64_t layer)) {
  const std::vector<std::string> types = c.texts("layer_types");
  std::vector<std::int64_t> out;
  if (!types.empty() && static_cast<std::int64_t>(types.size()) != layers)
    throw Error("config.json", "layer_types has {} entries for num_hidden_layers={}", types.size(),
                layers);
  for (std::int64_t i = 0; i < layers; ++i) {
    bool sliding = false;
    if (types.empty()) {
      sliding = slides(c, i);
    } else {
      const std::string& type = types[static_cast<std::size_t>(i)];
      if (type != "full_attention" && type != "sliding_attention")
        throw Error("config.json",
                    "layer_types has {}: there are full_attention and sliding_attention", type)
            .unsupported();
      sliding = type == "sliding_attention";
    }
    if (sliding && window < 1)
      throw Error("config.json", "sliding_window={}: layers that slide need a number above 0",
                  c.as_json("sliding_window"));
    out.push_back(sliding ? window : 0);
  }
  if (std::all_of(out.begin(), out.end(), [](std::int64_t w) { return w == 0; })) out.clear();
  return out;
}

}  // namespace strata::model::published
