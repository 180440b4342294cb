#include "strata/train/config/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/text.h"

namespace strata::train {
namespace {

const optim::Described* rule_called(const std::string& name) {
  for (const optim::Described& d : optim::described_rules())
    if (d.name == name || d.name == "contrib." + name) return &d;
  return nullptr;
}
bool takes_rate(const optim::Described& d) {
  return std::any_of(d.parameters.begin(), d.parameters.end(),
                     [](const optim::Parameter& p) { return p.name == "learning_rate"; });
}
/// Parameters whose texts are names of rules.
bool holds_rules(std::string_view key) {
  for (std::string_view one :
       {"inner", "opt", "optimizer", "adv_optimizer", "base_optimizer", "transforms"})
    if (key == one) return true;
  return false;
}

optim::Option to_option(const Table& value, std::string_view key,
                        const std::optional<optim::Option>& rate) {
  switch (value.type()) {
    case Table::value_t::null: return {};
    case Table::value_t::boolean: return value.get<bool>();
    case Table::value_t::number_integer:
    case Table::value_t::number_unsigned: return value.get<std::int64_t>();
    case Table::value_t::number_float: return value.get<double>();
    case Table::value_t::string:
      if (rate && holds_rules(key)) return to_option({{"name", value}}, key, rate);
      return value.get<std::string>();
    case Table::value_t::array: {
      std::vector<optim::Option> all;
      for (const Table& one : value) {
        // Of named_chain: a name and its rule.
        const bool pair = holds_rules(key) && one.is_array() && one.size() == 2;
        if (pair)
          all.push_back(std::vector<optim::Option>{to_option(one[0], "", rate),
                                                   to_option(one[1], key, rate)});
        else
          all.push_back(to_option(one, key, rate));
      }
      return all;
    }
    default: break;
  }
  optim::Options out;
  // A table of rules by their labels holds rules as a list of them does.
  const std::string_view inside = key == "transforms" && !value.contains("name") ? key : "";
  for (const auto& [name, one] : value.items())
    out[name] = to_option(one, inside.empty() ? std::string_view(name) : inside, rate);
  if (rate && value.contains("name") && value["name"].is_string()) {
    const optim::Described* d = rule_called(value["name"].get<std::string>());
    if (d && takes_rate(*d)) out.emplace("learning_rate", *rate);
  }
  return out;
}

}  // namespace

optim::Options to_options(const Table& table, const std::optional<optim::Option>& rate) {
  optim::Options out;
  for (const auto& [name, value] : table.items()) out[name] = to_option(value, name, rate);
  return out;
}

std::vector<std::string_view> names_of(const optim::Described& d) {
  std::vector<std::string_view> out;
  for (const optim::Parameter& p : d.parameters) out.push_back(p.name);
  return out;
}

void check_options(const std::string& prefix, const std::string& what, const Table& table,
                   const std::vector<std::string_view>& known) {
  for (const auto& [key, value] : table.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw ConfigError(fmt::format(
        "{}.{}={}: {} has no option '{}'{}; allowed is {}", prefix, key, value.dump(), what, key,
        did_you_mean(key, known),
        known.empty() ? std::string("none") : fmt::format("{}", fmt::join(known, ", "))));
  }
}

void check_complete(const std::string& prefix, const std::string& what, const Table& table,
                    const optim::Described& d) {
  std::string missing;
  for (const optim::Parameter& p : d.parameters)
    if (p.default_text.empty() && !table.contains(p.name))
      missing += fmt::format("{}{}.{}", missing.empty() ? "" : ", ", prefix, p.name);
  if (!missing.empty()) throw ConfigError(fmt::format("{}: it needs {}", what, missing));
}

ConfigError refusal_of_option(const Error& error, const std::string& prefix,
                              const std::string& what, const Table& table) {
  const std::string& message = error.message();
  for (const auto& [key, value] : table.items())
    if (message.find(": " + key + " ") != std::string::npos || message.starts_with(key + " ") ||
        message.find(" " + key + " ") != std::string::npos)
      return ConfigError(fmt::format("{}.{}={}: {}", prefix, key, value.dump(), message));
  return ConfigError(fmt::format("{}: {}", what, message));
}

std::string line_of(const optim::Described& d, std::string_view name) {
  std::string options;
  for (const optim::Parameter& p : d.parameters)
    options += fmt::format("{}{}{}", options.empty() ? "" : ", ", p.name,
                           p.default_text.empty() ? "" : "=" + p.default_text);
  return fmt::format("  {}: {}\n      {}\n", name, d.sentence,
                     options.empty() ? "no options" : options);
}

std::string options_not_given(const optim::Described& d, const Table& table) {
  std::string out;
  for (const optim::Parameter& p : d.parameters)
    if (!table.contains(p.name) && p.name != "learning_rate")
      out += fmt::format("  # {}: {}\n", p.name,
                         p.default_text.empty() ? "must be given" : p.default_text);
  return out;
}

}  // namespace strata::train
