// Values of templates: Python's, as far as templates see them.
//
// Lists, tuples and mappings never change once they are made; a namespace does. Strings remember
// which of their bytes came from whoever wrote the messages (`marks`), through every operation that
// takes strings apart and puts them together.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace strata::tokenizer::jinja {

/// What goes wrong in a template; the door (chat_template.h) makes a Status of it.
struct TemplateError {
  std::string message;
  /// The line in the template, from 1; 0 while it is not known.
  int line = 0;
};
[[noreturn]] inline void fail(std::string message) { throw TemplateError{std::move(message)}; }

/// UTF-8, with one mark for each byte: '1' where it came from the messages. No marks at all: none.
struct Text {
  std::string bytes, marks;
  /// What `safe` and `escape` gave (Markup): + escapes what it is joined with.
  bool is_markup = false;

  Text() = default;
  Text(std::string b) : bytes(std::move(b)) {}
  Text(std::string_view b) : bytes(b) {}
  Text(const char* b) : bytes(b) {}
  /// All of it from the messages.
  static Text of_input(std::string b);
  bool has_marks() const { return !marks.empty(); }
  bool mark(std::size_t i) const { return has_marks() && marks[i] == '1'; }
  /// Whether all of it came from the messages.
  bool all_marked() const;
  void append(const Text& other);
  /// With the mark `input`.
  void append(std::string_view other, bool input);
  Text substr(std::size_t begin, std::size_t count = std::string::npos) const;
  bool empty() const { return bytes.empty(); }
  std::size_t size() const { return bytes.size(); }
};

class Value;
struct Dict;
struct Namespace;
struct Callable;

struct Undefined {
  /// What was looked for, for messages: "'x'", "'dict object' has no attribute 'x'".
  std::string name;
};
struct None {};
using List = std::vector<Value>;
struct Sequence {
  List items;
  bool is_tuple = false;
  /// What `map`, `select` and the like give: it can be gone through, and has no length or elements.
  bool is_generator = false;
  /// Of `groupby`: a tuple whose parts are `grouper` and `list`, too.
  bool is_group = false;
};

/// A value.
class Value {
 public:
  using Data =
      std::variant<Undefined, None, bool, std::int64_t, double, std::shared_ptr<const Text>,
                   std::shared_ptr<const Sequence>, std::shared_ptr<const Dict>,
                   std::shared_ptr<Namespace>, std::shared_ptr<const Callable>>;

  Value() : data_(None()) {}
  Value(Undefined u) : data_(std::move(u)) {}
  Value(None n) : data_(n) {}
  Value(bool b) : data_(b) {}
  Value(std::int64_t i) : data_(i) {}
  Value(double d) : data_(d) {}
  Value(Text t) : data_(std::make_shared<const Text>(std::move(t))) {}
  Value(const char*) = delete;
  Value(Sequence s) : data_(std::make_shared<const Sequence>(std::move(s))) {}
  Value(List l) : Value(Sequence{std::move(l)}) {}
  Value(Dict d);
  Value(std::shared_ptr<Namespace> n) : data_(std::move(n)) {}
  Value(Callable c);
  /// Strings in it are marked where `input`.
  static Value from_json(const nlohmann::ordered_json& json, bool input);

  const Data& data() const { return data_; }
  bool is_undefined() const { return holds<Undefined>(); }
  bool is_none() const { return holds<None>(); }
  bool is_bool() const { return holds<bool>(); }
  bool is_int() const { return holds<std::int64_t>(); }
  bool is_float() const { return holds<double>(); }
  bool is_number() const { return is_bool() || is_int() || is_float(); }
  bool is_text() const { return holds<std::shared_ptr<const Text>>(); }
  bool is_sequence() const { return holds<std::shared_ptr<const Sequence>>(); }
  bool is_dict() const { return holds<std::shared_ptr<const Dict>>(); }
  bool is_namespace() const { return holds<std::shared_ptr<Namespace>>(); }
  bool is_callable() const { return holds<std::shared_ptr<const Callable>>(); }

  const Text& text() const { return *std::get<std::shared_ptr<const Text>>(data_); }
  const Sequence& sequence() const { return *std::get<std::shared_ptr<const Sequence>>(data_); }
  const List& items() const { return sequence().items; }
  const Dict& dict() const { return *std::get<std::shared_ptr<const Dict>>(data_); }
  Namespace& name_space() const { return *std::get<std::shared_ptr<Namespace>>(data_); }
  const Callable& callable() const { return *std::get<std::shared_ptr<const Callable>>(data_); }
  /// Of a bool or integer.
  std::int64_t integer() const;
  /// Of any number.
  double number() const;

  /// Python's bool().
  bool truth() const;
  /// Python's type: "str", "int", "NoneType", "Undefined".
  std::string type_name() const;

 private:
  template <class T>
  bool holds() const {
    return std::holds_alternative<T>(data_);
  }
  Data data_;
};

/// In the order of insertion, as Python's.
struct Dict {
  std::vector<std::pair<Value, Value>> items;
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  /// Replaces the value of a key that is there.
  void set(const Value& key, Value value);
};
struct Namespace {
  Dict values;
  /// Not to be assigned to: a loop's own.
  bool is_fixed = false;
};
/// The arguments of a call.
struct Arguments {
  List positional;
  std::vector<std::pair<std::string, Value>> named;
};
struct Callable {
  std::string name;
  std::function<Value(const Arguments&)> call;
};

/// Python's ==.
bool equal(const Value& a, const Value& b);
/// Python's <. Fails for types that have no order.
bool less(const Value& a, const Value& b);
/// Python's str(), repr().
Text to_text(const Value& v);
Text repr(const Value& v);
/// As Python prints a float: the fewest digits that read back the same.
std::string float_text(double d);
/// json.dumps(v, ensure_ascii, indent, separators, sort_keys); `indent` is what one level is
/// indented by.
struct JsonStyle {
  bool ascii = false, sort_keys = false, lines = false;
  std::string indent, item = ", ", key = ": ";
};
Text to_json(const Value& v, const JsonStyle& style);

}  // namespace strata::tokenizer::jinja
