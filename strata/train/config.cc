#include "strata/train/config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/base/text.h"
#include "strata/model/registry.h"
#include "strata/optim/schedule_text.h"
#include "strata/train/other_names.h"

namespace strata::train {
namespace {

using json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

constexpr double kMany = 1e9;
constexpr double kSeeds = 2147483647;

std::vector<std::string_view> family_names() {
  std::vector<std::string_view> out;
  for (const model::Family& f : model::families()) out.push_back(f.name);
  return out;
}

/// Whether a key decides the shapes of some family's weights.
bool shapes_model(std::string_view name) {
  if (name == "decoder_block" || name == "weight_dtype") return true;
  for (const model::Family& f : model::families())
    for (const model::Key& key : f.keys)
      if (key.name == name && key.shapes) return true;
  return false;
}

std::vector<Field> make_fields() {
  using C = Config;
  std::vector<Field> out = {
      {"decoder_block", &C::decoder_block, "family of the model", 0, 0, family_names()},
      {"vocab_size", &C::vocab_size,
       "size of the vocabulary; at least the tokenizer's, which is 256 for bytes", 256, 1e6},
      {"base_emb_dim", &C::base_emb_dim, "width of the residual stream", 1, 65536},
      {"base_num_query_heads", &C::base_num_query_heads, "attention heads", 1, 1024},
      {"base_num_kv_heads", &C::base_num_kv_heads,
       "heads of keys and values; divides base_num_query_heads", 1, 1024},
      {"base_mlp_dim", &C::base_mlp_dim, "width inside the feed-forward layers", 1, 262144},
      {"base_num_decoder_layers", &C::base_num_decoder_layers, "layers", 1, 1024},
      {"head_dim", &C::head_dim, "width of a head; even", 2, 1024},
      {"rope_max_timescale", &C::rope_max_timescale, "slowest wavelength of the rotary positions",
       1, 1e12},
      {"normalization_layer_epsilon", &C::normalization_layer_epsilon, "added to mean squares",
       1e-12, 1},
      {"dtype", &C::dtype, "type of activations and products", 0, 0, {"float32", "bfloat16"}},
      {"weight_dtype",
       &C::weight_dtype,
       "type of the weights; moments are float32",
       0,
       0,
       {"float32", "bfloat16"}},
      {"remat_policy",
       &C::remat_policy,
       "what backward keeps: all, results of products, nothing",
       0,
       0,
       {"full_save", "minimal", "full"}},
      {"init_weights_seed", &C::init_weights_seed, "seed of the first weights", 0, kSeeds},
      {"train_files", &C::train_files,
       "sources as a list or separated by ';', each files or patterns separated by ',', at its end "
       "its weight in the blend: "
       "kjv/*.txt,0.5;python/**/*.py,0.3; in names '\\,' and '\\;' stand for ',' and ';'"},
      {"train_data_columns", &C::train_data_columns,
       "JSONL files: the member of each object that holds the text"},
      {"tokenizer_type",
       &C::tokenizer_type,
       "what makes tokens of text",
       0,
       0,
       {"byte", "sentencepiece"}},
      {"tokenizer_path", &C::tokenizer_path, "the .model file of a SentencePiece tokenizer"},
      {"window_mode",
       &C::window_mode,
       "sequences share a token with the next one, so that none is lost as a target, or share none",
       0,
       0,
       {"overlapping", "disjoint"}},
      {"eval_fraction", &C::eval_fraction, "share of each source, at its end, kept for evaluation",
       0, 0.9},
      {"max_target_length", &C::max_target_length, "tokens of a sequence", 1, 1 << 20},
      {"per_device_batch_size", &C::per_device_batch_size, "sequences worked off at once", 1,
       65536},
      {"gradient_accumulation_steps", &C::gradient_accumulation_steps,
       "such batches in a step, whose gradients are added", 1, 65536},
      {"data_shuffle_seed", &C::data_shuffle_seed, "seed of the order of the data", 0, kSeeds},
      {"steps", &C::steps, "training steps", 1, kMany},
      {"learning_rate", &C::learning_rate, "highest learning rate", 0, 100},
      {"warmup_steps_fraction", &C::warmup_steps_fraction,
       "share of steps over which the rate rises from 0", 0, 1},
      {"learning_rate_final_fraction", &C::learning_rate_final_fraction,
       "share of the rate that is left at the last step", 0, 1},
      {"lr_schedule_type",
       &C::lr_schedule_type,
       "how the rate falls: along a cosine, or late (warm-up, stable, decay)",
       0,
       0,
       {"cosine", "wsd"}},
      {"wsd_decay_steps_fraction", &C::wsd_decay_steps_fraction,
       "wsd: share of steps over which the rate falls", 0, 1},
      {"wsd_decay_style", &C::wsd_decay_style, "wsd: how it falls", 0, 0, {"linear", "cosine"}},
      {"learning_rate_schedule_steps", &C::learning_rate_schedule_steps,
       "steps of the schedule, behind which the rate is 0; -1 for steps", -1, kMany},
      {"lr_pieces", &C::lr_pieces,
       "the schedule in pieces instead, as a list or separated by commas: [linear 0 -> 3e-4 over "
       "100, constant 1000, cosine -> 3e-5 over 400]"},
      {"opt_type", &C::opt_type, "the optimizer", 0, 0, {"adamw", "sgd"}},
      {"adam_b1", &C::adam_b1, "decay of the first moment", 0, 0.999999},
      {"adam_b2", &C::adam_b2, "decay of the second moment", 0, 0.999999},
      {"adam_eps", &C::adam_eps, "added to the root of the second moment", 0, 1},
      {"adam_weight_decay", &C::adam_weight_decay, "decoupled weight decay", 0, 100},
      {"adamw_mask", &C::adamw_mask,
       "weights that do not decay: patterns of their paths, as *norm*, as a list or separated by "
       "';'"},
      {"gradient_clipping_threshold", &C::gradient_clipping_threshold,
       "largest norm of all gradients; 0 for no limit", 0, kMany},
      {"run_name", &C::run_name, "folder of the run; the same name goes on where it stopped"},
      {"base_output_directory", &C::base_output_directory, "folder of all runs"},
      {"enable_checkpointing", &C::enable_checkpointing, "write checkpoints and go on from them"},
      {"checkpoint_period", &C::checkpoint_period, "steps from one checkpoint to the next", 1,
       kMany},
      {"max_num_checkpoints_to_keep", &C::max_num_checkpoints_to_keep,
       "older ones are removed; 0 keeps all", 0, kMany},
      {"keep_period", &C::keep_period,
       "checkpoints of steps that this divides are never removed; 0 for none", 0, kMany},
      {"async_checkpointing", &C::async_checkpointing, "write checkpoints while training goes on"},
      {"eval_interval", &C::eval_interval,
       "steps from one evaluation to the next; 0 or -1 for none", -1, kMany},
      {"eval_steps", &C::eval_steps, "most batches of each source in one evaluation; -1 for all",
       -1, kMany},
      {"log_period", &C::log_period, "steps from one printed line to the next", 1, kMany},
      {"metrics_file", &C::metrics_file,
       "JSON lines, one for each step; default: metrics/metrics.jsonl in the run's folder"},
      {"max_seconds", &C::max_seconds, "stop and save after this time; 0 for no limit", 0, kMany},
  };
  for (Field& f : out) f.shapes_model = shapes_model(f.name);
  return out;
}

std::string allowed(const Field& f) {
  if (std::holds_alternative<std::int64_t Config::*>(f.member))
    return fmt::format("an integer from {} to {}", static_cast<std::int64_t>(f.least),
                       static_cast<std::int64_t>(f.most));
  if (std::holds_alternative<double Config::*>(f.member))
    return fmt::format("a number from {:g} to {:g}", f.least, f.most);
  if (std::holds_alternative<bool Config::*>(f.member)) return "true or false";
  if (std::holds_alternative<Texts Config::*>(f.member)) return "a list of texts";
  return f.choices.empty() ? "text" : fmt::format("{}", fmt::join(f.choices, " or "));
}

[[noreturn]] void refuse(const Field& f, const std::string& value) {
  throw ConfigError(fmt::format("{}={}: allowed is {}", f.name, value, allowed(f)));
}

const Field& field(const std::string& key) {
  for (const Field& f : fields())
    if (f.name == key) return f;
  throw ConfigError(fmt::format("unknown key '{}'{}", key, key_hint(key)));
}

template <class T>
std::optional<T> whole_number(const std::string& text) {
  T out{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return out;
}

/// MaxText's files write large counts as 1e4 too.
std::optional<std::int64_t> integer(const std::string& text) {
  if (auto n = whole_number<std::int64_t>(text)) return n;
  auto d = whole_number<double>(text);
  if (!d || !(std::abs(*d) < 1e15) || *d != std::floor(*d)) return {};
  return static_cast<std::int64_t>(*d);
}

/// Between semicolons; one behind a backslash belongs to a name (data/sources.h).
Texts split(const std::string& text) {
  Texts out(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      out.back() += text.substr(i++, 2);
    } else if (text[i] == ';') {
      out.emplace_back();
    } else {
      out.back() += text[i];
    }
  }
  std::erase(out, "");
  return out;
}

void set_field(Config& c, const Field& f, const std::string& value) {
  auto one = [&]<class T>(T Config::* member) {
    if constexpr (std::same_as<T, bool>) {
      if (value != "true" && value != "false" && value != "True" && value != "False")
        refuse(f, value);
      c.*member = value == "true" || value == "True";
    } else if constexpr (std::same_as<T, std::string>) {
      if (!f.choices.empty() &&
          std::find(f.choices.begin(), f.choices.end(), value) == f.choices.end())
        refuse(f, value);
      c.*member = value;
    } else if constexpr (std::same_as<T, Texts>) {
      c.*member = split(value);
    } else {
      std::optional<T> number;
      if constexpr (std::same_as<T, double>)
        number = whole_number<double>(value);
      else
        number = integer(value);
      if (!number ||
          !(static_cast<double>(*number) >= f.least && static_cast<double>(*number) <= f.most))
        refuse(f, value);
      c.*member = *number;
    }
  };
  std::visit(one, f.member);
}

void read_yaml(Config& c, const std::string& text, const std::string& path) {
  try {
    const YAML::Node all = YAML::Load(text);
    if (all.IsNull()) return;
    if (!all.IsMap()) throw ConfigError("the file is no list of 'key: value' lines");
    for (const auto& entry : all) {
      const auto key = entry.first.as<std::string>();
      const Field& f = field(key);
      if (entry.second.IsSequence() && std::holds_alternative<Texts Config::*>(f.member)) {
        c.*std::get<Texts Config::*>(f.member) = entry.second.as<Texts>();
      } else if (entry.second.IsScalar() || entry.second.IsNull()) {
        set_field(c, f, entry.second.IsNull() ? "" : entry.second.as<std::string>());
      } else {
        throw ConfigError(fmt::format("{}: allowed is {}, not a nested value", key, allowed(f)));
      }
    }
  } catch (const ConfigError& e) {
    throw ConfigError(fmt::format("{}: {}", path, e.what()));
  } catch (const YAML::Exception& e) {
    throw ConfigError(fmt::format("{}: not YAML: {}", path, e.what()));
  }
}

json to_value(const Config& c, const Field& f) {
  return std::visit([&](auto member) { return json(c.*member); }, f.member);
}

}  // namespace

std::span<const Field> fields() {
  static const std::vector<Field> all = make_fields();
  return all;
}

std::string key_hint(const std::string& key) {
  std::vector<std::string_view> names;
  for (const Field& f : fields()) names.push_back(f.name);
  if (const std::string_view ours = key_called(key); !ours.empty())
    return fmt::format("; did you mean '{}'?", ours);
  const std::string meant = did_you_mean(key, names);
  return meant.empty() ? "; 'strata train --help' lists all keys" : meant;
}

void set(Config& config, const std::string& key, const std::string& value) {
  set_field(config, field(key), value);
}

Config read_config(const std::optional<std::string>& file,
                   const std::vector<std::string>& overrides, Data data) {
  Config out;
  if (file) {
    auto text = read_file(*file);
    if (!text) throw ConfigError(text.status().message());
    read_yaml(out, *text, *file);
  }
  for (const std::string& o : overrides) {
    const std::size_t equals = o.find('=');
    if (equals == std::string::npos && (o.ends_with(".yml") || o.ends_with(".yaml")))
      throw ConfigError(
          fmt::format("'{}': there is one file of keys, and it stands before each key=value", o));
    if (equals == std::string::npos)
      throw ConfigError(fmt::format("'{}' is neither a .yml file nor key=value", o));
    set(out, o.substr(0, equals), o.substr(equals + 1));
  }
  check(out, data);
  return out;
}

Config parse_config(const std::string& text, const std::string& name) {
  Config out;
  read_yaml(out, text, name);
  return out;
}

void check(const Config& c, Data data) {
  if (data == Data::required && c.train_files.empty())
    throw ConfigError("train_files is not set: give text files, as in train_files='text/*.txt'");
  if (c.base_num_query_heads % c.base_num_kv_heads != 0) {
    throw ConfigError(
        fmt::format("base_num_kv_heads={}: allowed is a divisor of base_num_query_heads={}",
                    c.base_num_kv_heads, c.base_num_query_heads));
  }
  if (!c.lr_pieces.empty()) {
    try {
      (void)optim::parse_schedule(lr_pieces_text(c), "lr_pieces");
    } catch (const Error& e) {
      throw ConfigError(e.what());
    }
  }
  if (c.head_dim % 2 != 0)
    throw ConfigError(fmt::format("head_dim={}: allowed is an even number", c.head_dim));
  if (c.eval_interval > 0 && c.eval_steps == 0)
    throw ConfigError("eval_steps=0: allowed is -1 or at least 1 while eval_interval is set");
  if (c.eval_interval > 0 && c.eval_fraction == 0)
    throw ConfigError(
        fmt::format("eval_interval={}: allowed is 0 while eval_fraction is 0", c.eval_interval));
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

std::string to_yaml(const Config& config) {
  std::string out;
  // JSON's numbers, texts and lists are YAML's too.
  for (const Field& f : fields()) out += fmt::format("{}: {}\n", f.name, json_value(config, f));
  return out;
}

std::string to_json(const Config& config) {
  json out = json::object();
  for (const Field& f : fields()) out[std::string(f.name)] = to_value(config, f);
  return out.dump();
}

std::string describe_fields() {
  const Config defaults;
  std::string out;
  for (const Field& f : fields())
    out += fmt::format("  {} = {}\n      {} ({})\n", f.name, json_value(defaults, f), f.doc,
                       allowed(f));
  return out;
}

std::string run_folder(const Config& c) {
  return (c.base_output_directory.empty() ? "." : c.base_output_directory) + "/" + c.run_name;
}

std::int64_t sequences(const Config& c) {
  return c.per_device_batch_size * c.gradient_accumulation_steps;
}

std::string lr_pieces_text(const Config& c) {
  return fmt::format("{}", fmt::join(c.lr_pieces, ", "));
}

std::string metrics_path(const Config& c) {
  return c.metrics_file.empty() ? run_folder(c) + "/metrics/metrics.jsonl" : c.metrics_file;
}

}  // namespace strata::train
