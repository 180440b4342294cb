#include "strata/model/llama/family.h"

#include <algorithm>
#include <array>

#include "strata/base/error.h"
#include "strata/model/remat_policy.h"

namespace strata::llama {

namespace {

using tree::Tree;

Params params_of(const Tree& t) { return tree::as(Params(), t); }
Cache cache_of(const Tree& t) { return tree::as(Cache(), t); }

class Llama : public model::Model {
 public:
  explicit Llama(Config config) : c_(std::move(config)) {
    if (c_.base_num_kv_heads < 1 || c_.base_num_query_heads % c_.base_num_kv_heads != 0)
      throw Error("llama", "base_num_kv_heads={} does not divide base_num_query_heads={}",
                  c_.base_num_kv_heads, c_.base_num_query_heads);
    if (c_.head_dim % 2 != 0)
      throw Error("llama", "head_dim={} must be even, as rotary positions turn pairs", c_.head_dim);
  }
  std::string family() const override { return "llama2"; }
  std::int64_t vocab_size() const override { return c_.vocab_size; }
  DType dtype() const override { return c_.dtype; }
  Tree init(const Array& key) const override {
    return tree::of(llama::init(key, c_)).with_metadata([](const tree::Entry& e) {
      return logical_axes(e.name);
    });
  }
  Array forward(const Tree& params, const Array& tokens) const override {
    return llama::forward(params_of(params), tokens, c_);
  }
  Array token_losses(const Tree& params, const Array& tokens, const Array& targets) const override {
    return llama::token_losses(params_of(params), tokens, targets, c_);
  }
  Tree init_cache(std::int64_t batch, std::int64_t length) const override {
    return tree::of(llama::init_cache(c_, batch, length));
  }
  std::pair<Array, Tree> extend(const Tree& params, const Array& tokens, const Array& first,
                                const Tree& cache,
                                const std::optional<Array>& only) const override {
    auto [logits, next] =
        llama::extend(params_of(params), tokens, first, cache_of(cache), c_, only);
    return {std::move(logits), tree::of(next)};
  }
  Tree init_pages(std::int64_t pages, std::int64_t page_size) const override {
    return tree::of(llama::init_pages(c_, pages, page_size));
  }
  std::pair<Array, Tree> extend_pages(const Tree& params, const model::Batch& batch,
                                      const Tree& cache, bool all_tokens) const override {
    auto [logits, next] =
        llama::extend_pages(params_of(params), batch, tree::as(Pages(), cache), c_, all_tokens);
    return {std::move(logits), tree::of(next)};
  }
  std::int64_t count() const override { return llama::count(c_); }
  double flops_per_step(std::int64_t batch, std::int64_t length) const override {
    return llama::flops_per_step(c_, batch, length);
  }

 private:
  Config c_;
};

std::vector<model::Key> keys() {
  using enum model::Key::Type;
  return {
      {"vocab_size", integer,
       "size of the vocabulary; at least the tokenizer's, which is 256 for bytes", "256", 256, 1e6},
      {"base_emb_dim", integer, "width of the residual stream", "192", 1, 65536},
      {"base_num_query_heads", integer, "attention heads", "6", 1, 1024},
      {"base_num_kv_heads", integer, "heads of keys and values; divides base_num_query_heads", "3",
       1, 1024},
      {"base_mlp_dim", integer, "width inside the feed-forward layers", "512", 1, 262144},
      {"base_num_decoder_layers", integer, "layers", "4", 1, 1024},
      {"head_dim", integer, "width of a head; even", "32", 2, 1024},
      {"rope_max_timescale", number, "slowest wavelength of the rotary positions", "10000", 1,
       1e12},
      {"normalization_layer_epsilon", number, "added to mean squares", "1e-05", 1e-12, 1},
      {"dtype",
       text,
       "type of activations and products",
       "float32",
       0,
       0,
       {"float32", "bfloat16"},
       false},
      {"remat_policy",
       text,
       "what backward keeps of a layer: full_save (all) to full (nothing), or names:TENSOR,TENSOR",
       "full_save",
       0,
       0,
       {},
       false},
  };
}

}  // namespace

model::ModelPtr model(const Config& config) { return std::make_shared<const Llama>(config); }

model::Family family() {
  model::Family out{"llama2",
                    "a decoder with RMSNorm, rotary positions, grouped-query attention and SwiGLU",
                    keys(),
                    {}};
  const model::Family described = out;
  out.make = [described](const model::Settings& s) {
    const auto whole = [&](std::string_view key) { return model::integer(described, s, key); };
    const auto real = [&](std::string_view key) { return model::number(described, s, key); };
    Config c;
    c.vocab_size = whole("vocab_size");
    c.base_emb_dim = whole("base_emb_dim");
    c.base_num_decoder_layers = whole("base_num_decoder_layers");
    c.base_num_query_heads = whole("base_num_query_heads");
    c.base_num_kv_heads = whole("base_num_kv_heads");
    c.head_dim = whole("head_dim");
    c.base_mlp_dim = whole("base_mlp_dim");
    c.rope_max_timescale = real("rope_max_timescale");
    c.normalization_layer_epsilon = real("normalization_layer_epsilon");
    c.dtype = model::text(described, s, "dtype") == "bfloat16" ? DType::bf16 : DType::f32;
    c.remat_policy = model::text(described, s, "remat_policy");
    model::check_remat_policy("llama2", c.remat_policy);
    return model(c);
  };
  return out;
}

tree::MetadataPtr logical_axes(std::string_view path) {
  using Names = std::vector<std::string>;
  static const std::map<std::string, Names, std::less<>> axes = {
      {"token_embedder", {"vocab", "embed"}},
      {"layers/attention_norm", {"layers", "norm"}},
      {"layers/query", {"layers", "embed", "q_heads"}},
      {"layers/key", {"layers", "embed", "kv_heads"}},
      {"layers/value", {"layers", "embed", "kv_heads"}},
      {"layers/out", {"layers", "heads", "embed"}},
      {"layers/mlp_norm", {"layers", "norm"}},
      {"layers/gate", {"layers", "embed", "mlp"}},
      {"layers/up", {"layers", "embed", "mlp"}},
      {"layers/down", {"layers", "mlp", "embed"}},
      {"decoder_norm", {"norm"}},
      {"logits_dense", {"embed", "vocab"}},
  };
  const auto it = axes.find(path);
  if (it == axes.end()) return nullptr;
  return std::make_shared<const tree::Metadata>(tree::Metadata{.out_sharding = it->second});
}

}  // namespace strata::llama
