#include "strata/train/config/base_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/base/file.h"
#include "strata/engine/language_model.h"
#include "strata/model/convert/convert.h"
#include "strata/model/decoder/model.h"
#include "strata/model/fingerprint.h"
#include "strata/model/lora/lora.h"
#include "strata/model/pretrained.h"
#include "strata/train/config/lora_options.h"
#include "strata/train/config/make_model.h"

namespace strata::train {
namespace {

using nlohmann::ordered_json;

DType dtype_of(const std::string& name) { return name == "bfloat16" ? DType::bf16 : DType::f32; }
std::string model_key(const Config& c, std::string_view key, const char* otherwise) {
  const auto given = c.model.find(key);
  return given == c.model.end() ? otherwise : given->second;
}

/// A key of ours beside its names in a config.json; the first that is there counts.
struct Published {
  std::string_view key;
  std::array<const char*, 3> names;
};
constexpr Published kPublished[] = {
    {"vocab_size", {"vocab_size"}},
    {"base_emb_dim", {"hidden_size", "n_embd"}},
    {"base_num_query_heads", {"num_attention_heads", "n_head"}},
    {"base_num_kv_heads", {"num_key_value_heads", "num_attention_heads", "n_head"}},
    {"base_mlp_dim", {"intermediate_size", "n_inner"}},
    {"base_num_decoder_layers", {"num_hidden_layers", "n_layer"}},
    {"head_dim", {"head_dim"}},
    {"rope_max_timescale", {"rope_theta"}},
    {"normalization_layer_epsilon", {"rms_norm_eps", "layer_norm_epsilon"}},
};

std::optional<std::pair<std::string, double>> stated(const ordered_json& config,
                                                     const Published& p) {
  for (const char* name : p.names) {
    if (name == nullptr) continue;
    if (config.contains(name) && config[name].is_number())
      return std::pair(std::string(name), config[name].get<double>());
  }
  if (p.key == "head_dim")
    if (const auto width = stated(config, kPublished[1]), heads = stated(config, kPublished[2]);
        width && heads && heads->second > 0)
      return std::pair(width->first + " / " + heads->first, width->second / heads->second);
  return std::nullopt;
}

/// The weights of a base that a checkpoint of it would leave out; all where none are frozen.
std::string fingerprint_of(const Base& base) {
  return model::fingerprint(base.frozen ? base.weights->filter(*base.frozen) : *base.weights);
}

/// The files beside the outcome's weights: those of the base, with the dtype that is written.
Result<std::map<std::string, std::string>> files_of(const Config& c, const Base& base) {
  auto files = model::files_beside_weights(c.init);
  if (!files) return files.status();
  std::string& text = (*files)["config.json"];
  ordered_json config = ordered_json::parse(text, nullptr, false);
  if (!config.is_object())
    return Status(Code::corrupt, "{}: config.json is no JSON object", c.init);
  const bool older = config.contains("torch_dtype") && !config.contains("dtype");
  if (c.weight_dtype != "packed") config[older ? "torch_dtype" : "dtype"] = c.weight_dtype;
  text = config.dump(2) + "\n";
  if (c.mtp_num_layers > 0) text = model::with_further_layers(text, c.mtp_num_layers);
  if (!files->contains("generation_config.json")) {
    ordered_json generation = ordered_json::object();
    if (base.generation.bos) generation["bos_token_id"] = *base.generation.bos;
    if (!base.generation.eos.empty()) generation["eos_token_id"] = base.generation.eos;
    (*files)["generation_config.json"] = generation.dump(2) + "\n";
  }
  return files;
}

/// Adapters beside the base's weights, which stay as they are.
void add_adapters(Base& base, const model::lora::LoraOptions& options, const Config& c) {
  try {
    base.model = model::lora::with_adapters(base.model, options);
  } catch (const Error& e) {
    throw ConfigError(fmt::format("lora: {}", e.message()));
  }
  base.weights =
      model::lora::add_adapters(base.model, *base.weights, random::key(c.init_weights_seed));
  base.frozen = !model::lora::adapters();
}

Result<Base> open_published(const Config& c) {
  auto lm = engine::load_language_model(c.init,
                                        {.dtype = dtype_of(model_key(c, "dtype", "float32")),
                                         .weights = dtype_of(c.weight_dtype),
                                         .packed = c.weight_dtype == "packed",
                                         .length = c.max_target_length,
                                         .remat_policy = model_key(c, "remat_policy", "full_save"),
                                         .mtp_layers = c.mtp_num_layers});
  if (!lm) return lm.status();
  check_published_keys(c, lm->config, c.init);
  if (lm->max_length > 0 && c.max_target_length > lm->max_length)
    throw ConfigError(fmt::format("max_target_length={}: {} was made for sequences of at most {}",
                                  c.max_target_length, c.init, lm->max_length));
  Base out;
  out.model = std::move(lm->model);
  out.weights = std::move(lm->params);
  if (c.weight_dtype == "packed" && model::decoder::options_of(*out.model)->packed.empty())
    throw ConfigError(fmt::format(
        "weight_dtype=packed: {} has no weights in packed blocks; allowed is float32 or bfloat16",
        c.init));
  if (const auto lora = lora_options(c.lora)) add_adapters(out, *lora, c);
  out.tokenizer = std::move(lm->tokenizer);
  out.chat_template = std::move(lm->chat_template);
  if (!c.chat_template_path.empty()) {
    auto text = read_file(c.chat_template_path);
    if (!text) return text.status();
    auto parsed = tokenizer::ChatTemplate::parse(*text);
    if (!parsed)
      return Status(Code::invalid, "chat_template_path={}: {}", c.chat_template_path,
                    parsed.status().message());
    out.chat_template = std::move(*parsed);
  }
  out.generation = std::move(lm->generation);
  out.max_length = lm->max_length;
  auto files = files_of(c, out);
  if (!files) return files.status();
  out.files = std::move(*files);
  out.config = std::move(lm->config);
  out.notes = std::move(lm->notes);
  out.fingerprint = fingerprint_of(out);
  return out;
}

}  // namespace

void check_published_keys(const Config& c, const std::string& published, const std::string& name) {
  ordered_json config = ordered_json::parse(published, nullptr, false);
  if (config.is_object() && config.contains("text_config")) config = config["text_config"];
  for (const auto& [key, value] : c.model) {
    if (key == "dtype" || key == "remat_policy") continue;
    const auto known =
        std::find_if(std::begin(kPublished), std::end(kPublished),
                     [&, k = std::string_view(key)](const Published& p) { return p.key == k; });
    const auto says = known == std::end(kPublished) ? std::nullopt : stated(config, *known);
    if (!says)
      throw ConfigError(fmt::format(
          "{}={}: {} is a published model, whose configuration holds; leave the key away", key,
          value, name));
    if (std::abs(std::stod(value) - says->second) > 1e-9 * std::abs(says->second))
      throw ConfigError(
          fmt::format("{}={}: {} has {} = {:g}; leave the key away, or give the same value", key,
                      value, name, says->first, says->second));
  }
}

Result<std::shared_ptr<const tokenizer::Tokenizer>> open_tokenizer(const Config& c) {
  if (!c.init.empty()) return engine::load_tokenizer(c.init);
  return tokenizer::load_tokenizer(c.tokenizer_type, c.tokenizer_path);
}

Result<Base> open_base(const Config& c) {
  if (!c.init.empty()) return open_published(c);
  auto tokenizer = open_tokenizer(c);
  if (!tokenizer) return tokenizer.status();
  Base out;
  out.model = make_model(c);
  out.tokenizer = std::move(*tokenizer);
  return out;
}

tree::Tree weight_types(const Config& c, const Base& base) {
  if (base.weights) return eval_shape([](const tree::Tree& t) { return t; }, *base.weights);
  return eval_shape(
      [&](const Array& key) {
        return base.model->cast(base.model->init(key), dtype_of(c.weight_dtype));
      },
      random::key(0));
}

}  // namespace strata::train
