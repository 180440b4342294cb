#include "strata/model/pretrained.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/model/decoder/model.h"
#include "strata/model/lora/peft.h"
#include "strata/model/published/family.h"
#include "strata/model/published/gguf_source.h"
#include "strata/model/published/load_weights.h"
#include "strata/model/published/mxfp4_source.h"

namespace strata::model {

namespace fs = std::filesystem;
using published::Config;
using published::Family;

namespace {

/// What Error says of bytes that others wrote, as a status.
template <class F>
auto caught(const std::string& where, F f) -> decltype(f()) {
  try {
    return f();
  } catch (const Error& e) {
    return Status(e.is_unsupported() ? Code::unsupported : Code::invalid, "{}: {}", where,
                  e.what());
  }
}

/// The part that describes the language model.
Config language_of(const Config& config) {
  const std::string type = config.text("model_type", "");
  if ((type == "gemma3" || type == "gemma4" || type == "llama4" || type == "qwen3_5" ||
       type == "qwen3_5_moe") &&
      config.has("text_config"))
    return *config.child("text_config");
  return config;
}

struct Described {
  const Family* family;
  decoder::Options options;
  published::Names names;
};
/// Throws Error for what Strata does not know.
Described described(const std::string& text, const LoadOptions& how) {
  const Config whole = Config::parse(text);
  const Config config = language_of(whole);
  for (const Config* c : {&whole, &config})
    if (c->has("quantization_config")) {
      const auto q = c->child("quantization_config");
      // Their blocks are read as the tensors that they stand for.
      if (q->text("quant_method", "") == "mxfp4" && config.text("model_type", "") == "gpt_oss")
        continue;
      throw Error("config.json", "quantization_config has quant_method={}, which is not supported",
                  q->as_json("quant_method"))
          .unsupported();
    }
  const Family& family = published::family(config.text("model_type"));
  decoder::Options options = family.options(config);
  options.dtype = how.dtype;
  options.max_length = how.max_length;
  options.remat_policy = how.remat_policy;
  decoder::check(options);
  published::Names names = family.names(options);
  return {&family, std::move(options), std::move(names)};
}

/// The dtype that the weights in memory have: none is kept wider than it is computed in.
Result<tree::Tree> weights_of(const Described& d, const published::TensorSource& tensors,
                              const LoadOptions& how) {
  const published::TensorSourcePtr plain = published::without_mxfp4(tensors);
  return published::load_weights(d.options, d.names, *plain, how.weights);
}

/// A directory's or a file's parts; a file has no folder.
struct Opened {
  std::string folder, config;
  published::TensorSourcePtr tensors;
};
Result<Opened> open_file(const std::string& path) {
  Result<published::GgufModel> file = published::open_gguf(path);
  if (!file) return file.status();
  Result<std::string> config = config_of(file->metadata);
  if (!config) return Status(config.status().code(), "{}: {}", path, config.status().message());
  return Opened{{}, std::move(*config), file->tensors};
}

Result<Opened> open(const std::string& folder) {
  std::error_code error;
  if (fs::is_regular_file(folder, error)) return open_file(folder);
  const Result<std::string> at = published::snapshot_of(folder);
  if (!at) return at.status();
  const Result<std::string> path = published::file_of(*at, "config.json");
  if (!path && path.status().code() == Code::not_found)
    return Status(Code::not_found,
                  "{}: no model: a Hugging Face directory has a config.json, a GGUF file is named "
                  "itself",
                  folder);
  if (!path) return path.status();
  Result<std::string> config = read_file(*path);
  if (!config) return config.status();
  auto tensors = published::open_directory(*at);
  if (!tensors) return tensors.status();
  return Opened{*at, std::move(*config), *tensors};
}

/// A JSON file that may be absent; null then.
Result<nlohmann::json> json_file(const std::string& folder, const std::string& file) {
  constexpr std::size_t kMost = 4u << 20;
  const Result<std::string> path = published::file_of(folder, file);
  if (!path && path.status().code() == Code::not_found) return nlohmann::json();
  if (!path) return path.status();
  const Result<std::string> text = read_file(*path);
  if (!text) return text.status();
  nlohmann::json out = nlohmann::json::parse(*text, nullptr, false);
  if (text->size() > kMost || out.is_discarded())
    return Status(Code::corrupt, "{}: no JSON value of at most {} bytes", *path, kMost);
  return out;
}

bool is_true(const nlohmann::json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_boolean() && it->get<bool>();
}

std::vector<Pooling::Mode> modes_of(const nlohmann::json& config) {
  using enum Pooling::Mode;
  std::vector<Pooling::Mode> out;
  const std::pair<const char*, Pooling::Mode> names[] = {
      {"pooling_mode_cls_token", first},
      {"pooling_mode_max_tokens", most},
      {"pooling_mode_mean_tokens", mean},
      {"pooling_mode_mean_sqrt_len_tokens", mean_by_root},
      {"pooling_mode_weightedmean_tokens", weighted_mean},
      {"pooling_mode_lasttoken", last}};
  for (const auto& [key, mode] : names)
    if (is_true(config, key)) out.push_back(mode);
  return out;
}

/// The last part of a step's type: "sentence_transformers.models.Pooling".
std::string kind_of(const nlohmann::json& step) {
  const std::string type = step.value("type", "");
  return type.substr(type.rfind('.') + 1);
}

Result<Pooling> pooling_of(const std::string& folder) {
  Pooling out;
  const Result<nlohmann::json> steps = json_file(folder, "modules.json");
  if (!steps) return steps.status();
  const Result<nlohmann::json> limits = json_file(folder, "sentence_bert_config.json");
  if (!limits) return limits.status();
  if (limits->is_object() && limits->contains("max_seq_length") &&
      (*limits)["max_seq_length"].is_number_unsigned())
    out.most_tokens = (*limits)["max_seq_length"].get<std::int64_t>();
  if (steps->is_null()) return out;
  const auto corrupt = [&](const char* why) {
    return Status(Code::corrupt, "{}/modules.json: {}", folder, why);
  };
  if (!steps->is_array()) return corrupt("it is no list");
  for (const nlohmann::json& step : *steps) {
    if (!step.is_object() || !step.contains("type") || !step["type"].is_string() ||
        !step.contains("path") || !step["path"].is_string())
      return corrupt("a step has no type and path");
    const std::string kind = kind_of(step), path = step["path"].get<std::string>();
    if (kind == "Transformer") continue;
    if (kind == "Normalize") {
      out.normalize = true;
      continue;
    }
    if (kind != "Pooling")
      return Status(Code::unsupported,
                    "{}/modules.json: a step {}; there are Transformer, Pooling, "
                    "Normalize",
                    folder, kind);
    if (path.empty() || path == ".." || path.find('/') != std::string::npos)
      return corrupt("a path is no plain name");
    const Result<nlohmann::json> config =
        json_file((fs::path(folder) / path).string(), "config.json");
    if (!config) return config.status();
    if (!config->is_object()) return corrupt("the step Pooling has no config.json");
    out.modes = modes_of(*config);
    if (out.modes.empty())
      return Status(Code::unsupported, "{}/{}/config.json: no mode that is known is true", folder,
                    path);
  }
  return out;
}

}  // namespace

Result<Pretrained> load(const std::string& config, const published::TensorSource& tensors,
                        const LoadOptions& how) {
  return caught(tensors.name(), [&]() -> Result<Pretrained> {
    Described d = described(config, how);
    if (how.packed) d.options.packed = published::packed_weights(d.options, d.names, tensors);
    if (!d.options.has_logits)
      return Status(Code::unsupported, "{}: {} is an encoder, which gives no logits",
                    tensors.name(), d.family->model_type);
    Result<tree::Tree> params = weights_of(d, tensors, how);
    if (!params) return params.status();
    Pretrained made{decoder::model(d.options), std::move(*params), config};
    if (how.adapter.empty()) return made;
    Result<lora::Adapted> with = lora::load_peft(how.adapter, made.model, made.params);
    if (!with) return with.status();
    return Pretrained{std::move(with->model), std::move(with->params), config};
  });
}

std::string with_further_layers(const std::string& config, std::int64_t layers) {
  auto out = nlohmann::ordered_json::parse(config, nullptr, false);
  if (!out.is_object()) return config;
  (out.contains("text_config") ? out["text_config"] : out)["mtp_num_layers"] = layers;
  return out.dump(2) + "\n";
}

Result<Pretrained> load(const std::string& path, const LoadOptions& how) {
  Result<Opened> opened = open(path);
  if (!opened) return opened.status();
  if (how.mtp_layers > 0) opened->config = with_further_layers(opened->config, how.mtp_layers);
  return load(opened->config, *opened->tensors, how);
}

Result<std::string> config_of(const published::GgufMetadata& metadata) {
  return caught("GGUF", [&]() -> Result<std::string> {
    return published::family_of(metadata).from_gguf(metadata);
  });
}

Result<PretrainedEncoder> load_encoder(const std::string& config,
                                       const published::TensorSource& tensors,
                                       const LoadOptions& how) {
  return caught(tensors.name(), [&]() -> Result<PretrainedEncoder> {
    const Described d = described(config, how);
    if (d.options.has_logits)
      return Status(Code::unsupported, "{}: {} is no encoder", tensors.name(),
                    d.family->model_type);
    Result<tree::Tree> params = weights_of(d, tensors, how);
    if (!params) return params.status();
    return PretrainedEncoder{
        std::make_shared<const Encoder>(d.options), std::move(*params), {}, config};
  });
}

Result<PretrainedEncoder> load_encoder(const std::string& path, const LoadOptions& how) {
  Result<Opened> opened = open(path);
  if (!opened) return opened.status();
  Result<PretrainedEncoder> out = load_encoder(opened->config, *opened->tensors, how);
  if (!out || opened->folder.empty()) return out;
  Result<Pooling> pooling = pooling_of(opened->folder);
  if (!pooling) return pooling.status();
  out->pooling = *pooling;
  return out;
}

namespace {

/// The configuration of tensors that are not packed.
std::string unquantised(const std::string& config) {
  auto out = nlohmann::ordered_json::parse(config);
  return out.erase("quantization_config") == 0 ? config : out.dump(2) + "\n";
}

/// Where further layers are published, what says so; where they are left out, nothing of them.
std::string of_what_is_written(const std::string& config, const Described& d) {
  if (d.options.mtp_layers == 0) return config;
  auto out = nlohmann::ordered_json::parse(config);
  if (published::is_published(d.names, "mtp_layers/projection/kernel"))
    out["num_nextn_predict_layers"] = d.options.mtp_layers;
  else
    out.erase("mtp_num_layers");
  return out.dump(2) + "\n";
}

}  // namespace

Status save_pretrained(const std::string& folder, const std::string& config,
                       const tree::Tree& params) {
  const Described d = described(config, {});
  checkpoint::TensorFile file{.tensors = published::published_tensors(d.options, d.names, params),
                              .metadata = {{"format", "pt"}}};
  if (Status made = make_folders(folder); !made) return made;
  if (Status saved =
          checkpoint::write_safetensors((fs::path(folder) / "model.safetensors").string(), file);
      !saved)
    return saved;
  return write_file_atomic((fs::path(folder) / "config.json").string(),
                           of_what_is_written(unquantised(config), d));
}

}  // namespace strata::model
