// Layers repeated, left out, narrowed.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>

#include "strata/base/error.h"
#include "strata/model/decoder/weights.h"
#include "strata/model/surgery/source.h"

namespace strata::model {

using conversion::Described;
using conversion::Planned;
using surgery::json;
using surgery::Made;
using surgery::Source;
using surgery::SourcePtr;
using LayerMap = std::vector<std::int64_t>;

LayerMap parse_layer_map(const std::string& text, std::int64_t layers) {
  LayerMap out;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&] {
    std::int64_t n = -1;
    const auto [next, error] = std::from_chars(at, end, n);
    if (error != std::errc() || n < 0)
      throw Error("model", "layers={}: allowed are numbers and ranges, 0-19,12-31", text);
    if (n >= layers)
      throw Error("model", "layers={}: there is no layer {} of {}, which count from 0", text, n,
                  layers);
    at = next;
    return n;
  };
  while (true) {
    const std::int64_t first = number();
    std::int64_t last = first;
    if (at != end && *at == '-') ++at, last = number();
    if (last < first) throw Error("model", "layers={}: {} stands behind {}", text, last, first);
    for (std::int64_t i = first; i <= last; ++i) out.push_back(i);
    if (out.size() > 1 << 14) throw Error("model", "layers={}: more than {}", text, 1 << 14);
    if (at == end) return out;
    if (*at++ != ',')
      throw Error("model", "layers={}: allowed are numbers and ranges, 0-19,12-31", text);
  }
}

LayerMap upscaled_layers(std::int64_t layers, std::int64_t to) {
  if (to <= layers || to > 2 * layers || to % 2 != 0)
    throw Error("model", "to_layers={}: allowed are even numbers above {} up to {}", to, layers,
                2 * layers);
  LayerMap out(static_cast<std::size_t>(to));
  std::iota(out.begin(), out.begin() + to / 2, 0);
  std::iota(out.begin() + to / 2, out.end(), layers - to / 2);
  return out;
}

namespace {

bool contains(const LayerMap& map, std::int64_t layer) {
  return std::find(map.begin(), map.end(), layer) != map.end();
}

/// What config.json says of each layer, in the new order; the number of them.
json remapped(json config, const Described& old, const LayerMap& map) {
  const std::int64_t layers = old.options.layers;
  for (auto& [key, value] : config.items()) {
    const bool per_layer = key == "layer_types" || key == "no_rope_layers";
    if (!per_layer || !value.is_array() || static_cast<std::int64_t>(value.size()) != layers)
      continue;
    json now = json::array();
    for (std::int64_t layer : map) now.push_back(value[static_cast<std::size_t>(layer)]);
    value = std::move(now);
  }
  config[config.contains("n_layer") ? "n_layer" : "num_hidden_layers"] = map.size();
  if (const std::int64_t dense = old.options.experts.dense_layers; dense > 0) {
    json now = json::array();
    for (std::size_t i = 0; i < map.size() && map[i] < dense; ++i) now.push_back(i);
    config["mlp_only_layers"] = now;
  }
  return config;
}

/// Throws Error where the new config.json gives a layer another window, rotary embedding or scale
/// than the one that it was.
void expect_same_layers(const Described& old, const Described& now, const LayerMap& map) {
  decoder::Options want = old.options;
  const auto take = [&](auto& list) {
    auto from = list;
    if (from.empty()) return;
    list.clear();
    for (std::int64_t layer : map) list.push_back(from[static_cast<std::size_t>(layer)]);
  };
  want.layers = static_cast<std::int64_t>(map.size());
  take(want.windows), take(want.rope_of_layer), take(want.layer_scales);
  if (std::all_of(want.windows.begin(), want.windows.end(), [](auto w) { return w == 0; }))
    want.windows.clear();
  want.experts.dense_layers = now.options.experts.dense_layers;
  for (std::size_t i = 0; i < map.size(); ++i)
    if ((map[i] < old.options.experts.dense_layers) !=
        (static_cast<std::int64_t>(i) < want.experts.dense_layers))
      throw Error("model", "layers without experts may stand first only; in this order {} is one",
                  i);
  const std::string what = conversion::difference(want, now.options);
  if (!what.empty())
    throw Error("model", "config.json of {} cannot say these layers: {} would be another",
                now.family->model_type, what)
        .unsupported();
}

/// Whether a weight ends a branch of a layer: what the layer adds is linear in it.
bool ends_branch(const std::string& path) {
  return path.find("attention/out/") != std::string::npos ||
         path.find("/down/") != std::string::npos;
}

struct Rebuilt {
  std::vector<Made> made;
  json config;
};

/// The model of these layers. `zero(i)`: whether what layer i adds is zero.
Result<Rebuilt> rebuild(const SourcePtr& source, const LayerMap& map,
                        const std::vector<bool>& zero) {
  Rebuilt out;
  const Described& old = source->model();
  out.config = remapped(source->config(), old, map);
  const Described now = conversion::described(out.config.dump());
  expect_same_layers(old, now, map);
  std::set<std::string> seen;
  for (const published::WeightName& w : now.names.weights) {
    const std::int64_t count = std::max<std::int64_t>(decoder::layers_in(now.options, w.path), 1);
    const std::int64_t experts = std::max<std::int64_t>(w.experts, 1);
    const bool layered = w.hugging_face.find("{}") != std::string::npos;
    for (std::int64_t piece = 0; piece < count * experts; ++piece) {
      const std::int64_t layer = published::layer_of(w, piece);
      const auto at = static_cast<std::size_t>(layer);
      const std::string name = published::numbered(w.hugging_face, layer, piece % experts);
      if (!seen.insert(name).second) continue;
      const auto from = source->find(
          layered ? published::numbered(w.hugging_face, map[at], piece % experts) : name);
      if (!from) return from.status();
      Made made = surgery::copied(source, **from, source->named(name));
      if (layered && !zero.empty() && zero[at] && ends_branch(w.path)) {
        const auto length = static_cast<std::size_t>((*from)->shape.back());
        made.tensor.make = [length](std::int64_t, float* to) {
          std::fill_n(to, length, 0.0f);
          return Status();
        };
        made.of = "zeros";
      }
      out.made.push_back(std::move(made));
    }
  }
  return out;
}

Result<SourcePtr> open(const std::string& from, const std::string& to, const SurgeryOptions& o) {
  return Source::open(from, to + ".source", o);
}

}  // namespace

Result<Surgery> upscale(const std::string& from, const std::string& to, const UpscaleOptions& o) {
  const auto source = open(from, to, o.write);
  if (!source) return source.status();
  const std::int64_t layers = (*source)->model().options.layers;
  if (o.layers.empty() == (o.to_layers == 0))
    throw Error("model", "upscale needs either layers or to_layers");
  const LayerMap map =
      o.layers.empty() ? upscaled_layers(layers, o.to_layers) : parse_layer_map(o.layers, layers);
  std::vector<bool> zero(map.size(), false);
  std::int64_t next = 0;  // the layer whose first place is to come
  bool in_order = true;
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (map[i] == next)
      ++next;
    else if (map[i] < next)
      zero[i] = o.zero_repeats;
    else
      in_order = false;
  }
  const decoder::Options& options = (*source)->model().options;
  if (o.zero_repeats && options.norm_place != decoder::NormPlace::before &&
      options.norm_place != decoder::NormPlace::around)
    throw Error("model", "zero_repeats: layers of {} norm what they add to",
                (*source)->model().family->model_type)
        .unsupported();
  if (o.zero_repeats && (options.out_bias || options.mlp_bias))
    throw Error("model", "zero_repeats: layers of this model add biases").unsupported();
  auto rebuilt = rebuild(*source, map, zero);
  if (!rebuilt) return rebuilt.status();
  auto out = surgery::finish(*source, std::move(rebuilt->made), rebuilt->config, to, o.write);
  if (!out) return out;
  out->same_function = in_order && next == layers &&
                       (o.zero_repeats || static_cast<std::int64_t>(map.size()) == layers);
  out->preserves =
      out->same_function
          ? "the function: repeated layers add zero"
          : "embeddings, logits and each layer by itself; not the function, as layers stand twice";
  return out;
}

Result<Surgery> slice_layers(const std::string& from, const std::string& to,
                             const SliceOptions& o) {
  const auto source = open(from, to, o.write);
  if (!source) return source.status();
  const LayerMap map = parse_layer_map(o.layers, (*source)->model().options.layers);
  for (std::size_t i = 1; i < map.size(); ++i)
    if (map[i] <= map[i - 1])
      throw Error("model", "layers={}: a slice's layers increase; `upscale` repeats some",
                  o.layers);
  auto rebuilt = rebuild(*source, map, {});
  if (!rebuilt) return rebuilt.status();
  auto out = surgery::finish(*source, std::move(rebuilt->made), rebuilt->config, to, o.write);
  if (!out) return out;
  out->same_function = out->layers_after == out->layers_before;
  out->preserves = "embeddings, logits and the layers that stay, bit for bit; not the function";
  return out;
}

namespace {

/// The hidden numbers of a layer's feed-forward branch that stay, increasing.
Result<std::vector<std::int64_t>> strongest(const SourcePtr& source, const Described& model,
                                            std::int64_t layer, std::int64_t count) {
  std::vector<double> score(static_cast<std::size_t>(model.options.mlp_width), 1);
  for (const char* part : {"gate", "up", "down"}) {
    for (const published::WeightName& w : model.names.weights) {
      if (w.path != std::string("layers/mlp/") + part + "/kernel") continue;
      const auto found = source->find(published::numbered(w.hugging_face, layer));
      if (!found) return found.status();
      const Planned& t = **found;
      // Rows are outputs: of `down`, the hidden numbers are its columns.
      std::vector<double> norm(score.size(), 0);
      std::vector<float> row(static_cast<std::size_t>(t.shape.back()));
      const bool columns = std::string_view(part) == "down";
      for (std::int64_t i = 0; i < t.shape[0]; ++i) {
        if (Status s = source->row(t, i, row.data()); !s.ok()) return s;
        for (std::size_t k = 0; k < row.size(); ++k)
          norm[columns ? k : static_cast<std::size_t>(i)] += double{row[k]} * row[k];
      }
      for (std::size_t i = 0; i < score.size(); ++i) score[i] *= norm[i];
    }
  }
  std::vector<std::int64_t> order(score.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return score[static_cast<std::size_t>(a)] > score[static_cast<std::size_t>(b)];
  });
  order.resize(static_cast<std::size_t>(count));
  std::sort(order.begin(), order.end());
  return order;
}

/// Rows, or columns, of a tensor.
Made chosen(const SourcePtr& source, Made made, const Planned& from,
            const std::vector<std::int64_t>& which, bool columns) {
  const bool is_bias = from.shape.size() == 1;
  made.tensor.shape[columns || is_bias ? made.tensor.shape.size() - 1 : 0] = std::ssize(which);
  made.tensor.make = [source, &from, which, columns, is_bias](std::int64_t i, float* to) -> Status {
    if (!columns && !is_bias) return source->row(from, which[static_cast<std::size_t>(i)], to);
    std::vector<float> row(static_cast<std::size_t>(from.shape.back()));
    if (Status s = source->row(from, i, row.data()); !s.ok()) return s;
    for (std::int64_t k : which) *to++ = row[static_cast<std::size_t>(k)];
    return {};
  };
  made.of += fmt::format(", {} {} of {}", which.size(), columns ? "columns" : "rows",
                         columns || is_bias ? from.shape.back() : from.shape[0]);
  return made;
}

Status narrow(const SourcePtr& source, Rebuilt& all, const LayerMap& map, std::int64_t width) {
  const Described& model = source->model();
  const auto refuse = [&](const char* why) {
    throw Error("model", "mlp_width={}: {}", width, why).unsupported();
  };
  if (model.options.experts.count > 0) refuse("of experts it is not supported");
  if (width >= model.options.mlp_width || width < 1)
    throw Error("model", "mlp_width={}: allowed is an integer from 1 to {}", width,
                model.options.mlp_width - 1);
  for (std::size_t i = 0; i < map.size(); ++i) {
    const auto which = strongest(source, model, map[i], width);
    if (!which) return which.status();
    for (const published::WeightName& w : model.names.weights) {
      if (!w.path.starts_with("layers/mlp/") || w.path == "layers/mlp/down/bias") continue;
      if (w.whole > 0 || w.as_ours) refuse("its family stores these weights fused or transposed");
      const auto at = static_cast<std::int64_t>(i);
      const std::string name = source->named(published::numbered(w.hugging_face, at));
      const auto from = source->find(published::numbered(w.hugging_face, map[i]));
      if (!from) return from.status();
      for (Made& m : all.made)
        if (m.tensor.name == name)
          m = chosen(source, std::move(m), **from, *which, w.path == "layers/mlp/down/kernel");
    }
  }
  all.config["intermediate_size"] = width;
  return {};
}

}  // namespace

Result<Surgery> prune(const std::string& from, const std::string& to, const PruneOptions& o) {
  const auto source = open(from, to, o.write);
  if (!source) return source.status();
  const std::int64_t layers = (*source)->model().options.layers;
  if (o.drop_layers.empty() && o.mlp_width == 0)
    throw Error("model", "prune needs drop_layers or mlp_width");
  const LayerMap dropped =
      o.drop_layers.empty() ? LayerMap() : parse_layer_map(o.drop_layers, layers);
  LayerMap map;
  for (std::int64_t i = 0; i < layers; ++i)
    if (!contains(dropped, i)) map.push_back(i);
  if (map.empty()) throw Error("model", "drop_layers={}: no layer would be left", o.drop_layers);
  auto rebuilt = rebuild(*source, map, {});
  if (!rebuilt) return rebuilt.status();
  if (o.mlp_width > 0)
    if (Status s = narrow(*source, *rebuilt, map, o.mlp_width); !s.ok()) return s;
  auto out = surgery::finish(*source, std::move(rebuilt->made), rebuilt->config, to, o.write);
  if (!out) return out;
  out->preserves = "the weights that stay, bit for bit; not the function";
  return out;
}

}  // namespace strata::model
