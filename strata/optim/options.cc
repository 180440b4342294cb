#include "strata/optim/options.h"

#include <fmt/format.h>

namespace strata::optim {

namespace detail {
void refuse(const Option& given, const std::string& where, const char* what) {
  throw Error("optim", "{} is {}, got {}", where, what, given.text());
}
}  // namespace detail

using detail::refuse;

Option::Option(const Option& other) = default;
Option::Option(Option&& other) noexcept = default;
Option& Option::operator=(const Option& other) = default;
Option& Option::operator=(Option&& other) noexcept = default;
Option::~Option() = default;

Option::Option(Options table) : value_(std::make_shared<const Options>(std::move(table))) {}
const Options* Option::table() const {
  const auto* shared = std::get_if<std::shared_ptr<const Options>>(&value_);
  return shared ? shared->get() : nullptr;
}
std::string Option::text() const {
  if (is_none()) return "none";
  if (const auto* v = as<bool>()) return *v ? "true" : "false";
  if (const auto* v = as<std::int64_t>()) return fmt::format("{}", *v);
  if (const auto* v = as<double>()) return fmt::format("{}", *v);
  if (const auto* v = as<std::string>()) return fmt::format("\"{}\"", *v);
  if (as<Array>()) return "an array";
  if (const auto* v = as<std::vector<Option>>()) return fmt::format("a list of {}", v->size());
  if (table()) return fmt::format("a table of {}", table()->size());
  return "an object of C++";
}

void read(const Option& given, const std::string& where, bool& into) {
  if (const auto* v = given.as<bool>())
    into = *v;
  else
    refuse(given, where, "true or false");
}
void read(const Option& given, const std::string& where, std::int64_t& into) {
  if (const auto* v = given.as<std::int64_t>())
    into = *v;
  else
    refuse(given, where, "a whole number");
}
void read(const Option& given, const std::string& where, double& into) {
  if (const auto* v = given.as<double>())
    into = *v;
  else if (const auto* whole = given.as<std::int64_t>())
    into = static_cast<double>(*whole);
  else
    refuse(given, where, "a number");
}
void read(const Option& given, const std::string& where, std::string& into) {
  if (const auto* v = given.as<std::string>())
    into = *v;
  else
    refuse(given, where, "a text");
}
void read(const Option& given, const std::string& where, DType& into) {
  if (const auto* v = given.object<DType>()) {
    into = *v;
    return;
  }
  const auto* text = given.as<std::string>();
  const std::string spelled = !text                 ? ""
                              : *text == "bfloat16" ? "bf16"
                              : *text == "float16"  ? "f16"
                              : *text == "float32"  ? "f32"
                              : *text == "float64"  ? "f64"
                                                    : *text;
  const std::optional<DType> parsed = parse_dtype(spelled);
  if (!parsed) refuse(given, where, "a dtype: f32, bf16");
  into = *parsed;
}
void read(const Option& given, const std::string& where, tree::Filter& into) {
  if (const auto* filter = given.object<tree::Filter>()) {
    into = *filter;
  } else if (const auto* all = given.as<bool>()) {
    into = *all ? tree::everything() : tree::nothing();
  } else if (const auto* text = given.as<std::string>()) {
    into = tree::path(*text);
  } else if (const auto* list = given.as<std::vector<Option>>()) {
    std::vector<tree::Filter> patterns;
    for (const Option& one : *list) {
      tree::Filter pattern = tree::nothing();
      read(one, where, pattern);
      patterns.push_back(std::move(pattern));
    }
    into = tree::any(std::move(patterns));
  } else {
    refuse(given, where, "a pattern of paths, a list of them, or true or false");
  }
}
void read(const Option& given, const std::string& where, random::Key& into) {
  if (const auto* key = given.object<random::Key>())
    into = *key;
  else if (const auto* seed = given.as<std::int64_t>())
    into = random::key(*seed);
  else if (const auto* words = given.as<Array>())
    into = random::wrap_key_data(*words);
  else
    refuse(given, where, "a key or a seed");
}

std::string text_of(const Rate& value) { return value.text(); }
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::int64_t value) { return fmt::format("{}", value); }
std::string text_of(double value) { return fmt::format("{}", value); }
std::string text_of(const std::string& value) { return value; }
std::string text_of(DType value) { return std::string(name(value)); }
std::string text_of(const GradientTransformation& value) { return value.text(); }
std::string text_of(const tree::Filter& value) { return value.text(); }
std::string text_of(const Schedule& value) { return value ? "a schedule" : "none"; }
std::string text_of(const random::Key&) { return "a key"; }

}  // namespace strata::optim
