#include "strata/tokenizer/chat_template/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace strata::tokenizer::jinja {

Text Text::of_input(std::string b) {
  Text t(std::move(b));
  t.marks.assign(t.bytes.size(), '1');
  return t;
}
bool Text::all_marked() const { return has_marks() && marks.find('0') == std::string::npos; }
void Text::append(const Text& other) {
  if (has_marks() || other.has_marks()) {
    marks.resize(bytes.size(), '0');
    marks += other.has_marks() ? other.marks : std::string(other.size(), '0');
  }
  bytes += other.bytes;
}
void Text::append(std::string_view other, bool input) {
  if (has_marks() || input) {
    marks.resize(bytes.size(), '0');
    marks.append(other.size(), input ? '1' : '0');
  }
  bytes += other;
}
Text Text::substr(std::size_t begin, std::size_t count) const {
  Text t(bytes.substr(begin, count));
  if (has_marks()) t.marks = marks.substr(begin, count);
  t.is_markup = is_markup;
  return t;
}

Value::Value(Dict d) : data_(std::make_shared<const Dict>(std::move(d))) {}
Value::Value(Callable c) : data_(std::make_shared<const Callable>(std::move(c))) {}

Value Value::from_json(const nlohmann::ordered_json& json, bool input) {
  using Type = nlohmann::ordered_json::value_t;
  switch (json.type()) {
    case Type::boolean: return json.get<bool>();
    case Type::number_integer:
    case Type::number_unsigned: {
      if (json.is_number_unsigned() && json.get<std::uint64_t>() >> 63 != 0)
        fail(fmt::format("the number {} is beyond 64 bits", json.dump()));
      return json.get<std::int64_t>();
    }
    case Type::number_float: return json.get<double>();
    case Type::string:
      return input ? Text::of_input(json.get<std::string>()) : Text(json.get<std::string>());
    case Type::array: {
      List items;
      for (const auto& x : json) items.push_back(from_json(x, input));
      return items;
    }
    case Type::object: {
      Dict d;
      for (const auto& [key, x] : json.items())
        d.items.emplace_back(input ? Text::of_input(key) : Text(key), from_json(x, input));
      return d;
    }
    default: return None();
  }
}

std::int64_t Value::integer() const {
  return is_bool() ? std::get<bool>(data_) : std::get<std::int64_t>(data_);
}
double Value::number() const {
  return is_float() ? std::get<double>(data_) : static_cast<double>(integer());
}

bool Value::truth() const {
  if (is_undefined() || is_none()) return false;
  if (is_number()) return number() != 0;
  if (is_text()) return !text().empty();
  if (is_sequence()) return sequence().is_generator || !items().empty();
  if (is_dict()) return !dict().items.empty();
  return true;
}

std::string Value::type_name() const {
  if (is_undefined()) return "Undefined";
  if (is_none()) return "NoneType";
  if (is_bool()) return "bool";
  if (is_int()) return "int";
  if (is_float()) return "float";
  if (is_text()) return "str";
  if (is_sequence())
    return sequence().is_generator ? "generator" : sequence().is_tuple ? "tuple" : "list";
  if (is_dict()) return "dict";
  return is_namespace() ? "Namespace" : "function";
}

const Value* Dict::find(const Value& key) const {
  for (const auto& [k, v] : items)
    if (equal(k, key)) return &v;
  return nullptr;
}
const Value* Dict::find(std::string_view key) const {
  for (const auto& [k, v] : items)
    if (k.is_text() && k.text().bytes == key) return &v;
  return nullptr;
}
void Dict::set(const Value& key, Value value) {
  for (auto& [k, v] : items)
    if (equal(k, key)) {
      v = std::move(value);
      return;
    }
  items.emplace_back(key, std::move(value));
}

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_float() || b.is_float()) return a.number() == b.number();
    return a.integer() == b.integer();
  }
  if (a.data().index() != b.data().index()) return false;
  if (a.is_text()) return a.text().bytes == b.text().bytes;
  if (a.is_sequence())
    return a.type_name() == b.type_name() && !a.sequence().is_generator &&
           std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(),
                      equal);
  if (a.is_dict()) {
    if (a.dict().items.size() != b.dict().items.size()) return false;
    return std::all_of(a.dict().items.begin(), a.dict().items.end(), [&](const auto& item) {
      const Value* other = b.dict().find(item.first);
      return other != nullptr && equal(item.second, *other);
    });
  }
  if (a.is_namespace()) return &a.name_space() == &b.name_space();
  if (a.is_callable()) return &a.callable() == &b.callable();
  return true;  // none, undefined
}

bool less(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_float() || b.is_float()) return a.number() < b.number();
    return a.integer() < b.integer();
  }
  if (a.is_text() && b.is_text()) return a.text().bytes < b.text().bytes;  // UTF-8 keeps the order
  if (a.is_sequence() && b.is_sequence() && a.type_name() == b.type_name()) {
    const List &x = a.items(), &y = b.items();
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
      if (!equal(x[i], y[i])) return less(x[i], y[i]);
    return x.size() < y.size();
  }
  if (a.is_undefined() || b.is_undefined())
    fail((a.is_undefined() ? a : b).is_undefined()
             ? std::get<Undefined>((a.is_undefined() ? a : b).data()).name + " is undefined"
             : "");
  fail(fmt::format("'<' not supported between instances of '{}' and '{}'", a.type_name(),
                   b.type_name()));
}

}  // namespace strata::tokenizer::jinja
