#include "strata/ir/text/attr_text.h"

#include <fmt/format.h>

#include <bit>

#include "strata/ir/text/literal_text.h"
#include "strata/ir/text/type_text.h"
#include "strata/type/number.h"

namespace strata::ir {
namespace {

bool is_plain_word(std::string_view s) {
  if (s.empty()) return false;
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (!letter(s[0])) return false;
  for (char c : s)
    if (!letter(c) && !(c >= '0' && c <= '9') && c != '$' && c != '.') return false;
  return true;
}

/// Of one dictionary: each new entry moves those behind it.
constexpr std::size_t kMostEntries = 10'000;

/// Reads one attribute; recursion for lists and dictionaries.
class AttrReader {
 public:
  AttrReader(Cursor& c, const AttrAliases& aliases) : c_(c), aliases_(aliases) {}

  Attr attr() {
    Cursor::Nesting nesting(c_);
    char p = c_.peek();
    if (p == '"') return text();
    if (p == '[') return list();
    if (p == '{') return dictionary();
    if (p == '@') return Opaque{symbol()};
    if (p == '#') return dialect();
    if (p == '(') return function_type();
    if (p == '-' || (p >= '0' && p <= '9')) return number();
    if (looking_at_type(c_)) return type();
    if (c_.consume("true")) return true;
    if (c_.consume("false")) return false;
    if (c_.consume("unit")) return Opaque{"unit"};
    if (c_.consume("array")) return array();
    if (c_.consume("dense")) return dense();
    if (c_.consume("dense_resource")) return resource();
    if (std::optional<DType> d = try_dtype(c_)) return *d;
    return opaque_word();
  }

  Attrs entries() {
    Cursor::Nesting nesting(c_);
    Attrs out;
    if (c_.consume("}")) return out;
    do {
      std::size_t where = c_.offset();
      std::string key =
          c_.peek() == '"' ? c_.string() : std::string(c_.word("the name of an attribute"));
      if (out.has(key)) c_.fail_at(where, fmt::format("attribute '{}' twice", key));
      if (key.compare(0, 7, "strata ") == 0)
        c_.fail_at(where, fmt::format("'{}' is no name of an attribute", key));  // ir/declaration.h
      if (out.size() == kMostEntries)
        c_.fail_at(where, fmt::format("more than {} attributes", kMostEntries), Code::unsupported);
      out.set(key, c_.consume("=") ? attr() : Attr(Opaque{"unit"}));
    } while (c_.consume(","));
    c_.expect("}");
    return out;
  }

 private:
  Attr text() {
    std::string s = c_.string();
    if (c_.consume(":")) return Opaque{quoted(s) + " : " + attr_text(attr())};
    return s;
  }

  Attr list() {
    c_.expect("[");
    std::vector<Attr> elements;
    if (!c_.consume("]")) {
      do elements.push_back(attr());
      while (c_.consume(","));
      c_.expect("]");
    }
    Strings strings;
    std::string out;
    for (const Attr& e : elements) {
      if (const std::string* s = std::get_if<std::string>(&e)) strings.push_back(*s);
      out += (out.empty() ? "" : ", ") + attr_text(e, true);
    }
    if (!elements.empty() && strings.size() == elements.size()) return strings;
    return Opaque{"[" + out + "]"};
  }

  Attr dictionary() {
    c_.expect("{");
    return Opaque{attrs_text(entries())};
  }

  std::string symbol() {
    Cursor::Nesting nesting(c_);
    c_.expect("@");
    std::string out =
        symbol_text(c_.text().substr(c_.offset(), 1) == "\"" ? c_.string()
                                                             : std::string(c_.suffix("a symbol")));
    if (c_.consume("::")) return out + "::" + symbol();
    return out;
  }

  /// #alias, #dialect.name<...>, #dialect<...>
  Attr dialect() {
    c_.expect("#");
    std::string word(c_.suffix("the name of an attribute"));
    if (auto it = aliases_.find(word); it != aliases_.end()) return it->second;
    if (c_.text().substr(c_.offset(), 1) != "<") {
      if (word.find('.') == std::string::npos) c_.fail("attribute alias #{} is not defined", word);
      return Opaque{"#" + word};
    }
    c_.expect("<");
    return Opaque{fmt::format("#{}<{}>", word, c_.balanced('<', '>'))};
  }

  Attr function_type() {
    std::string text = type_list_text(parse_type_list(c_));
    c_.expect("->");
    return Opaque{text + " -> " + result_types_text(parse_result_types(c_))};
  }

  Attr type() {
    Type t = parse_type(c_);
    return t;
  }

  Attr number() {
    std::size_t where = c_.offset();
    std::string_view text = c_.number();
    bool hex = text.find("0x") != std::string_view::npos;
    bool real = !hex && text.find_first_of(".eE") != std::string_view::npos;
    std::string type = real ? "f64" : "i64";
    if (c_.consume(":")) type = std::string(c_.word("the type of a number"));
    std::optional<DType> dtype = parse_dtype(type);
    if (dtype && is_float(*dtype)) {
      std::optional<std::uint64_t> bits = hex ? hexadecimal(text) : parse_float_bits(text, *dtype);
      if (!bits) c_.fail_at(where, "a number that cannot be read");
      if (hex && bit_width(*dtype) < 64 && *bits >> bit_width(*dtype) != 0)
        c_.fail_at(where, fmt::format("more bits than {} has", type));
      if (*dtype == DType::f64) return std::bit_cast<double>(*bits);
      return Opaque{fmt::format("{} : {}", float_text(*bits, *dtype), type)};
    }
    if (real) c_.fail_at(where, fmt::format("a fraction of type {}", type));
    std::int64_t value = 0;
    if (hex) {
      std::optional<std::uint64_t> bits = hexadecimal(text);
      if (!bits) c_.fail_at(where, "a number that cannot be read");
      value = static_cast<std::int64_t>(*bits);
    } else {
      std::size_t after = c_.offset();
      c_.seek(where);
      value = c_.integer();
      c_.seek(after);
    }
    if (type == "i64") return value;
    return Opaque{fmt::format("{} : {}", value, type)};
  }

  static std::optional<std::uint64_t> hexadecimal(std::string_view text) {
    bool negative = text[0] == '-';
    text = text.substr(text.find('x') + 1);
    if (text.empty() || text.size() > 16) return std::nullopt;
    std::uint64_t value = 0;
    for (char h : text)
      value = value * 16 + static_cast<std::uint64_t>(h <= '9' ? h - '0' : (h | 0x20) - 'a' + 10);
    return negative ? ~value + 1 : value;
  }

  Attr array() {
    c_.expect("<");
    std::string type(c_.word("the element type of an array"));
    Ints ints;
    std::string others;
    if (c_.consume(":")) {
      do {
        if (type == "i64") {
          ints.push_back(c_.integer());
        } else {
          others += others.empty() ? " " : ", ";
          if (c_.looking_at("true") || c_.looking_at("false"))
            others += c_.word("a value");
          else
            others += c_.number();
        }
      } while (c_.consume(","));
    }
    c_.expect(">");
    if (type == "i64") return ints;
    return Opaque{fmt::format("array<{}{}{}>", type, others.empty() ? "" : ":", others)};
  }

  /// A constant; of an index type or a vector, for which there is no type here, its text.
  Attr dense() {
    std::string_view body = dense_body(c_);
    auto start = static_cast<std::size_t>(body.data() - c_.text().data());
    c_.expect(":");
    std::size_t type_at = c_.offset();
    bool is_vector = c_.looking_at("vector");
    if (is_vector || c_.looking_at("tensor")) {
      c_.word("a type");
      c_.expect("<");
      std::string_view type = c_.balanced('<', '>');
      bool is_index = type.size() >= 5 && type.substr(type.size() - 5) == "index";
      if (is_vector || is_index)
        return Opaque{
            fmt::format("dense<{}> : {}<{}>", body, is_vector ? "vector" : "tensor", type)};
    }
    c_.seek(type_at);
    return parse_elements(body, start, c_, constant_type(c_, parse_type(c_), type_at));
  }

  /// dense_resource<name> : tensor<...>: the bytes of that name at the end of the text, after four
  /// that say their alignment.
  Attr resource() {
    c_.expect("<");
    std::size_t name_at = c_.offset();
    std::string name =
        c_.peek() == '"' ? c_.string() : std::string(c_.suffix("the name of a resource"));
    c_.expect(">");
    c_.expect(":");
    std::size_t type_at = c_.offset();
    Type type = constant_type(c_, parse_type(c_), type_at);
    std::size_t after = c_.offset();
    std::string_view bytes = resource_bytes(name, name_at);
    constexpr std::size_t alignment_digits = 8;
    if (bytes.size() < alignment_digits + 2 || bytes.substr(0, 2) != "0x")
      c_.fail_at(name_at, fmt::format("resource '{}' is no \"0x...\" with an alignment", name));
    std::string_view elements = bytes.substr(alignment_digits + 2);
    c_.seek(after);
    if (elements.size() != 2 * type.bytes())
      c_.fail_at(name_at, fmt::format("resource '{}' has {} bytes for {}", name,
                                      elements.size() / 2, type.to_string()));
    std::string text = fmt::format("\"0x{}\"", elements);
    return parse_elements(text, name_at, c_, type);
  }

  /// In {-# dialect_resources: { builtin: { name: "0x..." } } #-}. The text between the quotes.
  std::string_view resource_bytes(const std::string& name, std::size_t where) {
    std::size_t start = c_.text().rfind("{-#");
    if (start == std::string_view::npos)
      c_.fail_at(where, fmt::format("resource '{}' is not in the text", name));
    c_.seek(start + 3);
    while (!c_.at_end() && !c_.looking_at("#-}")) {
      if (c_.peek() == '"') {
        std::string_view key = c_.raw_string();
        if (c_.consume(":") && key == name && c_.peek() == '"') return c_.raw_string();
      } else if (std::string_view key = c_.try_word(); !key.empty()) {
        if (c_.consume(":") && key == name && c_.peek() == '"') return c_.raw_string();
      } else {
        c_.seek(c_.offset() + 1);
      }
    }
    c_.fail_at(where, fmt::format("resource '{}' is not in the text", name));
  }

  /// affine_map<...>, index, none: carried as written.
  Attr opaque_word() {
    std::size_t where = c_.offset();
    std::string word(c_.word("an attribute"));
    if (c_.text().substr(c_.offset(), 1) == "<") {
      c_.expect("<");
      std::string text = fmt::format("{}<{}>", word, c_.balanced('<', '>'));
      if (c_.consume(":")) text += " : " + attr_text(attr());
      return Opaque{text};
    }
    if (word != "index" && word != "none")
      c_.fail_at(where, fmt::format("'{}' is no attribute", word));
    return Opaque{word};
  }

  Cursor& c_;
  const AttrAliases& aliases_;
};

struct Writer {
  bool in_list;
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(std::int64_t v) const {
    return fmt::format("{}{}", v, in_list ? "" : " : i64");
  }
  std::string operator()(double v) const {
    return float_text(std::bit_cast<std::uint64_t>(v), DType::f64) + (in_list ? "" : " : f64");
  }
  std::string operator()(const std::string& v) const { return quoted(v); }
  std::string operator()(const Ints& v) const {
    return v.empty() ? "array<i64>" : fmt::format("array<i64: {}>", fmt::join(v, ", "));
  }
  std::string operator()(const Strings& v) const {
    std::string out;
    for (const std::string& s : v) out += (out.empty() ? "" : ", ") + quoted(s);
    return "[" + out + "]";
  }
  std::string operator()(DType v) const { return std::string(name(v)); }
  std::string operator()(const Type& v) const { return v.to_string(); }
  std::string operator()(const Literal& v) const {
    return dense_text(v) + " : " + v.type().to_string();
  }
  std::string operator()(const Opaque& v) const { return v.text; }
};

}  // namespace

Attr parse_attr(Cursor& c, const AttrAliases& aliases) { return AttrReader(c, aliases).attr(); }
Attrs parse_attr_entries(Cursor& c, const AttrAliases& aliases) {
  return AttrReader(c, aliases).entries();
}

std::string attr_text(const Attr& attr, bool in_list) { return std::visit(Writer{in_list}, attr); }

std::string attrs_text(const Attrs& attrs) {
  std::string out;
  for (const auto& [key, value] : attrs) {
    if (!out.empty()) out += ", ";
    out += is_plain_word(key) ? key : quoted(key);
    const Opaque* opaque = std::get_if<Opaque>(&value);
    if (opaque == nullptr || opaque->text != "unit") out += " = " + attr_text(value);
  }
  return "{" + out + "}";
}

std::string quoted(std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (char c : text) {
    auto u = static_cast<unsigned char>(c);
    if (c == '\\') {
      out += "\\\\";
    } else if (u >= 0x20 && u < 0x7f && c != '"') {
      out += c;
    } else {
      out += '\\';
      out += digits[u >> 4];
      out += digits[u & 15];
    }
  }
  return out + '"';
}

std::string symbol_text(std::string_view name) {
  return "@" + (is_plain_word(name) ? std::string(name) : quoted(name));
}

}  // namespace strata::ir
