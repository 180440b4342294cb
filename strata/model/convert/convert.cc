#include "strata/model/convert/convert.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/checkpoint.h"
#include "strata/checkpoint/orbax/directory.h"
#include "strata/model/convert/maxtext.h"
#include "strata/model/convert/own_run.h"
#include "strata/model/convert/plan.h"
#include "strata/model/fingerprint.h"
#include "strata/model/lora/lora.h"
#include "strata/model/maxtext/checkpoint.h"
#include "strata/model/pretrained.h"
#include "strata/model/published/load_weights.h"

namespace strata::model {
namespace {

namespace fs = std::filesystem;
using conversion::Plan;

constexpr const char* kGguf = "gguf";
constexpr const char* kHuggingFace = "hugging_face";
constexpr const char* kStrata = "strata";
constexpr const char* kMaxText = "maxtext";
/// The note of a checkpoint that holds the config.json of its model.
constexpr const char* kConfigNote = "published_config";
/// That of a trainer's checkpoint: the model that what it leaves out is of (train/state.h).
constexpr const char* kBaseNote = "base";

Result<std::string> format_of(const std::string& from) {
  std::error_code error;
  if (!fs::exists(from, error))
    return Status(Code::not_found, "{}: there is no such file or folder", from);
  if (!fs::is_directory(from, error)) return std::string(kGguf);
  if (file_exists(from + "/config.json") || fs::is_directory(from + "/snapshots", error))
    return std::string(kHuggingFace);
  const auto maxtext = maxtext::is_checkpoint(from);
  if (!maxtext) return maxtext.status();
  if (*maxtext) return std::string(kMaxText);
  const auto all = checkpoint::any_format::all_of(from);
  if (all) return std::string(kStrata);
  if (all.status().code() != Code::not_found) return all.status();
  return Status(Code::not_found,
                "{}: there is neither config.json (a Hugging Face directory) nor manifest.json (a "
                "Strata checkpoint), and no directory of Orbax's",
                from);
}

std::string target_format(const std::string& to, const std::string& asked) {
  if (asked.empty()) return to.ends_with(".gguf") ? kGguf : kHuggingFace;
  if (asked != kGguf && asked != kHuggingFace && asked != kStrata && asked != kMaxText)
    throw Error("convert", "there is no format '{}'; formats: gguf, hugging_face, strata, maxtext",
                asked);
  return asked;
}

Status expect_new(const std::string& to) {
  std::error_code error;
  if (!fs::exists(to, error)) return {};
  if (fs::is_directory(to, error) && fs::is_empty(to, error)) return {};
  return Status(Code::exists, "{}: is there; give another name, or remove it", to);
}

void add_rows(const Plan& plan, Conversion& out) {
  for (const conversion::Planned& t : plan.tensors) {
    ConvertedTensor row{t.from, t.name, {}, t.shape, "", t.type.name()};
    if (t.from.empty()) {
      row.from = "(config.json)";
    } else {
      const conversion::Stored& from = plan.source.at(t.from);
      row.from_shape = from.shape, row.from_type = from.type.name();
    }
    row.is_adapted = t.update != nullptr;
    out.bytes += checkpoint::GgufTensor{t.name, t.shape, t.type}.bytes();
    out.tensors.push_back(std::move(row));
  }
  out.notes = plan.notes;
}

Status to_hugging_face(const std::string& from, const std::string& to,
                       const ConvertOptions& options, Conversion& out) {
  const auto plan = conversion::plan_to_hugging_face(from, options);
  if (!plan) return plan.status();
  add_rows(*plan, out);
  return write_hugging_face(to, *plan, options, out.files);
}

Status to_directory(const std::string& from, const std::string& to, const ConvertOptions& options,
                    Conversion& out) {
  const auto plan = conversion::plan_directory(from, options);
  if (!plan) return plan.status();
  add_rows(*plan, out);
  return write_hugging_face(to, *plan, options, out.files);
}

Status to_gguf(const std::string& from, const std::string& to, const ConvertOptions& options,
               Conversion& out) {
  const auto plan = conversion::plan_to_gguf(from, options);
  if (!plan) return plan.status();
  add_rows(*plan, out);
  out.files = {to};
  return options.dry_run ? Status() : write_gguf(to, *plan);
}

DType weights_type(const std::string& type) {
  if (type.empty() || type == "F32") return DType::f32;
  if (type == "BF16") return DType::bf16;
  throw Error("convert", "a Strata checkpoint of a published model holds F32 or BF16, not {}",
              type);
}

void add_row(Conversion& out, const std::string& from, const std::string& to, const Type& type) {
  const std::string name = type.dtype() == DType::bf16 ? "BF16" : "F32";
  out.tensors.push_back({.from = from,
                         .to = to,
                         .from_shape = type.shape().sizes(),
                         .to_shape = type.shape().sizes(),
                         .from_type = name,
                         .to_type = name});
  out.bytes += type.bytes();
}

/// The published names of a weight, as far as one line holds them.
std::string published_name(const conversion::Described& model, const std::string& path, bool gguf) {
  for (const published::WeightName& w : model.names.weights)
    if (w.path == path) return gguf ? w.gguf : w.hugging_face;
  return path;
}

Status to_strata(const std::string& from, const std::string& from_format, const std::string& to,
                 const ConvertOptions& options, Conversion& out) {
  const LoadOptions how{.weights = weights_type(options.type), .adapter = options.adapter};
  const bool gguf = from_format == kGguf;
  auto loaded = load(from, how);
  if (!loaded) return loaded.status();
  if (!options.adapter.empty()) loaded->params = lora::merged(loaded->model, loaded->params).params;
  const std::string config = conversion::plain_config(loaded->config);
  const conversion::Described model = conversion::described(config);
  checkpoint::Checkpoint saved;
  for (std::size_t i = 0; i < loaded->params.size(); ++i) {
    const std::string name = loaded->params.names()[i];
    const Literal value = loaded->params.value(i).literal();
    saved.parts["params"].emplace(name, value);
    add_row(out, published_name(model, name, gguf), name, value.type());
  }
  saved.notes[kConfigNote] = config;
  out.notes.push_back(
      "the tokenizer stays where it is: a checkpoint holds weights and configuration");
  out.files = {to + "/0/params.safetensors", to + "/0/manifest.json"};
  return options.dry_run ? Status() : checkpoint::save(to, saved);
}

/// A note's member as text; empty where there is none.
std::string base_note(const checkpoint::Checkpoint& held, const char* key) {
  const auto note = held.notes.find(kBaseNote);
  if (note == held.notes.end()) return {};
  const auto base = nlohmann::json::parse(note->second, nullptr, false);
  return base.is_object() && base.contains(key) && base[key].is_string()
             ? base[key].get<std::string>()
             : std::string();
}

/// The weights of a checkpoint; those that it leaves out from the base that it names. A trainer's
/// checkpoint writes paths with dots.
Result<std::map<std::string, Literal>> weights_in(const checkpoint::Checkpoint& held,
                                                  const checkpoint::Tensors& params) {
  std::map<std::string, Literal> out;
  for (const auto& [path, value] : params) {
    std::string name = path;
    std::replace(name.begin(), name.end(), '.', '/');
    out.emplace(std::move(name), value);
  }
  const std::string init = base_note(held, "init");
  if (init.empty()) return out;
  const bool narrow = std::all_of(
      out.begin(), out.end(), [](const auto& p) { return p.second.type().dtype() == DType::bf16; });
  const conversion::Described model = conversion::described(held.notes.at(kConfigNote));
  const bool whole = std::all_of(
      model.names.weights.begin(), model.names.weights.end(),
      [&](const published::WeightName& w) { return w.path.empty() || out.contains(w.path); });
  if (whole) return out;
  const auto base = load(init, {.weights = narrow ? DType::bf16 : DType::f32});
  if (!base)
    return Status(base.status().code(), "the base that the checkpoint leaves out: {}",
                  base.status().message());
  if (const std::string mark = fingerprint(base->params); mark != base_note(held, "fingerprint"))
    return Status(Code::invalid, "{}: its weights ({}) are not those that the checkpoint stands on",
                  init, mark);
  for (std::size_t i = 0; i < base->params.size(); ++i)
    out.emplace(base->params.names()[i], base->params.value(i).literal());
  return out;
}

/// The files that a run's folder holds beside its weights.
Result<std::map<std::string, std::string>> files_of_run(const std::string& checkpoint) {
  const std::string folder = checkpoint + "/../../model";
  if (!file_exists(folder + "/config.json")) return std::map<std::string, std::string>();
  return files_beside_weights(folder);
}

Status from_strata(const std::string& from, const std::string& to, const ConvertOptions& options,
                   Conversion& out) {
  const auto found = checkpoint::any_format::find(from);
  if (!found) return found.status();
  const checkpoint::Checkpoint& held = *found->checkpoint;
  const auto note = held.notes.find(kConfigNote), own_note = held.notes.find("config");
  const auto params = held.parts.find("params");
  // A run on a model of its own says in its configuration what the model is.
  const auto run = note == held.notes.end() && own_note != held.notes.end()
                       ? conversion::own_run(own_note->second, found->folder)
                       : std::nullopt;
  if ((note == held.notes.end() && !run) || params == held.parts.end())
    return Status(Code::unsupported,
                  "{}: the checkpoint has no note {} beside its part params: it is no published "
                  "model's",
                  from, kConfigNote);
  for (const auto& [name, value] : params->second)
    if (name.ends_with("lora.a") || name.ends_with("lora/a"))
      return Status(Code::unsupported,
                    "{}: the checkpoint holds adapters beside a model that it does not hold; the "
                    "run's folder has them as adapter/: convert the model with --adapter",
                    from);
  if (!options.type.empty())
    throw Error("convert",
                "the weights of a checkpoint keep their type in a Hugging Face directory; "
                "convert that once more for type {}",
                options.type);
  const auto [config, in_queries] = conversion::with_usual_scores(run ? run->config : note->second);
  const conversion::Described model = conversion::described(config);
  auto weights = weights_in(held, params->second);
  if (!weights) return weights.status();
  auto files = files_of_run(found->folder);
  if (!files) return files.status();
  if (run) files->insert(run->files.begin(), run->files.end());
  if (run) out.notes = run->notes;
  std::map<std::string, Array> values;
  for (const auto& [name, value] : *weights) {
    const std::string path = run ? conversion::published_path(name) : name;
    Array x(value);
    if (in_queries != 1 && conversion::is_query(path))
      x = astype(astype(x, DType::f32) / in_queries, x.dtype());
    values.emplace(path, std::move(x));
  }
  if (in_queries != 1) out.notes.push_back(conversion::note_of_queries(in_queries));
  tree::Tree tree;
  std::vector<std::pair<std::string, Array>> leaves(values.begin(), values.end());
  for (const auto& [name, value] : leaves) {
    add_row(out, name, published_name(model, name, false), value.type());
    tree = tree::merge({tree, tree::Tree({{name, value}})});
  }
  out.files = {to + "/model.safetensors", to + "/config.json"};
  for (const auto& [name, bytes] : *files)
    if (name != "config.json") out.files.push_back(to + "/" + name);
  if (options.dry_run) return {};
  const auto own = files->find("config.json");
  if (Status s = save_pretrained(to, own == files->end() ? config : own->second, tree); !s.ok())
    return s;
  for (const auto& [name, bytes] : *files)
    if (Status s = write_file_atomic(to + "/" + name, bytes); !s.ok()) return s;
  return {};
}

}  // namespace

Result<Conversion> convert(const std::string& given, const std::string& to,
                           const ConvertOptions& options) {
  Conversion out;
  // A run's last weights are a directory, which becomes a GGUF file without a detour.
  const bool to_file = target_format(to, options.format) == kGguf;
  const std::string from =
      to_file && file_exists(given + "/model/model.safetensors") ? given + "/model" : given;
  const auto format = format_of(from);
  if (!format) return format.status();
  out.from_format = *format;
  out.to_format = target_format(to, options.format);
  if (!options.dry_run)
    if (Status s = expect_new(to); !s.ok()) return s;
  Status status;
  if (out.from_format == kMaxText && out.to_format == kHuggingFace && options.adapter.empty())
    status = conversion::maxtext_to_directory(from, to, options, out);
  else if (out.to_format == kMaxText &&
           (out.from_format == kHuggingFace || out.from_format == kGguf))
    status = conversion::to_maxtext(from, to, options, out);
  else if (out.to_format == kStrata &&
           (out.from_format == kHuggingFace || out.from_format == kGguf))
    status = to_strata(from, out.from_format, to, options, out);
  else if (out.from_format == kGguf && out.to_format == kHuggingFace)
    status = to_hugging_face(from, to, options, out);
  else if (out.from_format == kHuggingFace && out.to_format == kGguf)
    status = to_gguf(from, to, options, out);
  else if (out.from_format == kHuggingFace && out.to_format == kHuggingFace &&
           !options.adapter.empty())
    status = to_directory(from, to, options, out);
  else if (out.from_format == kStrata && out.to_format == kHuggingFace && options.adapter.empty())
    status = from_strata(from, to, options, out);
  else
    throw Error("convert",
                "from {} to {}{} goes by way of a Hugging Face directory: convert to one, and "
                "that",
                out.from_format, out.to_format, options.adapter.empty() ? "" : " with an adapter");
  if (!status.ok()) return status;
  return out;
}

}  // namespace strata::model
