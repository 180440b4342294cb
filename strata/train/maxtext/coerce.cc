#include "strata/train/maxtext/coerce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "strata/base/check.h"
#include "strata/train/maxtext/upstream.h"

namespace strata::train::maxtext {
namespace {

using Json = nlohmann::ordered_json;
using Misfits = std::vector<Misfit>;

/// Strict takes only values that have the type already.
enum class Mode { strict, lax };

struct Fit {
  std::string key;
  Mode mode;
  Misfits& misfits;

  std::optional<Value> refuse(std::string kind, std::string message) const {
    misfits.push_back({key, std::move(kind), std::move(message)});
    return {};
  }
};

std::optional<Value> fit(const Json& type, const Value& value, const Fit& at);

std::string stripped(const std::string& text) {
  const std::size_t from = text.find_first_not_of(" \t\n\r"), to = text.find_last_not_of(" \t\n\r");
  return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

template <class T>
std::optional<T> parse(std::string text) {
  if (text.starts_with("+")) text.erase(0, 1);
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return out;
}

/// Digits with single underscores between them, and zeros behind a point.
std::optional<std::int64_t> parse_integer(const std::string& given) {
  std::string text = stripped(given);
  if (const std::size_t point = text.find('.'); point != std::string::npos) {
    if (text.find_first_not_of('0', point + 1) != std::string::npos) return {};
    text.erase(point);
  }
  if (text.starts_with("_") || text.ends_with("_") || text.find("__") != std::string::npos)
    return {};
  std::erase(text, '_');
  return parse<std::int64_t>(text);
}

std::optional<Value> fit_int(const Value& value, const Fit& at) {
  if (value.as<std::int64_t>()) return value;
  if (at.mode == Mode::lax) {
    if (const auto* b = value.as<bool>()) return std::int64_t{*b};
    if (const auto* d = value.as<double>()) {
      if (!std::isfinite(*d)) return at.refuse("finite_number", "Input should be a finite number");
      if (*d != std::floor(*d))
        return at.refuse("int_from_float",
                         "Input should be a valid integer, got a number with a fractional part");
      return static_cast<std::int64_t>(*d);
    }
    if (value.text()) {
      if (const auto n = parse_integer(*value.text())) return *n;
      return at.refuse("int_parsing",
                       "Input should be a valid integer, unable to parse string as an integer");
    }
  }
  return at.refuse("int_type", "Input should be a valid integer");
}

std::optional<Value> fit_float(const Value& value, const Fit& at) {
  if (value.as<double>()) return value;
  if (value.as<std::int64_t>()) return number(value);
  if (at.mode == Mode::lax) {
    if (value.as<bool>()) return number(value);
    if (value.text()) {
      if (const auto d = parse<double>(stripped(*value.text()))) return *d;
      return at.refuse("float_parsing",
                       "Input should be a valid number, unable to parse string as a number");
    }
  }
  return at.refuse("float_type", "Input should be a valid number");
}

std::optional<Value> fit_bool(const Value& value, const Fit& at) {
  if (value.as<bool>()) return value;
  if (at.mode == Mode::lax) {
    constexpr std::string_view kMessage =
        "Input should be a valid boolean, unable to interpret input";
    if (is_integer(value) || value.as<double>()) {
      const double d = number(value);
      if (d == 0 || d == 1) return d == 1;
      if (is_integer(value) || d == std::floor(d))
        return at.refuse("bool_parsing", std::string(kMessage));
    }
    if (value.text()) {
      std::string text = *value.text();
      for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      for (const char* word : {"1", "on", "t", "true", "y", "yes"})
        if (text == word) return true;
      for (const char* word : {"0", "off", "f", "false", "n", "no"})
        if (text == word) return false;
      return at.refuse("bool_parsing", std::string(kMessage));
    }
  }
  return at.refuse("bool_type", "Input should be a valid boolean");
}

std::string or_list(const std::vector<std::string>& all) {
  if (all.size() < 2) return fmt::format("{}", fmt::join(all, ""));
  return fmt::format("{} or {}", fmt::join(all.begin(), all.end() - 1, ", "), all.back());
}

std::optional<Value> fit_choice(const Json& choices, bool enumeration, const Value& value,
                                const Fit& at) {
  std::vector<std::string> names;
  for (const Json& row : choices) {
    const Value choice = from_json(enumeration ? row[0] : row);
    if (choice.held.index() == value.held.index() && choice == value) return choice;
    // An enumeration of integers takes what is an integer.
    if (enumeration && at.mode == Mode::lax && choice.as<std::int64_t>() && value.as<double>() &&
        choice == value)
      return choice;
    names.push_back(repr(choice));
  }
  return at.refuse(enumeration ? "enum" : "literal_error", "Input should be " + or_list(names));
}

std::optional<Value> fit_list(const Json* element, const Value& value, const Fit& at) {
  if (!value.list()) return at.refuse("list_type", "Input should be a valid list");
  List out;
  bool whole = true;
  for (std::size_t i = 0; i < value.list()->size(); ++i) {
    const Value& e = (*value.list())[i];
    const std::optional<Value> fitted =
        element ? fit(*element, e, {fmt::format("{}.{}", at.key, i), at.mode, at.misfits}) : e;
    whole = whole && fitted;
    if (fitted) out.push_back(*fitted);
  }
  if (!whole) return {};
  return Value(out);
}

/// The first member that takes the value as it is, else the first that can take it.
std::optional<Value> fit_union(const Json& type, const Value& value, const Fit& at) {
  for (const Mode mode : {Mode::strict, Mode::lax}) {
    for (std::size_t i = 1; i < type.size(); ++i) {
      Misfits ignored;
      if (auto out = fit(type[i], value, {at.key, mode, ignored})) {
        // An integer that a float takes strictly still is an integer where the union has one.
        const bool inexact = mode == Mode::strict && type[i] == "float" && is_integer(value);
        const bool has_int = std::find(type.begin(), type.end(), Json("int")) != type.end();
        if (!(inexact && has_int)) return out;
      }
    }
    if (at.mode == Mode::strict) break;
  }
  for (std::size_t i = 1; i < type.size(); ++i) {
    if (type[i] == "none") continue;
    const std::string member = type[i].is_string() ? type[i].get<std::string>() : "";
    const std::string name = type.size() > 3 ? at.key + "." + member : at.key;
    fit(type[i], value, {name, at.mode, at.misfits});
  }
  return {};
}

std::optional<Value> fit_bound(const Json& bounds, const Value& value, const Fit& at) {
  if (!is_integer(value) && !value.as<double>()) return value;
  const double d = number(value);
  struct Bound {
    const char *name, *kind, *words;
    bool holds;
  };
  for (const auto& [name, bound] : bounds.items()) {
    const double b = bound.get<double>();
    const Bound all[] = {{"ge", "greater_than_equal", "greater than or equal to", d >= b},
                         {"gt", "greater_than", "greater than", d > b},
                         {"le", "less_than_equal", "less than or equal to", d <= b},
                         {"lt", "less_than", "less than", d < b}};
    for (const Bound& one : all)
      if (name == one.name && !one.holds)
        return at.refuse(one.kind, fmt::format("Input should be {} {}", one.words, bound.dump()));
  }
  return value;
}

std::optional<Value> fit_model(const Json& fields, const Value& value, const Fit& at) {
  if (!value.dict())
    return at.refuse("model_type", "Input should be a valid dictionary or instance");
  Dict out;
  bool whole = true;
  for (const auto& [name, field] : fields.items()) {
    const auto given = value.dict()->find(name);
    if (given == value.dict()->end()) {
      out.emplace(name, from_json(field[1]));
      continue;
    }
    const Fit inner = {at.key + "." + name, at.mode, at.misfits};
    std::optional<Value> fitted = fit(field[0], given->second, inner);
    if (fitted && field.size() > 2) fitted = fit_bound(field[2], *fitted, inner);
    whole = whole && fitted;
    if (fitted) out.emplace(name, *fitted);
  }
  // Of MaxText's two nested models, adapters refuse what they do not know.
  for (const auto& [name, unused] : *value.dict())
    if (!fields.contains(name) && at.key == "lora") {
      at.misfits.push_back(
          {at.key + "." + name, "extra_forbidden", "Extra inputs are not permitted"});
      whole = false;
    }
  if (!whole) return {};
  return Value(out);
}

std::optional<Value> fit(const Json& type, const Value& value, const Fit& at) {
  const std::string& kind = (type.is_string() ? type : type[0]).get_ref<const std::string&>();
  if (kind == "any") return value;
  if (kind == "none")
    return value.is_none() ? std::optional(value)
                           : at.refuse("none_required", "Input should be None");
  if (kind == "int") return fit_int(value, at);
  if (kind == "float") return fit_float(value, at);
  if (kind == "bool") return fit_bool(value, at);
  if (kind == "str")
    return value.text() ? std::optional(value)
                        : at.refuse("string_type", "Input should be a valid string");
  if (kind == "dict")
    return value.dict() ? std::optional(value)
                        : at.refuse("dict_type", "Input should be a valid dictionary");
  if (kind == "list") return fit_list(type.is_string() ? nullptr : &type[1], value, at);
  if (kind == "enum")
    return fit_choice(upstream()["enums"].at(type[1].get<std::string>()), true, value, at);
  if (kind == "literal") return fit_choice(Json(type.begin() + 1, type.end()), false, value, at);
  if (kind == "union") return fit_union(type, value, at);
  if (kind == "model") return fit_model(type[1], value, at);
  STRATA_CHECK(kind == "bound", "a type of upstream.json: {}", kind);
  const auto out = fit(type[1], value, at);
  return out ? fit_bound(type[2], *out, at) : out;
}

/// constant_bound_config may be numbers between commas.
Value split_bounds(const Value& value) {
  if (!value.text()) return value;
  List out;
  if (value.text()->empty()) return out;
  std::string text = *value.text();
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t next = text.find(',', at);
    const auto d =
        parse<double>(stripped(text.substr(at, next == std::string::npos ? next : next - at)));
    if (!d) return value;
    out.push_back(*d);
    at = next == std::string::npos ? next : next + 1;
  }
  return out;
}

}  // namespace

Dict fit_keys(const Dict& given, std::vector<Misfit>& misfits) {
  Dict out;
  for (const auto& [name, row] : upstream()["keys"].items()) {
    const auto found = given.find(name);
    if (found == given.end()) {
      out.emplace(name, from_json(row[1]));
      continue;
    }
    const Fit at = {name, Mode::lax, misfits};
    Value value = found->second;
    if (name == "constant_bound_config") {
      value = split_bounds(value);
      if (value.text()) {
        at.refuse("value_error",
                  fmt::format("Value error, could not convert string to float: {}", repr(value)));
        continue;
      }
    }
    std::optional<Value> fitted = fit(row[0], value, at);
    if (fitted && row.size() > 2) fitted = fit_bound(row[2], *fitted, at);
    if (fitted) out.emplace(name, deep_copy(*fitted));
  }
  return out;
}

}  // namespace strata::train::maxtext
