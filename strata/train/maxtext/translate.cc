#include "strata/train/maxtext/translate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "strata/base/file.h"
#include "strata/base/text.h"
#include "strata/model/remat_policy.h"
#include "strata/train/maxtext/data_keys.h"
#include "strata/train/maxtext/effects.h"
#include "strata/train/maxtext/import.h"
#include "strata/train/maxtext/keys.h"
#include "strata/train/maxtext/models.h"
#include "strata/train/maxtext/optimizer_keys.h"
#include "strata/train/maxtext/upstream.h"
#include "strata/train/maxtext/yaml.h"
#include "strata/train/step/parallelism.h"

namespace strata::train::maxtext {
namespace {

using Json = nlohmann::ordered_json;

// -- The run -----------------------------------------------------------------------------------

/// Keys that have the same name and meaning here.
constexpr std::string_view kSame[] = {"run_name",
                                      "base_output_directory",
                                      "steps",
                                      "init_weights_seed",
                                      "data_shuffle_seed",
                                      "gradient_accumulation_steps",
                                      "max_target_length",
                                      "learning_rate",
                                      "lr_schedule_type",
                                      "warmup_steps_fraction",
                                      "learning_rate_final_fraction",
                                      "learning_rate_schedule_steps",
                                      "wsd_decay_steps_fraction",
                                      "wsd_decay_style",
                                      "opt_type",
                                      "adam_b1",
                                      "adam_b2",
                                      "adam_eps",
                                      "adam_eps_root",
                                      "adam_weight_decay",
                                      "gradient_clipping_threshold",
                                      "z_loss_multiplier",
                                      "skip_step_on_spikes",
                                      "skip_step_interval",
                                      "skip_step_scaling_factor",
                                      "enable_checkpointing",
                                      "async_checkpointing",
                                      "checkpoint_period",
                                      "metrics_file",
                                      "mtp_num_layers",
                                      "mtp_loss_scaling_factor",
                                      "mtp_eval_target_module",
                                      "weight_dtype"};

/// Keys of local checkpoints that have the same name and meaning here.
constexpr std::string_view kSameOfTiers[] = {
    "enable_emergency_checkpoint", "enable_multi_tier_checkpointing", "local_checkpoint_directory",
    "local_checkpoint_period", "multi_tier_checkpointing_backup_interval_minutes"};

/// The same of blocks with experts.
constexpr std::string_view kSameOfExperts[] = {
    "load_balance_loss_weight", "moe_use_megatron_seq_aux_loss", "routed_bias_update_rate"};

std::string key_value(const std::string& key, const Value& value) {
  if (const auto* b = value.as<bool>()) return key + (*b ? "=true" : "=false");
  return key + "=" + (value.is_none() ? "" : str(value));
}

/// Values of acting keys that are not built.
void require_built(const Keys& k) {
  const std::string rule = k.text("opt_type");
  require(rule == "adamw" || rule == "adam_pax" || rule == "sgd" || rule == "muon", "opt_type", k,
          "there are adamw, adam_pax, sgd and muon; other rules are there by their keys in this "
          "trainer's own "
          "configuration");
  for (const char* key : {"dtype", "weight_dtype"})
    require(k.text(key) == "float32" || k.text(key) == "bfloat16", key, k,
            "there are float32 and bfloat16");
  require(k.text("mu_dtype") == "float32" || k.text("mu_dtype") == "bfloat16", "mu_dtype", k,
          "there are float32 and bfloat16");
  if (rule == "muon") {
    const std::string type = k.text("muon_type");
    require(type == "optax" || type == "optax_muon" || type == "maxtext" || type == "maxtext_muon",
            "muon_type", k, "there are optax_muon and maxtext_muon");
  }
  require(k.whole("micro_batch_size_to_train_on") >= 1, "per_device_batch_size", k,
          "that is no whole sequence on all devices together");
  for (const char* key : {"abort_on_nan_loss", "abort_on_inf_loss"})
    require(k.on(key), key, k, "such a loss always ends the run");
}

/// MaxText's policies that keep the same tensors as another one.
constexpr std::pair<std::string_view, std::string_view> kSamePolicies[] = {
    {"none", "full_save"},
    {"", "full_save"},  // YAML's none is no value
    {"minimal_flash", "minimal_with_context"},
    {"minimal_with_quantization", "minimal"},
    {"minimal_with_context_and_quantization", "minimal_with_context"},
    {"qkv_proj_offloaded", "save_qkv_proj"},
    {"minimal_offloaded", "minimal"},
};

/// The tensors of remat_policy=custom that are not computed again.
std::vector<std::string_view> kept_tensors(const Keys& k) {
  std::vector<std::string_view> out;
  for (const std::string_view tensor : model::remat_tensors())
    if (k.text(std::string(tensor)) != "remat") out.push_back(tensor);
  return out;
}

std::string remat_policy(const Keys& k) {
  const std::string policy = k.text("remat_policy");
  if (policy == "custom") {
    const std::vector<std::string_view> kept = kept_tensors(k);
    return kept.empty() ? "full" : fmt::format("names:{}", fmt::join(kept, ","));
  }
  for (const auto& [name, same] : kSamePolicies)
    if (policy == name) return std::string(same);
  std::vector<std::string_view> names;
  for (const model::RematPolicy& p : model::remat_policies()) {
    if (policy == p.name && p.keeps) return policy;
    if (p.keeps) names.push_back(p.name);
  }
  require(false, "remat_policy", k,
          fmt::format("there are none, {}, custom, qkv_proj_offloaded and minimal_offloaded",
                      fmt::join(names, ", ")));
  return {};
}

/// What a policy asks for that has no effect.
void note_remat(const Resolved& resolved, const Keys& k, Translation& out) {
  const std::string policy = k.text("remat_policy");
  const bool custom = policy == "custom";
  bool offloaded = policy.ends_with("_offloaded");
  for (const std::string_view tensor : remat_keys()) {
    const std::string key(tensor);
    offloaded = offloaded || (custom && k.text(key) == "offload");
    if (!custom && resolved.given.contains(key))
      out.notes.push_back(key_value(key, k[key]) +
                          " accepted, no effect here, because remat_policy is not custom");
  }
  if (offloaded)
    out.notes.push_back("remat_policy=" + policy +
                        ": what it offloads stays in the device's memory, which a CPU shares with "
                        "the host");
}

/// What MaxText makes of an empty command line.
const Dict& usual_values() {
  static const Dict out = [] {
    const Surroundings nothing = {[](const std::string&) -> const char* { return nullptr; }, 1};
    return resolve({"run_name=usual", "base_output_directory=usual"}, nothing).values;
  }();
  return out;
}

/// "embed: fsdp, tensor"
std::string rule_text(const Value& rule) {
  const List* parts = rule.list();
  if (parts == nullptr || parts->size() != 2)
    throw ConfigError(
        fmt::format("logical_axis_rules: {} is no rule: a rule is [DIMENSION, AXES]", repr(rule)));
  std::vector<std::string> axes;
  if (const List* several = parts->back().list())
    for (const Value& axis : *several) axes.push_back(str(axis));
  else if (!parts->back().is_none())
    axes.push_back(str(parts->back()));
  return fmt::format("{}: {}", str(parts->front()), fmt::join(axes, ", "));
}

/// What stages go through.
void add_stages(const Keys& k, Translation& out) {
  require(!k.on("pipeline_delay_activation_forwarding"), "pipeline_delay_activation_forwarding", k,
          "what a stage gives is handed on at once");
  for (const char* key : {"num_layers_per_pipeline_stage", "num_pipeline_repeats",
                          "num_pipeline_microbatches", "pipeline_parallel_layers"})
    out.keys.push_back(fmt::format("{}={}", key, k.whole(key)));
}

/// Sizes of the mesh for the devices at hand, or those of compile_topology; rules where they are
/// not MaxText's usual ones.
void add_mesh(const Resolved& resolved, const Keys& k, Translation& out) {
  const std::int64_t devices = k.whole("num_target_devices");
  const std::int64_t slices = std::max<std::int64_t>(
      k.text("compile_topology").empty() ? 1 : k.whole("compile_topology_num_slices"), 1);
  Config sizes;
  for (const ParallelAxis& a : parallel_axes()) {
    sizes.*a.ici = k.whole(fmt::format("ici_{}_parallelism", a.key));
    sizes.*a.dcn = k.whole(fmt::format("dcn_{}_parallelism", a.key));
  }
  sizes = with_devices(std::move(sizes), devices, slices);
  for (const ParallelAxis& a : parallel_axes()) {
    if (sizes.*a.ici != 1)
      out.keys.push_back(fmt::format("ici_{}_parallelism={}", a.key, sizes.*a.ici));
    if (sizes.*a.dcn != 1)
      out.keys.push_back(fmt::format("dcn_{}_parallelism={}", a.key, sizes.*a.dcn));
  }
  if (sizes.ici_pipeline_parallelism * sizes.dcn_pipeline_parallelism > 1) add_stages(k, out);
  const Value& rules = resolved.values.at("logical_axis_rules");
  if (rules == usual_values().at("logical_axis_rules") || rules.list() == nullptr) return;
  std::vector<std::string> texts;
  for (const Value& rule : *rules.list()) texts.push_back(rule_text(rule));
  out.keys.push_back(fmt::format("logical_axis_rules={}", fmt::join(texts, ";")));
}

/// Refuses what is not built, and says what has no effect.
void sort_keys(const Resolved& resolved, const Keys& k, Translation& out) {
  std::vector<std::string> refused;
  for (const std::string& key : key_names()) {
    const KeyEffect effect = effect_of(key);
    const Value& value = k[key];
    if (effect.effect == Effect::acting || effect.effect == Effect::derived) continue;
    if (value == usual_values().at(key)) continue;
    if (effect.effect == Effect::refused)
      refused.push_back(shown(key, value) + " is not supported yet");
    else if (resolved.given.contains(key) && key != "hf_access_token")
      out.notes.push_back(fmt::format("{} accepted, no effect here, because {}", shown(key, value),
                                      effect.sentence));
  }
  if (!refused.empty()) throw ConfigError(fmt::format("{}", fmt::join(refused, "; ")));
}

std::vector<std::string_view> names_of_keys() {
  std::vector<std::string_view> out;
  for (const auto& [name, unused] : upstream()["keys"].items()) out.push_back(name);
  return out;
}

std::string type_text(const Json& type) {
  if (type.is_string()) return type.get<std::string>();
  const std::string kind = type[0].get<std::string>();
  std::vector<std::string> parts;
  if (kind == "enum") {
    for (const Json& row : upstream()["enums"].at(type[1].get<std::string>()))
      parts.push_back(repr(from_json(row[0])));
    return fmt::format("one of {}", fmt::join(parts, ", "));
  }
  if (kind == "model") return "a table";
  if (kind == "bound") return type_text(type[1]);
  for (std::size_t i = 1; i < type.size(); ++i)
    parts.push_back(kind == "literal" ? repr(from_json(type[i])) : type_text(type[i]));
  if (kind == "list") return "list of " + parts.front();
  return fmt::format("{}{}", kind == "literal" ? "one of " : "",
                     fmt::join(parts, kind == "literal" ? ", " : " or "));
}

/// Queries of a run of MaxText's stay as they are: where they hold the factor of scores, there is
/// none beside them.
std::string imported_config(const Resolved& resolved) {
  Json config = Json::parse(model_config(resolved));
  for (const char* type : {"llama", "mistral", "mixtral", "gemma", "gemma2"})
    if (config["model_type"] == type) config["query_pre_attn_scalar"] = 1;
  return config.dump();
}

}  // namespace

Translation translate(const Resolved& resolved, bool train) {
  const Keys k(resolved);
  Translation out;
  sort_keys(resolved, k, out);
  note_remat(resolved, k, out);
  require_built(k);
  const bool imported = train && !imported_path(resolved).empty();
  if (train && !imported && k.on("load_parameters_path"))
    out.keys = {"init=" + k.text("load_parameters_path")};
  else
    out.keys = {"decoder_block=published",
                "config=" + (imported ? imported_config(resolved) : model_config(resolved))};
  for (const std::string& key : {"dtype=" + k.text("dtype"), "remat_policy=" + remat_policy(k),
                                 std::string("log_period=1"), std::string("log_goodput=true")})
    out.keys.push_back(key);
  for (const std::string_view key : kSame)
    if (const std::string name(key); !k[name].is_none())
      out.keys.push_back(key_value(name, k[name]));
  if (k.on("enable_emergency_checkpoint") || k.on("enable_multi_tier_checkpointing"))
    for (const std::string_view key : kSameOfTiers)
      if (const std::string name(key); !k[name].is_none())
        out.keys.push_back(key_value(name, k[name]));
  if (has_experts(resolved))
    for (const std::string_view key : kSameOfExperts)
      out.keys.push_back(key_value(std::string(key), k[std::string(key)]));
  for (std::string& key : optimizer_keys(resolved)) out.keys.push_back(std::move(key));
  if (const std::string rows = stored_as(resolved, imported); !rows.empty())
    out.keys.push_back("optimizer.stored_as=" + rows);
  if (const double each = k.real("per_device_batch_size"); each == std::floor(each))
    out.keys.push_back(fmt::format("per_device_batch_size={}", each));
  else
    out.keys.push_back(fmt::format("micro_batch_size={}", k.whole("micro_batch_size_to_train_on")));
  add_mesh(resolved, k, out);
  const Value& kept = k["max_num_checkpoints_to_keep"];
  out.keys.push_back(key_value("max_num_checkpoints_to_keep", kept.is_none() ? Value(0) : kept));
  if (train) add_data(resolved, out);
  return out;
}

std::vector<std::string> config_lines(const Resolved& resolved) {
  std::vector<std::string> out;
  for (const auto& [key, value] : resolved.values)
    if (key != "hf_access_token")
      out.push_back(fmt::format("Config param {}: {}", key, str(value)));
  return out;
}

std::string explain(const std::string& key, const Resolved& resolved) {
  const Json& keys = upstream()["keys"];
  if (!keys.contains(key))
    throw ConfigError(
        fmt::format("MaxText has no key '{}'{}", key, did_you_mean(key, names_of_keys())));
  const KeyEffect effect = effect_of(key);
  const Value& value = resolved.values.at(key);
  const bool secret = key == "hf_access_token" && truth(value);
  std::string out = fmt::format("{}: {}\n", key, type_text(keys[key][0]));
  if (keys[key].size() > 2) out += fmt::format("range: {}\n", keys[key][2].dump());
  out += fmt::format("default: {}\n", repr(default_of(key)));
  out += fmt::format("value: {} ({})\n", secret ? "set" : repr(value), resolved.sources.at(key));
  return out + fmt::format("effect: {}: {}\n", to_string(effect.effect), effect.sentence);
}

std::string first_of_maxtext(const std::vector<std::string>& arguments) {
  const auto ours = fields();
  for (const std::string& argument : arguments) {
    const std::string key = argument.substr(0, argument.find('='));
    const bool known =
        std::any_of(ours.begin(), ours.end(), [&](const Field& f) { return f.name == key; });
    if (argument.find('=') != std::string::npos && !known && upstream()["keys"].contains(key))
      return argument;
  }
  return "";
}

bool is_maxtext(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return false;
  const std::string& first = arguments.front();
  if (first.ends_with(".yml")) {
    if (const auto text = read_file(first)) {
      try {
        const Value file = read_yaml(*text);
        if (file.dict() && file.dict()->contains("base_config")) return true;
      } catch (const Refused&) {
        return false;
      }
    } else {
      // In MaxText's own folders what is missing is MaxText's too; others have a folder of configs.
      for (const std::string_view prefix :
           {"src/maxtext/configs/", "src/MaxText/configs/", "MaxText/configs/"})
        if (first.starts_with(prefix)) return true;
      constexpr std::string_view kConfigs = "configs/";
      if (first.starts_with(kConfigs) &&
          upstream()["files"].contains(first.substr(kConfigs.size())))
        return true;
    }
  }
  return !first_of_maxtext(arguments).empty();
}

}  // namespace strata::train::maxtext
