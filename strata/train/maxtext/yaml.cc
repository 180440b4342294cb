#include "strata/train/maxtext/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <limits>
#include <optional>
#include <regex>

#include "strata/train/maxtext/rules.h"

namespace strata::train::maxtext {
namespace {

constexpr int kDeepest = 64, kMost = 100000;

bool among(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* w : words)
    if (text == w) return true;
  return false;
}

/// "true", "True" and "TRUE" of a word in small letters.
bool spelled(const std::string& text, const std::string& word) {
  std::string capital = word, upper = word;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char big = static_cast<char>(word[i] - 'a' + 'A');
    upper[i] = big;
    if (i == 0) capital[0] = big;
  }
  return text == word || text == capital || text == upper;
}

std::string without_underscores(const std::string& text) {
  std::string out;
  for (char c : text)
    if (c != '_') out += c;
  return out;
}

/// Numbers to the base 60, as YAML 1.1 has them.
std::int64_t sexagesimal(const std::string& text) {
  std::int64_t out = 0, part = 0;
  for (char c : text) {
    if (c == ':') {
      out = (out + part) * 60;
      part = 0;
    } else {
      part = part * 10 + (c - '0');
    }
  }
  return out + part;
}

std::optional<std::int64_t> integer_of(const std::string& given) {
  static const std::regex shape(
      "[-+]?(0b[0-1_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(:[0-5]?[0-9])+)");
  if (given.size() > 30 || !std::regex_match(given, shape)) return {};
  std::string text = without_underscores(given);
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.erase(0, 1);
  if (text.find(':') != std::string::npos) return negative ? -sexagesimal(text) : sexagesimal(text);
  int base = 10;
  std::size_t from = 0;
  if (text.starts_with("0x")) base = 16, from = 2;
  if (text.starts_with("0b")) base = 2, from = 2;
  if (base == 10 && text.size() > 1 && text[0] == '0') base = 8, from = 1;
  std::int64_t out = 0;
  const auto [end, error] =
      std::from_chars(text.data() + from, text.data() + text.size(), out, base);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return negative ? -out : out;
}

std::optional<double> float_of(const std::string& given) {
  static const std::regex shape(
      "[-+]?([0-9]+(_[0-9]+)*\\.[0-9_]*([eE][-+]?[0-9]+)?|[0-9]+(_[0-9]+)*[eE][-+]?[0-9]+"
      "|\\.[0-9]+(_[0-9]+)*([eE][-+][0-9]+)?)");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (among(given, {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"})) return kInfinity;
  if (among(given, {"-.inf", "-.Inf", "-.INF"})) return -kInfinity;
  if (among(given, {".nan", ".NaN", ".NAN"})) return std::numeric_limits<double>::quiet_NaN();
  if (given.size() > 400 || !std::regex_match(given, shape)) return {};
  const std::string text = without_underscores(given);
  const std::size_t from = text[0] == '+';
  double out = 0;
  const auto [end, error] = std::from_chars(text.data() + from, text.data() + text.size(), out);
  if (end != text.data() + text.size()) return {};
  if (error == std::errc::result_out_of_range) return std::strtod(text.c_str(), nullptr);
  return out;
}

Value scalar(const std::string& text) {
  if (text.empty() || text == "~" || spelled(text, "null")) return {};
  for (const char* word : {"true", "yes", "on"})
    if (spelled(text, word)) return true;
  for (const char* word : {"false", "no", "off"})
    if (spelled(text, word)) return false;
  if (const auto n = integer_of(text)) return *n;
  if (const auto d = float_of(text)) return *d;
  return text;
}

/// `left`: how many more values the text may come to, aliases counted wherever they stand.
Value value_of(const YAML::Node& node, int depth, int& left) {
  if (depth > kDeepest)
    throw Refused("YAMLError", fmt::format("values nest deeper than {}", kDeepest));
  if (--left < 0) throw Refused("YAMLError", fmt::format("there are more than {} values", kMost));
  if (node.IsMap()) {
    Dict out;
    for (const auto& entry : node) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : std::string();
      if (!out.emplace(key, value_of(entry.second, depth + 1, left)).second)
        throw Refused("ConstructorError", fmt::format("found duplicate key {}", key));
    }
    return out;
  }
  if (node.IsSequence()) {
    List out;
    for (const auto& entry : node) out.push_back(value_of(entry, depth + 1, left));
    return out;
  }
  if (!node.IsScalar()) return {};
  // "!" marks what stood in quotes.
  return node.Tag() == "!" ? Value(node.Scalar()) : scalar(node.Scalar());
}

bool escapes(const std::string& text, std::size_t i) {
  return text[i] == '\\' && i + 1 < text.size() &&
         std::string_view(".[]=").find(text[i + 1]) != std::string_view::npos;
}

/// The first '=' that no backslash guards.
std::size_t equals_sign(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (escapes(text, i))
      ++i;
    else if (text[i] == '=')
      return i;
  }
  return std::string::npos;
}

/// The names of "a.b[0]".
std::vector<std::string> split_key(const std::string& key) {
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (escapes(key, i))
      out.back() += key[++i];
    else if (key[i] == '.' || key[i] == '[')
      out.emplace_back();
    else if (key[i] != ']')
      out.back() += key[i];
  }
  return out;
}

}  // namespace

Value read_yaml(const std::string& text) {
  try {
    int left = kMost;
    return value_of(YAML::Load(text), 0, left);
  } catch (const YAML::Exception& e) {
    throw Refused("YAMLError", fmt::format("{}: {}", text, e.what()));
  }
}

Value merge(const Value& base, const Value& over) {
  const Dict* under = base.dict();
  const Dict* top = over.dict();
  if (!under || !top) return deep_copy(over);
  Dict out;
  for (const auto& [key, value] : *under) out.emplace(key, deep_copy(value));
  for (const auto& [key, value] : *top) {
    const auto found = out.find(key);
    out.insert_or_assign(key, found == out.end() ? deep_copy(value) : merge(found->second, value));
  }
  return out;
}

std::pair<std::string, Value> read_argument(const std::string& argument) {
  const std::size_t at = equals_sign(argument);
  if (at == std::string::npos) return {argument, {}};
  return {argument.substr(0, at), read_yaml(argument.substr(at + 1))};
}

void update(Dict& root, const std::string& key, const Value& value) {
  const std::vector<std::string> path = split_key(key);
  Dict* at = &root;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    Value& next = (*at)[path[i]];
    if (next.is_none()) next = Dict();
    at = next.dict();
    if (!at) throw Refused("ConfigKeyError", fmt::format("{}: '{}' holds no keys", key, path[i]));
  }
  at->insert_or_assign(path.back(), value);
}

}  // namespace strata::train::maxtext
