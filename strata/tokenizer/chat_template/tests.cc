// Jinja's tests: what stands behind `is`.
#include <fmt/format.h>

#include "strata/tokenizer/chat_template/evaluator.h"
#include "strata/tokenizer/chat_template/python_text.h"

namespace strata::tokenizer::jinja {
namespace {

using Test = bool (*)(const Value& v, const Value& other);
struct Entry {
  std::string_view name;
  int arguments;
  Test holds;
};

std::int64_t whole(const Value& v) {
  if (v.is_undefined()) fail_undefined(v);
  if (!v.is_int() && !v.is_bool()) fail(fmt::format("'{}' is no integer", v.type_name()));
  return v.integer();
}
bool is_equal(const Value& a, const Value& b) { return equal(a, b); }
bool is_unequal(const Value& a, const Value& b) { return !equal(a, b); }
bool is_less(const Value& a, const Value& b) { return less(a, b); }
bool is_greater(const Value& a, const Value& b) { return less(b, a); }
bool is_at_most(const Value& a, const Value& b) { return less(a, b) || equal(a, b); }
bool is_at_least(const Value& a, const Value& b) { return less(b, a) || equal(a, b); }

constexpr Entry kTests[] = {
    {"defined", 0, [](const Value& v, const Value&) { return !v.is_undefined(); }},
    {"undefined", 0, [](const Value& v, const Value&) { return v.is_undefined(); }},
    {"none", 0, [](const Value& v, const Value&) { return v.is_none(); }},
    {"boolean", 0, [](const Value& v, const Value&) { return v.is_bool(); }},
    {"true", 0, [](const Value& v, const Value&) { return v.is_bool() && v.truth(); }},
    {"false", 0, [](const Value& v, const Value&) { return v.is_bool() && !v.truth(); }},
    {"integer", 0, [](const Value& v, const Value&) { return v.is_int(); }},
    {"float", 0, [](const Value& v, const Value&) { return v.is_float(); }},
    {"number", 0, [](const Value& v, const Value&) { return v.is_number(); }},
    {"string", 0, [](const Value& v, const Value&) { return v.is_text(); }},
    {"mapping", 0, [](const Value& v, const Value&) { return v.is_dict(); }},
    {"iterable", 0,
     [](const Value& v, const Value&) {
       return v.is_text() || v.is_sequence() || v.is_dict() || v.is_undefined();
     }},
    {"sequence", 0,
     [](const Value& v, const Value&) {
       return v.is_text() || v.is_dict() || v.is_undefined() ||
              (v.is_sequence() && !v.sequence().is_generator);
     }},
    {"callable", 0, [](const Value& v, const Value&) { return v.is_callable(); }},
    {"lower", 0, [](const Value& v, const Value&) { return python::is_lower(to_text(v).bytes); }},
    {"upper", 0, [](const Value& v, const Value&) { return python::is_upper(to_text(v).bytes); }},
    {"escaped", 0, [](const Value&, const Value&) { return false; }},
    {"odd", 0, [](const Value& v, const Value&) { return whole(v) % 2 != 0; }},
    {"even", 0, [](const Value& v, const Value&) { return whole(v) % 2 == 0; }},
    {"divisibleby", 1,
     [](const Value& v, const Value& by) {
       if (whole(by) == 0) fail("integer modulo by zero");
       return whole(by) == -1 || whole(v) % whole(by) == 0;
     }},
    {"in", 1, [](const Value& v, const Value& all) { return contains(all, v); }},
    {"sameas", 1,
     [](const Value& a, const Value& b) {
       return a.data().index() == b.data().index() && equal(a, b);
     }},
    {"equalto", 1, is_equal},
    {"eq", 1, is_equal},
    {"==", 1, is_equal},
    {"ne", 1, is_unequal},
    {"!=", 1, is_unequal},
    {"lt", 1, is_less},
    {"lessthan", 1, is_less},
    {"<", 1, is_less},
    {"gt", 1, is_greater},
    {"greaterthan", 1, is_greater},
    {">", 1, is_greater},
    {"le", 1, is_at_most},
    {"<=", 1, is_at_most},
    {"ge", 1, is_at_least},
    {">=", 1, is_at_least},
};

}  // namespace

bool Evaluator::test(std::string_view name, const Value& input, const Arguments& arguments) {
  step();
  for (const Entry& e : kTests) {
    if (e.name != name) continue;
    if (!arguments.named.empty() ||
        arguments.positional.size() != static_cast<std::size_t>(e.arguments))
      fail(fmt::format("the test '{}' takes {} arguments, not {}", name, e.arguments,
                       arguments.positional.size() + arguments.named.size()));
    return e.holds(input, e.arguments > 0 ? arguments.positional[0] : Value());
  }
  fail(fmt::format("No test named '{}'.", name));
}

}  // namespace strata::tokenizer::jinja
