// adapter_config.json, read.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "strata/base/error.h"
#include "strata/model/lora/peft.h"
#include "strata/model/published/config.h"

namespace strata::model::lora {

namespace {

using nlohmann::json;

constexpr const char* kSelf = "adapter_config.json";

/// Keys that say nothing about what the tensors of a saved adapter mean. `fan_in_fan_out`: how the
/// base's matrix is stored, which its family says.
const std::set<std::string, std::less<>> kWithoutMeaning = {"auto_mapping",
                                                            "base_model_name_or_path",
                                                            "ensure_weight_tying",
                                                            "exclude_modules",
                                                            "fan_in_fan_out",
                                                            "inference_mode",
                                                            "layers_pattern",
                                                            "layers_to_transform",
                                                            "loftq_config",
                                                            "lora_dropout",
                                                            "megatron_core",
                                                            "peft_version",
                                                            "qalora_group_size",
                                                            "revision",
                                                            "runtime_config",
                                                            "target_modules",
                                                            "task_type"};
const std::set<std::string, std::less<>> kRead = {"alpha_pattern", "bias",      "init_lora_weights",
                                                  "lora_alpha",    "peft_type", "r",
                                                  "rank_pattern",  "use_rslora"};

bool is_nothing(const json& v) {
  return v.is_null() || (v.is_boolean() && !v.get<bool>()) || (v.is_structured() && v.empty());
}

[[noreturn]] void refuse(const std::string& key, const json& value) {
  throw Error(kSelf, "{}={} is not supported", key,
              value.is_structured() ? "(a list or table)" : value.dump(-1, ' ', true).substr(0, 80))
      .unsupported();
}

/// Initial values that are made by changing the base are useless beside the base as it was.
void check_init(const json& value) {
  if (value.is_boolean() || value.is_null()) return;
  if (value.is_string())
    for (const char* known : {"gaussian", "orthogonal", "eva", "default"})
      if (value.get<std::string>() == known) return;
  refuse("init_lora_weights", value);
}

double finite(const json& value, const std::string& key) {
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() == 0)
    throw Error(kSelf, "{}: allowed are finite numbers but 0", key);
  return value.get<double>();
}
std::int64_t rank(const json& value, const std::string& key) {
  constexpr std::int64_t kMost = 1 << 16;
  if (!value.is_number_integer() || value.get<double>() < 1 || value.get<double>() > kMost)
    throw Error(kSelf, "{}: allowed is an integer from 1 to {}", key, kMost);
  return value.get<std::int64_t>();
}

/// The ends of names in a pattern, the letters of which stand for themselves.
void check_pattern(const std::string& key, const std::string& name) {
  if (name.find_first_of("*+?[](){}|^$\\") != std::string::npos)
    throw Error(kSelf, "{} has the regular expression '{}'; supported are ends of names", key,
                name.substr(0, 80))
        .unsupported();
}

template <class T, class Read>
std::vector<std::pair<std::string, T>> patterns(const nlohmann::ordered_json& all, const char* key,
                                                Read read) {
  std::vector<std::pair<std::string, T>> out;
  if (!all.contains(key) || all[key].is_null()) return out;
  if (!all[key].is_object()) throw Error(kSelf, "{} is no table", key);
  // In the order of the file, where the first that fits holds.
  for (const auto& [name, value] : all[key].items()) {
    check_pattern(key, name);
    out.emplace_back(name, read(value, key));
  }
  return out;
}

template <class T>
T of_pattern(const std::vector<std::pair<std::string, T>>& patterns, std::string_view module,
             T otherwise) {
  for (const auto& [end, value] : patterns)
    if (ends_in(module, end)) return value;
  return otherwise;
}

}  // namespace

PeftConfig PeftConfig::parse(std::string_view text) {
  (void)published::Config::parse(text);  // bounds, and no key twice
  const auto ordered = nlohmann::ordered_json::parse(text);
  const json all = json::parse(text);
  if (all.value("peft_type", json()) != "LORA")
    throw Error(kSelf, "peft_type={}: supported is LORA",
                all.contains("peft_type") && all["peft_type"].is_string()
                    ? all["peft_type"].get<std::string>().substr(0, 80)
                    : "none")
        .unsupported();
  for (const auto& [key, value] : all.items()) {
    if (kWithoutMeaning.contains(key) || kRead.contains(key) || is_nothing(value)) continue;
    refuse(key, value);
  }
  if (all.contains("bias") && all["bias"] != "none" && !all["bias"].is_null())
    refuse("bias", all["bias"]);
  if (all.contains("init_lora_weights")) check_init(all["init_lora_weights"]);
  PeftConfig out;
  if (all.contains("r")) out.rank_ = rank(all["r"], "r");
  if (all.contains("lora_alpha")) out.alpha_ = finite(all["lora_alpha"], "lora_alpha");
  if (all.contains("use_rslora") && !all["use_rslora"].is_null()) {
    if (!all["use_rslora"].is_boolean())
      throw Error(kSelf, "{}", "use_rslora: allowed is true or false");
    out.rslora_ = all["use_rslora"].get<bool>();
  }
  out.ranks_ = patterns<std::int64_t>(ordered, "rank_pattern", rank);
  out.alphas_ = patterns<double>(ordered, "alpha_pattern", finite);
  return out;
}

decoder::AdapterOptions PeftConfig::of(std::string_view published) const {
  return {.rank = of_pattern(ranks_, published, rank_),
          .alpha = of_pattern(alphas_, published, alpha_),
          .rslora = rslora_};
}

}  // namespace strata::model::lora
