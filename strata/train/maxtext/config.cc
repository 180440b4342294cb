#include "strata/train/maxtext/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "strata/api/sharding/distributed.h"
#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/runtime/cpu_devices.h"
#include "strata/runtime/plugin/sharded.h"
#include "strata/runtime/sharded.h"
#include "strata/train/maxtext/upstream.h"
#include "strata/train/maxtext/yaml.h"

namespace strata::train::maxtext {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kDeepestBase = 16;

std::string text_of(const std::vector<Misfit>& misfits) {
  std::string out = fmt::format("{} validation error{} for MaxTextConfig", misfits.size(),
                                misfits.size() == 1 ? "" : "s");
  for (const Misfit& m : misfits)
    out += fmt::format("{}\n  {} [type={}]", m.key.empty() ? "" : "\n" + m.key, m.message, m.kind);
  return out;
}

// -- Files -----------------------------------------------------------------------------------

/// One of MaxText's own files, or one of the disk.
struct File {
  std::string path;
  bool own = false;
};

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}
bool is_own(const std::string& path) { return upstream()["files"].contains(path); }

/// A configuration by the name that a person gave it.
File find_config(const std::string& name) {
  if (is_file(name)) return {name};
  for (const std::string_view prefix :
       {"src/maxtext/configs/", "src/MaxText/configs/", "MaxText/configs/", "configs/"})
    if (name.starts_with(prefix) && is_own(name.substr(prefix.size())))
      return {name.substr(prefix.size()), true};
  throw Refused("FileNotFoundError",
                fmt::format("[Errno 2] No such file or directory: '{}'", "src/" + name));
}

using Sources = std::map<std::string, std::string>;

/// MaxText's own base.yml holds the defaults.
std::string name_of(const File& file) {
  return file.own && file.path == "base.yml" ? "default" : file.path;
}

/// Whether layers of a key add up: tables do, and rules of sharding.
bool adds_up(const std::string& key, const Value& base, const Value& added) {
  return (base.dict() && added.dict()) ||
         (key == "logical_axis_rules" && truth(base) && truth(added));
}

/// Notes that the keys of `layer`, which lies on `base`, come from `source`.
void note_layer(Sources& sources, const Dict& base, const Dict& layer, const std::string& source,
                bool rules_instead = true) {
  for (const auto& [key, value] : layer) {
    const auto under = base.find(key);
    const bool both = under != base.end() && adds_up(key, under->second, value) &&
                      !(key == "logical_axis_rules" && rules_instead);
    const auto before = sources.find(key);
    sources[key] = both && before != sources.end() ? source + " over " + before->second : source;
  }
}

/// A file with the files below it; `sources` gets the file that gave each key.
Value load(const File& file, Sources& sources, int depth = 0) {
  if (depth > kDeepestBase)
    throw Refused("RecursionError", fmt::format("{}: base_config goes round", file.path));
  Value own;
  if (file.own) {
    own = from_json(upstream()["files"][file.path]);
  } else {
    const Result<std::string> text = read_file(file.path);
    if (!text) throw Refused("OSError", text.status().message());
    own = read_yaml(*text);
    if (own.is_none()) own = Dict();
    if (!own.dict()) throw Refused("OSError", fmt::format("{}: no mapping of keys", file.path));
  }
  const auto base = own.dict()->find("base_config");
  if (base == own.dict()->end() || base->second.is_none()) {
    note_layer(sources, {}, *own.dict(), name_of(file));
    return own;
  }
  const std::string name = str(base->second);
  const std::string beside = (fs::path(file.path).parent_path() / name).lexically_normal();
  File under = {name, true};
  if (name.starts_with("/"))
    under = {name};
  else if (file.own ? is_own(beside) : is_file(beside))
    under = {beside, file.own};
  else if (!is_own(name))
    throw Refused("FileNotFoundError",
                  fmt::format("[Errno 2] No such file or directory: '{}'", name));
  const Value below = load(under, sources, depth + 1);
  note_layer(sources, *below.dict(), *own.dict(), name_of(file));
  return merge(below, own);
}

/// models/NAME.yml beside the configuration, one folder up, among MaxText's own.
std::optional<File> find_model(const File& config, const std::string& name) {
  const fs::path folder = fs::path(config.path).parent_path();
  if (!config.own)
    for (const fs::path& at : {folder, folder.parent_path()})
      if (const std::string path = at / "models" / (name + ".yml"); is_file(path))
        return File{path};
  if (const std::string path = "models/" + name + ".yml"; is_own(path)) return File{path, true};
  return {};
}

// -- Precedence --------------------------------------------------------------------------------

const Value* find(const Dict& dict, const std::string& key) {
  const auto found = dict.find(key);
  return found == dict.end() ? nullptr : &found->second;
}
bool is_true(const Dict& dict, const std::string& key) {
  const Value* value = find(dict, key);
  return value && truth(*value);
}

void refuse_other_values(const Dict& model, const Dict& overrides) {
  std::vector<std::string> twice;
  for (const auto& [key, value] : model)
    if (const Value* over = find(overrides, key); over && !(*over == value))
      twice.push_back("'" + key + "'");
  if (!twice.empty())
    throw Refused("ValueError",
                  fmt::format("Keys [{}] are overridden by both model config and CLI/kwargs with "
                              "different values.This is not allowed, unless setting "
                              "`override_model_config=True`.",
                              fmt::join(twice, ", ")));
}

/// Rules of the same name replace older ones; the new ones stand behind.
Value merge_rules(const Value& base, const Value& added, bool instead) {
  if (instead) return added;
  if (!truth(added)) return base;
  const auto name = [](const Value& rule) {
    return rule.list() && !rule.list()->empty() ? rule.list()->front() : rule;
  };
  List out;
  for (const Value& rule : *base.list()) {
    const auto same = [&](const Value& other) { return name(other) == name(rule); };
    if (std::none_of(added.list()->begin(), added.list()->end(), same)) out.push_back(rule);
  }
  out.insert(out.end(), added.list()->begin(), added.list()->end());
  return out;
}

/// Takes the rules out of a dict.
Value take_rules(Dict& dict) {
  const auto found = dict.find("logical_axis_rules");
  if (found == dict.end()) return List();
  Value out = truth(found->second) ? found->second : Value(List());
  dict.erase(found);
  if (!out.list()) throw Refused("ValueError", "logical_axis_rules: no list");
  return out;
}

std::string upper(const std::string& text) {
  std::string out = text;
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

template <class T>
std::optional<T> parse(std::string text) {
  std::erase(text, '_');
  if (text.starts_with("+")) text.erase(0, 1);
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return out;
}

/// What a variable of the environment says, in the type of what it stands for.
Value from_variable(const std::string& key, const std::string& text, const Value& before) {
  if (before.text()) return text;
  if (before.as<bool>()) {
    for (const char* word : {"Y", "YES", "T", "TRUE", "1"})
      if (upper(text) == word) return true;
    for (const char* word : {"N", "NO", "F", "FALSE", "0"})
      if (upper(text) == word) return false;
  } else if (before.as<std::int64_t>()) {
    if (const auto n = parse<std::int64_t>(text)) return *n;
  } else if (before.as<double>()) {
    if (const auto d = parse<double>(text)) return *d;
  } else {
    throw Refused("TypeError", fmt::format("Type <class '{}'> for key '{}' not supported for ENV "
                                           "override.",
                                           type_name(before), key));
  }
  throw Refused("ValueError",
                fmt::format("Couldn't parse value from ENV '{}' for key '{}'", text, key));
}

// -- Spellings ---------------------------------------------------------------------------------

bool among(const std::string& key, std::initializer_list<const char*> keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool is_key(const std::string& key) {
  const Json& keys = upstream()["keys"];
  if (keys.contains(key)) return true;
  for (const auto& [name, row] : keys.items())
    if (row[0].is_array() && row[0][0] == "model" && row[0][1].contains(key)) return true;
  return false;
}

/// A list of one for a word; "['a', 'b']" in quotes as the list that it says.
Value list_of(const Value& value) {
  if (!value.text()) return value;
  std::string text = *value.text();
  const bool list = text.starts_with("[") && text.ends_with("]");
  const bool tuple = text.starts_with("(") && text.ends_with(")");
  if (!list && !tuple) return List{value};
  text = "[" + text.substr(1, text.size() - 2) + "]";
  try {
    return read_yaml(text);
  } catch (const Refused&) {
    return List{value};
  }
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

void refuse_unknown(const std::string& key, const Dict& raw, std::vector<std::string>& warnings,
                    bool& ignored) {
  const Json& multimodal = upstream()["multimodal"];
  ignored = !is_true(raw, "use_multimodal") &&
            std::find(multimodal.begin(), multimodal.end(), Json(key)) != multimodal.end();
  if (ignored) {
    warnings.push_back(
        fmt::format("Ignoring multimodal field '{}' because use_multimodal is False.", key));
    return;
  }
  std::string names;
  for (const auto& [name, unused] : upstream()["keys"].items())
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", name);
  throw Refused("ValueError", fmt::format("'{}' not in {}.", key, names));
}

/// tokenizer_path where none is given: the model's on Hugging Face, else Llama 2's.
Value default_tokenizer(const Dict& raw, bool& published) {
  const std::string model = str(raw.at("model_name"));
  const Json& known = upstream()["tokenizers"];
  if (!known.contains(model)) return "maxtext/assets/tokenizers/tokenizer.llama2";
  published = model != "default";
  return known[model].get<std::string>();
}

/// "derived from base_emb_dim, global_parameter_scale".
std::string derived_from(const std::set<std::string>& keys) {
  return fmt::format("derived from {}", fmt::join(keys, ", "));
}

Dict respelled(const Dict& raw, Resolved& resolved) {
  Dict out;
  bool published = false;
  for (const auto& [key, given] : raw) {
    bool ignored = false;
    if (!is_key(key)) refuse_unknown(key, raw, resolved.warnings, ignored);
    if (ignored) continue;
    Value value = given;
    if (value.text() && lower(*value.text()) == "none") value = {};
    if (key == "data_sharding" && value.list() && !value.list()->empty() &&
        value.list()->front().text())
      value = List{value};
    if (among(key, {"train_data_columns", "eval_data_columns", "trainable_parameters_mask",
                    "adamw_mask"}))
      value = list_of(value);
    if (among(key, {"hf_train_files", "hf_eval_files", "hf_access_token", "hf_name", "hf_data_dir",
                    "hf_eval_split", "tokenizer_path"}) &&
        value == Value(""))
      value = {};
    if (among(key, {"run_name", "dump_hlo_local_module_name", "dump_hlo_module_name"}) &&
        value.is_none())
      value = "";
    if (key == "tokenizer_path" && value.is_none()) {
      value = default_tokenizer(raw, published);
      resolved.sources[key] = derived_from({"model_name"});
    }
    out.insert_or_assign(key, value);
  }
  if (published) {
    out.insert_or_assign("tokenizer_type", "huggingface");
    resolved.sources["tokenizer_type"] = derived_from({"model_name", "tokenizer_path"});
  }
  return out;
}

/// What numpy knows as a type by this name, beside the choices of other keys.
bool is_dtype(const std::string& name) {
  return among(name, {"float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2",
                      "int64", "int32", "int16", "int8", "int4", "uint8", "uint16", "uint32",
                      "uint64", "bool", "float", "int"});
}

/// One resolution, step by step as upstream takes them.
class Resolution {
 public:
  Resolution(std::vector<std::string> arguments, const Surroundings& around)
      : arguments_(std::move(arguments)), around_(around) {}

  Resolved run() {
    config_ = {"base.yml", true};
    if (!arguments_.empty() && arguments_.front().ends_with(".yml")) {
      config_ = find_config(arguments_.front());
      arguments_.erase(arguments_.begin());
    }
    base_ = load(config_, out_.sources);
    for (const auto& [key, source] : out_.sources)
      if (!is_own(source) && source != "default") out_.given.insert(key);
    read_overrides();
    read_model();
    lay_together();
    read_environment();
    validate();
    return std::move(out_);
  }

 private:
  void read_overrides() {
    Dict line;
    for (const std::string& argument : arguments_) {
      const auto [key, value] = read_argument(argument);
      update(line, key, value);
    }
    for (const auto& [key, unused] : line) out_.given.insert(key);
    line_ = deep_copy(line);
    // Folder and token may come from around the command.
    const Value all = merge(base_, line);
    if (!is_true(*all.dict(), "base_output_directory")) {
      line["base_output_directory"] = (fs::current_path() / "maxtext_output").string();
      surrounding_["base_output_directory"] = "derived from the working directory";
    }
    if (const char* token = around_.variable("HF_TOKEN");
        token && *token && !is_true(*all.dict(), "hf_access_token")) {
      line["hf_access_token"] = token;
      surrounding_["hf_access_token"] = "environment: HF_TOKEN";
    }
    overrides_ = Value(line);
  }

  void read_model() {
    const Value all = merge(base_, overrides_);
    model_ = Dict();
    override_model_ = is_true(*all.dict(), "override_model_config");
    const Value* given = find(*all.dict(), "model_name");
    if (!given || !given->text())
      throw Refused("TypeError", fmt::format("argument of type '{}' is not iterable",
                                             given ? type_name(*given) : "NoneType"));
    std::string name = *given->text();
    if (const std::size_t at = name.find("-Instruct"); at != std::string::npos) name.erase(at, 9);
    if (name == "default") return;
    const auto file = find_model(config_, name);
    if (!file) {
      out_.warnings.push_back(
          fmt::format("Model config for '{}' not found at models/{}.yml", name, name));
      return;
    }
    Sources of_model;
    Value loaded = file->own ? from_json(upstream()["files"][file->path]) : load(*file, of_model);
    if (!loaded.dict()) throw Refused("OSError", fmt::format("{}: no mapping of keys", file->path));
    if (override_model_)
      for (const auto& [key, unused] : *overrides_.dict()) loaded.dict()->erase(key);
    else
      refuse_other_values(*loaded.dict(), *overrides_.dict());
    model_ = loaded;
    model_file_ = file->path;
    if (!file->own)
      for (const auto& [key, unused] : *loaded.dict()) out_.given.insert(key);
  }

  void lay_together() {
    note_layers();
    Value model = deep_copy(model_);
    Value rules = take_rules(*base_.dict());
    for (Value* layer : {&model, &overrides_}) {
      const bool instead = is_true(*layer->dict(), "override_logical_axis_rules");
      rules = merge_rules(rules, take_rules(*layer->dict()), instead);
    }
    raw_ = *merge(merge(base_, model), overrides_).dict();
    raw_["logical_axis_rules"] = rules;
  }

  void note_layers() {
    const auto instead = [](const Value& layer) {
      return is_true(*layer.dict(), "override_logical_axis_rules");
    };
    note_layer(out_.sources, *base_.dict(), *model_.dict(), model_file_, instead(model_));
    const Value below = merge(base_, model_);
    note_layer(out_.sources, *below.dict(), *line_.dict(), "command line", instead(line_));
    for (const auto& [key, source] : surrounding_) out_.sources[key] = source;
  }

  void read_environment() {
    for (auto& [key, value] : raw_) {
      const std::string name = "M_" + upper(key);
      const char* text = around_.variable(name);
      if (!text) continue;
      if (line_.dict()->contains(key))
        throw Refused("ValueError", fmt::format("Key '{}' is overridden by both CLI/kwargs and "
                                                "environment variable '{}'. This is not allowed.",
                                                key, name));
      if (!override_model_ && model_.dict()->contains(key))
        throw Refused("ValueError",
                      fmt::format("Key '{}' is overridden by both model config and environment "
                                  "variable '{}'.This is not allowed, unless setting "
                                  "`override_model_config=True`.",
                                  key, name));
      value = from_variable(key, text, value);
      out_.sources[key] = "environment: " + name;
      out_.given.insert(key);
    }
  }

  void validate() {
    const Dict given = respelled(raw_, out_);
    if (is_true(given, "use_tokamax_splash") && is_true(given, "use_jax_splash"))
      throw Refused("ValueError",
                    "At most one of `use_tokamax_splash` and `use_jax_splash` can be set to True.");
    std::vector<Misfit> misfits;
    out_.values = fit_keys(given, misfits);
    if (!misfits.empty()) throw Invalid(misfits);
    Dict before;
    Origins origins;
    for (const auto& [key, value] : out_.values) before.emplace(key, deep_copy(value));
    try {
      run_validators({out_.values, around_, out_.warnings, origins});
    } catch (const Refused& e) {
      if (e.error_class() == "ValueError")
        throw Invalid({{"", "value_error", std::string("Value error, ") + e.what()}});
      if (e.error_class() == "AssertionError")
        throw Invalid({{"", "assertion_error", std::string("Assertion failed, ") + e.what()}});
      throw;
    }
    Value& mu = out_.values["mu_dtype"];
    if (!mu.text() || !is_dtype(*mu.text()))
      throw Refused("TypeError", fmt::format("data type {} not understood", repr(mu)));
    note_derived(before, given, origins);
  }

  /// Completes the sources: what validators changed is derived, what nobody gave is a default.
  void note_derived(const Dict& before, const Dict& given, const Origins& origins) {
    for (const auto& [key, value] : out_.values) {
      std::string& source = out_.sources[key];
      if (source.empty()) source = "default";
      const auto origin = origins.find(key);
      const auto was = before.find(key);
      // A key that was computed from itself alone is the same key, spelled otherwise.
      const bool from_others = origin != origins.end() && !origin->second.empty();
      if (!from_others || (given.contains(key) && was != before.end() && value == was->second))
        continue;
      const std::string instead =
          source == "default" ? ""
                              : fmt::format(", in place of {} ({})", repr(was->second), source);
      source = derived_from(origin->second) + instead;
    }
  }

  std::vector<std::string> arguments_;
  const Surroundings& around_;
  Resolved out_;
  File config_;
  Value base_, line_, overrides_, model_;
  std::string model_file_;
  /// Sources of what comes from around the command.
  Sources surrounding_;
  bool override_model_ = false;
  Dict raw_;
};

}  // namespace

Invalid::Invalid(std::vector<Misfit> misfits)
    : Refused("ValidationError", text_of(misfits)), misfits_(std::move(misfits)) {}

namespace {

/// Those of the plugin whose device is the process's own, else the CPU's. Several CPU devices are
/// not made before somebody asks for them.
std::size_t devices_here() {
  if (const runtime::Device* own = runtime::default_client().device();
      own != nullptr && runtime::plugin::is_of_plugin(*own))
    return runtime::mesh_devices().size();
  if (std::getenv("STRATA_NUM_CPU_DEVICES") == nullptr) return 1;
  return runtime::cpu_devices().size();
}

}  // namespace

Surroundings this_process() {
  return {[](const std::string& name) -> const char* { return std::getenv(name.c_str()); },
          static_cast<int>(devices_here()), distributed::is_initialized()};
}

Resolved resolve(const std::vector<std::string>& arguments, const Surroundings& around) {
  return Resolution(arguments, around).run();
}

Value default_of(const std::string& key) {
  const Json& base = upstream()["files"]["base.yml"];
  if (base.contains(key)) return from_json(base[key]);
  const Json& keys = upstream()["keys"];
  if (!keys.contains(key)) throw Error("", fmt::format("MaxText has no key '{}'", key));
  return from_json(keys[key][1]);
}

}  // namespace strata::train::maxtext
