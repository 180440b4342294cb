// Reads a configuration (config.h), and checks it by what each of its keys is for.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "strata/base/file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/text.h"
#include "strata/data/conversations.h"
#include "strata/optim/schedule/schedule_text.h"
#include "strata/train/config/config.h"
#include "strata/train/config/fields.h"
#include "strata/train/config/learning_rate.h"
#include "strata/train/config/lora_options.h"
#include "strata/train/config/make_model.h"
#include "strata/train/config/optimizer.h"
#include "strata/train/config/other_names.h"
#include "strata/train/step/parallelism.h"

namespace strata::train {
namespace {

using json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

/// What nests: `model`, whose keys may stand at the top too, the options of what is chosen, and
/// adapters.
constexpr std::string_view kTables[] = {"model", "optimizer", "lr_schedule", "lora"};
/// Keys that decide which others there are.
constexpr std::string_view kChoosing[] = {"decoder_block", "opt_type", "lr_schedule_type"};
constexpr int kDeepest = 16;

// -- Values below nested keys ----------------------------------------------------------------

/// What an unquoted word of YAML says.
json scalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "none" || text == "None")
    return nullptr;
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || !std::isfinite(number)) return text;
  if (std::abs(number) < 1e15 && number == std::floor(number))
    return static_cast<std::int64_t>(number);
  return number;
}

json to_json(const YAML::Node& node, int depth = 0) {
  if (depth > kDeepest) throw ConfigError(fmt::format("values nest deeper than {}", kDeepest));
  if (node.IsMap()) {
    json out = json::object();
    for (const auto& entry : node)
      out[entry.first.as<std::string>()] = to_json(entry.second, depth + 1);
    return out;
  }
  if (node.IsSequence()) {
    json out = json::array();
    for (const auto& entry : node) out.push_back(to_json(entry, depth + 1));
    return out;
  }
  if (!node.IsScalar()) return nullptr;
  // "!" marks what stood in quotes.
  return node.Tag() == "!" ? json(node.Scalar()) : scalar(node.Scalar());
}

json parse_value(const std::string& key, const std::string& text) {
  try {
    return to_json(YAML::Load(text));
  } catch (const YAML::Exception& e) {
    throw ConfigError(fmt::format("{}={}: not YAML: {}", key, text, e.what()));
  }
}

/// Puts a value at a path, "groups.0.frozen", making tables on its way. Tables are merged.
void put(json& at, std::string_view path, const json& value, const std::string& key) {
  const std::size_t dot = path.find('.');
  const std::string name(path.substr(0, dot));
  if (name.empty())
    throw ConfigError(fmt::format("unknown key '{}': a name between dots is empty", key));
  json* next = nullptr;
  const bool number =
      std::all_of(name.begin(), name.end(), [](char d) { return d >= '0' && d <= '9'; });
  if (at.is_null() && number) at = json::array();
  if (at.is_array()) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (error != std::errc() || end != name.data() + name.size() || index > at.size())
      throw ConfigError(
          fmt::format("unknown key '{}': '{}' is no place in a list of {}", key, name, at.size()));
    if (index == at.size()) at.push_back(json::object());
    next = &at[index];
  } else {
    if (!at.is_object()) at = json::object();
    next = &at[name];
  }
  if (dot != std::string_view::npos)
    put(*next, path.substr(dot + 1), value, key);
  else
    *next = value;
}

// -- Keys ------------------------------------------------------------------------------------

/// One key as it was given: as text, or as a node of a file.
struct Given {
  std::string key, text;
  std::optional<YAML::Node> node = std::nullopt;
  /// The file; empty for the command line.
  std::string file = {};
};

[[noreturn]] void refuse_unknown(const std::string& key, const std::string& hint) {
  throw ConfigError(fmt::format("unknown key '{}'{}", key, hint));
}

const Field& field_among(const std::vector<Field>& all, const std::string& key) {
  for (const Field& f : all)
    if (f.name == key) return f;
  for (const model::Family& family : model::families())
    for (const model::Key& k : family.keys)
      if (k.name == key)
        refuse_unknown(key, fmt::format(": it is one of decoder_block={}", family.name));
  refuse_unknown(key, key_hint(key));
}

void assign(Config& c, const Given& given);

/// A key of the model, which may stand below `model`.
void assign_model(Config& c, const Given& given) {
  std::vector<std::string_view> names = {"decoder_block"};
  for (const model::Key& k : model::family(c.decoder_block).keys) names.push_back(k.name);
  if (std::find(names.begin(), names.end(), given.key) == names.end())
    refuse_unknown("model." + given.key, did_you_mean(given.key, names));
  assign(c, given);
}

void assign_nested(Config& c, std::string_view table, const Given& given, const std::string& path) {
  const std::string key = fmt::format("{}.{}", table, path);
  if (table == "model") {
    assign_model(c, {path, given.text, given.node});
    return;
  }
  if (table == "lr_schedule" && schedule_has_field(c, path)) {
    assign(c, {path, given.text, given.node});
    return;
  }
  const json value = given.node ? to_json(*given.node) : parse_value(key, given.text);
  put(table == "optimizer" ? c.optimizer
      : table == "lora"    ? c.lora
                           : c.lr_schedule,
      path, value, key);
}

/// A whole table: `optimizer: {b1: 0.9}`, or its text. False for what is none.
bool assign_table(Config& c, const Given& given) {
  YAML::Node all;
  if (given.node) {
    all = *given.node;
  } else if (given.text.starts_with("{")) {
    try {
      all = YAML::Load(given.text);
    } catch (const YAML::Exception& e) {
      throw ConfigError(fmt::format("{}={}: not YAML: {}", given.key, given.text, e.what()));
    }
  }
  if (!all.IsMap()) return false;
  for (const auto& entry : all)
    assign_nested(c, given.key, {given.key, {}, entry.second}, entry.first.as<std::string>());
  return true;
}

void assign(Config& c, const Given& given) {
  const std::size_t dot = given.key.find('.');
  const std::string head = given.key.substr(0, dot);
  if (std::find(std::begin(kTables), std::end(kTables), head) != std::end(kTables)) {
    if (dot != std::string::npos) {
      assign_nested(c, head, given, given.key.substr(dot + 1));
      return;
    }
    if (assign_table(c, given)) return;
  }
  const std::vector<Field> all = fields_of(c);
  const Field& f = field_among(all, given.key);
  if (!given.node) {
    set_field(c, f, given.text);
  } else if (given.node->IsSequence() && std::holds_alternative<Texts Config::*>(f.member)) {
    c.*std::get<Texts Config::*>(f.member) = given.node->as<Texts>();
  } else if (given.node->IsScalar() || given.node->IsNull()) {
    set_field(c, f, given.node->IsNull() ? "" : given.node->as<std::string>());
  } else {
    throw ConfigError(fmt::format("{}: allowed is {}, not a nested value", given.key, allowed(f)));
  }
}

/// Which key of kChoosing it gives; empty for another.
std::string_view chooses(std::string_view key) {
  if (key.starts_with("model.")) key.remove_prefix(6);
  const auto found = std::find(std::begin(kChoosing), std::end(kChoosing), key);
  return found == std::end(kChoosing) ? std::string_view() : *found;
}

/// All keys in their order, those first that choose.
Config assigned(const std::vector<Given>& all) {
  Config out;
  for (const bool choosing : {true, false})
    for (const Given& given : all) {
      if (chooses(given.key).empty() == choosing) continue;
      try {
        assign(out, given);
      } catch (const ConfigError& e) {
        if (given.file.empty()) throw;
        throw ConfigError(fmt::format("{}: {}", given.file, e.what()));
      } catch (const YAML::Exception& e) {
        throw ConfigError(fmt::format("{}: not YAML: {}", given.file, e.what()));
      }
    }
  return out;
}

void add_file(std::vector<Given>& to, const std::string& text, const std::string& path) {
  try {
    const YAML::Node all = YAML::Load(text);
    if (all.IsNull()) return;
    if (!all.IsMap())
      throw ConfigError(fmt::format("{}: the file is no list of 'key: value' lines", path));
    for (const auto& entry : all) {
      const auto key = entry.first.as<std::string>();
      // What chooses the family may stand inside of `model`.
      if (key == "model" && entry.second.IsMap() && entry.second["decoder_block"])
        to.push_back({"decoder_block", {}, entry.second["decoder_block"], path});
      to.push_back({key, {}, entry.second, path});
    }
  } catch (const YAML::Exception& e) {
    throw ConfigError(fmt::format("{}: not YAML: {}", path, e.what()));
  }
}

}  // namespace

std::string key_hint(const std::string& key) {
  std::vector<std::string_view> names;
  for (const Field& f : fields()) names.push_back(f.name);
  if (const std::string_view ours = key_called(key); !ours.empty())
    return fmt::format("; did you mean '{}'?", ours);
  const std::size_t dot = key.find('.');
  if (dot != std::string::npos) {
    const std::string near = did_you_mean(key.substr(0, dot), kTables);
    return near.empty() ? fmt::format("; what nests is {}", fmt::join(kTables, ", ")) : near;
  }
  const std::string meant = did_you_mean(key, names);
  return meant.empty() ? "; 'strata train --help' lists all keys" : meant;
}

void set(Config& config, const std::string& key, const std::string& value) {
  assign(config, {key, value});
}

Config read_config(const std::optional<std::string>& file,
                   const std::vector<std::string>& overrides, Data data) {
  std::vector<Given> all;
  if (file) {
    auto text = read_file(*file);
    if (!text) throw ConfigError(text.status().message());
    add_file(all, *text, *file);
  }
  for (const std::string& o : overrides) {
    const std::size_t equals = o.find('=');
    if (equals == std::string::npos && (o.ends_with(".yml") || o.ends_with(".yaml")))
      throw ConfigError(
          fmt::format("'{}': there is one file of keys, and it stands before each key=value", o));
    if (equals == std::string::npos)
      throw ConfigError(fmt::format("'{}' is neither a .yml file nor key=value", o));
    all.push_back({o.substr(0, equals), o.substr(equals + 1)});
  }
  const Config out = assigned(all);
  check(out, data);
  return out;
}

Config parse_config(const std::string& text, const std::string& name) {
  std::vector<Given> all;
  add_file(all, text, name);
  return assigned(all);
}

namespace {

/// What a published model brings is not told otherwise.
void check_init(const Config& c) {
  const bool adapts = lora_options(c.lora).has_value();
  if (adapts && c.init.empty())
    throw ConfigError(fmt::format(
        "lora.{}: adapters stand beside a published model: give init=FILE.gguf or init=FOLDER",
        c.lora.begin().key()));
  if (c.weight_dtype == "packed" && !adapts)
    throw ConfigError(
        "weight_dtype=packed: packed weights stay as they are: give adapters beside them, as "
        "lora.rank=16");
  if (c.init.empty()) {
    if (data::names_conversations(c.train_data_columns))
      throw ConfigError(fmt::format(
          "train_data_columns={}: conversations need a model that knows how they are written; "
          "name one with init",
          c.train_data_columns));
    if (!c.chat_template_path.empty() || !c.eval_prompt.empty())
      throw ConfigError(fmt::format("{}: it is of no use without init",
                                    c.eval_prompt.empty()
                                        ? "chat_template_path=" + c.chat_template_path
                                        : "eval_prompt=" + c.eval_prompt));
    return;
  }
  if (c.train_data_columns == "prompt" || c.train_data_columns == "completion" ||
      c.train_data_columns == "completion,prompt")
    throw ConfigError(
        fmt::format("train_data_columns={}: conversations are under messages or "
                    "prompt,completion, texts under one name",
                    c.train_data_columns));
  const Config usual;
  if (c.decoder_block != usual.decoder_block)
    throw ConfigError(fmt::format("decoder_block={}: {} names its own family; leave the key away",
                                  c.decoder_block, c.init));
  if (c.tokenizer_type != usual.tokenizer_type || !c.tokenizer_path.empty())
    throw ConfigError(fmt::format(
        "tokenizer_{}: {} brings its own tokenizer; leave the key away",
        c.tokenizer_path.empty() ? "type=" + c.tokenizer_type : "path=" + c.tokenizer_path,
        c.init));
}

/// Keys of evaluations that there are none of, or of files that are not given.
void check_evaluation(const Config& c) {
  if (eval_sequences(c) < 1)
    throw ConfigError(fmt::format(
        "eval_per_device_batch_size={}: that is no whole sequence on {} devices together",
        c.eval_per_device_batch_size, device_count(c)));
  if (c.target_eval_loss > 0 && c.eval_interval <= 0)
    throw ConfigError(fmt::format("target_eval_loss={}: it needs evaluations: set eval_interval",
                                  c.target_eval_loss));
  if (!c.eval_data_columns.empty() && c.eval_files.empty())
    throw ConfigError(
        fmt::format("eval_data_columns={}: it is of eval_files, and there are none; what is kept "
                    "of train_files is read by train_data_columns",
                    c.eval_data_columns));
  if (!c.eval_data_columns.empty() && data::names_conversations(c.eval_data_columns) !=
                                          data::names_conversations(c.train_data_columns))
    throw ConfigError(
        fmt::format("eval_data_columns={}: conversations are evaluated where they are trained on, "
                    "and texts where those are (train_data_columns={})",
                    c.eval_data_columns, c.train_data_columns));
}

/// Frequent checkpoints need a place and a period.
void check_tiers(const Config& c) {
  if (!has_tiers(c)) return;
  const char* key = c.enable_emergency_checkpoint ? "enable_emergency_checkpoint"
                                                  : "enable_multi_tier_checkpointing";
  if (c.local_checkpoint_directory.empty() || is_object_path(c.local_checkpoint_directory))
    throw ConfigError(
        fmt::format("local_checkpoint_directory={}: {}=true needs a folder of this machine, as "
                    "/dev/shm/checkpoints",
                    c.local_checkpoint_directory, key));
  if (c.local_checkpoint_period == 0)
    throw ConfigError(fmt::format(
        "local_checkpoint_period=0: {}=true needs the steps from one local checkpoint to the next",
        key));
}

}  // namespace

bool has_tiers(const Config& c) {
  return c.enable_checkpointing &&
         (c.enable_emergency_checkpoint || c.enable_multi_tier_checkpointing);
}

void check(const Config& c, Data data) {
  if (data == Data::required && c.train_files.empty())
    throw ConfigError("train_files is not set: give text files, as in train_files='text/*.txt'");
  try {
    if (c.init.empty()) (void)make_model(c);
    if (!c.lr_pieces.empty()) (void)optim::parse_schedule(lr_pieces_text(c), "lr_pieces");
  } catch (const ConfigError&) {
    throw;
  } catch (const Error& e) {
    throw ConfigError(e.what());
  }
  check_schedule(c);
  check_optimizer(c);
  check_init(c);
  check_parallelism(c);
  if (c.eval_interval > 0 && c.eval_steps == 0)
    throw ConfigError("eval_steps=0: allowed is -1 or at least 1 while eval_interval is set");
  if (c.eval_interval > 0 && c.eval_fraction == 0 && c.eval_files.empty())
    throw ConfigError(fmt::format(
        "eval_interval={}: allowed is 0 while eval_fraction is 0 and there are no eval_files",
        c.eval_interval));
  check_evaluation(c);
  check_tiers(c);
  if (c.run_name.empty() || c.run_name == "." || c.run_name == ".." ||
      c.run_name.find('/') != std::string::npos) {
    throw ConfigError(
        fmt::format("run_name={}: allowed is a folder's name without '/'", c.run_name));
  }
}

std::string json_value(const Config& config, const Field& f) { return to_value(config, f).dump(); }
std::string text_value(const Config& config, const Field& f) {
  const json value = to_value(config, f);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

namespace {

/// Those that a configuration is printed with: of a published model none that it states itself.
std::vector<Field> stated_fields(const Config& c) {
  std::vector<Field> out = fields_of(c);
  if (c.init.empty()) return out;
  std::erase_if(out, [&](const Field& f) {
    if (const auto* key = std::get_if<const model::Key*>(&f.member))
      return (*key)->shapes && !c.model.contains(f.name);
    return f.name == "decoder_block" || f.name == "tokenizer_type" || f.name == "tokenizer_path";
  });
  return out;
}

}  // namespace

std::string to_yaml(const Config& config) {
  std::string out;
  // JSON's numbers, texts and lists are YAML's too.
  const auto add = [&](const char* name, const Table& table, const std::string& others) {
    out += fmt::format("{}: {}\n{}", name, table.empty() ? "{}" : "", others);
    for (const auto& [key, value] : table.items())
      out += fmt::format("  {}: {}\n", json(key).dump(), value.dump());
  };
  for (const Field& f : stated_fields(config)) {
    out += fmt::format("{}: {}\n", f.name, json_value(config, f));
    if (f.name == "lr_schedule_type")
      add("lr_schedule", config.lr_schedule, schedule_options_not_given(config));
    if (f.name == "init" && !config.lora.empty())
      add("lora", config.lora, lora_options_not_given(config.lora));
    if (f.name == "opt_type")
      add("optimizer", config.optimizer, optimizer_options_not_given(config));
  }
  return out;
}

std::string to_json(const Config& config) {
  json out = json::object();
  for (const Field& f : stated_fields(config)) {
    out[std::string(f.name)] = to_value(config, f);
    if (f.name == "lr_schedule_type" && !config.lr_schedule.empty())
      out["lr_schedule"] = config.lr_schedule;
    if (f.name == "init" && !config.lora.empty()) out["lora"] = config.lora;
    if (f.name == "opt_type" && !config.optimizer.empty()) out["optimizer"] = config.optimizer;
  }
  return out.dump();
}

std::string describe_fields() {
  const Config defaults;
  std::string out;
  for (const Field& f : fields())
    out += fmt::format("  {} = {}\n      {} ({})\n", f.name, json_value(defaults, f), f.doc,
                       allowed(f));
  return out + describe_lora() + describe_optimizers() + describe_schedules();
}

std::string run_folder(const Config& c) {
  return (c.base_output_directory.empty() ? "." : c.base_output_directory) + "/" + c.run_name;
}

std::int64_t sequences(const Config& c) {
  const std::int64_t at_once =
      c.micro_batch_size > 0 ? c.micro_batch_size : c.per_device_batch_size * device_count(c);
  return at_once * c.gradient_accumulation_steps;
}

std::int64_t eval_sequences(const Config& c) {
  if (c.eval_per_device_batch_size == 0) return sequences(c);
  return static_cast<std::int64_t>(c.eval_per_device_batch_size *
                                   static_cast<double>(device_count(c)));
}

bool evaluates_after(const Config& c, std::int64_t step) {
  if (c.eval_interval <= 0) return false;
  if (c.eval_start_step < 0) return step % c.eval_interval == 0 || step == c.steps;
  const std::int64_t since = step - 1 - c.eval_start_step;
  return since >= 0 && since % c.eval_interval == 0;
}

std::string lr_pieces_text(const Config& c) {
  return fmt::format("{}", fmt::join(c.lr_pieces, ", "));
}

std::string metrics_path(const Config& c) {
  return c.metrics_file.empty() ? run_folder(c) + "/metrics/metrics.jsonl" : c.metrics_file;
}

}  // namespace strata::train
