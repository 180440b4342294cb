// Runs the syntax tree of a template, within limits.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/tokenizer/chat_template/syntax.h"
#include "strata/tokenizer/chat_template/value.h"

namespace strata::tokenizer::jinja {

/// What a template may use up; more is an error.
struct Limits {
  std::size_t output_bytes = std::size_t{8} << 20;
  std::int64_t steps = 1'000'000;
  int depth = 64;
  std::int64_t range = 100'000;
};

/// Names in a block; those of blocks around it are seen through it.
struct Scope {
  std::shared_ptr<Scope> parent;
  std::map<std::string, Value, std::less<>> names;
};

class Evaluator {
 public:
  Evaluator(const Limits& limits, std::tm now) : limits_(limits), now_(now) {}

  /// Renders a template with these names besides Jinja's own. Throws TemplateError.
  Text render(const Body& body, const Dict& variables);
  /// What `{% generation %}` blocks at the top level rendered, as places in the text.
  const std::vector<std::pair<std::size_t, std::size_t>>& generation() const { return generation_; }

  // For filters and tests.

  /// Counts work; throws where it is too much.
  void step(std::int64_t count = 1);
  Value call(const Value& f, const Arguments& arguments);
  Value filter(std::string_view name, const Value& input, const Arguments& arguments);
  bool test(std::string_view name, const Value& input, const Arguments& arguments);
  /// object.name, and object[key], with Jinja's fall-backs from one to the other.
  Value attribute(const Value& object, std::string_view name);
  Value item(const Value& object, const Value& key);
  /// What a loop over it gets. Throws for what has no elements.
  List elements(const Value& v);
  const Limits& limits() const { return limits_; }
  const std::tm& now() const { return now_; }

 private:
  enum class Flow { normal, leave, next };
  struct Deeper;

  Flow run(const Body& body);
  Flow run(const Statement& s);
  Flow loop(const Statement& s, const List& given, int depth);
  void loop_again(const Statement& s, const Value& over, int depth);
  Value loop_object(const Statement& s, const std::shared_ptr<const List>& all, std::size_t i,
                    int depth);
  void assign(const Target& target, const Value& value);
  Text captured(const Body& body);
  Value macro(const Statement& s, const std::string& name);
  Value call_block(const Statement& s);
  void write(const Text& text);

  Value evaluate(const Expression& e);
  Value lookup(const std::string& name) const;
  Value comparison(const Expression& e);
  Arguments arguments(const CallArguments& given);
  Value through_filters(const Expression* filters, Value value);

  Limits limits_;
  std::tm now_;
  std::int64_t steps_ = 0;
  int depth_ = 0;
  std::shared_ptr<Scope> scope_;
  std::vector<std::shared_ptr<Scope>> kept_;  // of macros, which see where they were made
  Text* out_ = nullptr;
  bool at_top_ = true;
  std::vector<std::pair<std::size_t, std::size_t>> generation_;
};

/// Python's binary operators but for `and` and `or`.
Value operate(std::string_view op, const Value& a, const Value& b);
/// a[start:stop:step]; ends that are none are absent.
Value sliced(const Value& v, const Value& start, const Value& stop, const Value& step);
/// x in v.
bool contains(const Value& v, const Value& x);
/// len(v). Throws where it has none.
std::int64_t size_of(const Value& v);
/// The method of a string, list, tuple or mapping; undefined where it has none of that name.
Value method(const Value& self, std::string_view name);
[[noreturn]] void fail_undefined(const Value& v);

/// The arguments of a call, by the names of its parameters.
class Bound {
 public:
  /// Throws where there are more, unknown or repeated ones.
  Bound(std::string_view function, const Arguments& given, std::vector<std::string_view> names);
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Its value, or a default.
  Value get(std::string_view name, Value otherwise = None()) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  bool truth(std::string_view name, bool otherwise) const;

 private:
  const Value* find(std::string_view name) const;
  std::string_view function_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace strata::tokenizer::jinja
