#include "strata/model/decoder/model.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/numpy.h"
#include "strata/base/error.h"
#include "strata/model/decoder/stack.h"
#include "strata/nn/attention/cached_attention.h"
#include "strata/nn/wide.h"

namespace strata::model::decoder {

namespace {

using tree::Tree;

class Decoder : public Model {
 public:
  explicit Decoder(Options options) : o_(std::move(options)) { check(o_); }
  const Options& options() const { return o_; }
  std::string family() const override { return o_.family; }
  std::int64_t vocab_size() const override { return o_.vocab_size; }
  DType dtype() const override { return o_.dtype; }
  Tree init(const Array& key) const override { return first_weights(o_, key); }
  /// But for the biases that experts are chosen by.
  Tree cast(const Tree& params, DType to) const override {
    Tree out = Model::cast(params, to);
    if (!o_.experts.choice_bias) return out;
    std::vector<Array> values(out.values().begin(), out.values().end());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (params.entry(i).name.ends_with("/choice_bias")) values[i] = params.value(i);
    return out.with_values(std::move(values));
  }

  Array forward(const Tree& params, const Array& tokens) const override {
    return logits_at(params, tokens, expand_dims(arange(tokens.shape(-1)), 0), {});
  }
  Array packed_token_losses(const Tree& params, const Array& tokens, const Array& targets,
                            const DocumentsInRows& packed) const override {
    return cross_entropies(logits_at(params, tokens, packed.positions, packed.segments), targets);
  }
  std::pair<Array, RouterSums> routed_losses(const Tree& params, const Array& tokens,
                                             const Array& targets,
                                             const std::optional<DocumentsInRows>& packed,
                                             const RouterAsk& ask) const {
    require_positions(tokens.shape(-1));
    const Weights w = weights_of(o_, cast(params, o_.dtype));
    const Array positions = packed ? packed->positions : expand_dims(arange(tokens.shape(-1)), 0);
    const auto [x, sums] = run_layers(
        w, o_, embed(w, o_, tokens, positions), positions, length_of(tokens.shape(-1)),
        [&](const Heads& h, const AttendOptions& how) {
          return attend(h.query, h.key, h.value, how);
        },
        ask, packed ? std::optional(packed->segments) : std::nullopt);
    return {cross_entropies(logits_of(w, o_, x), targets), sums};
  }

  Tree init_cache(std::int64_t batch, std::int64_t length) const override {
    return init_pages(batch, length);
  }
  Tree init_pages(std::int64_t pages, std::int64_t page_size) const override {
    const auto delta_layers = static_cast<std::int64_t>(o_.delta.layers.size());
    std::vector<std::int64_t> shape = {layers_in_cache(o_) * pages, page_size, page_heads(),
                                       page_dim()};
    if (const LatentOptions& l = o_.latent; l.kv_rank > 0) {
      shape[2] = 1, shape[3] = l.kv_rank + l.turned_dim;
      return tree::of(Cache{zeros(shape, o_.dtype), {}, {}});
    }
    Cache out{zeros(shape, o_.dtype), zeros(shape, o_.dtype), {}};
    if (const DeltaOptions& d = o_.delta; delta_layers > 0) {
      const std::int64_t n = delta_layers * pages;
      const std::int64_t seen = 2 * d.key_heads * d.key_dim + d.value_heads * d.value_dim;
      out.delta = DeltaPages{zeros({n, 1, d.taps - 1, seen}, o_.dtype),
                             zeros({n, d.value_heads, d.key_dim, d.value_dim}, nn::wide(o_.dtype)),
                             zeros({n, 1}, DType::i32)};
    }
    return tree::of(out);
  }

  std::pair<Array, Tree> extend(const Tree& params, const Array& tokens, const Array& first,
                                const Tree& cache,
                                const std::optional<Array>& only) const override {
    const std::int64_t batch = tokens.shape(0), length = cache["key"].shape(1);
    if (tokens.shape(1) > length)
      throw Error(o_.family, "{} tokens do not fit a cache of {}", tokens.shape(1), length);
    require_positions(length);
    // A sequence's page is the one of its own number.
    const Batch rows{.tokens = tokens,
                     .first = broadcast_to(astype(first, DType::i32), {batch}),
                     .count = full({batch}, tokens.shape(1), DType::i32),
                     .pages = expand_dims(arange(batch), 1)};
    const Weights w = weights_of(o_, cast(params, o_.dtype));
    auto [x, after] = read(w, rows, cache, length_of(length));
    if (only) x = lax::dynamic_slice_in_dim(x, *only, 1, 1);
    return {logits_of(w, o_, x), tree::of(after)};
  }

  std::pair<Array, Tree> extend_pages(const Tree& params, const Batch& batch, const Tree& cache,
                                      bool all_tokens) const override {
    const Weights w = weights_of(o_, cast(params, o_.dtype));
    auto [x, after] = read(w, batch, cache, paged_length());
    if (all_tokens) return {astype(logits_of(w, o_, x), nn::wide(o_.dtype)), tree::of(after)};
    const Array last = expand_dims(maximum(batch.count - 1, 0), {1, 2});
    x = squeeze(take_along_axis(x, last, 1, {.mode = "clip"}), {1});
    return {astype(logits_of(w, o_, x), nn::wide(o_.dtype)), tree::of(after)};
  }

  std::int64_t count() const override {
    std::int64_t out = 0;
    for (const WeightShape& w : weight_shapes(o_))
      out += std::accumulate(w.shape.begin(), w.shape.end(), std::int64_t{1}, std::multiplies<>());
    return out;
  }
  double flops_per_step(std::int64_t batch, std::int64_t length) const override {
    // Of frozen weights there is no product for their own gradient.
    const double passes = o_.adapters.empty() ? 3 : 2;
    double products = 0, adapters = 0;
    for (const WeightShape& w : weight_shapes(o_)) {
      const bool is_adapter = w.kind == WeightKind::adapter_a || w.kind == WeightKind::adapter_b;
      const bool is_experts = w.kind == WeightKind::experts;
      if (w.kind != WeightKind::matrix && !is_experts && !is_adapter) continue;
      // Of experts, those that a token goes through.
      double n = is_experts ? static_cast<double>(o_.experts.active) /
                                  static_cast<double>(o_.experts.count)
                            : 1;
      for (std::int64_t size : w.shape) n *= static_cast<double>(size);
      (is_adapter ? adapters : products) += n;
    }
    if (o_.tied) products += static_cast<double>(o_.vocab_size * o_.width);
    products += static_cast<double>(o_.mtp_layers * o_.vocab_size * o_.width);
    double keys = 0;  // that a token sees on average, over all layers, times the width of heads
    for (std::int64_t i = 0; i < o_.layers + o_.mtp_layers; ++i) {
      const auto at = static_cast<std::size_t>(std::min(i, o_.layers - 1));
      const std::int64_t window = o_.windows.empty() ? 0 : o_.windows[at];
      const auto whole = static_cast<double>(length) / 2;
      const std::int64_t chunk = o_.chunks.empty() ? 0 : o_.chunks[at];
      const double seen = chunk == 0 ? whole : std::min(whole, static_cast<double>(chunk) / 2);
      const bool full = std::binary_search(o_.full.layers.begin(), o_.full.layers.end(), i);
      const std::int64_t dim = full ? o_.full.head_dim : o_.head_dim,
                         value_dim = o_.latent.kv_rank > 0 ? o_.latent.value_dim : dim;
      keys += (window == 0 ? seen : std::min(seen, static_cast<double>(window))) *
              static_cast<double>(dim + value_dim);
    }
    const double attention = keys * static_cast<double>(o_.query_heads) * 2;
    return static_cast<double>(batch * length) *
           (passes * 2 * products + 3 * (2 * adapters + attention));
  }

 private:
  Array logits_at(const Tree& params, const Array& tokens, const Array& positions,
                  const std::optional<Array>& segments) const {
    require_positions(tokens.shape(-1));
    const Weights w = weights_of(o_, cast(params, o_.dtype));
    const Array x = run_layers(
        w, o_, embed(w, o_, tokens, positions), positions, length_of(tokens.shape(-1)),
        [&](const Heads& h, const AttendOptions& how) {
          return attend(h.query, h.key, h.value, how);
        },
        segments);
    return logits_of(w, o_, x);
  }
  void require_positions(std::int64_t length) const {
    if (o_.learned_positions > 0 && length > o_.learned_positions)
      throw Error(o_.family, "{} positions are more than the {} of the model", length,
                  o_.learned_positions);
  }
  /// How long sequences get: as the options say, else `known`.
  std::int64_t length_of(std::int64_t known) const {
    return o_.max_length > 0 ? o_.max_length : known;
  }
  std::int64_t paged_length() const {
    const bool depends = std::any_of(o_.ropes.begin(), o_.ropes.end(),
                                     [](const Rope& r) { return r.depends_on_length(); });
    if (depends && o_.max_length == 0)
      throw Error(o_.family,
                  "rotary frequencies depend on how long sequences get: a cache of pages "
                  "needs a model that was made with max_length");
    return length_of(o_.context);
  }

  /// Heads that differ from layer to layer share pages: narrow ones end in zeros, which change no
  /// score, and few ones are repeated.
  std::int64_t page_heads() const {
    return o_.full.layers.empty() ? o_.kv_heads : std::max(o_.kv_heads, o_.full.kv_heads);
  }
  std::int64_t page_dim() const {
    return o_.full.layers.empty() ? o_.head_dim : std::max(o_.head_dim, o_.full.head_dim);
  }
  static Array widened(const Array& x, std::int64_t width) {
    if (x.shape(-1) == width) return x;
    std::vector<std::int64_t> more = x.shape().sizes();
    more.back() = width - more.back();
    return concatenate({x, zeros(more, x.dtype())}, -1);
  }
  Array in_page(const Array& x) const {
    const std::int64_t times = page_heads() / x.shape(2);
    return widened(times == 1 ? x : repeat(x, times, 2), page_dim());
  }

  Cache cache_of(const Tree& cache) const {
    Cache out{cache["key"], {}, {}};
    if (o_.latent.kv_rank == 0) out.value = cache["value"];
    if (!o_.delta.layers.empty())
      out.delta = DeltaPages{cache["delta/inputs"], cache["delta/state"], cache["delta/tokens"]};
    return out;
  }
  std::pair<Array, Cache> read(const Weights& w, const Batch& batch, const Tree& cache,
                               std::int64_t length) const {
    const Array positions =
        expand_dims(batch.first, 1) + expand_dims(arange(batch.tokens.shape(1)), 0);
    return run_layers(
        w, o_, embed(w, o_, batch.tokens, positions), positions, length, cache_of(cache),
        {batch.pages, batch.first, batch.count, cache["key"].shape(1)},
        [&](const Heads& h, const AttendOptions& how, Array& key_pages, Array& value_pages,
            const Array& first_page) {
          const Array table = batch.pages + first_page;
          const auto put = [&](Array& pages, const Array& tokens) {
            pages = nn::write_pages(pages, tokens, table, batch.first, batch.count);
          };
          nn::CachedAttention cached{.scale = how.scale,
                                     .window = how.window,
                                     .chunk = how.chunk,
                                     .soft_cap = how.soft_cap,
                                     .sinks = how.sinks};
          if (!o_.full.layers.empty()) {
            if (!h.shared) put(key_pages, in_page(h.key));
            if (!h.shared) put(value_pages, in_page(h.value));
            return nn::cached_attention(widened(h.query, page_dim()), key_pages, value_pages, table,
                                        batch.first, batch.count,
                                        cached)[{ellipsis, slice(0, h.query.shape(-1))}];
          }
          put(key_pages, h.key);
          if (o_.latent.kv_rank > 0)
            cached.value_width = o_.latent.kv_rank;
          else
            put(value_pages, h.value);
          return nn::cached_attention(h.query, key_pages,
                                      cached.value_width ? key_pages : value_pages, table,
                                      batch.first, batch.count, cached);
        });
  }

  Options o_;
};

}  // namespace

ModelPtr model(const Options& options) { return std::make_shared<const Decoder>(options); }

namespace {

/// The options of a model that has experts.
const Options& routed_options(const Model& model) {
  const Options* o = options_of(model);
  if (!o || o->experts.count == 0) throw Error(model.family(), "the model has no experts");
  return *o;
}

}  // namespace

Array routes(const Model& model, const Tree& params, const Array& tokens) {
  const Options& o = routed_options(model);
  const Weights w = weights_of(o, model.cast(params, o.dtype));
  const Array positions = expand_dims(arange(tokens.shape(-1)), 0);
  const RouterSums sums = run_layers(
                              w, o, embed(w, o, tokens, positions), positions, tokens.shape(-1),
                              [](const Heads& h, const AttendOptions& how) {
                                return attend(h.query, h.key, h.value, how);
                              },
                              RouterAsk{})
                              .second;
  return sums.chosen / static_cast<double>(tokens.size());
}

std::pair<Array, RouterSums> routed_token_losses(const Model& model, const Tree& params,
                                                 const Array& tokens, const Array& targets,
                                                 const std::optional<DocumentsInRows>& packed,
                                                 const RouterAsk& ask) {
  (void)routed_options(model);
  return static_cast<const Decoder&>(model).routed_losses(params, tokens, targets, packed, ask);
}

const Options* options_of(const Model& model) {
  const auto* decoder = dynamic_cast<const Decoder*>(&model);
  return decoder ? &decoder->options() : nullptr;
}

bool hold_states(const Tree& pages) { return pages.contains("delta/state"); }

}  // namespace strata::model::decoder
