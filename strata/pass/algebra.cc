#include "strata/pass/algebra.h"

#include <cctype>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "strata/op/build.h"
#include "strata/op/def.h"
#include "strata/pass/splat.h"

namespace strata::pass {
namespace {

// Not here, since bits would change: x + 0 of floats (which turns -0 into 0), x * 0 of floats (NaN,
// infinities, signs), x - x and x / x of floats, any change of the order of sums.
constexpr AlgebraicRule kRules[] = {
    {"add(x, -0)", "x", Elements::floats},
    {"add(x, 0)", "x", Elements::integers},
    {"subtract(x, 0)", "x", Elements::numbers},
    {"multiply(x, 1)", "x", Elements::numbers},
    {"multiply(x, 0)", "0", Elements::integers},
    {"divide(x, 1)", "x", Elements::numbers},
    {"negate(negate(x))", "x", Elements::any},
    {"not(not(x))", "x", Elements::any},
    {"and(x, true)", "x", Elements::booleans},
    {"and(x, false)", "false", Elements::booleans},
    {"or(x, false)", "x", Elements::booleans},
    {"or(x, true)", "true", Elements::booleans},
    {"select(c, x, x)", "x", Elements::any},
    {"select(true, x, y)", "x", Elements::any},
    {"select(false, x, y)", "y", Elements::any},
    {"select(c, true, false)", "c", Elements::booleans},
};

// ---- reading -----------------------------------------------------------------------------------

class TermReader {
 public:
  explicit TermReader(std::string_view text) : text_(text), rest_(text) {}

  Term whole() {
    Term out = term();
    STRATA_CHECK(rest_.empty(), "rule '{}': nothing may follow behind '{}'", text_, rest_);
    return out;
  }

 private:
  Term term() {
    const std::string word = this->word();
    STRATA_CHECK(!word.empty(), "rule '{}': a letter, a number or an operation is missing", text_);
    if (word == "true" || word == "false")
      return {Term::Kind::number, word, word == "true" ? 1.0 : 0.0, true};
    if (std::isdigit(static_cast<unsigned char>(word.back())))
      return {Term::Kind::number, word, std::strtod(word.c_str(), nullptr)};
    if (!take('(')) {
      STRATA_CHECK(word.size() == 1, "rule '{}': '{}' is no letter", text_, word);
      return {Term::Kind::variable, word};
    }
    Term out{Term::Kind::operation, word};
    out.info = &op::def(word.find('.') == std::string::npos ? "stablehlo." + word : word).info;
    do out.operands.push_back(term());
    while (take(','));
    STRATA_CHECK(take(')'), "rule '{}': a bracket is not closed", text_);
    return out;
  }

  std::string word() {
    skip_spaces();
    std::size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) ||
                                rest_[n] == '_' || rest_[n] == '.' || rest_[n] == '-'))
      ++n;
    std::string out(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return out;
  }
  bool take(char c) {
    skip_spaces();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_spaces() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }

  std::string_view text_, rest_;
};

struct ParsedRule {
  Term find, replace;
  Elements elements;
};

/// The rules by the outermost operation that they look for, each list in the table's order.
const std::unordered_map<const ir::OpInfo*, std::vector<ParsedRule>>& rules_by_operation() {
  static const auto table = [] {
    std::unordered_map<const ir::OpInfo*, std::vector<ParsedRule>> out;  // lookup only
    for (const AlgebraicRule& rule : kRules) {
      Term find = parse_term(rule.find);
      STRATA_CHECK(find.kind == Term::Kind::operation, "rule '{}' finds no operation", rule.find);
      const ir::OpInfo* of = find.info;
      out[of].push_back({std::move(find), parse_term(rule.replace), rule.elements});
    }
    return out;
  }();
  return table;
}

// ---- finding -----------------------------------------------------------------------------------

/// What letters and numbers of a rule stand for.
class Bindings {
 public:
  ir::Value* find(const std::string& text) const {
    for (const auto& [name, v] : bound_)
      if (name == text) return v;
    return nullptr;
  }
  /// Whether the letter may stand for the value.
  bool bind(const std::string& text, ir::Value* v) {
    if (ir::Value* before = find(text)) return before == v;
    bound_.emplace_back(text, v);
    return true;
  }
  /// The first constant stands for all of the same number.
  void note(const std::string& text, ir::Value* v) {
    if (!find(text)) bound_.emplace_back(text, v);
  }

 private:
  std::vector<std::pair<std::string, ir::Value*>> bound_;
};

bool matches(const Term& term, ir::Value* v, Bindings& bindings);

bool operands_match(const Term& term, const ir::Op& op, bool swapped, Bindings& bindings) {
  Bindings tried = bindings;
  const std::size_t n = op.operands.size();
  for (std::size_t i = 0; i < n; ++i)
    if (!matches(term.operands[i], op.operands[swapped ? n - 1 - i : i], tried)) return false;
  bindings = std::move(tried);
  return true;
}

bool matches(const Term& term, const ir::Op& op, Bindings& bindings) {
  if (&op.info() != term.info || op.operands.size() != term.operands.size()) return false;
  // The constant of a rule stands last: one that is the first operand is found first.
  if (op.operands.size() == 2 && op::def(op).traits.commutative &&
      operands_match(term, op, true, bindings))
    return true;
  return operands_match(term, op, false, bindings);
}

bool matches(const Term& term, ir::Value* v, Bindings& bindings) {
  switch (term.kind) {
    case Term::Kind::variable: return bindings.bind(term.text, v);
    case Term::Kind::number:
      if (term.boolean ? !is_bool_splat(v, term.number != 0) : !is_splat(v, term.number))
        return false;
      bindings.note(term.text, v);
      return true;
    case Term::Kind::operation: return v->op() && matches(term, *v->op(), bindings);
  }
  return false;
}

// ---- replacing ---------------------------------------------------------------------------------

ir::Value* built(ir::Builder& b, const Term& term, const Type& type, const Bindings& bindings) {
  if (ir::Value* v = bindings.find(term.text)) return v;
  if (term.kind == Term::Kind::number) return op::constant(b, type, term.number);
  STRATA_CHECK(term.kind == Term::Kind::operation, "a rule's left side has no '{}'", term.text);
  ir::Values operands;
  for (const Term& operand : term.operands) operands.push_back(built(b, operand, type, bindings));
  return b.create(*term.info, std::move(operands)).result();
}

}  // namespace

bool is_among(Elements elements, DType dtype) {
  switch (elements) {
    case Elements::any: return true;
    case Elements::floats: return is_float(dtype);
    case Elements::integers: return is_integer(dtype);
    case Elements::booleans: return is_bool(dtype);
    case Elements::numbers: return is_float(dtype) || is_integer(dtype);
  }
  return false;
}

std::span<const AlgebraicRule> algebraic_rules() { return kRules; }

Term parse_term(const char* text) { return TermReader(text).whole(); }

ir::Value* by_algebra(ir::Builder& b, const ir::Op& op) {
  auto rules = rules_by_operation().find(&op.info());
  if (rules == rules_by_operation().end()) return nullptr;
  const Type& type = op.result()->type();
  for (const ParsedRule& rule : rules->second) {
    Bindings bindings;
    if (!is_among(rule.elements, type.dtype()) || !matches(rule.find, op, bindings)) continue;
    ir::Value* v = built(b, rule.replace, type, bindings);
    if (v->type() == type) return v;
  }
  return nullptr;
}

}  // namespace strata::pass
