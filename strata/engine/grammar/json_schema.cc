#include "strata/engine/grammar/json_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/error.h"
#include "strata/engine/grammar/ebnf.h"
#include "strata/engine/grammar/formats.h"

namespace strata::engine::grammar {
namespace {

using Json = nlohmann::ordered_json;
using Node = Grammar::Node;

constexpr int kDeepest = 64;
constexpr std::int64_t kAny = Grammar::kAny;

/// Keywords that say what values are like, by the types that they speak of.
const std::map<std::string, std::vector<std::string>>& keywords_of() {
  static const std::map<std::string, std::vector<std::string>> out = {
      {"object",
       {"properties", "required", "additionalProperties", "patternProperties", "minProperties",
        "maxProperties"}},
      {"array", {"items", "prefixItems", "additionalItems", "minItems", "maxItems"}},
      {"string", {"minLength", "maxLength", "pattern", "format"}},
      {"number", {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}}};
  return out;
}
/// Keywords that no grammar here can follow.
constexpr const char* kRefused[] = {"not",
                                    "if",
                                    "then",
                                    "else",
                                    "contains",
                                    "minContains",
                                    "maxContains",
                                    "uniqueItems",
                                    "propertyNames",
                                    "dependencies",
                                    "dependentRequired",
                                    "dependentSchemas",
                                    "unevaluatedItems",
                                    "unevaluatedProperties",
                                    "$dynamicRef",
                                    "$recursiveRef",
                                    "contentSchema"};
constexpr const char* kSilent[] = {
    "$schema", "$id",         "$comment",   "title",           "description",
    "default", "examples",    "deprecated", "readOnly",        "writeOnly",
    "$defs",   "definitions", "$anchor",    "contentEncoding", "contentMediaType"};

bool is_silent(const std::string& key) {
  return std::find(std::begin(kSilent), std::end(kSilent), key) != std::end(kSilent);
}

[[noreturn]] void refuse(const std::string& keyword, const std::string& why) {
  throw Error("json_schema", "{} is not supported{}", keyword, why.empty() ? "" : ": " + why);
}
[[noreturn]] void wrong(const std::string& keyword, const std::string& allowed) {
  throw Error("json_schema", "{} must be {}", keyword, allowed);
}

std::string type_of(const Json& v) {
  if (v.is_null()) return "null";
  if (v.is_boolean()) return "boolean";
  if (v.is_number_integer()) return "integer";
  if (v.is_number()) return std::floor(v.get<double>()) == v.get<double>() ? "integer" : "number";
  if (v.is_string()) return "string";
  return v.is_array() ? "array" : "object";
}

bool has_type(const std::set<std::string>& types, const std::string& type) {
  return types.contains(type) || (type == "integer" && types.contains("number"));
}

class Converter {
 public:
  Converter(Grammar& grammar, JsonText& text, const Json& root)
      : g_(grammar), text_(text), root_(root) {}

  Node schema(const Json& s, int depth) {
    if (depth > kDeepest) throw Error("json_schema", "the schema is deeper than {}", kDeepest);
    if (s.is_boolean()) return s.get<bool>() ? text_.value() : g_.choice({});
    if (!s.is_object()) throw Error("json_schema", "a schema must be an object, true or false");
    for (const char* key : kRefused)
      if (s.contains(key) && s[key] != false) refuse(key, "");
    if (const auto ref = s.find("$ref"); ref != s.end()) return reference(s, *ref, depth);
    for (const char* key : {"allOf", "anyOf", "oneOf"})
      if (s.contains(key)) return combined(s, key, depth);
    if (s.contains("const") || s.contains("enum")) return values(s);
    std::vector<Node> ways;
    for (const std::string& type : types_of(s)) ways.push_back(of_type(type, s, depth));
    return g_.choice(std::move(ways));
  }

 private:
  // ---- what a schema says of types --------------------------------------------------------------

  /// Those that it names; else those that its keywords speak of; else all.
  std::set<std::string> types_of(const Json& s) const {
    static const std::set<std::string> all = {"null",   "boolean", "number",
                                              "string", "array",   "object"};
    std::set<std::string> out;
    if (const auto type = s.find("type"); type != s.end()) {
      const Json list = type->is_array() ? *type : Json::array({*type});
      for (const Json& t : list) {
        if (!t.is_string() || (t != "integer" && !all.contains(t.get<std::string>())))
          wrong("type", fmt::format("of {}, integer", fmt::join(all, ", ")));
        out.insert(t.get<std::string>());
      }
      if (out.empty()) wrong("type", "a type or a list of some");
      if (out.contains("number")) out.erase("integer");
      return out;
    }
    for (const auto& [type, keys] : keywords_of())
      for (const std::string& key : keys)
        if (s.contains(key)) out.insert(type);
    return out.empty() ? all : out;
  }

  Node of_type(const std::string& type, const Json& s, int depth) {
    if (type == "null") return text_.null();
    if (type == "boolean") return text_.truth();
    if (type == "integer") return integer(s);
    if (type == "number") return number(s);
    if (type == "string") return string(s);
    return type == "array" ? array(s, depth) : object(s, depth);
  }

  // ---- schemas made of schemas ------------------------------------------------------------------

  const Json& resolve(const Json& ref) const {
    if (!ref.is_string()) wrong("$ref", "a string");
    const std::string at = ref.get<std::string>();
    if (!at.starts_with('#')) refuse("$ref", "only places in the schema itself are");
    std::string path;
    for (std::size_t i = 1; i < at.size(); ++i) {
      const auto hex = [](char c) {
        return c >= '0' && c <= '9'                 ? c - '0'
               : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 87
                                                    : -1;
      };
      if (at[i] == '%' && i + 2 < at.size() && hex(at[i + 1]) >= 0 && hex(at[i + 2]) >= 0) {
        path += static_cast<char>(hex(at[i + 1]) * 16 + hex(at[i + 2]));
        i += 2;
      } else {
        path += at[i];
      }
    }
    if (!path.empty() && path[0] != '/') refuse("$ref", "an anchor's name is");
    try {
      return root_.at(Json::json_pointer(path));
    } catch (const Json::exception&) {
      throw Error("json_schema", "$ref leads nowhere");
    }
  }

  static Json without(const Json& s, const std::string& key) {
    Json out = Json::object();
    for (const auto& [k, v] : s.items())
      if (k != key && !is_silent(k)) out[k] = v;
    return out;
  }

  Node reference(const Json& s, const Json& ref, int depth) {
    const Json& target = resolve(ref);
    const Json rest = without(s, "$ref");
    if (!rest.empty()) return schema(merged(target, rest, depth), depth + 1);
    const auto [it, is_new] = rules_.try_emplace(&target, 0);
    if (is_new) {
      const Grammar::Rule rule = g_.add_rule("$ref " + ref.get<std::string>());
      it->second = rule;
      g_.define(rule, schema(target, depth + 1));
      return g_.rule(rule);
    }
    return g_.rule(it->second);
  }

  Node combined(const Json& s, const std::string& key, int depth) {
    const Json& list = s[key];
    if (!list.is_array() || list.empty()) wrong(key, "a list of schemas");
    const Json rest = without(s, key);
    if (key == "allOf") {
      Json all = rest;
      for (const Json& one : list) all = merged(all, one, depth);
      return schema(all, depth + 1);
    }
    std::vector<Json> parts;
    for (const Json& one : list) parts.push_back(rest.empty() ? one : merged(rest, one, depth));
    if (key == "oneOf")
      for (std::size_t i = 0; i < parts.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (!apart(parts[i], parts[j], depth))
            refuse("oneOf", "its alternatives may fit at once; anyOf is");
    std::vector<Node> ways;
    for (const Json& one : parts) ways.push_back(schema(one, depth + 1));
    return g_.choice(std::move(ways));
  }

  /// A schema without $ref at its top.
  Json followed(const Json& s, int depth) const {
    Json out = s;
    for (; out.is_object() && out.contains("$ref"); ++depth) {
      if (depth > kDeepest) throw Error("json_schema", "$ref leads to itself");
      const Json rest = without(out, "$ref");
      const Json target = resolve(out["$ref"]);
      out = rest.empty() ? target : merged(target, rest, depth + 1);
    }
    return out;
  }

  /// A schema that accepts what both accept.
  Json merged(const Json& first, const Json& second, int depth) const {
    if (depth > kDeepest) throw Error("json_schema", "the schema is deeper than {}", kDeepest);
    const Json a = followed(first, depth), b = followed(second, depth);
    if (a == true) return b;
    if (b == true) return a;
    if (a == false || b == false) return false;
    if (!a.is_object() || !b.is_object())
      throw Error("json_schema", "a schema must be an object, true or false");
    Json out = a;
    refuse_mixed_members(a, b);
    refuse_mixed_members(b, a);
    for (const auto& [key, value] : b.items()) {
      if (is_silent(key)) continue;
      if (!out.contains(key) || out[key] == value) {
        out[key] = value;
        continue;
      }
      Json& mine = out[key];
      if (key == "type") {
        mine = common_types(mine, value);
      } else if (key == "properties" && mine.is_object() && value.is_object()) {
        for (const auto& [name, s] : value.items())
          mine[name] = mine.contains(name) ? Json{{"allOf", Json::array({mine[name], s})}} : s;
      } else if (key == "required" && mine.is_array() && value.is_array()) {
        for (const Json& name : value)
          if (std::find(mine.begin(), mine.end(), name) == mine.end()) mine.push_back(name);
      } else if ((key.starts_with("min") || key == "exclusiveMinimum") && mine.is_number() &&
                 value.is_number()) {
        if (value > mine) mine = value;
      } else if ((key.starts_with("max") || key == "exclusiveMaximum") && mine.is_number() &&
                 value.is_number()) {
        if (value < mine) mine = value;
      } else if (key == "enum" && mine.is_array() && value.is_array()) {
        Json both = Json::array();
        for (const Json& v : mine)
          if (std::find(value.begin(), value.end(), v) != value.end()) both.push_back(v);
        if (both.empty()) return false;
        mine = both;
      } else if (key == "anyOf" || key == "oneOf" || key == "allOf") {
        out["allOf"].push_back(Json{{key, value}});
      } else {
        refuse("allOf", "both of two schemas have " + key);
      }
    }
    return out;
  }

  /// What closes an object speaks of the properties beside it alone.
  static void refuse_mixed_members(const Json& closed, const Json& other) {
    for (const char* key : {"additionalProperties", "patternProperties", "additionalItems"})
      if (closed.contains(key) && closed[key] != true &&
          (other.contains("properties") || other.contains("patternProperties") ||
           other.contains("prefixItems") || other.contains("items")) &&
          other != closed)
        refuse("allOf", std::string("with ") + key + " in one of two schemas");
  }

  static Json common_types(const Json& a, const Json& b) {
    const auto set = [](const Json& t) {
      std::set<std::string> out;
      for (const Json& one : t.is_array() ? t : Json::array({t}))
        if (one.is_string()) out.insert(one.get<std::string>());
      return out;
    };
    Json out = Json::array();
    const std::set<std::string> x = set(a), y = set(b);
    for (const std::string& t : x)
      if (has_type(y, t)) out.push_back(t);
    for (const std::string& t : y)
      if (t == "integer" && x.contains("number") && !x.contains("integer")) out.push_back(t);
    if (out.empty()) throw Error("json_schema", "no type is left that fits");
    return out;
  }

  /// Whether nothing can fit both, so far as that is plain.
  bool apart(const Json& first, const Json& second, int depth) const {
    const Json a = followed(first, depth), b = followed(second, depth);
    if (a == false || b == false) return true;
    if (!a.is_object() || !b.is_object()) return false;
    const auto listed = [](const Json& s) -> std::optional<std::vector<Json>> {
      if (s.contains("const")) return std::vector<Json>{s["const"]};
      if (s.contains("enum") && s["enum"].is_array())
        return std::vector<Json>(s["enum"].begin(), s["enum"].end());
      return std::nullopt;
    };
    const auto x = listed(a), y = listed(b);
    if (x && y)
      return std::none_of(x->begin(), x->end(), [&](const Json& v) {
        return std::find(y->begin(), y->end(), v) != y->end();
      });
    const auto kinds = [&](const Json& s, const std::optional<std::vector<Json>>& all) {
      std::set<std::string> out;
      if (all)
        for (const Json& v : *all) out.insert(type_of(v));
      else if (s.contains("type"))
        out = types_of(s);
      return out;
    };
    const std::set<std::string> p = kinds(a, x), q = kinds(b, y);
    if (!p.empty() && !q.empty() &&
        std::none_of(p.begin(), p.end(), [&](const std::string& t) { return has_type(q, t); }) &&
        std::none_of(q.begin(), q.end(), [&](const std::string& t) { return has_type(p, t); }))
      return true;
    // A property that both must have, with values that differ.
    if (p != std::set<std::string>{"object"} || q != p) return false;
    const Json mine = a.value("properties", Json::object());
    const Json other = b.value("properties", Json::object());
    for (const auto& [name, s] : mine.items())
      if (required(a).contains(name) && required(b).contains(name) && other.contains(name) &&
          apart(s, other[name], depth + 1))
        return true;
    return false;
  }

  // ---- constants --------------------------------------------------------------------------------

  Node values(const Json& s) {
    Json list = s.contains("enum") ? s["enum"] : Json::array({s["const"]});
    if (!list.is_array() || list.empty()) wrong("enum", "a list of values");
    if (s.contains("enum") && s.contains("const")) {
      if (std::find(list.begin(), list.end(), s["const"]) == list.end()) return g_.choice({});
      list = Json::array({s["const"]});
    }
    for (const auto& [type, keys] : keywords_of())
      for (const std::string& key : keys)
        if (s.contains(key)) refuse(key, "beside enum or const");
    std::vector<Node> ways;
    for (const Json& v : list)
      if (!s.contains("type") || has_type(types_of(s), type_of(v)))
        ways.push_back(text_.exactly(v));
    return g_.choice(std::move(ways));
  }

  // ---- numbers ----------------------------------------------------------------------------------

  static std::optional<Json> number_at(const Json& s, const char* key) {
    const auto it = s.find(key);
    if (it == s.end()) return std::nullopt;
    if (!it->is_number()) wrong(key, "a number");
    return *it;
  }

  /// The stricter of two keywords for one end of a range.
  static std::optional<Bound> bound(const Json& s, const char* key, const char* exclusive,
                                    bool is_least) {
    const auto open = number_at(s, key), closed = number_at(s, exclusive);
    if (!open && !closed) return std::nullopt;
    const bool takes_closed = closed && (!open || (is_least ? *closed >= *open : *closed <= *open));
    const Json& v = takes_closed ? *closed : *open;
    std::string text = v.dump();
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    if (text.find_first_of("eE") != text.npos)
      refuse(takes_closed ? exclusive : key, "a number with an exponent");
    return Bound{text, takes_closed};
  }

  Node integer(const Json& s) {
    const auto low = bound(s, "minimum", "exclusiveMinimum", true);
    const auto high = bound(s, "maximum", "exclusiveMaximum", false);
    const auto whole = [](const Bound& b, bool is_least) -> std::int64_t {
      const std::size_t point = b.number.find('.');
      const std::string text = b.number.substr(0, point);
      if (text.size() > 18) refuse("minimum", "a bound of more than 18 digits");
      std::int64_t x = std::stoll(text);  // towards zero
      const bool negative = text.starts_with('-'), cut = point != b.number.npos;
      if (is_least) return x + (cut ? !negative : b.exclusive);
      return x - (cut ? negative : b.exclusive);
    };
    const auto least = low ? std::optional(whole(*low, true)) : std::nullopt;
    const auto most = high ? std::optional(whole(*high, false)) : std::nullopt;
    if (least && most && *least > *most) return g_.choice({});
    const auto step = number_at(s, "multipleOf");
    if (!step || *step == 1) return text_.integer_in(least, most);
    if (!step->is_number_integer() || *step < 1)
      refuse("multipleOf", "what is no whole number above 0");
    const auto by = step->get<std::int64_t>();
    if (!least && !most) {
      if (by > 256) refuse("multipleOf", "more than 256 without minimum and maximum");
      return text_.multiple(by);
    }
    if (!least || !most || (*most - *least) / by > 4096)
      refuse("multipleOf", "with a range that has no ends or more than 4096 multiples");
    std::vector<Node> ways;
    for (std::int64_t x = *least; x <= *most; ++x) {
      if (x % by != 0) continue;
      ways.push_back(g_.text(std::to_string(x)));
      if (x > *most - by) break;
      x += by - 1;
    }
    return g_.choice(std::move(ways));
  }

  Node number(const Json& s) {
    if (number_at(s, "multipleOf")) {
      if (s.contains("type") && s["type"] != "number") refuse("multipleOf", "with several types");
      refuse("multipleOf", "of numbers; with type integer it is");
    }
    return text_.number_in(bound(s, "minimum", "exclusiveMinimum", true),
                           bound(s, "maximum", "exclusiveMaximum", false));
  }

  // ---- strings ----------------------------------------------------------------------------------

  static std::int64_t count(const Json& s, const char* key, std::int64_t usual) {
    const auto it = s.find(key);
    if (it == s.end()) return usual;
    const bool whole = it->is_number_integer() ||
                       (it->is_number() && std::floor(it->get<double>()) == it->get<double>());
    if (!whole || *it < 0) wrong(key, "a whole number that is not negative");
    if (*it > Grammar::kMostRepeats)
      refuse(key, fmt::format("more than {}", Grammar::kMostRepeats));
    return it->get<std::int64_t>();
  }

  Node string(const Json& s) {
    const std::int64_t least = count(s, "minLength", 0), most = count(s, "maxLength", kAny);
    if (most != kAny && least > most) return g_.choice({});
    const bool sized = least > 0 || most != kAny;
    const bool pattern = s.contains("pattern"), format = s.contains("format");
    if (pattern + format + sized > 1)
      refuse(pattern ? "pattern" : "format", "together with lengths or one another");
    if (pattern) {
      if (!s["pattern"].is_string()) wrong("pattern", "a string");
      return text_.matching(s["pattern"].get<std::string>(), false);
    }
    if (format) {
      if (!s["format"].is_string()) wrong("format", "a string");
      const std::string name = s["format"].get<std::string>();
      const char* expression = format_expression(name);
      if (expression == nullptr) refuse("format", name);
      return text_.matching(expression, true);
    }
    return text_.string(least, most);
  }

  // ---- arrays -----------------------------------------------------------------------------------

  Node array(const Json& s, int depth) {
    const std::int64_t least = count(s, "minItems", 0), most = count(s, "maxItems", kAny);
    const Json items = s.value("items", Json(true));
    const bool old = items.is_array();
    const Json first = old ? items : s.value("prefixItems", Json::array());
    if (!first.is_array()) wrong("prefixItems", "a list of schemas");
    const Json rest = old             ? s.value("additionalItems", Json(false))
                      : first.empty() ? items
                                      : s.value("items", Json(false));
    std::vector<Node> before;
    for (const Json& one : first) before.push_back(schema(one, depth + 1));
    const auto named = static_cast<std::int64_t>(before.size());
    const bool open = rest != false && (most == kAny || most > named);
    const std::int64_t end = most == kAny ? kAny : std::max(most, std::int64_t{0});
    if (end != kAny && least > end) return g_.choice({});
    if (!open && least > named) return g_.choice({});
    const Node from = text_.open('['), to = text_.close(']'), next = text_.comma();
    const Node empty = g_.text("[]");
    // From the last part to the first: what may follow so many items.
    Node tail = g_.text("");
    if (open) {
      const Node item = schema(rest, depth + 1);
      const std::int64_t wanted = std::max<std::int64_t>(0, least - named);
      const std::int64_t room = end == kAny ? kAny : end - named;
      if (named == 0) {
        const std::int64_t more = room == kAny ? kAny : room - 1;
        const Node follow =
            g_.repeat(g_.sequence({next, item}), std::max<std::int64_t>(0, wanted - 1), more);
        std::vector<Node> ways = {g_.sequence({from, item, follow, to})};
        if (wanted == 0) ways.push_back(empty);
        return g_.choice(std::move(ways));
      }
      tail = g_.repeat(g_.sequence({next, item}), wanted, room);
    }
    const std::int64_t last = end == kAny ? named : std::min(end, named);
    if (last < named) tail = g_.text("");
    for (std::int64_t i = last; i-- > 0;) {
      const Node one = before[static_cast<std::size_t>(i)];
      const Node here = i == 0 ? g_.sequence({one, tail}) : g_.sequence({next, one, tail});
      tail = i + 1 <= least ? here : g_.optional(here);
      if (i == 0) {
        std::vector<Node> ways = {g_.sequence({from, here, to})};
        if (least == 0) ways.push_back(empty);
        return g_.choice(std::move(ways));
      }
    }
    return empty;
  }

  // ---- objects ----------------------------------------------------------------------------------

  static std::set<std::string> required(const Json& s) {
    std::set<std::string> out;
    const auto it = s.find("required");
    if (it == s.end()) return out;
    if (!it->is_array()) wrong("required", "a list of strings");
    for (const Json& name : *it) {
      if (!name.is_string()) wrong("required", "a list of strings");
      out.insert(name.get<std::string>());
    }
    return out;
  }

  Node object(const Json& s, int depth) {
    const Json properties = s.value("properties", Json::object());
    const Json patterns = s.value("patternProperties", Json::object());
    if (!properties.is_object()) wrong("properties", "an object of schemas");
    if (!patterns.is_object()) wrong("patternProperties", "an object of schemas");
    const bool bare = properties.empty() && patterns.empty();
    const Json more = s.value("additionalProperties", Json(bare));
    const std::set<std::string> must = required(s);
    const std::int64_t least = count(s, "minProperties", 0), most = count(s, "maxProperties", kAny);
    std::vector<std::string> names;
    std::vector<Node> members;
    std::vector<bool> is_must;
    const Node between = text_.colon();
    const auto member = [&](const std::string& name, const Json& of) {
      const Node key = g_.text(Json(name).dump()), value = schema(of, depth + 1);
      names.push_back(name);
      members.push_back(g_.sequence({key, between, value}));
      is_must.push_back(must.contains(name));
    };
    for (const auto& [name, of] : properties.items())
      if (of != false || must.contains(name)) member(name, of);
    // Properties that must be there and are not described are as others are.
    for (const std::string& name : must)
      if (!properties.contains(name)) {
        if (!patterns.empty()) refuse("patternProperties", "with other required properties");
        member(name, more);
      }
    std::vector<std::string> taken = names;
    for (const auto& [name, of] : properties.items())
      if (of == false) taken.push_back(name);
    std::optional<Node> others;
    if (!patterns.empty()) {
      if (patterns.size() > 1 || !properties.empty() ||
          (s.contains("additionalProperties") && more != false))
        refuse("patternProperties", "beside other patterns or properties");
      const Node key = text_.matching(patterns.begin().key(), false);
      const Node value = schema(patterns.begin().value(), depth + 1);
      others = g_.sequence({key, between, value});
    } else if (more != false) {
      const Node key = taken.empty() ? text_.string() : text_.other_than(taken);
      const Node value = schema(more, depth + 1);
      others = g_.sequence({key, between, value});
    }
    const auto sure = std::count(is_must.begin(), is_must.end(), true);
    // A name may come twice among others, so they cannot be counted from below.
    if (others && least > std::max<std::int64_t>(1, sure))
      refuse("minProperties", "with properties that are not named");
    return in_order(members, is_must, others, least, most);
  }

  /// Members in order, so many of them; then others.
  Node in_order(const std::vector<Node>& members, const std::vector<bool>& is_must,
                const std::optional<Node>& others, std::int64_t least, std::int64_t most) {
    const std::size_t size = members.size();
    const Node next = text_.comma(), nothing = g_.text("");
    // Counts above `keep` are all the same.
    const std::int64_t keep = std::max<std::int64_t>({1, least, most == kAny ? 0 : most});
    if (static_cast<std::size_t>(keep) * (size + 1) > 65536)
      refuse(most == kAny ? "minProperties" : "maxProperties", "with so many properties");
    std::map<std::pair<std::size_t, std::int64_t>, Node> known;
    const auto behind = [&](std::size_t i, std::int64_t count_now) {
      return known.at({i, std::min(count_now, keep)});
    };
    for (std::size_t i = size + 1; i-- > 0;) {
      for (std::int64_t n = 0; n <= keep; ++n) {
        const bool full = most != kAny && n >= most;
        std::vector<Node> ways;
        const auto led = [&](Node one) { return n == 0 ? one : g_.sequence({next, one}); };
        if (i == size) {
          if (n >= least) ways.push_back(nothing);
          if (others && !full) {
            const std::int64_t room = most == kAny ? kAny : most - n - 1;
            const std::int64_t rest = std::max<std::int64_t>(0, least - n - 1);
            const Node again = g_.repeat(g_.sequence({next, *others}), rest, room);
            if (room == kAny || rest <= room) ways.push_back(g_.sequence({led(*others), again}));
          }
        } else {
          if (!is_must[i]) ways.push_back(behind(i + 1, n));
          if (!full) ways.push_back(g_.sequence({led(members[i]), behind(i + 1, n + 1)}));
        }
        // A rule for each, so that none is written twice.
        const Grammar::Rule rule = g_.add_rule("members");
        g_.define(rule, g_.choice(std::move(ways)));
        known[{i, n}] = g_.rule(rule);
      }
    }
    const Node from = text_.open('{'), to = text_.close('}');
    return g_.sequence({from, behind(0, 0), to});
  }

  Grammar& g_;
  JsonText& text_;
  const Json& root_;
  std::map<const Json*, Grammar::Rule> rules_;
};

}  // namespace

Grammar::Node add_json_schema(Grammar& grammar, JsonText& text, const Json& schema) {
  return Converter(grammar, text, schema).schema(schema, 0);
}

Grammar read_json_schema(const Json& schema, JsonStyle style) {
  Grammar g;
  JsonText text(g, style);
  g.define(g.root(), add_json_schema(g, text, schema));
  return g;
}

Grammar parse_json_schema(std::string_view schema, JsonStyle style) {
  if (schema.size() > kLongestGrammar)
    throw Error("json_schema", "a schema of {} bytes is longer than {}", schema.size(),
                kLongestGrammar);
  Json parsed;
  try {
    const auto look = [](int depth, Json::parse_event_t, Json&) {
      if (depth > kDeepest) throw Error("json_schema", "the schema is deeper than {}", kDeepest);
      return true;
    };
    parsed = Json::parse(schema.begin(), schema.end(), look);
  } catch (const Json::exception&) {
    throw Error("json_schema", "the schema is not valid JSON in UTF-8");
  }
  return read_json_schema(parsed, style);
}

Grammar any_json_object(JsonStyle style) {
  Grammar g;
  JsonText text(g, style);
  g.define(g.root(), text.object());
  return g;
}

}  // namespace strata::engine::grammar
