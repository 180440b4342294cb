#include "strata/train/config/lora_options.h"

#include <fmt/format.h>

#include <cmath>

#include "strata/train/config/options.h"

namespace strata::train {
namespace {

struct Key {
  std::string_view name, usual, doc;
};
constexpr Key kKeys[] = {
    {"rank", "8", "columns of A and rows of B"},
    {"alpha", "8", "an adapter is multiplied by alpha / rank"},
    {"use_rslora", "false", "by alpha / sqrt(rank) instead"},
    {"target_modules", "all-linear",
     "weights that get one: ends of published names (q_proj, mlp.down_proj), regular expressions, "
     "all-linear"},
    {"init", "kaiming_uniform",
     "how A is drawn: kaiming_uniform (PEFT's), he_uniform (Tunix'), gaussian; B is zero"},
};

[[noreturn]] void refuse(std::string_view key, const Table& value, const char* allowed) {
  throw ConfigError(fmt::format("lora.{}={}: allowed is {}", key, value.dump(), allowed));
}

std::int64_t as_rank(const Table& value) {
  constexpr std::int64_t kMost = 1 << 16;
  if (!value.is_number_integer() || value.get<double>() < 1 || value.get<double>() > kMost)
    refuse("rank", value, "an integer from 1 to 65536");
  return value.get<std::int64_t>();
}

double as_alpha(const Table& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() == 0)
    refuse("alpha", value, "a finite number but 0");
  return value.get<double>();
}

/// A name or a list of them.
std::vector<std::string> as_targets(const Table& value) {
  constexpr const char* kAllowed = "a name or a list of names";
  if (value.is_string()) return {value.get<std::string>()};
  if (!value.is_array() || value.empty()) refuse("target_modules", value, kAllowed);
  std::vector<std::string> out;
  for (const Table& one : value) {
    if (!one.is_string()) refuse("target_modules", value, kAllowed);
    out.push_back(one.get<std::string>());
  }
  return out;
}

}  // namespace

std::optional<model::lora::LoraOptions> lora_options(const Table& lora) {
  if (!lora.is_object() || lora.empty()) return {};
  if (lora.contains("dropout") && lora["dropout"] != 0)
    throw ConfigError(fmt::format("lora.dropout={}: adapters have no dropout; leave the key away",
                                  lora["dropout"].dump()));
  std::vector<std::string_view> known = {"dropout"};
  for (const Key& k : kKeys) known.push_back(k.name);
  check_options("lora", "an adapter", lora, known);
  model::lora::LoraOptions out;
  if (lora.contains("rank")) out.rank = as_rank(lora["rank"]);
  if (lora.contains("alpha")) out.alpha = as_alpha(lora["alpha"]);
  if (lora.contains("target_modules")) out.target_modules = as_targets(lora["target_modules"]);
  if (lora.contains("use_rslora")) {
    if (!lora["use_rslora"].is_boolean()) refuse("use_rslora", lora["use_rslora"], "true or false");
    out.use_rslora = lora["use_rslora"].get<bool>();
  }
  if (lora.contains("init")) {
    try {
      out.init = model::lora::init_named(lora["init"].is_string() ? lora["init"].get<std::string>()
                                                                  : lora["init"].dump());
    } catch (const Error&) {
      refuse("init", lora["init"], "kaiming_uniform or he_uniform or gaussian");
    }
  }
  return out;
}

std::string lora_options_not_given(const Table& lora) {
  if (lora.empty()) return {};
  std::string out;
  for (const Key& k : kKeys)
    if (!lora.contains(k.name)) out += fmt::format("  # {}: {}\n", k.name, k.usual);
  return out;
}

std::string describe_lora() {
  std::string out =
      "below lora, adapters of low rank beside the model of init, which are all that is trained "
      "(any of these keys asks for them):\n";
  for (const Key& k : kKeys) out += fmt::format("  {}={}  {}\n", k.name, k.usual, k.doc);
  return out;
}

}  // namespace strata::train
