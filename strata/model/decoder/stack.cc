#include "strata/model/decoder/stack.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/base/error.h"
#include "strata/model/decoder/scaled_embedding.h"
#include "strata/model/decoder/staged_rows.h"
#include "strata/model/remat_policy.h"
#include "strata/nn/sharding/logical_sharding.h"
#include "strata/nn/transform/named_tensors.h"
#include "strata/nn/transform/scan.h"

namespace strata::model::decoder {

namespace {

/// What differs from layer to layer and is no weight: leading axis L.
struct PerLayer {
  std::optional<Array> window, chunk, rope, scale, first_page, number, fractions, input;
  STRATA_FIELDS(window, chunk, rope, scale, first_page, number, fractions, input)
};
/// What layers without keys and values attend to where there is no cache: of FullOptions' kind and
/// of the other.
struct EarlierHeads {
  KeysAndValues full, others;
  STRATA_FIELDS(full, others)
};
/// What goes from layer to layer: pages of all layers, (L N, P, K, d), where there is a cache, and
/// what routers came to so far, where it is asked, and heads of layers that others attend to.
struct Carry {
  Array x;
  std::optional<Array> key, value;
  std::optional<RouterSums> routers;
  std::optional<DeltaPages> delta;
  std::optional<EarlierHeads> earlier;
  STRATA_FIELDS(x, key, value, routers, delta, earlier)
};

/// What the rows of a batch have of their own: places and documents where they hold several, and
/// which tokens routers count.
struct RowsOfBatch {
  std::optional<Array> positions, segments, mask;
  STRATA_FIELDS(positions, segments, mask)
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

/// Windows or chunks in the dtype of positions; longer ones than any sequence stay so.
std::vector<std::int32_t> as_positions(const std::vector<std::int64_t>& lengths) {
  constexpr std::int64_t kLongest = 1 << 30;
  std::vector<std::int32_t> out;
  for (std::int64_t w : lengths) out.push_back(static_cast<std::int32_t>(std::min(w, kLongest)));
  return out;
}

PerLayer per_layer(const Options& o, const LayerInputs& inputs) {
  PerLayer out;
  out.input = inputs.each;
  if (!o.windows.empty() && !all_equal(o.windows))
    out.window = Array(Literal::of(Shape({o.layers}), as_positions(o.windows)));
  if (!o.chunks.empty()) out.chunk = Array(Literal::of(Shape({o.layers}), as_positions(o.chunks)));
  if (!o.layer_scales.empty())
    out.scale = Array(Literal::of(
        Shape({o.layers}), std::vector<float>(o.layer_scales.begin(), o.layer_scales.end())));
  return out;
}

/// Keys and values of each kind ahead of the first layer, where layers attend to earlier ones'.
std::optional<EarlierHeads> earlier_heads(const Options& o, const Array& x) {
  if (o.shared_kv.layers == 0) return {};
  const auto none = [&](std::int64_t heads, std::int64_t dim) {
    const Array nothing = zeros({x.shape(0), x.shape(1), heads, dim}, x.dtype());
    return KeysAndValues{nothing, nothing};
  };
  return EarlierHeads{none(o.full.kv_heads, o.full.head_dim), none(o.kv_heads, o.head_dim)};
}

/// The residual stream, (B, S, D), as it is sharded over a mesh.
Array placed(const Array& x_BSD) {
  return nn::with_logical_constraint(
      x_BSD, {"activation_batch", "activation_norm_length", "activation_embed"});
}

/// One layer; norms stand where the options say.
Array layer(const Layer& w, const Options& o, const Array& x,
            const std::function<Array(const Array&)>& attention, const ExpertOptions& experts,
            const std::function<void(const Routes&)>& routed, const std::optional<Array>& input) {
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
  // The feed-forward branch and experts beside it, which read what goes into its norm.
  const auto both = [&](const Array& in) {
    const auto norm = [&](const std::optional<Norm>& n, const Array& y) {
      return (*n)(y, o.norm, o.epsilon);
    };
    const Routes routes = w.experts->routes_of_residual(h, experts, o.epsilon);
    routed(routes);
    const Array of_experts =
        w.experts->along(norm(w.experts_norm, h), routes, experts, o.activation);
    return norm(w.mlp_own_post_norm, (*w.mlp)(in, o.activation)) +
           norm(w.experts_post_norm, of_experts);
  };
  Array out = branch(h, w.mlp_norm, w.mlp_post_norm, [&](const Array& in) {
    if (!w.experts) return (*w.mlp)(in, o.activation);
    if (experts.beside_mlp) return both(in);
    const Routes routes = w.experts->routes(in, experts);
    routed(routes);
    return w.experts->along(in, routes, experts, o.activation);
  });
  if (w.per_layer_input) out = placed((*w.per_layer_input)(out, *input, o));
  return scope.returns(w.scalar ? out * astype(*w.scalar, out.dtype()) : out, x);
}

/// Whether a layer has rotary positions, an i1 scalar.
Array is_turned(const Options& o, const PerLayer& own, const Rotary& rotary) {
  if (own.rope) return not_equal(*own.rope, static_cast<std::int32_t>(o.ropes.size()));
  return Array(rotary.all.has_value());
}

/// What a layer's queries are multiplied by.
std::optional<Array> query_scale(const Options& o, const PerLayer& own, const Rotary& rotary,
                                 const Array& positions) {
  if (o.temperature_length == 0) return own.scale;
  const Array lengths =
      floor(astype(positions + 1, DType::f32) / static_cast<double>(o.temperature_length));
  Array by = where(is_turned(o, own, rotary), 1.0f, log1p(lengths) * o.temperature_scale + 1.0);
  by = expand_dims(by, {2, 3});
  return own.scale ? *own.scale * by : by;
}

/// Whether a layer's heads are divided by their root mean square; none: they are not.
std::optional<Array> unit_of(const Options& o, const PerLayer& own, const Rotary& rotary) {
  if (!o.unit_heads) return {};
  return is_turned(o, own, rotary);
}

/// Layers of one stack that follow each other: from `begin` of the stack on, and the first one's
/// number among all.
struct Run {
  bool dense = false;
  std::int64_t begin = 0, count = 0, first = 0;
};
std::vector<Run> runs_of(const std::vector<bool>& dense) {
  std::vector<Run> out;
  std::int64_t seen[2] = {0, 0};
  for (std::size_t i = 0; i < dense.size(); ++i) {
    if (i == 0 || dense[i] != dense[i - 1])
      out.push_back({dense[i], seen[dense[i]], 0, static_cast<std::int64_t>(i)});
    ++out.back().count;
    ++seen[dense[i]];
  }
  return out;
}
/// After how many layers stacks alternate anew; all of them where they do not.
std::size_t period_of(const std::vector<bool>& dense) {
  for (std::size_t p = 1; p < dense.size(); ++p) {
    bool repeats = dense.size() % p == 0;
    for (std::size_t i = p; i < dense.size() && repeats; ++i) repeats = dense[i] == dense[i - p];
    if (repeats) return p;
  }
  return dense.size();
}
/// Which of the layers from `begin` to `end` are of the second of two stacks: those without
/// experts, with the delta rule, or of full attention.
std::vector<bool> dense_of(const Options& o, std::int64_t begin, std::int64_t end) {
  std::vector<bool> out;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::string_view stack = stack_of(o, i);
    out.push_back(stack != "layers" && stack != "shared_layers");
  }
  return out;
}
/// A layer's number among those that hold the same in a cache; of one without keys and values, that
/// of the layer whose it attends to.
std::vector<std::int32_t> numbers_in_cache(const Options& o) {
  std::int32_t seen[2] = {0, 0};
  std::map<std::string_view, std::int32_t> last;
  std::vector<std::int32_t> out;
  for (std::int64_t i = 0; i < o.layers; ++i) {
    constexpr std::string_view kShared = "shared_";
    std::string_view stack = stack_of(o, i);
    if (stack.starts_with(kShared)) {
      out.push_back(last.at(stack.substr(kShared.size())));
      continue;
    }
    out.push_back(last[stack] = seen[stack == "delta_layers"]++);
  }
  return out;
}

/// The same with other arrays.
template <class T>
T mapped(T x, const std::function<Array(const Array&)>& f) {
  tree::for_each(x, [&](Array& values) { values = f(values); });
  return x;
}
template <class T>
T part_of(const T& x, std::int64_t begin, std::int64_t count) {
  return mapped<T>(x, [&](const Array& values) { return values[{slice(begin, begin + count)}]; });
}
/// One of `parts` equal parts behind the other along a new first axis.
template <class T>
T in_parts(const T& x, std::int64_t parts) {
  return mapped<T>(x, [&](const Array& values) {
    std::vector<std::int64_t> shape = values.shape().sizes();
    shape[0] /= parts;
    shape.insert(shape.begin(), parts);
    return reshape(values, shape);
  });
}

/// The modules of a layer, in their order.
auto nodes(const Layer& layer) {
  return nn::detail::nodes_of([&](tree::Visitor& v) { tree::accept_const(layer, v); });
}

/// Of layers of full attention: the others' but for heads.
Options full_options(const Options& o) {
  Options out = o;
  out.kv_heads = o.full.kv_heads;
  out.head_dim = o.full.head_dim;
  return out;
}

/// The sums so far and those of layer `number` of `layers`.
RouterSums added(const RouterSums& sums, const RouterSums& own, const Array& number,
                 std::int64_t layers) {
  const Array here = astype(equal(arange(layers), number), DType::f32);
  return {sums.balance + own.balance, sums.router_z + own.router_z,
          sums.chosen + expand_dims(here, 1) * expand_dims(own.chosen, 0),
          sums.dropped + here * own.dropped};
}

/// Throws for what is not built as a pipeline.
void require_alike(const Options& o, bool two_stacks, bool routers, const RouterAsk& ask) {
  const char* what = nullptr;
  if (two_stacks) what = "layers of two kinds";
  if (routers && ask.options.load_balance != 0 && ask.options.scope == BalanceScope::micro_batch)
    what = "loads of experts that are compared within what goes through at once (micro_batch)";
  if (what != nullptr)
    throw Error("pipeline", "{} of {} are not supported yet; ici_pipeline_parallelism=1 runs them",
                what, o.family);
}

Carry scan_layers(const Weights& w, const Options& o, const Carry& first, PerLayer each,
                  const Array& positions, std::int64_t length, const CachedAttending& attending,
                  const std::optional<DeltaPlaces>& places = {}, const RouterAsk& ask = {},
                  const std::optional<Array>& segments = {}) {
  const nn::ModuleScope scope(w, "Decoder");
  Rotary rotary = rotary_of(o, positions, length, each);
  // Of the rows that go through: all, or in a pipeline a microbatch.
  RowsOfBatch rows{positions, segments, ask.mask};
  // Of layers of full attention.
  const bool two_heads = w.full_layers.has_value();
  const Options full = two_heads ? full_options(o) : Options();
  const std::optional<RotaryTable> full_table =
      two_heads ? std::optional(rotary_table(o.ropes[1], positions, length)) : std::nullopt;
  const auto step = [&](const Layer& weights, const Carry& before, const PerLayer& own,
                        bool of_second) {
    const bool is_full = two_heads && of_second;
    std::optional<RotaryTable> table = is_full ? full_table : rotary.all;
    if (own.rope)
      table = RotaryTable{take(rotary.several->cos, *own.rope, 0, {.mode = "clip"}),
                          take(rotary.several->sin, *own.rope, 0, {.mode = "clip"})};
    AttendOptions how{.scale = o.attention_scale, .soft_cap = o.attention_cap, .causal = o.causal};
    if (own.window)
      how.window = own.window;
    else if (!o.windows.empty() && o.windows[0] != 0)
      how.window = Array(as_positions(o.windows)[0]);
    how.chunk = own.chunk;
    how.segments = rows.segments;
    if (!before.key) how.positions = rows.positions;
    if (weights.attention && weights.attention->sinks) how.sinks = *weights.attention->sinks;
    Array key = before.key.value_or(Array()), value = before.value.value_or(Array());
    const bool cached = before.key.has_value();
    const Array first_page = own.first_page.value_or(Array());
    std::optional<RouterSums> routers = before.routers;
    std::optional<DeltaPages> delta = before.delta;
    std::optional<EarlierHeads> earlier = before.earlier;
    ExpertOptions experts = o.experts;
    if (before.key) experts.capacity = 0;
    const Array y = layer(
        weights, o, before.x,
        [&](const Array& h) {
          KeysAndValues unused;
          KeysAndValues& of_kind = !earlier ? unused : is_full ? earlier->full : earlier->others;
          const auto attend = [&](const Heads& heads) {
            of_kind = {heads.key, heads.value};
            return attending(heads, how, key, value, first_page);
          };
          if (weights.delta_net && delta) {
            DeltaPlaces own_places = *places;
            own_places.pages = own_places.pages + first_page;
            return (*weights.delta_net)(h, o, *rows.positions, *delta, own_places);
          }
          if (weights.delta_net) return (*weights.delta_net)(h, o, *rows.positions);
          if (weights.latent_attention)
            return (*weights.latent_attention)(h, o, table, cached, attend);
          return (*weights.attention)(h, is_full ? full : o, table,
                                      query_scale(o, own, rotary, *rows.positions),
                                      unit_of(o, own, rotary), KeysAndValues(of_kind), attend);
        },
        experts,
        [&](const Routes& routes) {
          if (routers)
            routers =
                added(*routers, layer_sums(routes, experts, ask.options, *rows.mask, own.fractions),
                      *own.number, o.layers);
        },
        own.input);
    Carry after{y, {}, {}, routers, delta, earlier};
    if (before.key) after.key = key;
    if (before.value) after.value = value;
    return after;
  };
  const auto scan = [&](const Layer& weights, const Carry& before, const PerLayer& own,
                        std::int64_t count, bool of_second) {
    const auto one = [&](const Layer& layer, const Carry& x, const PerLayer& here) {
      const nn::NamesTensors names(is_by_name(o.remat_policy));
      return step(layer, x, here, of_second);
    };
    return nn::scan(one, {.in_axes = {0, nn::Carry, 0},
                          .out_axes = {nn::Carry},
                          .length = count,
                          .remat = remat_of(o.remat_policy)})(weights, before, own);
  };
  // Runs of one stack's layers; a whole stack is scanned in place.
  const auto through = [&](const Layer* dense, const Layer* others, Carry x, const PerLayer& own,
                           const std::vector<Run>& runs) {
    std::int64_t layers = 0, of_dense = 0;
    for (const Run& run : runs) layers += run.count, of_dense += run.dense ? run.count : 0;
    for (const Run& run : runs) {
      const Layer& stack = run.dense ? *dense : *others;
      const PerLayer numbers = run.count == layers ? own : part_of(own, run.first, run.count);
      if (run.count == (run.dense ? of_dense : layers - of_dense)) {
        x = scan(stack, x, numbers, run.count, run.dense);
        continue;
      }
      const Layer part = part_of(stack, run.begin, run.count);
      const nn::detail::ModuleCopies called_as(nodes(stack), nodes(part));
      x = scan(part, x, numbers, run.count, run.dense);
    }
    return x;
  };
  const auto address = [](const std::optional<Layer>& stack) { return stack ? &*stack : nullptr; };
  const Layer* second = address(w.full_layers    ? w.full_layers
                                : w.delta_layers ? w.delta_layers
                                                 : w.dense_layers);
  if (const Pipeline* p = current_pipeline(); p != nullptr && !first.key) {
    require_alike(o, second != nullptr, first.routers.has_value(), ask);
    internal::check_pipeline(*p, o.layers, first.x.shape(0));
    RowsOfBatch whole = rows;
    if (positions.shape(0) == 1) whole.positions = {};
    const auto stage = [&](const Layer& layers, const Array& x, const PerLayer& own,
                           const RowsOfBatch& here) {
      rows.segments = here.segments;
      rows.mask = here.mask;
      if (here.positions) {
        PerLayer known = own;
        rows.positions = here.positions;
        rotary = rotary_of(o, *here.positions, length, known);
      }
      const Carry after =
          scan(layers, Carry{x, {}, {}, first.routers, {}, {}}, own, p->layers_per_stage, false);
      return std::pair(after.x, after.routers);
    };
    Carry last = first;
    std::tie(last.x, last.routers) =
        run_staged(*p, w.layers, each, whole, first.x, first.routers, stage);
    if (w.final_norm) last.x = (*w.final_norm)(placed(last.x), o.norm, o.epsilon);
    return last;
  }
  // Layers that follow each other, of two stacks; what repeats is compiled once.
  const auto in_turn = [&](const Layer* seconds, const Layer* others, const Carry& start,
                           const PerLayer& own, const std::vector<bool>& dense) {
    const std::vector<Run> runs = runs_of(dense);
    const auto count = static_cast<std::int64_t>(dense.size()),
               period = static_cast<std::int64_t>(period_of(dense));
    if (runs.size() <= 2 || period == count) return through(seconds, others, start, own, runs);
    const std::int64_t repeats = count / period;
    const std::vector<Run> own_runs =
        runs_of(std::vector<bool>(dense.begin(), dense.begin() + period));
    const auto parts = [&](const Layer& l) { return in_parts(l, repeats); };
    const Layer second_parts = parts(*seconds), other_parts = parts(*others);
    const nn::detail::ModuleCopies seconds_as(nodes(*seconds), nodes(second_parts));
    const nn::detail::ModuleCopies others_as(nodes(*others), nodes(other_parts));
    return nn::scan(
        [&](const Layer& some_seconds, const Layer& some_others, const Carry& before,
            const PerLayer& here) {
          return through(&some_seconds, &some_others, before, here, own_runs);
        },
        {.in_axes = {0, 0, nn::Carry, 0}, .out_axes = {nn::Carry}, .length = repeats})(
        second_parts, other_parts, start, in_parts(own, repeats));
  };
  // Those with keys and values of their own, then those that attend to theirs.
  const std::int64_t shared = o.shared_kv.layers, begin = o.layers - shared;
  const PerLayer ahead = shared == 0 ? each : part_of(each, 0, begin);
  Carry last = in_turn(second, &w.layers, first, ahead, dense_of(o, 0, begin));
  if (shared > 0)
    last = in_turn(address(w.shared_full_layers), address(w.shared_layers), last,
                   part_of(each, begin, shared), dense_of(o, begin, o.layers));
  if (w.final_norm) last.x = (*w.final_norm)(last.x, o.norm, o.epsilon);
  return last;
}

}  // namespace

LayerInputs embed(const Weights& w, const Options& o, const Array& tokens, const Array& positions,
                  const std::optional<Array>& types) {
  if (tokens.ndim() != 2)
    throw Error(o.family, "tokens must be (batch, length), got {}", tokens.type().to_string());
  const nn::ModuleScope scope(w, "Decoder", "embed");
  Array x = scaled_embedding(w.embedder, tokens, o.embedding_scale);
  if (w.positions) x = x + (*w.positions)(positions);
  if (w.types) x = x + (*w.types)(types ? *types : zeros_like(tokens));
  x = astype(x, o.dtype);
  LayerInputs out = placed(w.embedding_norm ? (*w.embedding_norm)(x, o.norm, o.epsilon) : x);
  if (w.per_layer_embedder) out.each = (*w.per_layer_embedder)(tokens, out.x, o);
  return out;
}

Array run_layers(const Weights& w, const Options& o, const LayerInputs& inputs,
                 const Array& positions, std::int64_t length, const LayerAttending& attending,
                 const std::optional<Array>& segments) {
  return scan_layers(
             w, o, Carry{inputs.x, {}, {}, {}, {}, earlier_heads(o, inputs.x)},
             per_layer(o, inputs), positions, length,
             [&](const Heads& heads, const AttendOptions& how, Array&, Array&, const Array&) {
               return attending(heads, how);
             },
             {}, {}, segments)
      .x;
}

std::int64_t layers_in_cache(const Options& o) {
  return o.layers - static_cast<std::int64_t>(o.delta.layers.size()) - o.shared_kv.layers;
}

std::pair<Array, Cache> run_layers(const Weights& w, const Options& o, const LayerInputs& inputs,
                                   const Array& positions, std::int64_t length, const Cache& cache,
                                   const DeltaPlaces& places, const CachedAttending& attending) {
  PerLayer each = per_layer(o, inputs);
  each.first_page = Array(Literal::of(Shape({o.layers}), numbers_in_cache(o))) *
                    static_cast<std::int32_t>(cache.key.shape(0) / layers_in_cache(o));
  const Carry last = scan_layers(w, o, Carry{inputs.x, cache.key, cache.value, {}, cache.delta, {}},
                                 each, positions, length, attending, places);
  return {last.x, Cache{*last.key, last.value, last.delta}};
}

std::pair<Array, RouterSums> run_layers(const Weights& w, const Options& o,
                                        const LayerInputs& inputs, const Array& positions,
                                        std::int64_t length, const LayerAttending& attending,
                                        const RouterAsk& ask,
                                        const std::optional<Array>& segments) {
  const Array& x = inputs.x;
  PerLayer each = per_layer(o, inputs);
  each.number = arange(o.layers);
  each.fractions = ask.fractions;
  RouterAsk own = ask;
  if (!own.mask) own.mask = ones({x.shape(0), x.shape(1)}, DType::f32);
  const Array zero = zeros({});
  const RouterSums none{zero, zero, zeros({o.layers, o.experts.count}), zeros({o.layers})};
  const Carry first{x, {}, {}, none, {}, earlier_heads(o, x)};
  const Carry last = scan_layers(
      w, o, first, each, positions, length,
      [&](const Heads& heads, const AttendOptions& how, Array&, Array&, const Array&) {
        return attending(heads, how);
      },
      {}, own, segments);
  return {last.x, *last.routers};
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
