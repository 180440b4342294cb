#include "strata/model/convert/plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/model/convert/adapter.h"
#include "strata/model/convert/gguf_tokenizer.h"
#include "strata/model/pretrained.h"
#include "strata/model/published/gguf_source.h"
#include "strata/model/published/tensor_source.h"

namespace strata::model::conversion {

using checkpoint::Gguf;
using json = nlohmann::ordered_json;

namespace {

/// Of a name that a user gave. Throws Error for what is none, or cannot be written.
GgufType type_named(const std::string& name) {
  const std::optional<GgufType> type = GgufType::named(name);
  const bool can = type && !type->codebook() &&
                   (type->block() ? type->block()->can_quantize()
                                  : is_float(type->plain()) && type->plain() != DType::f64);
  if (!can)
    throw Error("convert",
                "does not write tensors of type '{}'; types: F32, F16, BF16, Q8_0, Q4_0, "
                "Q4_1, Q4_K",
                name);
  return *type;
}

Sizes reversed(Sizes shape) {
  std::reverse(shape.begin(), shape.end());
  return shape;
}

/// The tensors of the source that are named in no pair, each with what is to be said of it. Fails
/// for those that nobody knows.
Status leave_out(const StoredTensors& source, const std::set<std::string>& used,
                 const std::vector<std::string>& ignored, const char* where,
                 std::vector<std::string>& notes) {
  std::string unknown;
  for (const auto& [name, stored] : source) {
    if (used.contains(name)) continue;
    const bool known = std::any_of(ignored.begin(), ignored.end(), [&](const std::string& pattern) {
      return published::matches(pattern, name);
    });
    if (known)
      notes.push_back(fmt::format("tensor {} is left out: {}", name, where));
    else
      unknown += (unknown.empty() ? "" : ", ") + name;
  }
  if (unknown.empty()) return {};
  return Status(Code::unsupported, "tensors that the model's family does not have: {}", unknown);
}

Status missing(const std::string& name) {
  return Status(Code::corrupt, "the tensor {} is missing", name);
}

void add_token_ids(std::string& config, const GgufMetadata& metadata) {
  json out = json::parse(config);
  for (const auto& [key, name] : {std::pair{"bos_token_id", "bos_token_id"},
                                  {"eos_token_id", "eos_token_id"},
                                  {"padding_token_id", "pad_token_id"}}) {
    const auto* value = checkpoint::find(metadata, fmt::format("tokenizer.ggml.{}", key));
    if (const auto id = value ? checkpoint::as_integer(*value) : std::nullopt) out[name] = *id;
  }
  config = out.dump(2) + "\n";
}

DType plain_or_f32(const GgufType& type) {
  return type.is_plain() && type.plain() != DType::f64 && is_float(type.plain()) ? type.plain()
                                                                                 : DType::f32;
}

}  // namespace

std::string completed(const std::string& config, DType dtype) {
  static const std::map<std::string, std::string> classes = {
      {"bert", "BertModel"},
      {"deepseek_v2", "DeepseekV2ForCausalLM"},
      {"deepseek_v3", "DeepseekV3ForCausalLM"},
      {"kimi_k2", "DeepseekV3ForCausalLM"},
      {"gemma", "GemmaForCausalLM"},
      {"gemma2", "Gemma2ForCausalLM"},
      {"gemma3_text", "Gemma3ForCausalLM"},
      {"gemma4_text", "Gemma4ForCausalLM"},
      {"gpt2", "GPT2LMHeadModel"},
      {"gpt_oss", "GptOssForCausalLM"},
      {"llama", "LlamaForCausalLM"},
      {"llama4_text", "Llama4ForCausalLM"},
      {"mistral", "MistralForCausalLM"},
      {"mixtral", "MixtralForCausalLM"},
      {"qwen2_moe", "Qwen2MoeForCausalLM"},
      {"qwen3_moe", "Qwen3MoeForCausalLM"},
      {"olmo2", "Olmo2ForCausalLM"},
      {"phi3", "Phi3ForCausalLM"},
      {"qwen2", "Qwen2ForCausalLM"},
      {"qwen3", "Qwen3ForCausalLM"},
      {"qwen3_next", "Qwen3NextForCausalLM"},
      {"smollm3", "SmolLM3ForCausalLM"}};
  json out = json::parse(config);
  const auto found = classes.find(out.value("model_type", ""));
  if (found != classes.end()) out["architectures"] = {found->second};
  out["dtype"] = dtype == DType::bf16 ? "bfloat16" : dtype == DType::f16 ? "float16" : "float32";
  // Older readers know these keys alone.
  const json rope = out.value("rope_parameters", json::object());
  if (rope.contains("rope_theta")) out["rope_theta"] = rope["rope_theta"];
  return out.dump(2) + "\n";
}

Result<Plan> plan_to_hugging_face(const std::string& path, const ConvertOptions& options) {
  const auto file = Gguf::open(path);
  if (!file) return file.status();
  const auto opened = published::open_gguf(path);
  if (!opened) return opened.status();
  const auto config = config_of(opened->metadata);
  if (!config) return config.status();
  auto stored = stored_in(*file);
  if (!stored) return stored.status();
  std::optional<GgufType> wanted;
  if (!options.type.empty()) wanted = type_named(options.type);
  if (wanted && wanted->block())
    throw Error("convert", "a Hugging Face directory holds no blocks of {}; types: F32, F16, BF16",
                wanted->name());

  Plan plan{.source = std::move(*stored), .tensors = {}, .metadata = {}, .files = {}, .notes = {}};
  const Described model = described(*config);
  std::set<std::string> used;
  Sidecar sidecar{file->metadata(), {}};
  for (const Pair& pair : model.pairs()) {
    const auto found = plan.source.find(pair.gguf);
    if (found == plan.source.end()) return missing(pair.gguf);
    used.insert(pair.gguf);
    const Stored& from = found->second;
    Planned t{
        pair.hugging_face,
        pair.transposed ? reversed(from.shape) : from.shape,
        wanted ? *wanted : GgufType(plain_or_f32(from.type)),
        pair.gguf,
        {pair.paired_heads, false, -pair.gguf_plus, pair.transposed, pair.expert, pair.experts},
        {}};
    if (pair.experts > 0) t.shape.erase(t.shape.begin());
    plan.tensors.push_back(std::move(t));
  }
  for (const checkpoint::GgufTensor& t : file->tensors())
    sidecar.types.emplace_back(t.name, t.type.name());
  if (Status s = leave_out(plan.source, used, model.names.gguf_ignored,
                           "config.json says what it holds", plan.notes);
      !s.ok())
    return s;
  // Of the matrices, as config.json says it.
  DType dtype = DType::f32;
  for (const Planned& t : plan.tensors)
    if (t.shape.size() > 1) {
      dtype = t.type.plain();
      break;
    }
  std::string why;
  plan.files = tokenizer_files(file->metadata(), why);
  if (!why.empty())
    plan.notes.push_back(
        fmt::format("tokenizer.json is not written: {}; {} holds the keys", why, kSidecar));
  std::string text = completed(*config, dtype);
  add_token_ids(text, file->metadata());
  plan.files["config.json"] = text;
  auto encoded = encode_sidecar(sidecar);
  if (!encoded) return encoded.status();
  plan.files[kSidecar] = std::move(*encoded);
  if (!options.adapter.empty())
    if (Status s = add_adapter(plan, options.adapter, *config, false); !s.ok()) return s;
  return plan;
}

Result<Plan> plan_directory(const std::string& path, const ConvertOptions& options) {
  const auto folder = published::snapshot_of(path);
  if (!folder) return folder.status();
  auto stored = stored_in_folder(*folder);
  if (!stored) return stored.status();
  std::optional<GgufType> wanted;
  if (!options.type.empty()) wanted = type_named(options.type);
  if (wanted && wanted->block())
    throw Error("convert", "a Hugging Face directory holds no blocks of {}; types: F32, F16, BF16",
                wanted->name());
  Plan plan{.source = std::move(*stored), .tensors = {}, .metadata = {}, .files = {}, .notes = {}};
  DType dtype = DType::f32;
  for (const auto& [name, from] : plan.source) {
    plan.tensors.push_back(
        {name, from.shape, wanted ? *wanted : GgufType(plain_or_f32(from.type)), name, {}, {}});
    if (from.shape.size() > 1) dtype = plan.tensors.back().type.plain();
  }
  auto files = files_beside_weights(*folder);
  if (!files) return files.status();
  plan.files = std::move(*files);
  const std::string config = plan.files["config.json"];
  (void)described(config);  // refuses what Strata does not know
  json text = json::parse(config);
  text["dtype"] = dtype == DType::bf16 ? "bfloat16" : dtype == DType::f16 ? "float16" : "float32";
  text.erase("torch_dtype");
  plan.files["config.json"] = text.dump(2) + "\n";
  if (!options.adapter.empty())
    if (Status s = add_adapter(plan, options.adapter, config, false); !s.ok()) return s;
  return plan;
}

namespace {

/// What stands in front of the names of a directory's tensors.
std::string prefix_of(const StoredTensors& source, const Described& model) {
  for (const std::string& prefix : model.names.prefixes)
    if (!model.pairs().empty() && source.contains(prefix + model.pairs()[0].hugging_face))
      return prefix;
  return model.names.prefixes.empty() ? "" : model.names.prefixes[0];
}

/// The type of a tensor of a GGUF file: vectors are F32; matrices as asked, as gguf.json says, as
/// they are; in rows that are no whole blocks Q8_0, else F16.
GgufType gguf_type(const std::string& name, const Sizes& shape, const GgufType& from,
                   const std::optional<GgufType>& wanted, const std::optional<Sidecar>& sidecar,
                   std::vector<std::string>& notes) {
  GgufType type = plain_or_f32(from);
  if (wanted) {
    type = *wanted;
  } else if (const std::string* told = sidecar ? sidecar->type_of(name) : nullptr) {
    const GgufType was = *GgufType::named(*told);
    if (was.is_plain() || (was.block() && was.block()->can_quantize())) return was;
    type = BlockFormat(BlockKind::q8_0);
    notes.push_back(
        fmt::format("tensor {} becomes Q8_0: there is no encoder for {}", name, was.name()));
  }
  if (shape.size() < 2) return DType::f32;
  if (!type.block() || shape.back() % type.block()->elements() == 0) return type;
  const bool fits = shape.back() % 32 == 0;
  const GgufType instead = fits ? GgufType(BlockFormat(BlockKind::q8_0)) : GgufType(DType::f16);
  notes.push_back(fmt::format("tensor {} becomes {}: its rows of {} are no whole blocks of {}",
                              name, instead.name(), shape.back(), type.name()));
  return instead;
}

/// The files beside config.json that a tokenizer has; absent ones are left out.
Result<std::map<std::string, std::string>> read_files(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", kSidecar}) {
    auto path = published::file_of(folder, name);
    if (!path && path.status().code() == Code::not_found) continue;
    if (!path) return path.status();
    auto bytes = read_file(*path);
    if (!bytes) return bytes.status();
    constexpr std::size_t kMost = 256u << 20;
    if (bytes->size() > kMost)
      return Status(Code::corrupt, "{}: {} bytes; at most {} are read", *path, bytes->size(),
                    kMost);
    out[name] = std::move(*bytes);
  }
  return out;
}

/// Derived keys join those of gguf.json; where they differ, config.json and tokenizer.json hold.
void join(GgufMetadata& all, const GgufMetadata& derived, bool has_sidecar,
          std::vector<std::string>& notes) {
  for (const auto& [key, value] : derived) {
    const auto* held = checkpoint::find(all, key);
    if (held && same_value(*held, value)) continue;
    if (!held && has_sidecar) continue;  // the file that it was had no such key
    if (held)
      notes.push_back(
          fmt::format("key {} is what the directory's files say, not what {} says", key, kSidecar));
    set(all, key, value);
  }
}

}  // namespace

Result<Plan> plan_to_gguf(const std::string& path, const ConvertOptions& options) {
  const auto folder = published::snapshot_of(path);
  if (!folder) return folder.status();
  const auto config_path = published::file_of(*folder, "config.json");
  if (!config_path) return config_path.status();
  const auto config = read_file(*config_path);
  if (!config) return config.status();
  auto files = read_files(*folder);
  if (!files) return files.status();
  auto stored = stored_in_folder(*folder);
  if (!stored) return stored.status();
  std::optional<Sidecar> sidecar;
  if (files->contains(kSidecar)) {
    auto read = decode_sidecar(files->at(kSidecar), *folder + "/" + kSidecar);
    if (!read) return read.status();
    sidecar = std::move(*read);
  }
  std::optional<GgufType> wanted;
  if (!options.type.empty()) wanted = type_named(options.type);

  Plan plan{.source = std::move(*stored), .tensors = {}, .metadata = {}, .files = {}, .notes = {}};
  Described model = described(*config);
  if (model.options.mtp_layers > 0) {
    model = described(with_further_layers(*config, 0));
    plan.notes.push_back("layers that predict further tokens are left out");
  }
  if (model.family->model_type == "mistral" && !model.options.windows.empty())
    plan.notes.push_back(
        "llama.cpp's tokens see all keys in files of architecture llama: beyond sliding_window its "
        "logits are others");
  if (sidecar) plan.metadata = sidecar->metadata;
  join(plan.metadata, keys_of(model), sidecar.has_value(), plan.notes);
  if (files->contains("tokenizer.json"))
    join(plan.metadata, tokenizer_keys(*files), sidecar.has_value(), plan.notes);
  else if (!checkpoint::find(plan.metadata, "tokenizer.ggml.tokens"))
    plan.notes.push_back("there is no tokenizer.json: the file has no tokenizer");

  const std::string prefix = prefix_of(plan.source, model);
  std::set<std::string> used;
  bool packs = false;
  for (const Pair& pair : model.pairs()) {
    const std::string name = prefix + pair.hugging_face;
    const auto found = plan.source.find(name);
    if (found == plan.source.end()) return missing(name);
    used.insert(name);
    const Stored& from = found->second;
    if (pair.expert > 0) {
      Planned& all = *std::find_if(plan.tensors.begin(), plan.tensors.end(),
                                   [&](const Planned& t) { return t.name == pair.gguf; });
      if (from.shape != plan.source.at(all.from).shape)
        return Status(Code::invalid, "the tensor {} has another shape than {}", name, all.from);
      all.more.push_back(name);
      continue;
    }
    Sizes shape = pair.transposed ? reversed(from.shape) : from.shape;
    if (pair.experts > 0) shape.insert(shape.begin(), pair.experts);
    Planned t{pair.gguf,
              shape,
              gguf_type(pair.gguf, shape, from.type, wanted, sidecar, plan.notes),
              name,
              {pair.paired_heads, true, pair.gguf_plus, pair.transposed},
              {}};
    packs = packs || t.type.block();
    plan.tensors.push_back(std::move(t));
  }
  for (auto& [name, factors] : rope_tensors(model.options)) {
    const Sizes shape{static_cast<std::int64_t>(factors.size())};
    plan.tensors.push_back({name, shape, DType::f32, "", {}, factors});
  }
  std::vector<std::string> ignored = model.names.ignored;
  for (std::string& pattern : ignored) pattern = prefix + pattern;
  ignored.insert(ignored.end(), model.names.ignored.begin(), model.names.ignored.end());
  if (Status s = leave_out(plan.source, used, ignored,
                           "the model does not use it, or ties it to another", plan.notes);
      !s.ok())
    return s;
  if (sidecar) {
    // The order of the file that it was.
    std::map<std::string, std::size_t> place;
    for (const auto& [name, type] : sidecar->types) place.emplace(name, place.size());
    auto place_of = [&](const Planned& t) {
      const auto found = place.find(t.name);
      return found == place.end() ? place.size() : found->second;
    };
    std::stable_sort(plan.tensors.begin(), plan.tensors.end(),
                     [&](const Planned& a, const Planned& b) { return place_of(a) < place_of(b); });
  }
  if (!options.adapter.empty())
    if (Status s = add_adapter(plan, options.adapter, *config, true); !s.ok()) return s;
  if (packs && !checkpoint::find(plan.metadata, "general.quantization_version"))
    set(plan.metadata, "general.quantization_version", std::uint32_t{2});
  return plan;
}

}  // namespace strata::model::conversion
