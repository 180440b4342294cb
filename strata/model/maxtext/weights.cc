#include "strata/model/maxtext/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <set>

#include "strata/base/error.h"
#include "strata/model/decoder/weights.h"

namespace strata::model::maxtext {
namespace {

using decoder::Options;
using decoder::WeightKind;
using decoder::WeightShape;
using Sizes = std::vector<std::int64_t>;

/// Of Gemma 3: so many layers are one of MaxText's.
constexpr std::int64_t kGemma3Pattern = 6;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
bool is_gemma(const Options& o) { return o.family.starts_with("gemma"); }
/// Qwen3-Next and Qwen3.5 with experts.
bool has_delta(const Options& o) { return !o.delta.layers.empty(); }
bool is_deepseek(const Options& o) { return o.family.starts_with("deepseek"); }

void check_family(const Options& o) {
  if (!is_one_of(o.family, {"llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "gemma",
                            "gemma2", "gemma3_text", "gemma4_text", "deepseek_v2", "deepseek_v3",
                            "gpt_oss", "olmo3", "qwen3_next", "qwen3_5_moe_text"}))
    throw Error("maxtext",
                "{}: MaxText 0.2.5 converts no weights of such models, so that none are read or "
                "written as its checkpoints; `strata convert` takes Hugging Face's, `strata "
                "checkpoint convert` Strata's and Orbax's",
                o.family)
        .unsupported();
}

/// How a person asks for scan_layers=false.
constexpr const char* kOneByOne =
    "scan_layers=false writes them one by one (strata convert --no-scan-layers, strata checkpoint "
    "convert --unscanned)";

/// Whether MaxText has the model as decoder_block=gemma4_small, whose layers it never scans.
bool is_gemma4_small(const Options& o) {
  return o.per_layer_input.width > 0 || o.shared_kv.layers > 0;
}

/// Of Gemma 4, scanned: five layers with a window and one without are one of MaxText's.
void check_blocks(const Options& o) {
  if (is_gemma4_small(o))
    throw Error(
        "maxtext",
        "{} with embeddings of each layer or shared keys: MaxText does not scan its layers; "
        "{}",
        o.family, kOneByOne)
        .unsupported();
  bool fits = o.layers % kGemma3Pattern == 0;
  for (std::size_t i = 0; i < o.full.layers.size(); ++i)
    fits = fits && o.full.layers[i] == static_cast<std::int64_t>(i + 1) * kGemma3Pattern - 1;
  if (!fits || static_cast<std::int64_t>(o.full.layers.size()) * kGemma3Pattern != o.layers)
    throw Error("maxtext",
                "{} layers of {}: MaxText scans multiples of six, each sixth of full attention",
                o.layers, o.family)
        .unsupported();
}

/// Of Qwen3-Next: so many layers, the last of full attention, are one that repeats.
std::int64_t delta_cycle(const Options& o) {
  std::int64_t first = 0;
  for (const std::int64_t layer : o.delta.layers) first += layer == first ? 1 : 0;
  const std::int64_t cycle = first + 1;
  bool fits = first > 0 && o.layers % cycle == 0;
  for (std::int64_t i = 0; i < o.layers; ++i)
    fits = fits && std::binary_search(o.delta.layers.begin(), o.delta.layers.end(), i) ==
                       (i % cycle != first);
  if (!fits)
    throw Error("maxtext",
                "{} layers of {}, of which {} have the delta rule: MaxText scans blocks of equal "
                "length whose last layer has full attention; {}",
                o.layers, o.family, o.delta.layers.size(), kOneByOne)
        .unsupported();
  return cycle;
}

/// So many layers, of several kinds, are one of MaxText's that repeats; 0 where all are alike.
std::int64_t cycle_of(const Options& o, const Layout& layout) {
  if (!is_one_of(o.family, {"gpt_oss", "olmo3"})) return 0;
  if (layout.cycle > 0) return layout.cycle;
  return o.family == "olmo3" ? 4 : 2;
}

/// Throws where what MaxText repeats does not divide the layers.
void check_layers(const Options& o, const Layout& layout) {
  check_family(o);
  if (has_delta(o) && layout.scanned) (void)delta_cycle(o);
  const std::int64_t cycle = o.family == "gemma2" ? 2 : layout.scanned ? cycle_of(o, layout) : 0;
  if (cycle > 0 && o.layers % cycle != 0)
    throw Error("maxtext", "{} layers of {}: MaxText has multiples of {}", o.layers, o.family,
                cycle)
        .unsupported();
}

std::int64_t count_of(const Sizes& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Whether MaxText has no factor of scores: the weights of queries hold it.
bool folds_scale(const Options& o) {
  return is_one_of(o.family, {"llama", "mistral", "mixtral", "gemma", "gemma2"});
}
/// Whether elements j and j + width / 2 of a head are MaxText's 2 j and 2 j + 1.
bool is_paired(const Options& o) {
  return !o.ropes.empty() && o.ropes.front().type == decoder::Rope::Type::llama3;
}

// -- Names and shapes --------------------------------------------------------------------------

/// A part of a layer without its last step: "attention/query" of "layers/attention/query/kernel".
struct Part {
  std::string_view stack, part, leaf;
};
Part part_of(std::string_view path) {
  const std::size_t first = path.find('/'), last = path.rfind('/');
  return {path.substr(0, first), last == first ? "" : path.substr(first + 1, last - first - 1),
          path.substr(last + 1)};
}

std::string expert_block(const Options& o) {
  if (is_deepseek(o)) return "DeepSeekMoeBlock_0/MoeBlock_0";
  if (o.family == "gpt_oss") return "GptOssMlp";
  if (has_delta(o)) return "mlp/routed_experts";
  if (o.family == "gemma4_text") return "mlp/moe_block/MoeBlock_0";
  return o.family == "mixtral" ? "MoeBlock_0" : "moe_block";
}

std::string attention_block(const Options& o) {
  if (o.family == "gpt_oss") return "GptOssAttention";
  if (has_delta(o)) return "attention/attention";
  return o.family == "olmo3" ? "attention" : "self_attention";
}

/// What MaxText calls the module of a layer, and whether its array stands there without a leaf.
struct Module {
  std::string name;
  std::string leaf;
};
Module module_of(const Options& o, const Part& p) {
  const std::string leaf = "/" + std::string(p.leaf);
  const std::map<std::string_view, std::string_view> usual = {
      {"latent_attention/query", "self_attention/query"},
      {"latent_attention/query_a", "self_attention/wq_a"},
      {"latent_attention/query_a_norm", "self_attention/q_norm"},
      {"latent_attention/query_b", "self_attention/wq_b"},
      {"latent_attention/kv_a", "self_attention/wkv_a"},
      {"latent_attention/kv_a_norm", "self_attention/kv_norm"},
      {"latent_attention/kv_b", "self_attention/wkv_b"},
      {"latent_attention/out", "self_attention/out"},
      {"mlp/gate", "mlp/wi_0"},
      {"mlp/up", "mlp/wi_1"},
      {"mlp/down", "mlp/wo"},
      {"experts/shared/gate", "DeepSeekMoeBlock_0/shared_experts/wi_0"},
      {"experts/shared/up", "DeepSeekMoeBlock_0/shared_experts/wi_1"},
      {"experts/shared/down", "DeepSeekMoeBlock_0/shared_experts/wo"},
      {"attention_post_norm", "post_self_attention_norm"},
      {"mlp_post_norm", "post_ffw_norm"}};
  if (o.family == "olmo3" && p.part == "attention_post_norm")
    return {"post_self_attention_layer_norm", leaf};
  if (o.family == "olmo3" && p.part == "mlp_post_norm") return {"post_mlp_layer_norm", leaf};
  if (o.family == "gemma4_text") {
    if (p.part.empty()) return {"layer_scalar", ""};
    if (p.part == "per_layer_input/gate") return {"per_layer_input_gate", leaf};
    if (p.part == "per_layer_input/projection") return {"per_layer_projection", leaf};
    if (p.part == "per_layer_input/norm") return {"post_per_layer_input_norm", leaf};
    if (p.part == "mlp_own_post_norm") return {"mlp/post_feedforward_layernorm_1", leaf};
    if (p.part == "experts_norm") return {"mlp/pre_feedforward_layernorm_2", leaf};
    if (p.part == "experts_post_norm") return {"mlp/post_feedforward_layernorm_2", leaf};
    if (p.leaf == "router_scale") return {"mlp/pre_forward_scale_2", ""};
    if (p.leaf == "expert_scale") return {"mlp/moe_block/MoeBlock_0/per_expert_scale", ""};
    const auto at = usual.find(p.part);
    if (o.experts.count > 0 && p.part.starts_with("mlp/") && at != usual.end())
      return {"mlp/moe_block/shared_experts/" + std::string(at->second.substr(4)), leaf};
  }
  if (has_delta(o)) {
    const std::map<std::string_view, std::string_view> here = {
        {"attention_norm", "input_layernorm"},
        {"mlp_norm", "post_attention_layernorm"},
        {"delta_net/qkvz", "attention/in_proj_qkvz"},
        {"delta_net/ba", "attention/in_proj_ba"},
        {"delta_net/norm", "attention/norm/rms_norm"},
        {"delta_net/out", "attention/out_proj"},
        {"experts/shared/gate", "mlp/shared_expert/wi_0"},
        {"experts/shared/up", "mlp/shared_expert/wi_1"},
        {"experts/shared/down", "mlp/shared_expert/wo"},
        {"experts/shared_gate", "mlp/shared_expert_gate"}};
    if (const auto at = here.find(p.part); at != here.end()) return {std::string(at->second), leaf};
    if (p.leaf == "conv") return {"attention/conv1d", "/kernel"};
    if (p.leaf == "a_log") return {"attention/A_log", ""};
    if (p.leaf == "dt_bias") return {"attention/dt_bias", ""};
  }
  if (p.part == "attention") return {attention_block(o), leaf};  // sinks
  if (p.part.starts_with("attention/"))
    return {attention_block(o) + std::string(p.part.substr(9)), leaf};
  if (const auto at = usual.find(p.part); at != usual.end()) return {std::string(at->second), leaf};
  if (p.part == "attention_norm")
    return {is_gemma(o) ? "pre_self_attention_norm" : "pre_self_attention_layer_norm", leaf};
  if (p.part == "mlp_norm")
    return {is_gemma(o) ? "pre_ffw_norm" : "post_self_attention_layer_norm", leaf};
  const std::string block = expert_block(o);
  if (p.part == "experts/router") return {block + "/gate", leaf};
  if (p.part == "experts") return {block + "/gate", "/bias"};
  const std::string bias = p.leaf == "bias" ? "_bias" : "";
  if (p.part == "experts/gate") return {block + "/wi_0", bias};
  if (p.part == "experts/up") return {block + "/wi_1", bias};
  if (p.part == "experts/down") return {block + "/wo", bias};
  throw Error("maxtext", "{}: MaxText's {} has no such weight", p.part, o.family).unsupported();
}

/// Heads as an axis.
Sizes shape_of(const Options& o, const Part& p, const Sizes& own) {
  if (p.leaf == "conv") return {own[0], 1, own[1]};
  const auto cut = [](std::int64_t size, std::int64_t heads) { return Sizes{heads, size / heads}; };
  Sizes out = own;
  const auto cut_axis = [&](std::size_t axis, std::int64_t heads) {
    const Sizes two = cut(own[axis], heads);
    out.erase(out.begin() + static_cast<long>(axis));
    out.insert(out.begin() + static_cast<long>(axis), two.begin(), two.end());
  };
  if (is_one_of(p.part, {"attention/query", "latent_attention/query", "latent_attention/query_b",
                         "latent_attention/kv_b"}))
    cut_axis(own.size() - 1, o.query_heads);
  if (is_one_of(p.part, {"attention/key", "attention/value"}))
    cut_axis(own.size() - 1, p.stack.ends_with("full_layers") ? o.full.kv_heads : o.kv_heads);
  const bool flat = has_delta(o);  // its gates apply to heads side by side
  if (is_one_of(p.part, {"attention/out", "latent_attention/out"}) && p.leaf == "kernel" && !flat)
    cut_axis(0, o.query_heads);
  return out;
}

/// Where a layer of a weight is stored.
struct Place {
  std::string name;
  Sizes shape;             // of the whole array, layers along one axis
  std::int64_t index = 0;  // along `axis`
  std::int64_t axis = -1;  // none where layers are arrays of their own
  /// The array has so many layers along an axis of their own behind `axis`; 0: no such axis.
  std::int64_t inner = 0;
  Sizes stored() const {
    Sizes out = shape;
    if (inner == 0) return out;
    out[static_cast<std::size_t>(axis)] /= inner;
    out.insert(out.begin() + axis + 1, inner);
    return out;
  }
};

/// Of layers that predict further tokens, which are never scanned.
Place place_of_further(const Options& o, const WeightShape& w, std::int64_t layer) {
  const std::string_view path = std::string_view(w.path).substr(w.path.find('/') + 1);
  const std::string folder = fmt::format("mtp_block/mtp_layer_{}/mtp_{}_", layer + 1, layer + 1);
  const Sizes shape(w.shape.begin() + 1, w.shape.end());
  if (path.starts_with("layers/")) {
    const Part p = part_of(path);
    const Module module = module_of(o, p);
    return {folder + "transformer_layer/" + module.name + module.leaf, shape_of(o, p, shape)};
  }
  if (path.starts_with("hidden_norm")) return {folder + "hidden_state_norm/scale", shape};
  return {folder + std::string(path), shape};
}

/// Of the table that layers have embeddings of their own from, and what stands beside it.
Place place_of_per_layer(const WeightShape& w) {
  const Part p = part_of(w.path);
  const std::string folder = "decoder/per_layer_embedder/";
  if (p.part == "table") return {folder + "embed_tokens_per_layer", w.shape};
  if (p.part == "projection") return {folder + "per_layer_model_projection/kernel", w.shape};
  return {folder + "per_layer_projection_norm/scale", w.shape};
}

Place place_of(const Options& o, const WeightShape& w, std::int64_t layer, const Layout& layout) {
  if (w.path == "embedder/embedding") return {"token_embedder/embedding", w.shape};
  if (w.path == "final_norm/scale") return {"decoder/decoder_norm/scale", w.shape};
  if (w.path.starts_with("per_layer_embedder/")) return place_of_per_layer(w);
  if (w.path == "logits/kernel") return {"decoder/logits_dense/kernel", w.shape};
  if (w.path.starts_with("mtp_layers/")) return place_of_further(o, w, layer);
  const Part p = part_of(w.path);
  const std::int64_t layers = decoder::layers_in(o, w.path);
  if (layers == 0)
    throw Error("maxtext", "{}: MaxText's {} has no such weight", w.path, o.family).unsupported();
  Module module = module_of(o, p);
  std::string stack = p.stack == "dense_layers" ? "dense_layers" : "layers";
  if (is_deepseek(o) && p.stack == "layers") stack = "moe_layers";
  std::int64_t index = layer, count = layers;
  if (o.family == "gemma2") {
    const std::size_t end = std::min(module.name.find('/'), module.name.size());
    module.name.insert(end, layer % 2 == 0 ? "_local" : "_global");
    index = layer / 2, count = layers / 2;
  }
  Sizes shape = shape_of(o, p, Sizes(w.shape.begin() + 1, w.shape.end()));
  std::string folder = fmt::format("decoder/{}", stack);
  std::int64_t inner = 0;
  if ((o.family == "gemma4_text" || has_delta(o)) && !layout.scanned)
    index = decoder::layer_numbers(o, w.path)[static_cast<std::size_t>(layer)];
  if (o.family == "gemma4_text" && layout.scanned) {
    check_blocks(o);
    const bool full = p.stack == "full_layers";
    folder = full ? "decoder/scanned_blocks/global_layer" : "decoder/scanned_blocks/local_layers";
    inner = full ? 0 : kGemma3Pattern - 1;
  }
  if (has_delta(o) && layout.scanned && o.family != "qwen3_next") {
    // Each layer of a cycle has arrays of its own.
    const std::int64_t cycle = delta_cycle(o),
                       number = decoder::layer_numbers(o, w.path)[static_cast<std::size_t>(layer)];
    folder += fmt::format("/layer_{}", number % cycle);
    index = number / cycle, count = o.layers / cycle;
  } else if (has_delta(o) && layout.scanned) {
    inner = p.stack == "delta_layers" ? delta_cycle(o) - 1 : 0;
    folder += inner > 0 ? "/local_layers" : "/global_layer";
  }
  if (!layout.scanned)
    return {fmt::format("{}_{}/{}{}", folder, index, module.name, module.leaf), shape};
  if (o.family.starts_with("gemma3")) {
    const std::int64_t whole = layers / kGemma3Pattern * kGemma3Pattern;
    if (layer >= whole)
      return {fmt::format("{}_remainder/layers_{}/{}{}", folder, layer - whole, module.name,
                          module.leaf),
              shape};
    folder += fmt::format("/layers_{}", layer % kGemma3Pattern);
    index = layer / kGemma3Pattern, count = layers / kGemma3Pattern;
  }
  if (const std::int64_t cycle = cycle_of(o, layout); cycle > 0) {
    folder += fmt::format("/layers_{}", layer % cycle);
    index = layer / cycle, count = layers / cycle;
  }
  const std::int64_t axis = std::min(layout.scan_axis, static_cast<std::int64_t>(shape.size()));
  shape.insert(shape.begin() + axis, count);
  return {fmt::format("{}/{}{}", folder, module.name, module.leaf), shape, index, axis, inner};
}

// -- Numbers -----------------------------------------------------------------------------------

/// MaxText's number is factor times ours and plus.
struct Affine {
  double factor = 1, plus = 0;
};
Affine affine_of(const Options& o, const WeightShape& w, What what) {
  Affine out;
  if (what == What::stored_moments) return out;
  if (folds_scale(o) && w.path.ends_with("layers/attention/query/kernel"))
    out.factor = static_cast<float>(o.attention_scale);
  if (is_gemma(o) && w.path == "embedder/embedding")
    out.factor = static_cast<float>(o.embedding_scale);
  if (is_gemma(o) && o.norm == decoder::NormKind::gemma && w.kind == WeightKind::scale)
    out.plus = 1;
  if (what == What::weights) return out;
  return {what == What::first_moments ? 1 / out.factor : 1 / (out.factor * out.factor), 0};
}

bool is_turned(const Options& o, const WeightShape& w) {
  return is_paired(o) && (w.path.ends_with("layers/attention/query/kernel") ||
                          w.path.ends_with("layers/attention/key/kernel") ||
                          w.path.ends_with("layers/attention/query/bias") ||
                          w.path.ends_with("layers/attention/key/bias"));
}

/// The place in MaxText's head of element j of ours.
std::int64_t turned(std::int64_t j, std::int64_t width) {
  return j < width / 2 ? 2 * j : 2 * (j - width / 2) + 1;
}

/// Calls f(own, stored) for each element of one layer: its place in the layer and in the array.
template <class F>
void for_each_element(const Options& o, const WeightShape& w, const Place& at, F f) {
  const std::int64_t inner =
      at.axis < 0 ? 1 : count_of(Sizes(at.shape.begin() + at.axis + 1, at.shape.end()));
  const std::int64_t layers = at.axis < 0 ? 1 : at.shape[static_cast<std::size_t>(at.axis)];
  const std::int64_t n = count_of(at.shape) / layers;
  const bool turns = is_turned(o, w);
  const std::int64_t width = turns ? at.shape.back() : 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t there = turns ? i - i % width + turned(i % width, width) : i;
    f(i, at.axis < 0 ? there : (there / inner * layers + at.index) * inner + there % inner);
  }
}

std::int64_t layers_of(const Options& o, const WeightShape& w) {
  return std::max<std::int64_t>(decoder::layers_in(o, w.path), 1);
}

template <class T>
double number(const Literal& l, std::int64_t i) {
  return static_cast<double>(static_cast<float>(reinterpret_cast<const T*>(l.data())[i]));
}
template <class T>
void set(Literal& l, std::int64_t i, double v) {
  reinterpret_cast<T*>(l.mutable_data())[i] = static_cast<T>(static_cast<float>(v));
}

/// Calls f with a T of the dtype.
template <class F>
void with_type(DType dtype, const std::string& name, F f) {
  if (dtype == DType::f32) return f(float{});
  if (dtype == DType::bf16) return f(BFloat16{});
  throw Error("maxtext", "{} is {}; weights and moments are f32 or bf16", name,
              strata::name(dtype));
}

void put(const Options& o, const WeightShape& w, const Place& at, const Affine& a,
         const Literal& ours, std::int64_t layer, Literal& theirs) {
  const std::int64_t begin = layer * (count_of(w.shape) / layers_of(o, w));
  with_type(ours.dtype(), w.path, [&]<class T>(T) {
    for_each_element(o, w, at, [&](std::int64_t own, std::int64_t there) {
      set<T>(theirs, there, number<T>(ours, begin + own) * a.factor + a.plus);
    });
  });
}

void take(const Options& o, const WeightShape& w, const Place& at, const Affine& a,
          const Literal& theirs, std::int64_t layer, Literal& ours) {
  const std::int64_t begin = layer * (count_of(w.shape) / layers_of(o, w));
  with_type(theirs.dtype(), at.name, [&]<class T>(T) {
    for_each_element(o, w, at, [&](std::int64_t own, std::int64_t there) {
      const double v = (number<T>(theirs, there) - a.plus) / a.factor;
      if (ours.dtype() == DType::f32)
        set<float>(ours, begin + own, v);
      else
        set<BFloat16>(ours, begin + own, v);
    });
  });
}

std::string text(const Sizes& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

/// What is wrong with stored arrays; empty where they are the model's.
std::string compare(const std::map<std::string, Sizes>& wanted, const Arrays& arrays) {
  std::vector<std::string> wrong;
  for (const auto& [name, shape] : wanted) {
    const auto at = arrays.find(name);
    if (at == arrays.end())
      wrong.push_back(fmt::format("{} {} is missing", name, text(shape)));
    else if (at->second.shape().sizes() != shape)
      wrong.push_back(fmt::format("{} is {} and should be {}", name,
                                  text(at->second.shape().sizes()), text(shape)));
    else if (at->second.dtype() != DType::f32 && at->second.dtype() != DType::bf16)
      wrong.push_back(
          fmt::format("{} is {}, not f32 or bf16", name, strata::name(at->second.dtype())));
  }
  for (const auto& [name, value] : arrays)
    if (!wanted.contains(name))
      wrong.push_back(fmt::format("{} {} is of no weight", name, text(value.shape().sizes())));
  constexpr std::size_t kMost = 8;
  const std::size_t more = wrong.size() > kMost ? wrong.size() - kMost : 0;
  wrong.resize(wrong.size() - more);
  return fmt::format("{}{}", fmt::join(wrong, "; "),
                     more > 0 ? fmt::format("; and {} more", more) : "");
}

}  // namespace

std::map<std::string, Sizes> stored_shapes(const Options& o, const Layout& layout) {
  check_layers(o, layout);
  std::map<std::string, Sizes> out;
  for (const WeightShape& w : decoder::weight_shapes(o))
    for (std::int64_t layer = 0; layer < layers_of(o, w); ++layer) {
      Place at = place_of(o, w, layer, layout);
      out.emplace(std::move(at.name), at.stored());
    }
  return out;
}

std::map<std::string, std::vector<std::string>> stored_names(const Options& o,
                                                             const Layout& layout) {
  check_layers(o, layout);
  std::map<std::string, std::vector<std::string>> out;
  for (const WeightShape& w : decoder::weight_shapes(o)) {
    std::vector<std::string>& names = out[w.path];
    for (std::int64_t layer = 0; layer < layers_of(o, w); ++layer)
      names.push_back(place_of(o, w, layer, layout).name);
  }
  return out;
}

Arrays to_maxtext(const Options& o, const tree::Tree& params, const Layout& layout) {
  check_layers(o, layout);
  Arrays out;
  for (const WeightShape& w : decoder::weight_shapes(o)) {
    const Literal ours = params[w.path].literal();
    if (ours.shape().sizes() != w.shape)
      throw Error("maxtext", "{} is {} and should be {}", w.path, text(ours.shape().sizes()),
                  text(w.shape));
    const Affine a = affine_of(o, w, layout.what);
    for (std::int64_t layer = 0; layer < layers_of(o, w); ++layer) {
      const Place at = place_of(o, w, layer, layout);
      auto [theirs, made] =
          out.try_emplace(at.name, Literal(Type(ours.dtype(), Shape::of(at.stored()))));
      put(o, w, at, a, ours, layer, theirs->second);
    }
  }
  return out;
}

Result<tree::Tree> from_maxtext(const Options& o, const Arrays& arrays, const Layout& layout) {
  if (const std::int64_t further = further_layers(arrays); further != o.mtp_layers)
    return Status(Code::invalid,
                  "mtp_num_layers={}: the arrays have {} layers that predict further tokens "
                  "(mtp_block)",
                  o.mtp_layers, further);
  if (const std::string wrong = compare(stored_shapes(o, layout), arrays); !wrong.empty())
    return Status(Code::invalid, "the arrays are not those of the configuration: {}", wrong);
  std::map<std::string, Array, std::less<>> made;
  for (const WeightShape& w : decoder::weight_shapes(o)) {
    const Affine a = affine_of(o, w, layout.what);
    const DType dtype = w.kind == WeightKind::choice_bias
                            ? DType::f32
                            : arrays.at(place_of(o, w, 0, layout).name).dtype();
    Literal ours(Type(dtype, Shape::of(w.shape)));
    for (std::int64_t layer = 0; layer < layers_of(o, w); ++layer) {
      const Place at = place_of(o, w, layer, layout);
      take(o, w, at, a, arrays.at(at.name), layer, ours);
    }
    made.emplace(w.path, Array(std::move(ours)));
  }
  const decoder::Weights typed = decoder::make_weights(
      o, [&](std::string_view path, const Sizes&, WeightKind) { return made.find(path)->second; });
  return tree::of(typed).with_metadata(
      [](const tree::Entry& e) { return decoder::logical_axes(e.name); });
}

bool is_scanned(const Arrays& arrays) {
  return std::any_of(arrays.begin(), arrays.end(), [](const auto& entry) {
    return entry.first.starts_with("decoder/layers/") ||
           entry.first.starts_with("decoder/scanned_blocks/") ||
           entry.first.starts_with("decoder/moe_layers/");
  });
}

std::int64_t further_layers(const Arrays& arrays) {
  std::int64_t out = 0;
  while (arrays.contains(
      fmt::format("mtp_block/mtp_layer_{}/mtp_{}_projection/kernel", out + 1, out + 1)))
    ++out;
  return out;
}

Layout layout_of(const Arrays& arrays, std::int64_t scan_axis) {
  Layout out{.scanned = is_scanned(arrays), .scan_axis = scan_axis};
  const std::string_view folder = "decoder/layers/layers_";
  for (const auto& [name, value] : arrays)
    if (name.starts_with(folder))
      out.cycle = std::max<std::int64_t>(out.cycle, std::atoll(name.c_str() + folder.size()) + 1);
  return out;
}

}  // namespace strata::model::maxtext
