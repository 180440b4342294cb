#include "strata/model/published/config.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "strata/base/error.h"

namespace strata::model::published {

using nlohmann::json;

struct Config::Object {
  json value;
};

namespace {

constexpr std::size_t kMostBytes = 4u << 20;
constexpr int kMostDepth = 64;

const json* find(const json& object, std::string_view key) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

[[noreturn]] void refuse(std::string_view key, const json* value, const char* allowed) {
  if (!value) throw Error("config.json", "{} is missing", key);
  throw Error("config.json", "{}={}: allowed is {}", key, value->dump(-1, ' ', true).substr(0, 200),
              allowed);
}

std::int64_t as_integer(std::string_view key, const json* value) {
  // Up to here floating-point numbers are exact, and sums and small multiples do not overflow.
  constexpr double kMost = 9007199254740992.0;
  if (!value || !value->is_number()) refuse(key, value, "an integer");
  const double real = value->get<double>();
  if (real != std::floor(real) || std::abs(real) > kMost)
    refuse(key, value, "an integer of at most 53 bits");
  return static_cast<std::int64_t>(real);
}

double as_number(std::string_view key, const json* value) {
  if (!value || !value->is_number()) refuse(key, value, "a number");
  return value->get<double>();
}

bool as_flag(std::string_view key, const json* value) {
  if (!value || !value->is_boolean()) refuse(key, value, "true or false");
  return value->get<bool>();
}

std::string as_text(std::string_view key, const json* value) {
  if (!value || !value->is_string()) refuse(key, value, "a text");
  return value->get<std::string>();
}

template <class T>
std::vector<T> list(std::string_view key, const json* value,
                    T (*element)(std::string_view, const json*)) {
  std::vector<T> out;
  if (!value) return out;
  if (!value->is_array()) refuse(key, value, "a list");
  for (const json& each : *value) out.push_back(element(key, &each));
  return out;
}

}  // namespace

Config Config::parse(std::string_view text) {
  if (text.size() > kMostBytes)
    throw Error("config.json", "{} bytes; allowed are {}", text.size(), kMostBytes);
  bool too_deep = false;
  std::string twice;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const json::parser_callback_t watch = [&](int level, json::parse_event_t event, json& value) {
    if (level > kMostDepth) too_deep = true;
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second &&
        twice.empty())
      twice = value.get<std::string>();
    return !too_deep;
  };
  json parsed = json::parse(text.begin(), text.end(), watch, false);
  if (too_deep) throw Error("config.json", "nested deeper than {}", kMostDepth);
  if (!twice.empty()) throw Error("config.json", "{} stands there twice", twice);
  if (parsed.is_discarded() || !parsed.is_object())
    throw Error("config.json", "{}", "the text is no JSON object");
  return Config(std::make_shared<const Object>(Object{std::move(parsed)}));
}

bool Config::has(std::string_view key) const { return find(object_->value, key) != nullptr; }
bool Config::names(std::string_view key) const { return object_->value.contains(key); }
double Config::cap(std::string_view key, double fallback) const {
  const double value = number(key, names(key) ? 0 : fallback);
  if (value < 0 || !std::isfinite(value))
    refuse(key, find(object_->value, key), "0 or a number above");
  return value;
}
std::int64_t Config::integer(std::string_view key) const {
  return as_integer(key, find(object_->value, key));
}
std::int64_t Config::integer(std::string_view key, std::int64_t fallback) const {
  return has(key) ? integer(key) : fallback;
}
double Config::number(std::string_view key) const {
  return as_number(key, find(object_->value, key));
}
double Config::number(std::string_view key, double fallback) const {
  return has(key) ? number(key) : fallback;
}
bool Config::flag(std::string_view key, bool fallback) const {
  return has(key) ? as_flag(key, find(object_->value, key)) : fallback;
}
std::string Config::text(std::string_view key) const {
  return as_text(key, find(object_->value, key));
}
std::string Config::text(std::string_view key, std::string_view fallback) const {
  return has(key) ? text(key) : std::string(fallback);
}
std::vector<double> Config::numbers(std::string_view key) const {
  return list<double>(key, find(object_->value, key), &as_number);
}
std::vector<std::int64_t> Config::integers(std::string_view key) const {
  return list<std::int64_t>(key, find(object_->value, key), &as_integer);
}
std::vector<std::string> Config::texts(std::string_view key) const {
  return list<std::string>(key, find(object_->value, key), &as_text);
}
std::vector<bool> Config::flags(std::string_view key) const {
  return list<bool>(key, find(object_->value, key), &as_flag);
}
bool Config::has_object(std::string_view key) const {
  const json* value = find(object_->value, key);
  return value && value->is_object();
}
std::optional<Config> Config::child(std::string_view key) const {
  const json* value = find(object_->value, key);
  if (!value) return {};
  if (!value->is_object()) refuse(key, value, "an object");
  return Config(std::make_shared<const Object>(Object{*value}));
}
std::string Config::as_json(std::string_view key) const {
  const json* value = find(object_->value, key);
  return value ? value->dump(-1, ' ', true) : "null";
}

}  // namespace strata::model::published
