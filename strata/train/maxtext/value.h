// Values as MaxText's configuration code has them: Python's, with its equality, order and text.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace strata::train::maxtext {

struct Value;
using List = std::vector<Value>;
using Dict = std::map<std::string, Value, std::less<>>;

/// None, a bool, an integer, a float, text, a list (tuples too) or a dict of texts. Lists and dicts
/// are shared by copies, as Python's names share them.
struct Value {
  using Held = std::variant<std::monostate, bool, std::int64_t, double, std::string,
                            std::shared_ptr<List>, std::shared_ptr<Dict>>;
  Held held;
  /// Whether a list is written as a tuple.
  bool is_tuple = false;

  Value() = default;
  Value(bool b) : held(b) {}
  Value(std::int64_t n) : held(n) {}
  Value(int n) : held(std::int64_t{n}) {}
  Value(double d) : held(d) {}
  Value(std::string text) : held(std::move(text)) {}
  Value(const char* text) : held(std::string(text)) {}
  Value(List list) : held(std::make_shared<List>(std::move(list))) {}
  Value(Dict dict) : held(std::make_shared<Dict>(std::move(dict))) {}

  bool is_none() const { return std::holds_alternative<std::monostate>(held); }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&held);
  }
  const std::string* text() const { return as<std::string>(); }
  List* list() const;
  Dict* dict() const;
};

/// The value of a JSON text, deep.
Value from_json(const nlohmann::ordered_json& json);
/// The same as JSON; keys of dicts in their order.
nlohmann::ordered_json to_json(const Value& value);
/// A copy that shares nothing.
Value deep_copy(const Value& value);

/// Whether `if value:` runs.
bool truth(const Value& value);
/// Python's `==`: 1 == 1.0 == True.
bool operator==(const Value& a, const Value& b);
/// The number that a value is in arithmetic; false of a bool is 0. Throws Error for other types.
double number(const Value& value);
/// Whether a value counts among the integers: an int or a bool.
bool is_integer(const Value& value);
std::int64_t integer(const Value& value);
/// `str(value)`.
std::string str(const Value& value);
/// `repr(value)`.
std::string repr(const Value& value);
/// The name of its type: "NoneType", "bool", "int", "float", "str", "list", "dict".
std::string_view type_name(const Value& value);

}  // namespace strata::train::maxtext
