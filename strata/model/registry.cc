#include "strata/model/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "strata/base/error.h"
#include "strata/base/text.h"

namespace strata::model {

namespace {

std::string meant(std::string_view word, const std::vector<std::string_view>& names) {
  const std::string near = did_you_mean(word, names);
  return near.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : near;
}

const Key& key_of(const Family& f, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Key& k : f.keys) {
    if (k.name == name) return k;
    names.push_back(k.name);
  }
  throw Error("model", "{} has no key {}{}", f.name, name, meant(name, names));
}

std::string_view value_of(const Key& key, const Settings& settings) {
  const auto it = settings.find(key.name);
  return it == settings.end() ? key.value : std::string_view(it->second);
}

double number_of(const Key& key, const Settings& settings) {
  const std::string_view text = value_of(key, settings);
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool whole = key.type != Key::Type::integer || out == std::floor(out);
  if (error != std::errc() || end != text.data() + text.size() || !whole || out < key.least ||
      out > key.most)
    throw Error("model", "{}={}: allowed is {} from {:g} to {:g}", key.name, text,
                key.type == Key::Type::integer ? "an integer" : "a number", key.least, key.most);
  return out;
}

}  // namespace

const Family& family(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Family& f : families()) {
    if (f.name == name) return f;
    names.push_back(f.name);
  }
  throw Error("model", "there is no family {}{}", name, meant(name, names));
}

ModelPtr make(std::string_view name, const Settings& settings) {
  const Family& f = family(name);
  for (const auto& [key, value] : settings) {
    const Key& k = key_of(f, key);
    if (k.type != Key::Type::text) {
      (void)number_of(k, settings);
    } else if (!k.choices.empty() &&
               std::find(k.choices.begin(), k.choices.end(), value) == k.choices.end()) {
      throw Error("model", "{}={}: allowed is {}", key, value, fmt::join(k.choices, " or "));
    }
  }
  return f.make(settings);
}

std::int64_t integer(const Family& f, const Settings& settings, std::string_view key) {
  return static_cast<std::int64_t>(number_of(key_of(f, key), settings));
}
double number(const Family& f, const Settings& settings, std::string_view key) {
  return number_of(key_of(f, key), settings);
}
std::string text(const Family& f, const Settings& settings, std::string_view key) {
  return std::string(value_of(key_of(f, key), settings));
}

}  // namespace strata::model
