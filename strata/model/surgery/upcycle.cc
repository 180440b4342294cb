// A model of experts from a dense one.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "strata/base/error.h"
#include "strata/data/pipeline/numpy_random.h"
#include "strata/model/decoder/weights.h"
#include "strata/model/surgery/source.h"

namespace strata::model {

using conversion::Described;
using conversion::Planned;
using decoder::WeightKind;
using surgery::json;
using surgery::Made;
using surgery::Sizes;
using surgery::SourcePtr;

namespace {

/// Normal numbers of row `row` of tensor `tensor`: of no other state.
void draw(std::uint64_t seed, std::uint64_t tensor, std::int64_t row, std::size_t count,
          double deviation, float* add_to) {
  auto rng = data::NumpyGenerator::philox_key(seed, tensor);
  rng.set_counter({0, static_cast<std::uint64_t>(row), 0, 0});
  for (std::size_t i = 0; i < count; i += 2) {
    // Box and Muller's pair.
    const double radius = std::sqrt(-2 * std::log(1 - rng.random())),
                 angle = 2 * std::numbers::pi * rng.random();
    add_to[i] += static_cast<float>(deviation * radius * std::cos(angle));
    if (i + 1 < count) add_to[i + 1] += static_cast<float>(deviation * radius * std::sin(angle));
  }
}

double deviation_of(const float* row, std::size_t count) {
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) squares += double{row[i]} * row[i];
  return std::sqrt(squares / static_cast<double>(count));
}

/// The divisors of a width next to a number, below and above.
std::string near_divisors(std::int64_t width, std::int64_t number) {
  std::int64_t below = number, above = number;
  while (width % below != 0) --below;
  while (width % above != 0) ++above;
  return fmt::format("{} and {}", below, above);
}

void expect(const UpcycleOptions& o, const decoder::Options& dense) {
  const auto within = [](const char* key, std::int64_t value, std::int64_t least,
                         std::int64_t most) {
    if (value < least || value > most)
      throw Error("model", "{}={}: allowed is an integer from {} to {}", key, value, least, most);
  };
  if (dense.experts.count > 0) throw Error("model", "the model has experts already");
  within("experts", o.experts, 1, 1 << 14);
  within("active", o.active, 1, o.experts);
  within("granularity", o.granularity, 1, dense.mlp_width);
  if (o.shared < 0 || o.shared >= o.granularity)
    throw Error("model",
                "shared={}: of the granularity={} slices of a branch one at least is routed, so "
                "allowed is an integer from 0 to {}",
                o.shared, o.granularity, o.granularity - 1);
  if (o.dense_layers < 0 || o.dense_layers >= dense.layers)
    throw Error("model",
                "dense_layers={}: the model has {} layers, of which one at least gets experts",
                o.dense_layers, dense.layers);
  if (dense.mlp_width % o.granularity != 0)
    throw Error("model", "granularity={}: it does not divide the dense width {}; near it are {}",
                o.granularity, dense.mlp_width, near_divisors(dense.mlp_width, o.granularity));
  const auto finite = [](const char* key, double value) {
    if (!(value >= 0) || !std::isfinite(value))
      throw Error("model", "{}={}: allowed is a finite number from 0 on", key, value);
  };
  finite("noise", o.noise);
  finite("router_deviation", o.router_deviation);
}

/// Why a model has no family of experts, and what would have one.
std::string no_family(const std::string& type, const decoder::Options& d, const UpcycleOptions& o) {
  const bool known = type == "llama" || type == "mistral" || type == "qwen2" || type == "qwen3";
  if (!known)
    return fmt::format(
        "no family of experts that is known is {} with experts in it; from llama, mistral, qwen2 "
        "and qwen3 there is one",
        type);
  if (type == "qwen3")
    return fmt::format("shared={}: qwen3_moe, which qwen3 becomes, has no shared expert", o.shared);
  if (d.head_dim * d.query_heads != d.width)
    return fmt::format(
        "qwen2_moe, which alone has a shared expert or dense layers, has heads that fill its "
        "width; here {} of {} do not make {}. Without shared and dense_layers {}",
        d.query_heads, d.head_dim, d.width,
        type == "qwen2" ? "it is the same" : "the model becomes mixtral, which can");
  return fmt::format(
      "no family of experts has the biases of this {}: mixtral and qwen2_moe have none there",
      type);
}

/// config.json of the model of experts, with all that its family takes otherwise where it is
/// silent.
json config_of(const surgery::Source& source, const UpcycleOptions& o) {
  const decoder::Options& d = source.model().options;
  const std::string type(source.model().family->model_type);
  json c = source.config();
  const bool more = o.shared > 0 || o.dense_layers > 0;
  std::string now;
  if ((type == "llama" || type == "mistral") && !d.qkv_bias && !d.out_bias && !d.mlp_bias)
    now = more ? "qwen2_moe" : "mixtral";
  if (type == "qwen2") now = "qwen2_moe";
  if (type == "qwen3" && o.shared == 0) now = "qwen3_moe";
  if (now == "qwen2_moe" && d.head_dim * d.query_heads != d.width) now.clear();
  if (now.empty()) throw Error("model", "{}", no_family(type, d, o)).unsupported();
  const std::int64_t width = d.mlp_width / o.granularity;
  c["model_type"] = now;
  c["architectures"] = {now == "mixtral"     ? "MixtralForCausalLM"
                        : now == "qwen2_moe" ? "Qwen2MoeForCausalLM"
                                             : "Qwen3MoeForCausalLM"};
  if (!c.contains("rope_parameters") && !c.contains("rope_theta"))
    c["rope_theta"] = d.ropes.at(0).theta;
  c["rms_norm_eps"] = d.epsilon;
  c["num_key_value_heads"] = d.kv_heads;
  c["head_dim"] = d.head_dim;
  c["tie_word_embeddings"] = d.tied;
  c["num_experts_per_tok"] = o.active;
  for (const char* key : {"attention_bias", "mlp_bias", "pretraining_tp"})
    if (now != "qwen3_moe") c.erase(key);
  if (now == "mixtral") {
    c["intermediate_size"] = width;
    c["num_local_experts"] = o.experts;
    if (d.windows.empty()) c["sliding_window"] = nullptr;
    return c;
  }
  c["num_experts"] = o.experts;
  c["moe_intermediate_size"] = width;
  c["norm_topk_prob"] = true;
  c["decoder_sparse_step"] = 1;
  c["mlp_only_layers"] = json::array();
  for (std::int64_t i = 0; i < o.dense_layers; ++i) c["mlp_only_layers"].push_back(i);
  if (now == "qwen3_moe") return c;
  // The family always has a shared expert; of width one it may be zero.
  c["shared_expert_intermediate_size"] = std::max<std::int64_t>(o.shared * width, 1);
  c["qkv_bias"] = d.qkv_bias;
  if (type == "mistral" && !d.windows.empty()) {
    c["use_sliding_window"] = true;
    c["max_window_layers"] = 0;
  } else if (type != "qwen2") {
    c["use_sliding_window"] = false;
  }
  return c;
}

/// Makes the new tensors.
class Upcycling {
 public:
  Upcycling(SourcePtr source, const UpcycleOptions& o)
      : source_(std::move(source)),
        o_(o),
        routed_(o.granularity - o.shared),
        width_(source_->model().options.mlp_width / o.granularity) {}

  /// Piece `piece` of a weight of the new model.
  Result<Made> make(const published::WeightName& w, std::int64_t piece) const {
    const std::int64_t experts = std::max<std::int64_t>(w.experts, 1);
    const std::int64_t layer = published::layer_of(w, piece), expert = piece % experts;
    const std::string name = source_->named(published::numbered(w.hugging_face, layer, expert));
    const std::uint64_t tensor = number_++;
    const std::string path =
        w.path.starts_with("dense_layers/") ? w.path.substr(6) : w.path;  // "layers/..."
    const std::string branch = "layers/experts/";
    if (!path.starts_with(branch)) {
      const auto from = find(path, layer);
      if (!from) return from.status();
      return surgery::copied(source_, **from, name);
    }
    const std::string part = path.substr(branch.size());
    if (part == "router/kernel") return router(name, tensor);
    if (part == "shared_gate/kernel") {
      Made out = plain(name, {1, source_->model().options.width});
      out.of = "zeros, whose sigmoid is 1/2";
      return out;
    }
    const bool shared = part.starts_with("shared/");
    const std::string own = shared ? part.substr(7) : part;
    const auto from = find("layers/mlp/" + own, layer);
    if (!from) return from.status();
    if (shared) return slice(name, **from, own, routed_ * width_, o_.shared * width_, 2, tensor, 0);
    return slice(name, **from, own, expert % routed_ * width_, width_, static_cast<double>(routed_),
                 tensor, o_.noise);
  }

 private:
  Result<const Planned*> find(const std::string& path, std::int64_t layer) const {
    for (const published::WeightName& w : source_->model().names.weights)
      if (w.path == path) return source_->find(published::numbered(w.hugging_face, layer));
    STRATA_UNREACHABLE("the dense model has no weight {}", path);
  }
  Made plain(const std::string& name, Sizes shape) const {
    Planned t{.name = name,
              .shape = std::move(shape),
              .type = type(),
              .from = "",
              .change = {},
              .numbers = {}};
    const auto length = static_cast<std::size_t>(t.shape.back());
    t.make = [length](std::int64_t, float* to) {
      std::fill_n(to, length, 0.0f);
      return Status();
    };
    return {std::move(t), "zeros"};
  }
  conversion::GgufType type() const { return source_->tensors().at(0).type; }
  Made router(const std::string& name, std::uint64_t tensor) const {
    const auto width = static_cast<std::size_t>(source_->model().options.width);
    Made out = plain(name, {o_.experts, static_cast<std::int64_t>(width)});
    out.of =
        fmt::format("{} drawn rows, each {} times", (o_.experts + routed_ - 1) / routed_, routed_);
    out.tensor.make = [=, seed = o_.seed, deviation = o_.router_deviation, group = routed_](
                          std::int64_t i, float* to) {
      std::fill_n(to, width, 0.0f);
      draw(seed, tensor, i / group, width, deviation, to);
      return Status();
    };
    return out;
  }
  /// Hidden numbers begin .. begin + count of a matrix; `down` times `scale`.
  Made slice(const std::string& name, const Planned& from, const std::string& part,
             std::int64_t begin, std::int64_t count, double scale, std::uint64_t tensor,
             double noise) const {
    const bool down = part == "down/kernel";
    Made out = surgery::copied(source_, from, name);
    out.tensor.shape[down ? 1 : 0] = std::max<std::int64_t>(count, 1);
    const auto length = static_cast<std::size_t>(out.tensor.shape[1]);
    if (count == 0) {
      Made none = plain(name, out.tensor.shape);
      return none;
    }
    out.of += fmt::format("[{}:{}]", begin, begin + count);
    if (down && scale != 1) out.of += fmt::format(" * {:g}", scale);
    const auto factor = static_cast<float>(down ? scale : 1);
    out.tensor.make = [=, source = source_, &from, seed = o_.seed](std::int64_t i,
                                                                   float* to) -> Status {
      if (!down) {
        if (Status s = source->row(from, begin + i, to); !s.ok()) return s;
      } else {
        std::vector<float> row(static_cast<std::size_t>(from.shape[1]));
        if (Status s = source->row(from, i, row.data()); !s.ok()) return s;
        for (std::size_t k = 0; k < length; ++k)
          to[k] = factor * row[static_cast<std::size_t>(begin) + k];
      }
      if (noise > 0) draw(seed, tensor, i, length, noise * deviation_of(to, length), to);
      return {};
    };
    return out;
  }

  SourcePtr source_;
  UpcycleOptions o_;
  std::int64_t routed_, width_;  // slices of the routed experts; of one
  mutable std::uint64_t number_ = 1;
};

/// The multiple of `group` that is nearest to a number, 0 not being one.
std::int64_t multiple(std::int64_t number, std::int64_t group) {
  return std::max<std::int64_t>(1, (number + group / 2) / group) * group;
}

}  // namespace

Result<Surgery> upcycle(const std::string& from, const std::string& to, const UpcycleOptions& o) {
  const auto source = surgery::Source::open(from, to + ".source", o.write);
  if (!source) return source.status();
  const Described& old = (*source)->model();
  expect(o, old.options);
  const json config = config_of(**source, o);
  const Described now = conversion::described(config.dump());
  decoder::Options same = now.options;
  same.experts = old.options.experts, same.mlp_width = old.options.mlp_width;
  if (const std::string what = conversion::difference(old.options, same); !what.empty())
    throw Error("model",
                "config.json of {} cannot say what the dense model is: {} would be another",
                now.family->model_type, what)
        .unsupported();
  const Upcycling upcycling(*source, o);
  std::vector<Made> made;
  for (const published::WeightName& w : now.names.weights) {
    const std::int64_t count = std::max<std::int64_t>(decoder::layers_in(now.options, w.path), 1);
    for (std::int64_t i = 0; i < count * std::max<std::int64_t>(w.experts, 1); ++i) {
      auto each = upcycling.make(w, i);
      if (!each) return each.status();
      made.push_back(std::move(*each));
    }
  }
  auto out = surgery::finish(*source, std::move(made), config, to, o.write);
  if (!out) return out;
  const std::int64_t group = o.granularity - o.shared;
  const bool whole = o.active % group == 0 && o.experts % group == 0;
  const conversion::GgufType held = (*source)->tensors().at(0).type;
  const bool wide = o.write.type == "F32" || (o.write.type.empty() && held.plain() == DType::f32);
  const bool rounded = !wide && (group & (group - 1)) != 0;
  out->same_function = whole && o.noise == 0 && !rounded;
  if (out->same_function || (whole && o.noise == 0))
    out->preserves = fmt::format(
        "the function{}: each token's experts are whole groups of {} slices, down times {}",
        rounded ? " but for the rounding of what is multiplied (type F32 has none)" : "", group,
        group);
  else
    out->preserves =
        fmt::format("attention, embeddings and norms; not the function: {}",
                    !whole ? fmt::format("active={} and experts={} are not both multiples of the "
                                         "{} routed slices, as active={} and experts={} are",
                                         o.active, o.experts, group, multiple(o.active, group),
                                         multiple(o.experts, group))
                           : "noise is added");
  return out;
}

}  // namespace strata::model
