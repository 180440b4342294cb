#include "strata/model/decoder/weights.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "strata/api/index.h"
#include "strata/api/random.h"
#include "strata/api/transform/vmap.h"

namespace strata::model::decoder {

namespace {

using Sizes = std::vector<std::int64_t>;

/// Makes parts of the tree, each at its path.
class Maker {
 public:
  Maker(const Options& options, const WeightMaker& make) : o_(options), make_(make) {}

  Array one(const std::string& path, Sizes shape, WeightKind kind) const {
    if (const std::int64_t layers = layers_in(o_, path); layers > 0)
      shape.insert(shape.begin(), layers);
    return make_(path, shape, kind);
  }
  std::optional<BlockFormat> packed(const std::string& path) const {
    const auto it = o_.packed.find(path);
    return it == o_.packed.end() ? std::nullopt : std::optional(it->second);
  }
  Linear linear(const std::string& path, std::int64_t in, std::int64_t out, bool bias) const {
    Linear made;
    made.kernel = one(path + "/kernel", {in, out}, WeightKind::matrix);
    made.product.packed = packed(path + "/kernel");
    if (bias) made.bias = one(path + "/bias", {out}, WeightKind::bias);
    if (const auto it = o_.adapters.find(path); it != o_.adapters.end()) {
      const std::int64_t rank = it->second.rank;
      made.lora = Adapter{.a = one(path + "/lora/a", {in, rank}, WeightKind::adapter_a),
                          .b = one(path + "/lora/b", {rank, out}, WeightKind::adapter_b),
                          .scale = it->second.scale()};
    }
    return made;
  }
  nn::Embed embed(const std::string& path, std::int64_t rows, std::int64_t width) const {
    nn::Embed made(one(path + "/embedding", {rows, width}, WeightKind::embedding));
    made.packed = packed(path + "/embedding");
    return made;
  }
  Norm norm(const std::string& path, std::int64_t width) const {
    Norm made{.scale = one(path + "/scale", {width}, WeightKind::scale), .bias = {}};
    if (o_.norm == NormKind::layer_norm) made.bias = one(path + "/bias", {width}, WeightKind::bias);
    return made;
  }
  std::optional<Norm> norm_if(bool there, const std::string& path) const {
    if (!there) return {};
    return norm(path, o_.width);
  }
  Attention attention(const std::string& path) const {
    const bool full = path.find("full_layers/") != std::string::npos;
    const bool shared = path.starts_with("shared_");
    const std::int64_t head_dim = full ? o_.full.head_dim : o_.head_dim,
                       q = o_.query_heads * head_dim,
                       kv = (full ? o_.full.kv_heads : o_.kv_heads) * head_dim;
    Attention made;
    made.query = linear(path + "/query", o_.width, o_.gated_attention ? 2 * q : q, o_.qkv_bias);
    if (!shared) made.key = linear(path + "/key", o_.width, kv, o_.qkv_bias);
    if (!shared && !(full && o_.full.keys_are_values))
      made.value = linear(path + "/value", o_.width, kv, o_.qkv_bias);
    made.out = linear(path + "/out", q, o_.width, o_.out_bias);
    if (o_.sinks) made.sinks = one(path + "/sinks", {o_.query_heads}, WeightKind::bias);
    if (o_.head_norm == HeadNorm::none) return made;
    const bool each = o_.head_norm == HeadNorm::each_head;
    made.query_norm = norm(path + "/query_norm", each ? head_dim : q);
    if (!shared) made.key_norm = norm(path + "/key_norm", each ? head_dim : kv);
    return made;
  }
  LatentAttention latent(const std::string& path) const {
    const LatentOptions& l = o_.latent;
    const std::int64_t q = o_.query_heads * (l.plain_dim + l.turned_dim);
    LatentAttention made;
    if (l.query_rank == 0) {
      made.query = linear(path + "/query", o_.width, q, false);
    } else {
      made.query_a = linear(path + "/query_a", o_.width, l.query_rank, o_.qkv_bias);
      made.query_a_norm = norm(path + "/query_a_norm", l.query_rank);
      made.query_b = linear(path + "/query_b", l.query_rank, q, false);
    }
    made.kv_a = linear(path + "/kv_a", o_.width, l.kv_rank + l.turned_dim, o_.qkv_bias);
    made.kv_a_norm = norm(path + "/kv_a_norm", l.kv_rank);
    made.kv_b =
        linear(path + "/kv_b", l.kv_rank, o_.query_heads * (l.plain_dim + l.value_dim), false);
    made.out = linear(path + "/out", o_.query_heads * l.value_dim, o_.width, o_.out_bias);
    return made;
  }
  DeltaNet delta(const std::string& path) const {
    const DeltaOptions& d = o_.delta;
    const std::int64_t keys = d.key_heads * d.key_dim, values = d.value_heads * d.value_dim;
    DeltaNet made;
    made.qkvz = linear(path + "/qkvz", o_.width, 2 * keys + 2 * values, false);
    made.ba = linear(path + "/ba", o_.width, 2 * d.value_heads, false);
    made.conv = one(path + "/conv", {d.taps, 2 * keys + values}, WeightKind::convolution);
    made.dt_bias = one(path + "/dt_bias", {d.value_heads}, WeightKind::ones);
    made.a_log = one(path + "/a_log", {d.value_heads}, WeightKind::decay);
    made.norm = {.scale = one(path + "/norm/scale", {d.value_dim}, WeightKind::ones), .bias = {}};
    made.out = linear(path + "/out", values, o_.width, false);
    return made;
  }
  FeedForward mlp(const std::string& path, std::int64_t width) const {
    FeedForward made;
    if (o_.gated) made.gate = linear(path + "/gate", o_.width, width, o_.mlp_bias);
    made.up = linear(path + "/up", o_.width, width, o_.mlp_bias);
    made.down = linear(path + "/down", width, o_.width, o_.mlp_bias);
    return made;
  }
  ExpertWeight expert_weight(const std::string& path, std::int64_t in, std::int64_t out) const {
    ExpertWeight made{one(path + "/kernel", {o_.experts.count, in, out}, WeightKind::experts), {}};
    if (o_.experts.biased)
      made.bias = one(path + "/bias", {o_.experts.count, out}, WeightKind::expert_bias);
    return made;
  }
  Experts experts(const std::string& path) const {
    const ExpertOptions& e = o_.experts;
    Experts made;
    made.router = linear(path + "/router", o_.width, e.count, e.biased);
    if (e.beside_mlp) {
      made.router_scale = one(path + "/router_scale", {o_.width}, WeightKind::ones);
      made.expert_scale = one(path + "/expert_scale", {e.count}, WeightKind::ones);
    }
    if (e.choice_bias)
      made.choice_bias = one(path + "/choice_bias", {e.count}, WeightKind::choice_bias);
    made.gate = expert_weight(path + "/gate", o_.width, e.width);
    made.up = expert_weight(path + "/up", o_.width, e.width);
    made.down = expert_weight(path + "/down", e.width, o_.width);
    if (e.shared_width > 0) made.shared = mlp(path + "/shared", e.shared_width);
    if (e.shared_width > 0 && e.shared_gated)
      made.shared_gate = linear(path + "/shared_gate", o_.width, 1, false);
    return made;
  }
  Layer layer(const std::string& path, bool has_experts) const {
    const bool ahead = o_.norm_place == NormPlace::before || o_.norm_place == NormPlace::around;
    const bool behind = o_.norm_place != NormPlace::before;
    Layer made;
    made.attention_norm = norm_if(ahead, path + "/attention_norm");
    if (path == "delta_layers")
      made.delta_net = delta(path + "/delta_net");
    else if (o_.latent.kv_rank > 0)
      made.latent_attention = latent(path + "/latent_attention");
    else
      made.attention = attention(path + "/attention");
    made.attention_post_norm = norm_if(behind, path + "/attention_post_norm");
    made.mlp_norm = norm_if(ahead, path + "/mlp_norm");
    if (has_experts) made.experts = experts(path + "/experts");
    const bool beside = has_experts && o_.experts.beside_mlp;
    const bool wider = path.starts_with("shared_") && o_.shared_kv.mlp_width > 0;
    if (!has_experts || beside)
      made.mlp = mlp(path + "/mlp", wider ? o_.shared_kv.mlp_width : o_.mlp_width);
    made.mlp_own_post_norm = norm_if(beside, path + "/mlp_own_post_norm");
    made.experts_norm = norm_if(beside, path + "/experts_norm");
    made.experts_post_norm = norm_if(beside, path + "/experts_post_norm");
    made.mlp_post_norm = norm_if(behind, path + "/mlp_post_norm");
    if (o_.per_layer_input.width > 0)
      made.per_layer_input = per_layer_input(path + "/per_layer_input");
    if (o_.layer_scalar) made.scalar = one(path + "/scalar", {1}, WeightKind::ones);
    return made;
  }
  PerLayerEmbedder per_layer_embedder(const std::string& path) const {
    const PerLayerInputOptions& p = o_.per_layer_input;
    PerLayerEmbedder made;
    made.table = embed(path + "/table", p.vocab_size, o_.layers * p.width);
    made.projection = linear(path + "/projection", o_.width, o_.layers * p.width, false);
    made.norm = norm(path + "/norm", p.width);
    return made;
  }
  PerLayerInput per_layer_input(const std::string& path) const {
    const std::int64_t own = o_.per_layer_input.width;
    PerLayerInput made;
    made.gate = linear(path + "/gate", o_.width, own, false);
    made.projection = linear(path + "/projection", own, o_.width, false);
    made.norm = norm(path + "/norm", o_.width);
    return made;
  }
  FurtherLayer further(const std::string& path, bool has_experts) const {
    FurtherLayer made;
    made.embedding_norm = norm(path + "/embedding_norm", o_.width);
    made.hidden_norm = norm(path + "/hidden_norm", o_.width);
    made.projection = linear(path + "/projection", 2 * o_.width, o_.width, false);
    made.layers = layer(path + "/layers", has_experts);
    made.final_norm = norm(path + "/final_norm", o_.width);
    return made;
  }

 private:
  const Options& o_;
  const WeightMaker& make_;
};

}  // namespace

Weights make_weights(const Options& o, const WeightMaker& make) {
  const Maker m(o, make);
  Weights w;
  w.embedder = m.embed("embedder", o.vocab_size, o.width);
  if (o.learned_positions > 0) w.positions = m.embed("positions", o.learned_positions, o.width);
  if (o.token_types > 0) w.types = m.embed("types", o.token_types, o.width);
  w.embedding_norm = m.norm_if(o.embedding_norm, "embedding_norm");
  if (o.per_layer_input.width > 0)
    w.per_layer_embedder = m.per_layer_embedder("per_layer_embedder");
  const bool has_experts = o.experts.count > 0;
  if (has_experts && o.experts.dense_layers > 0) w.dense_layers = m.layer("dense_layers", false);
  if (!o.delta.layers.empty()) w.delta_layers = m.layer("delta_layers", has_experts);
  if (!o.full.layers.empty()) w.full_layers = m.layer("full_layers", has_experts);
  w.layers = m.layer("layers", has_experts);
  const auto shared = [&](const std::string& stack) {
    const bool there = layers_in(o, stack) > 0;
    return there ? std::optional(m.layer(stack, has_experts)) : std::nullopt;
  };
  w.shared_full_layers = shared("shared_full_layers");
  w.shared_layers = shared("shared_layers");
  w.final_norm = m.norm_if(o.final_norm, "final_norm");
  if (o.has_logits && !o.tied) w.logits = m.linear("logits", o.width, o.vocab_size, false);
  if (o.mtp_layers > 0) w.mtp_layers = m.further("mtp_layers", has_experts);
  return w;
}

std::string_view stack_of(const Options& o, std::int64_t layer) {
  const auto has = [&](const std::vector<std::int64_t>& numbers) {
    return std::binary_search(numbers.begin(), numbers.end(), layer);
  };
  const bool full = has(o.full.layers);
  if (layer >= o.layers - o.shared_kv.layers) return full ? "shared_full_layers" : "shared_layers";
  if (full) return "full_layers";
  if (has(o.delta.layers)) return "delta_layers";
  const ExpertOptions& e = o.experts;
  if (e.count == 0) return "layers";
  const bool dense = e.dense_at.empty() ? layer < e.dense_layers : has(e.dense_at);
  return dense ? "dense_layers" : "layers";
}

std::vector<std::int64_t> layer_numbers(const Options& o, std::string_view path) {
  const std::string_view stack = path.substr(0, path.find('/'));
  std::vector<std::int64_t> out;
  if (!stack.ends_with("layers")) return out;
  if (stack == "mtp_layers")
    for (std::int64_t i = 0; i < o.mtp_layers; ++i) out.push_back(o.layers + i);
  else
    for (std::int64_t i = 0; i < o.layers; ++i)
      if (stack_of(o, i) == stack) out.push_back(i);
  return out;
}

std::int64_t layers_in(const Options& o, std::string_view path) {
  return static_cast<std::int64_t>(layer_numbers(o, path).size());
}

std::vector<WeightShape> weight_shapes(const Options& o) {
  std::vector<WeightShape> out;
  (void)make_weights(o, [&](std::string_view path, const Sizes& shape, WeightKind kind) {
    out.push_back({std::string(path), shape, kind});
    return Array();
  });
  return out;
}

Weights weights_of(const Options& o, const tree::Tree& params) {
  return tree::as(
      make_weights(o, [](std::string_view, const Sizes&, WeightKind) { return Array(); }), params);
}

tree::MetadataPtr logical_axes(std::string_view path) {
  using Names = std::vector<std::string>;
  static const std::map<std::string, Names, std::less<>> axes = {
      {"embedder/embedding", {"vocab", "embed"}},
      {"positions/embedding", {"positions", "embed"}},
      {"types/embedding", {"types", "embed"}},
      {"layers/attention/query/kernel", {"layers", "embed", "q_heads"}},
      {"layers/attention/key/kernel", {"layers", "embed", "kv_heads"}},
      {"layers/attention/value/kernel", {"layers", "embed", "kv_heads"}},
      {"layers/attention/out/kernel", {"layers", "heads", "embed"}},
      {"layers/attention/query/bias", {"layers", "q_heads"}},
      {"layers/attention/key/bias", {"layers", "kv_heads"}},
      {"layers/attention/value/bias", {"layers", "kv_heads"}},
      {"layers/attention/out/bias", {"layers", "embed"}},
      {"layers/latent_attention/query/kernel", {"layers", "embed", "q_heads"}},
      {"layers/latent_attention/query_a/kernel", {"layers", "embed", "q_lora_up_proj"}},
      {"layers/latent_attention/query_b/kernel", {"layers", "q_lora", "q_heads"}},
      {"layers/latent_attention/kv_a/kernel", {"layers", "embed", "kv_lora_up_proj"}},
      {"layers/latent_attention/kv_b/kernel", {"layers", "kv_lora", "kv_heads"}},
      {"layers/latent_attention/out/kernel", {"layers", "heads", "embed"}},
      {"layers/latent_attention/query_a/bias", {"layers", "q_lora_up_proj"}},
      {"layers/latent_attention/kv_a/bias", {"layers", "kv_lora_up_proj"}},
      {"layers/latent_attention/out/bias", {"layers", "embed"}},
      {"layers/delta_net/qkvz/kernel", {"layers", "embed", "q_heads"}},
      {"layers/delta_net/ba/kernel", {"layers", "embed", "q_heads"}},
      {"layers/delta_net/out/kernel", {"layers", "heads", "embed"}},
      {"layers/delta_net/conv", {"layers", "conv", "q_heads"}},
      {"layers/mlp/gate/kernel", {"layers", "embed", "mlp"}},
      {"layers/mlp/up/kernel", {"layers", "embed", "mlp"}},
      {"layers/mlp/down/kernel", {"layers", "mlp", "embed"}},
      {"layers/mlp/gate/bias", {"layers", "mlp"}},
      {"layers/mlp/up/bias", {"layers", "mlp"}},
      {"layers/mlp/down/bias", {"layers", "embed"}},
      {"layers/experts/router/kernel", {"layers", "embed", "exp"}},
      {"layers/experts/gate/kernel", {"layers", "exp", "embed_moe", "mlp_moe"}},
      {"layers/experts/up/kernel", {"layers", "exp", "embed_moe", "mlp_moe"}},
      {"layers/experts/down/kernel", {"layers", "exp", "mlp_moe", "embed_moe"}},
      {"layers/experts/shared/gate/kernel", {"layers", "embed", "mlp"}},
      {"layers/experts/shared/up/kernel", {"layers", "embed", "mlp"}},
      {"layers/experts/shared/down/kernel", {"layers", "mlp", "embed"}},
      {"layers/attention/sinks", {"layers", "q_heads"}},
      {"layers/experts/router/bias", {"layers", "exp"}},
      {"layers/experts/gate/bias", {"layers", "exp", "mlp_moe"}},
      {"layers/experts/up/bias", {"layers", "exp", "mlp_moe"}},
      {"layers/experts/down/bias", {"layers", "exp", "embed_moe"}},
      {"layers/experts/choice_bias", {"layers", "exp"}},
      {"layers/experts/expert_scale", {"layers", "exp"}},
      {"layers/experts/shared_gate/kernel", {"layers", "embed", "norm"}},
      {"layers/scalar", {"layers", ""}},
      {"layers/per_layer_input/gate/kernel", {"layers", "embed", "mlp"}},
      {"layers/per_layer_input/projection/kernel", {"layers", "mlp", "embed"}},
      {"per_layer_embedder/table/embedding", {"vocab", "embed"}},
      {"per_layer_embedder/projection/kernel", {"embed", "mlp"}},
      {"logits/kernel", {"embed", "vocab"}},
      {"mtp_layers/projection/kernel", {"", "embed", "norm"}},
  };
  constexpr std::string_view kFurther = "mtp_layers/";
  // They are no part of a pipeline's stages.
  if (path.starts_with("mtp_layers/layers/")) {
    Names of = logical_axes(path.substr(kFurther.size()))->out_sharding;
    of.front() = "";
    return std::make_shared<const tree::Metadata>(tree::Metadata{.out_sharding = of});
  }
  if (path.starts_with("shared_")) return logical_axes(path.substr(7));
  if (path.starts_with("full_")) return logical_axes(path.substr(5));
  if (path.starts_with("dense_") || path.starts_with("delta_")) return logical_axes(path.substr(6));
  // A has the inputs of its weight, B the outputs; the rank is not divided.
  const bool is_a = path.ends_with("/lora/a"), is_b = path.ends_with("/lora/b");
  if (is_a || is_b) {
    Names of = logical_axes(std::string(path.substr(0, path.size() - 7)) + "/kernel")->out_sharding;
    (is_a ? of.back() : of[of.size() - 2]) = "lora_rank";
    return std::make_shared<const tree::Metadata>(tree::Metadata{.out_sharding = of});
  }
  const auto it = axes.find(path);
  Names names;
  if (it != axes.end())
    names = it->second;
  else if (path.starts_with("layers/"))
    names = {"layers", "norm"};
  else if (path.starts_with(kFurther))
    names = {"", "norm"};
  else
    names = {"norm"};
  return std::make_shared<const tree::Metadata>(tree::Metadata{.out_sharding = names});
}

Array first_adapter_a(const AdapterOptions& o, const Array& key, const Sizes& shape) {
  const auto in = static_cast<double>(shape[shape.size() - 2]);
  if (o.init == AdapterInit::gaussian)
    return random::normal(key, shape) / static_cast<double>(o.rank);
  const double most = o.init == AdapterInit::he_uniform ? std::sqrt(6 / in) : 1 / std::sqrt(in);
  return random::uniform(key, shape, DType::f32, -most, most);
}

namespace {

/// Normal numbers. Generators count to 2^32: of more elements each layer, or expert of one, is
/// drawn by a key of its own.
Array drawn(const Array& key, const Sizes& shape) {
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  if (count < std::int64_t{1} << 32 || shape.size() < 2) return random::normal(key, shape);
  const Sizes rest(shape.begin() + 1, shape.end());
  return vmap([&](const Array& own) { return drawn(own, rest); })(random::split(key, shape[0]));
}

}  // namespace

tree::Tree first_weights(const Options& o, const Array& key) {
  const Array keys = random::split(key, static_cast<std::int64_t>(weight_shapes(o).size()));
  std::int64_t next = 0;
  const Weights made =
      make_weights(o, [&](std::string_view path, const Sizes& shape, WeightKind kind) -> Array {
        const Array own = keys[next++];
        if (kind == WeightKind::bias || kind == WeightKind::choice_bias ||
            kind == WeightKind::expert_bias || kind == WeightKind::adapter_b)
          return zeros(shape);
        if (kind == WeightKind::adapter_a) {
          const std::string_view module = path.substr(0, path.size() - 7);  // "/lora/a"
          return first_adapter_a(o.adapters.find(module)->second, own, shape);
        }
        if (kind == WeightKind::ones) return ones(shape);
        if (kind == WeightKind::decay)
          return log(random::uniform(own, shape, DType::f32, 0.01, 16));
        if (kind == WeightKind::scale)
          return o.norm == NormKind::gemma ? zeros(shape) : ones(shape);
        return drawn(own, shape) * o.initial_deviation;
      });
  return tree::of(made).with_metadata([](const tree::Entry& e) { return logical_axes(e.name); });
}

}  // namespace strata::model::decoder
