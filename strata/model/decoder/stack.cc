#include "strata/model/decoder/stack.h"

#include <algorithm>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/base/error.h"
#include "strata/nn/logical_sharding.h"
#include "strata/nn/transform/scan.h"

namespace strata::model::decoder {

namespace {

/// What differs from layer to layer and is no weight: leading axis L.
struct PerLayer {
  std::optional<Array> window, rope, scale, first_page, number;
  STRATA_FIELDS(window, rope, scale, first_page, number)
};
/// What goes from layer to layer: pages of all layers, (L N, P, K, d), where there is a cache, and
/// the shares of experts (L, E), where they are counted.
struct Carry {
  Array x;
  std::optional<Array> key, value, routes;
  STRATA_FIELDS(x, key, value, routes)
};

template <class T>
bool all_equal(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(), [&](T v) { return v == values[0]; });
}

/// Rotary tables: one that all layers have, or several of which each layer has one.
struct Rotary {
  std::optional<RotaryTable> all;
  std::optional<RotaryTable> several;
};

Rotary rotary_of(const Options& o, const Array& positions, std::int64_t length, PerLayer& each) {
  if (o.ropes.empty()) return {};
  const bool alike = o.rope_of_layer.empty() || all_equal(o.rope_of_layer);
  const int first = o.rope_of_layer.empty() ? 0 : o.rope_of_layer[0];
  if (alike && first < 0) return {};
  if (alike) return {rotary_table(o.ropes[static_cast<std::size_t>(first)], positions, length), {}};
  const auto none = static_cast<std::int32_t>(o.ropes.size());
  std::vector<std::int32_t> which;
  for (int rope : o.rope_of_layer) which.push_back(rope < 0 ? none : rope);
  each.rope = Array(Literal::of(Shape({o.layers}), which));
  const bool some_have_none = std::find(which.begin(), which.end(), none) != which.end();
  return {{}, stacked_tables(o.ropes, positions, length, some_have_none)};
}

/// The windows in the dtype of positions; longer ones than any sequence stay so.
std::vector<std::int32_t> windows_of(const Options& o) {
  constexpr std::int64_t kLongest = 1 << 30;
  std::vector<std::int32_t> out;
  for (std::int64_t w : o.windows) out.push_back(static_cast<std::int32_t>(std::min(w, kLongest)));
  return out;
}

PerLayer per_layer(const Options& o) {
  PerLayer out;
  if (!o.windows.empty() && !all_equal(o.windows))
    out.window = Array(Literal::of(Shape({o.layers}), windows_of(o)));
  if (!o.layer_scales.empty())
    out.scale = Array(Literal::of(
        Shape({o.layers}), std::vector<float>(o.layer_scales.begin(), o.layer_scales.end())));
  return out;
}

/// The residual stream, (B, S, D), as it lies on a mesh.
Array placed(const Array& x_BSD) {
  return nn::with_logical_constraint(
      x_BSD, {"activation_batch", "activation_norm_length", "activation_embed"});
}

/// One layer; norms stand where the options say.
Array layer(const Layer& w, const Options& o, const Array& x,
            const std::function<Array(const Array&)>& attention,
            const std::function<void(const Array&)>& routed) {
  const nn::ModuleScope scope(w, "Layer");
  const auto branch = [&](const Array& in, const std::optional<Norm>& norm,
                          const std::optional<Norm>& post,
                          const std::function<Array(const Array&)>& f) {
    Array y = f(norm ? (*norm)(in, o.norm, o.epsilon) : in);
    if (o.norm_place == NormPlace::after_residual) return (*post)(in + y, o.norm, o.epsilon);
    if (post) y = (*post)(y, o.norm, o.epsilon);
    return placed(in + y);
  };
  const Array h = branch(x, w.attention_norm, w.attention_post_norm, attention);
  return scope.returns(branch(h, w.mlp_norm, w.mlp_post_norm,
                              [&](const Array& in) {
                                if (w.experts) routed(in);
                                return w.experts ? (*w.experts)(in, o.experts, o.activation)
                                                 : (*w.mlp)(in, o.activation);
                              }),
                       x);
}

/// The policy of strata::remat; none keeps all.
std::optional<std::string> remat_of(const Options& o) {
  if (o.remat_policy == "minimal") return "dots_no_batch";
  if (o.remat_policy == "full") return "nothing";
  return {};
}

Carry scan_layers(const Weights& w, const Options& o, const Carry& first, PerLayer each,
                  const Array& positions, std::int64_t length, const CachedAttending& attending) {
  const nn::ModuleScope scope(w, "Decoder");
  const Rotary rotary = rotary_of(o, positions, length, each);
  const auto step = [&](const Layer& weights, const Carry& before, const PerLayer& own) {
    std::optional<RotaryTable> table = rotary.all;
    if (own.rope)
      table = RotaryTable{take(rotary.several->cos, *own.rope, 0, {.mode = "clip"}),
                          take(rotary.several->sin, *own.rope, 0, {.mode = "clip"})};
    AttendOptions how{.scale = o.attention_scale, .soft_cap = o.attention_cap, .causal = o.causal};
    if (own.window)
      how.window = own.window;
    else if (!o.windows.empty() && o.windows[0] != 0)
      how.window = Array(windows_of(o)[0]);
    Array key = before.key.value_or(Array()), value = before.value.value_or(Array());
    const bool cached = before.key.has_value();
    const Array first_page = own.first_page.value_or(Array());
    std::optional<Array> routes = before.routes;
    const Array y = layer(
        weights, o, before.x,
        [&](const Array& h) {
          const auto attend = [&](const Heads& heads) {
            return attending(heads, how, key, value, first_page);
          };
          if (weights.latent_attention)
            return (*weights.latent_attention)(h, o, table, cached, attend);
          return (*weights.attention)(h, o, table, own.scale, attend);
        },
        [&](const Array& in) {
          if (!routes) return;
          const Array chosen = greater(weights.experts->weights(in, o.experts), Array(0.0f));
          const Array share = mean(astype(chosen, DType::f32), {0, 1});
          const Array here = astype(equal(arange(o.layers), *own.number), DType::f32);
          routes = *routes + expand_dims(here, 1) * expand_dims(share, 0);
        });
    Carry after{y, {}, {}, routes};
    if (before.key) after.key = key;
    if (before.value) after.value = value;
    return after;
  };
  const auto scan = [&](const Layer& weights, const Carry& before, const LayerSpan& span) {
    PerLayer own = each;
    if (span.count != o.layers)
      tree::for_each(own, [&](Array& values) {
        values = values[{slice(span.first, span.first + span.count)}];
      });
    return nn::scan(step, {.in_axes = {0, nn::Carry, 0},
                           .out_axes = {nn::Carry},
                           .length = span.count,
                           .remat = remat_of(o)})(weights, before, own);
  };
  Carry last = first;
  if (w.dense_layers) last = scan(*w.dense_layers, last, layers_in(o, "dense_layers/"));
  last = scan(w.layers, last, layers_in(o, "layers/"));
  if (w.final_norm) last.x = (*w.final_norm)(last.x, o.norm, o.epsilon);
  return last;
}

}  // namespace

Array embed(const Weights& w, const Options& o, const Array& tokens, const Array& positions,
            const std::optional<Array>& types) {
  if (tokens.ndim() != 2)
    throw Error(o.family, "tokens must be (batch, length), got {}", tokens.type().to_string());
  const nn::ModuleScope scope(w, "Decoder", "embed");
  Array x = w.embedder(tokens);
  if (o.embedding_scale != 1)
    x = x * astype(Array(o.embedding_scale), w.embedder.embedding.dtype());
  if (w.positions) x = x + (*w.positions)(positions);
  if (w.types) x = x + (*w.types)(types ? *types : zeros_like(tokens));
  x = astype(x, o.dtype);
  return placed(w.embedding_norm ? (*w.embedding_norm)(x, o.norm, o.epsilon) : x);
}

Array run_layers(const Weights& w, const Options& o, const Array& x, const Array& positions,
                 std::int64_t length, const LayerAttending& attending) {
  return scan_layers(w, o, Carry{x, {}, {}, {}}, per_layer(o), positions, length,
                     [&](const Heads& heads, const AttendOptions& how, Array&, Array&,
                         const Array&) { return attending(heads, how); })
      .x;
}

std::pair<Array, Cache> run_layers(const Weights& w, const Options& o, const Array& x,
                                   const Array& positions, std::int64_t length, const Cache& cache,
                                   const CachedAttending& attending) {
  PerLayer each = per_layer(o);
  each.first_page = arange(o.layers) * static_cast<std::int32_t>(cache.key.shape(0) / o.layers);
  const Carry last =
      scan_layers(w, o, Carry{x, cache.key, cache.value, {}}, each, positions, length, attending);
  return {last.x, Cache{*last.key, last.value}};
}

Array routes_of(const Weights& w, const Options& o, const Array& x, const Array& positions,
                std::int64_t length, const LayerAttending& attending) {
  PerLayer each = per_layer(o);
  each.number = arange(o.layers);
  const Carry first{x, {}, {}, zeros({o.layers, o.experts.count}, DType::f32)};
  return *scan_layers(w, o, first, each, positions, length,
                      [&](const Heads& heads, const AttendOptions& how, Array&, Array&,
                          const Array&) { return attending(heads, how); })
              .routes;
}

Array logits_of(const Weights& w, const Options& o, const Array& x) {
  const nn::ModuleScope scope(w, "Decoder", "logits");
  Array out = w.logits ? (*w.logits)(x) : w.embedder.attend(x);
  if (o.logit_cap != 0) out = tanh(out / o.logit_cap) * o.logit_cap;
  if (out.ndim() != 3) return out;
  return nn::with_logical_constraint(
      out, {"activation_embed_and_logits_batch", "activation_length", "activation_vocab"});
}

}  // namespace strata::model::decoder
