// Values (value.h) as Python prints them, and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "strata/tokenizer/chat_template/python_text.h"
#include "strata/tokenizer/chat_template/value.h"

namespace strata::tokenizer::jinja {

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
