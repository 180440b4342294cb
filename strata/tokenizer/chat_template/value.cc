#include "strata/tokenizer/chat_template/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "strata/tokenizer/chat_template/python_text.h"

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

std::string float_text(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  const double size = std::abs(d);
  std::string s;
  if (size != 0 && (size < 1e-4 || size >= 1e16)) {
    s = fmt::format("{:e}", d);
    // The fewest digits: fmt's default form has them, and an exponent as Python's.
    const std::string shortest = fmt::format("{}", d);
    if (shortest.find('e') != std::string::npos) s = shortest;
    return s;
  }
  s = fmt::format("{}", d);
  if (s.find('e') != std::string::npos) s = fmt::format("{:.0f}", d);
  if (s.find('.') == std::string::npos) s += ".0";
  return s;
}

namespace {

Text join(const List& items, const char* open, const char* close, bool lone_comma) {
  Text out(open);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append(Text(", "));
    out.append(repr(items[i]));
  }
  if (lone_comma && items.size() == 1) out.append(Text(","));
  out.append(Text(close));
  return out;
}

}  // namespace

Text repr(const Value& v) {
  if (v.is_text() && v.text().is_markup) {
    Text out("Markup(");
    out.append(python::repr(v.text()));
    out.append(Text(")"));
    return out;
  }
  if (v.is_text()) return python::repr(v.text());
  if (v.is_undefined()) return Text("Undefined");
  return to_text(v);
}

Text to_text(const Value& v) {
  if (v.is_undefined()) return Text();
  if (v.is_none()) return Text("None");
  if (v.is_bool()) return Text(v.truth() ? "True" : "False");
  if (v.is_int()) return Text(std::to_string(v.integer()));
  if (v.is_float()) return Text(float_text(v.number()));
  if (v.is_text()) return v.text();
  if (v.is_sequence() && v.sequence().is_generator) return Text("<generator>");
  if (v.is_sequence())
    return v.sequence().is_tuple ? join(v.items(), "(", ")", true)
                                 : join(v.items(), "[", "]", false);
  if (v.is_namespace()) return Text("<Namespace>");
  if (v.is_callable()) return Text("<function " + v.callable().name + ">");
  Text out("{");
  bool first = true;
  for (const auto& [key, x] : v.dict().items) {
    if (!std::exchange(first, false)) out.append(Text(", "));
    out.append(repr(key));
    out.append(Text(": "));
    out.append(repr(x));
  }
  out.append(Text("}"));
  return out;
}

namespace {

Text json_text(const Text& t, bool ascii) {
  Text out;
  out.append("\"", t.all_marked());
  for (std::size_t i = 0; i < t.size();) {
    const std::size_t length = python::character_length(t.bytes, i);
    const std::string_view c = std::string_view(t.bytes).substr(i, length);
    std::string escaped(c);
    switch (c[0]) {
      case '"': escaped = "\\\""; break;
      case '\\': escaped = "\\\\"; break;
      case '\n': escaped = "\\n"; break;
      case '\r': escaped = "\\r"; break;
      case '\t': escaped = "\\t"; break;
      case '\b': escaped = "\\b"; break;
      case '\f': escaped = "\\f"; break;
      default: {
        const char32_t code = python::code_point(c);
        if (code < 0x20 || (ascii && code >= 0x7f && code < 0x10000))
          escaped = fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
        else if (ascii && code >= 0x10000)
          escaped = fmt::format("\\u{:04x}\\u{:04x}",
                                static_cast<std::uint32_t>(0xd800 + ((code - 0x10000) >> 10)),
                                static_cast<std::uint32_t>(0xdc00 + ((code - 0x10000) & 0x3ff)));
        if (code == 0x7f) escaped = std::string(c);
      }
    }
    out.append(escaped, t.mark(i));
    i += length;
  }
  out.append("\"", t.all_marked());
  return out;
}

void write_json(Text& out, const Value& v, const JsonStyle& style, int depth) {
  if (depth > 64) fail("tojson: nested more than 64 deep");
  const auto new_line = [&](int level) {
    if (!style.lines) return;
    std::string s = "\n";
    for (int i = 0; i < level; ++i) s += style.indent;
    out.append(Text(s));
  };
  const auto each = [&](const auto& items, const char* open, const char* close, auto&& write) {
    if (items.empty()) return out.append(Text(std::string(open) + close));
    out.append(Text(open));
    bool first = true;
    for (const auto& item : items) {
      if (!std::exchange(first, false)) out.append(Text(style.item));
      new_line(depth + 1);
      write(item);
    }
    new_line(depth);
    out.append(Text(close));
  };
  if (v.is_text()) return out.append(json_text(v.text(), style.ascii));
  if (v.is_none()) return out.append(Text("null"));
  if (v.is_bool()) return out.append(Text(v.truth() ? "true" : "false"));
  if (v.is_float() && !std::isfinite(v.number()))
    return out.append(Text(std::isnan(v.number()) ? "NaN"
                           : v.number() < 0       ? "-Infinity"
                                                  : "Infinity"));
  if (v.is_number()) return out.append(to_text(v));
  if (v.is_sequence() && !v.sequence().is_generator)
    return each(v.items(), "[", "]", [&](const Value& x) { write_json(out, x, style, depth + 1); });
  if (!v.is_dict()) fail(fmt::format("Object of type {} is not JSON serializable", v.type_name()));
  auto items = v.dict().items;
  if (style.sort_keys)
    std::stable_sort(items.begin(), items.end(),
                     [](const auto& a, const auto& b) { return less(a.first, b.first); });
  each(items, "{", "}", [&](const std::pair<Value, Value>& item) {
    const Value& key = item.first;
    if (key.is_text())
      out.append(json_text(key.text(), style.ascii));
    else if (key.is_bool() || key.is_none() || key.is_number()) {
      out.append(Text("\""));
      write_json(out, key, style, depth + 1);
      out.append(Text("\""));
    } else {
      fail(fmt::format("keys must be str, int, float, bool or None, not {}", key.type_name()));
    }
    out.append(Text(style.key));
    write_json(out, item.second, style, depth + 1);
  });
}

}  // namespace

Text to_json(const Value& v, const JsonStyle& style) {
  Text out;
  write_json(out, v, style, 0);
  return out;
}

}  // namespace strata::tokenizer::jinja
