// Options by name, as configurations have them.
//
//   optim::Options o{{"learning_rate", 1e-3}, {"weight_decay", 0.1}, {"nesterov", true}};
//   optim::Options nested{{"inner", optim::Options{{"name", "adam"}, {"learning_rate", 1e-3}}}};
//
// Values are nothing, booleans, numbers, texts, arrays, lists, tables, and objects of C++:
// schedules, transformations, filters, dtypes, functions.
#pragma once

#include <any>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "strata/api/random.h"
#include "strata/optim/gradient_transformation.h"
#include "strata/optim/schedule/rate.h"

namespace strata::optim {

class Option;
/// Options by their names.
using Options = std::map<std::string, Option>;

/// One value; see above.
class Option {
 public:
  Option() = default;
  Option(const Option& other);  // these, in options.cc, are a switch over all kinds
  Option(Option&& other) noexcept;
  Option& operator=(const Option& other);
  Option& operator=(Option&& other) noexcept;
  ~Option();
  Option(std::nullopt_t) {}  // NOLINT: implicit by intent
  template <class T>
    requires std::is_arithmetic_v<T>
  Option(T number) {  // NOLINT
    if constexpr (std::same_as<T, bool>)
      value_ = number;
    else if constexpr (std::integral<T>)
      value_ = static_cast<std::int64_t>(number);
    else
      value_ = static_cast<double>(number);
  }
  Option(std::string text) : value_(std::move(text)) {}                   // NOLINT
  Option(const char* text) : value_(std::string(text)) {}                 // NOLINT
  Option(Array array) : value_(std::move(array)) {}                       // NOLINT
  Option(std::vector<Option> list) : value_(std::move(list)) {}           // NOLINT
  Option(Options table);                                                  // NOLINT
  Option(Schedule s) : value_(std::any(std::move(s))) {}                  // NOLINT
  Option(GradientTransformation tx) : value_(std::any(std::move(tx))) {}  // NOLINT
  Option(tree::Filter filter) : value_(std::any(std::move(filter))) {}    // NOLINT
  Option(DType dtype) : value_(std::any(dtype)) {}                        // NOLINT
  /// An object of any other type, a function say.
  template <class T>
  static Option object(T value) {
    Option out;
    out.value_ = std::any(std::move(value));
    return out;
  }

  /// Whether it is nothing.
  bool is_none() const { return value_.index() == 0; }
  /// The value as one of the kinds; null for another.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&value_);
  }
  /// The object; null for another type.
  template <class T>
  const T* object() const {
    const auto* any = std::get_if<std::any>(&value_);
    return any ? std::any_cast<T>(any) : nullptr;
  }
  /// The table; null for another kind.
  const Options* table() const;
  /// "0.1", "adam", "[2 values]", as messages have it.
  std::string text() const;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, std::vector<Option>,
               std::shared_ptr<const Options>, std::any>
      value_;
};

namespace detail {
/// Throws Error: `where` is what it has to be, and what was given.
[[noreturn]] void refuse(const Option& given, const std::string& where, const char* what);
}  // namespace detail

/// Writes what an option says into a parameter of this type. `where` names the parameter in
/// messages: "adamw: learning_rate". Throws Error for a value of another kind.
void read(const Option& given, const std::string& where, Rate& into);
void read(const Option& given, const std::string& where, bool& into);
void read(const Option& given, const std::string& where, std::int64_t& into);
void read(const Option& given, const std::string& where, double& into);
void read(const Option& given, const std::string& where, std::string& into);
void read(const Option& given, const std::string& where, DType& into);
void read(const Option& given, const std::string& where, GradientTransformation& into);
void read(const Option& given, const std::string& where, tree::Filter& into);
void read(const Option& given, const std::string& where, Schedule& into);
/// An option is read as it is.
inline void read(const Option& given, const std::string&, Option& into) { into = given; }
/// A key is read from one, or from the seed of one.
void read(const Option& given, const std::string& where, random::Key& into);
template <class T>
void read(const Option& given, const std::string& where, std::optional<T>& into) {
  if (given.is_none()) {
    into.reset();
    return;
  }
  if constexpr (std::is_default_constructible_v<T>) {
    read(given, where, into.emplace());
  } else {
    T value = tree::everything();
    read(given, where, value);
    into = std::move(value);
  }
}
template <class T>
void read(const Option& given, const std::string& where, std::vector<T>& into) {
  into.clear();
  const auto* list = given.as<std::vector<Option>>();
  if (!list) {
    read(given, where, into.emplace_back());
    return;
  }
  for (const Option& one : *list) read(one, where, into.emplace_back());
}
/// A function is given as an object of the same type.
template <class R, class... A>
void read(const Option& given, const std::string& where, std::function<R(A...)>& into) {
  if (given.is_none()) {
    into = nullptr;
  } else if (const auto* f = given.object<std::function<R(A...)>>()) {
    into = *f;
  } else {
    throw Error("optim", "{} is a function of C++, got {}", where, given.text());
  }
}

/// A value as text, for messages and descriptions: "0.1", "a schedule", "(1, 2)", "none".
std::string text_of(const Rate& value);
std::string text_of(bool value);
std::string text_of(std::int64_t value);
std::string text_of(double value);
std::string text_of(const std::string& value);
std::string text_of(DType value);
std::string text_of(const GradientTransformation& value);
std::string text_of(const tree::Filter& value);
std::string text_of(const Schedule& value);
std::string text_of(const random::Key& value);
template <class R, class... A>
std::string text_of(const std::function<R(A...)>& f) {
  return f ? "a function" : "none";
}
template <class T>
std::string text_of(const std::vector<T>& values) {
  std::string out = "(";
  for (const T& v : values) out += (out.size() > 1 ? ", " : "") + text_of(v);
  return out + ")";
}
template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? text_of(*value) : "none";
}

namespace detail {
template <class T>
concept OptionFields = !std::same_as<T, random::Key> && requires(const T& t) {
  t.strata_fields();
  T::strata_field_names();
};
/// f(name, field) for each field of a struct of options.
template <OptionFields T, class F>
void for_each_option(T& options, F&& f) {
  std::string_view names = std::remove_const_t<T>::strata_field_names();
  std::apply(
      [&](auto&... each) { (f(std::string(tree::internal::next_field_name(names)), each), ...); },
      options.strata_fields());
}
/// "b1=0.9, b2=0.999": the fields that are not as they are by default.
template <OptionFields T>
std::string text_of_options(const T& options) {
  std::vector<std::string> usual;
  const T defaults{};
  for_each_option(defaults,
                  [&](const std::string&, const auto& v) { usual.push_back(text_of(v)); });
  std::string out;
  std::size_t i = 0;
  for_each_option(options, [&](const std::string& name, const auto& v) {
    if (const std::string text = text_of(v); text != usual[i++])
      out += (out.empty() ? "" : ", ") + name + "=" + text;
  });
  return out;
}
/// "scale_by_adam(b1=0.8)".
template <OptionFields T>
std::string call_text(const std::string& name, const T& options) {
  return name + "(" + text_of_options(options) + ")";
}
}  // namespace detail

}  // namespace strata::optim
