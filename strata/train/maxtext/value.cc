#include "strata/train/maxtext/value.h"

#include <fmt/format.h>

#include <cmath>

#include "strata/base/error.h"

namespace strata::train::maxtext {
namespace {

std::string text_of(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d > 0 ? "inf" : "-inf";
  std::string out = fmt::format("{}", d);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string quoted(const std::string& text) {
  const char mark =
      text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, mark);
  for (char c : text) {
    if (c == mark || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + mark;
}

}  // namespace

List* Value::list() const {
  const auto* p = as<std::shared_ptr<List>>();
  return p ? p->get() : nullptr;
}
Dict* Value::dict() const {
  const auto* p = as<std::shared_ptr<Dict>>();
  return p ? p->get() : nullptr;
}

Value from_json(const nlohmann::ordered_json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    List out;
    for (const auto& e : json) out.push_back(from_json(e));
    return out;
  }
  if (json.is_object()) {
    Dict out;
    for (const auto& [key, e] : json.items()) out.insert_or_assign(key, from_json(e));
    return out;
  }
  return {};
}

nlohmann::ordered_json to_json(const Value& value) {
  if (const auto* b = value.as<bool>()) return *b;
  if (const auto* n = value.as<std::int64_t>()) return *n;
  if (const auto* d = value.as<double>()) return *d;
  if (const auto* t = value.text()) return *t;
  if (const List* list = value.list()) {
    auto out = nlohmann::ordered_json::array();
    for (const Value& e : *list) out.push_back(to_json(e));
    return out;
  }
  if (const Dict* dict = value.dict()) {
    auto out = nlohmann::ordered_json::object();
    for (const auto& [key, e] : *dict) out[key] = to_json(e);
    return out;
  }
  return nullptr;
}

Value deep_copy(const Value& value) {
  if (const List* list = value.list()) {
    List out;
    for (const Value& e : *list) out.push_back(deep_copy(e));
    return out;
  }
  if (const Dict* dict = value.dict()) {
    Dict out;
    for (const auto& [key, e] : *dict) out.emplace(key, deep_copy(e));
    return out;
  }
  return value;
}

bool truth(const Value& value) {
  if (value.is_none()) return false;
  if (const auto* b = value.as<bool>()) return *b;
  if (const auto* n = value.as<std::int64_t>()) return *n != 0;
  if (const auto* d = value.as<double>()) return *d != 0;
  if (const auto* t = value.text()) return !t->empty();
  if (const List* list = value.list()) return !list->empty();
  return !value.dict()->empty();
}

bool is_integer(const Value& value) { return value.as<bool>() || value.as<std::int64_t>(); }

std::int64_t integer(const Value& value) {
  if (const auto* b = value.as<bool>()) return *b;
  if (const auto* n = value.as<std::int64_t>()) return *n;
  throw Error("", fmt::format("{} is no integer", repr(value)));
}

double number(const Value& value) {
  if (const auto* d = value.as<double>()) return *d;
  if (is_integer(value)) return static_cast<double>(integer(value));
  throw Error("", fmt::format("{} is no number", repr(value)));
}

bool operator==(const Value& a, const Value& b) {
  const auto numeric = [](const Value& v) { return is_integer(v) || v.as<double>(); };
  if (numeric(a) && numeric(b)) return number(a) == number(b);
  if (a.held.index() != b.held.index()) return false;
  if (const auto* t = a.text()) return *t == *b.text();
  if (const List* list = a.list()) return *list == *b.list();
  if (const Dict* dict = a.dict()) return *dict == *b.dict();
  return true;
}

std::string repr(const Value& value) {
  if (value.is_none()) return "None";
  if (const auto* b = value.as<bool>()) return *b ? "True" : "False";
  if (const auto* n = value.as<std::int64_t>()) return fmt::format("{}", *n);
  if (const auto* d = value.as<double>()) return text_of(*d);
  if (const auto* t = value.text()) return quoted(*t);
  std::string out;
  if (const List* list = value.list()) {
    for (const Value& e : *list) out += (out.empty() ? "" : ", ") + repr(e);
    if (value.is_tuple) return "(" + out + (list->size() == 1 ? ",)" : ")");
    return "[" + out + "]";
  }
  for (const auto& [key, e] : *value.dict())
    out += (out.empty() ? "" : ", ") + quoted(key) + ": " + repr(e);
  return "{" + out + "}";
}

std::string str(const Value& value) { return value.text() ? *value.text() : repr(value); }

std::string_view type_name(const Value& value) {
  constexpr std::string_view kNames[] = {"NoneType", "bool", "int", "float", "str", "list", "dict"};
  return kNames[value.held.index()];
}

}  // namespace strata::train::maxtext
