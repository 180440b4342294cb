#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "strata/tokenizer/chat_template/lexer.h"
#include "strata/tokenizer/chat_template/syntax.h"

namespace strata::tokenizer::jinja {
namespace {

using Kind = Token::Kind;
using E = Expression::Kind;

constexpr int kMostDeep = 64;

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Body whole() {
    Body out = body({});
    if (now().kind != Kind::end) error("unexpected tag");
    return out;
  }

 private:
  /// Counts how deep statements and expressions stand in each other.
  struct Deeper {
    explicit Deeper(Parser& parser) : p(parser) {
      if (++p.depth_ > 4 * kMostDeep) p.error("nested too deep");
    }
    ~Deeper() { --p.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Parser& p;
  };

  const Token& now() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is(std::string_view symbol) const {
    return now().kind == Kind::symbol && now().text == symbol;
  }
  bool is_name(std::string_view name) const {
    return now().kind == Kind::name && now().text == name;
  }
  bool skip(std::string_view symbol) { return is(symbol) && (take(), true); }
  bool skip_name(std::string_view name) { return is_name(name) && (take(), true); }
  [[noreturn]] void error(const std::string& message) const {
    throw TemplateError{message, now().line};
  }
  std::string described() const {
    switch (now().kind) {
      case Kind::end: return "the end of the template";
      case Kind::block_end: return "the end of the tag";
      case Kind::variable_end: return "'}}'";
      case Kind::data: return "text";
      default: return "'" + now().text + "'";
    }
  }
  void expect(std::string_view symbol) {
    if (!skip(symbol)) error(fmt::format("expected '{}', got {}", symbol, described()));
  }
  std::string name() {
    if (now().kind != Kind::name) error(fmt::format("expected a name, got {}", described()));
    return take().text;
  }
  void end_of_tag() {
    if (now().kind != Kind::block_end)
      error(fmt::format("expected the end of the tag, got {}", described()));
    take();
  }

  std::unique_ptr<Statement> statement(Statement::Kind kind) const {
    auto s = std::make_unique<Statement>();
    s->kind = kind, s->line = now().line;
    return s;
  }
  ExpressionPtr expression_of(E kind, std::vector<ExpressionPtr> parts = {}) const {
    auto e = std::make_unique<Expression>();
    e->kind = kind, e->line = now().line, e->parts = std::move(parts);
    return e;
  }
  template <class... P>
  ExpressionPtr of(E kind, P... parts) const {
    ExpressionPtr e = expression_of(kind);
    (e->parts.push_back(std::move(parts)), ...);
    return e;
  }

  // Statements.

  /// Up to a tag that begins with one of `ends`, whose name is next then.
  Body body(const std::vector<std::string_view>& ends) {
    const Deeper deeper(*this);
    Body out;
    while (now().kind != Kind::end) {
      if (now().kind == Kind::data) {
        auto s = statement(Statement::Kind::data);
        s->text = take().text;
        out.push_back(std::move(s));
      } else if (now().kind == Kind::variable_begin) {
        take();
        auto s = statement(Statement::Kind::output);
        s->expression = tuple(true);
        if (now().kind != Kind::variable_end)
          error(fmt::format("expected '}}}}', got {}", described()));
        take();
        out.push_back(std::move(s));
      } else {
        take();  // block_begin
        if (now().kind == Kind::name &&
            std::find(ends.begin(), ends.end(), now().text) != ends.end())
          return out;
        out.push_back(tag());
      }
    }
    if (!ends.empty()) error(fmt::format("the template ends before {{% {} %}}", ends.back()));
    return out;
  }
  /// body, and its end tag.
  Body closed(std::string_view end) {
    end_of_tag();
    Body out = body({end});
    take();
    end_of_tag();
    return out;
  }

  std::unique_ptr<Statement> tag() {
    const int line = now().line;
    const std::string kind = name();
    auto s = kind == "if"           ? condition()
             : kind == "for"        ? loop()
             : kind == "set"        ? assignment()
             : kind == "macro"      ? macro()
             : kind == "call"       ? call_block()
             : kind == "filter"     ? filter_block()
             : kind == "with"       ? scope()
             : kind == "generation" ? generation()
             : kind == "break"      ? alone(Statement::Kind::leave)
             : kind == "continue"   ? alone(Statement::Kind::next)
                                    : nullptr;
    if (s == nullptr) {
      static constexpr std::array<std::string_view, 6> kForbidden = {"include", "import", "from",
                                                                     "extends", "block",  "do"};
      const bool forbidden =
          std::find(kForbidden.begin(), kForbidden.end(), kind) != kForbidden.end();
      throw TemplateError{forbidden
                              ? fmt::format("{{% {} %}} is not allowed in a chat template", kind)
                              : fmt::format("unknown tag {{% {} %}}", kind),
                          line};
    }
    s->line = line;
    return s;
  }
  std::unique_ptr<Statement> alone(Statement::Kind kind) {
    if (loops_ == 0) error("break and continue stand in a loop");
    auto s = statement(kind);
    end_of_tag();
    return s;
  }
  std::unique_ptr<Statement> condition() {
    auto s = statement(Statement::Kind::condition);
    while (true) {
      ExpressionPtr test = tuple(false);
      end_of_tag();
      Body inside = body({"elif", "else", "endif"});
      s->branches.emplace_back(std::move(test), std::move(inside));
      const std::string next = take().text;
      if (next == "elif") continue;
      end_of_tag();
      if (next == "else") {
        s->alternative = body({"endif"});
        take();
        end_of_tag();
      }
      return s;
    }
  }
  std::unique_ptr<Statement> loop() {
    auto s = statement(Statement::Kind::loop);
    s->target = target("in");
    if (!skip_name("in")) error(fmt::format("expected 'in', got {}", described()));
    s->expression = tuple(false);
    if (skip_name("if")) s->test = expression();
    s->is_recursive = skip_name("recursive");
    end_of_tag();
    ++loops_;
    s->body = body({"endfor", "else"});
    --loops_;
    if (take().text == "else") {
      s->has_alternative = true;
      end_of_tag();
      s->alternative = body({"endfor"});
      take();
    }
    end_of_tag();
    return s;
  }
  Target single_target() {
    if (skip("(")) {
      Target t = target(")");
      expect(")");
      return t;
    }
    Target t{.name = name(), .attribute = {}, .parts = {}};
    static constexpr std::array<std::string_view, 9> kConstants = {
        "true", "false", "none", "True", "False", "None", "not", "and", "or"};
    if (std::find(kConstants.begin(), kConstants.end(), t.name) != kConstants.end())
      error(fmt::format("cannot assign to '{}'", t.name));
    return t;
  }
  Target target(std::string_view end) {
    Target first = single_target();
    if (!is(",")) return first;
    Target all;
    all.parts.push_back(std::move(first));
    while (skip(",")) {
      if (is(end) || is_name(end) || is("=")) break;
      all.parts.push_back(single_target());
    }
    return all;
  }
  std::unique_ptr<Statement> assignment() {
    auto s = statement(Statement::Kind::assignment);
    if (now().kind == Kind::name && ahead().kind == Kind::symbol && ahead().text == ".") {
      s->target.name = take().text;
      take();
      s->target.attribute = name();
    } else {
      s->target = target("=");
    }
    if (skip("=")) {
      s->expression = tuple(true);
      end_of_tag();
      return s;
    }
    s->kind = Statement::Kind::capture;
    if (is("|")) s->expression = filters(nullptr, true);
    s->body = closed("endset");
    return s;
  }
  std::vector<Parameter> parameters() {
    std::vector<Parameter> out;
    expect("(");
    while (!is(")")) {
      if (!out.empty()) expect(",");
      if (is(")")) break;
      Parameter p{name(), nullptr};
      if (skip("="))
        p.value = expression();
      else if (!out.empty() && out.back().value != nullptr)
        error("a parameter without a default follows one with a default");
      out.push_back(std::move(p));
    }
    expect(")");
    return out;
  }
  std::unique_ptr<Statement> macro() {
    auto s = statement(Statement::Kind::macro);
    s->text = name();
    s->parameters = parameters();
    s->body = outside_of_loops([&] { return closed("endmacro"); });
    return s;
  }
  template <class F>
  Body outside_of_loops(F f) {
    const int loops = std::exchange(loops_, 0);
    Body out = f();
    loops_ = loops;
    return out;
  }
  std::unique_ptr<Statement> call_block() {
    auto s = statement(Statement::Kind::call_block);
    if (is("(")) s->parameters = parameters();
    s->expression = expression();
    if (s->expression->kind != E::call) error("{% call %} needs a call");
    s->body = outside_of_loops([&] { return closed("endcall"); });
    return s;
  }
  std::unique_ptr<Statement> filter_block() {
    auto s = statement(Statement::Kind::filter);
    s->expression = filters(nullptr, false);
    s->body = outside_of_loops([&] { return closed("endfilter"); });
    return s;
  }
  std::unique_ptr<Statement> generation() {
    auto s = statement(Statement::Kind::generation);
    s->body = outside_of_loops([&] { return closed("endgeneration"); });
    return s;
  }
  std::unique_ptr<Statement> scope() {
    auto s = statement(Statement::Kind::scope);
    while (now().kind != Kind::block_end) {
      if (!s->assignments.empty()) expect(",");
      Target t = single_target();
      expect("=");
      s->assignments.emplace_back(std::move(t), expression());
    }
    s->body = closed("endwith");
    return s;
  }

  // Expressions, from what binds least.

  /// One expression, or several with commas between as a tuple.
  ExpressionPtr tuple(bool conditional_parts) {
    const auto one = [&] { return conditional_parts ? expression() : either(); };
    ExpressionPtr first = one();
    if (!is(",")) return first;
    ExpressionPtr all = of(E::tuple, std::move(first));
    while (skip(",")) {
      if (now().kind == Kind::variable_end || now().kind == Kind::block_end || is(")")) break;
      all->parts.push_back(one());
    }
    return all;
  }
  ExpressionPtr expression() {
    const Deeper deeper(*this);
    ExpressionPtr e = either();
    while (skip_name("if")) {
      ExpressionPtr test = either();
      ExpressionPtr other = skip_name("else") ? expression() : nullptr;
      e = of(E::conditional, std::move(e), std::move(test), std::move(other));
    }
    return e;
  }
  ExpressionPtr either() {
    ExpressionPtr e = both();
    while (skip_name("or")) e = of(E::either, std::move(e), both());
    return e;
  }
  ExpressionPtr both() {
    ExpressionPtr e = negated();
    while (skip_name("and")) e = of(E::both, std::move(e), negated());
    return e;
  }
  ExpressionPtr negated() {
    const Deeper deeper(*this);
    if (skip_name("not")) return of(E::negated, negated());
    return comparison();
  }
  ExpressionPtr comparison() {
    ExpressionPtr first = sum();
    ExpressionPtr all;
    while (true) {
      std::string op;
      if (now().kind == Kind::symbol &&
          (is("==") || is("!=") || is("<") || is(">") || is("<=") || is(">=")))
        op = take().text;
      else if (skip_name("in"))
        op = "in";
      else if (is_name("not") && ahead().kind == Kind::name && ahead().text == "in")
        take(), take(), op = "not in";
      else
        break;
      if (all == nullptr) all = of(E::comparison, std::move(first));
      all->operators.push_back(op);
      all->parts.push_back(sum());
    }
    return all != nullptr ? std::move(all) : std::move(first);
  }
  template <class F>
  ExpressionPtr chain(F next, std::initializer_list<std::string_view> operators) {
    ExpressionPtr e = next();
    while (true) {
      const auto op = std::find_if(operators.begin(), operators.end(),
                                   [&](std::string_view s) { return is(s); });
      if (op == operators.end()) return e;
      take();
      e = of(E::binary, std::move(e), next());
      e->text = *op;
    }
  }
  ExpressionPtr sum() {
    return chain([&] { return concatenation(); }, {"+", "-"});
  }
  ExpressionPtr concatenation() {
    ExpressionPtr e = product();
    if (!is("~")) return e;
    ExpressionPtr all = of(E::concatenation, std::move(e));
    while (skip("~")) all->parts.push_back(product());
    return all;
  }
  ExpressionPtr product() {
    return chain([&] { return power(); }, {"*", "//", "/", "%"});
  }
  ExpressionPtr power() {
    return chain([&] { return unary(true); }, {"**"});
  }
  ExpressionPtr unary(bool with_filters) {
    const Deeper deeper(*this);
    ExpressionPtr e;
    if (is("-") || is("+")) {
      const std::string op = take().text;
      e = of(E::unary, unary(false));
      e->text = op;
    } else {
      e = postfix(primary());
    }
    return with_filters ? filters(std::move(e), true) : std::move(e);
  }
  ExpressionPtr primary() {
    ExpressionPtr e = expression_of(E::constant);
    const Token t = now();
    switch (t.kind) {
      case Kind::integer:
        take();
        e->value = static_cast<std::int64_t>(std::stoll(t.text));
        return e;
      case Kind::number:
        take();
        e->value = std::strtod(t.text.c_str(), nullptr);
        return e;
      case Kind::string: {
        std::string text;
        while (now().kind == Kind::string) text += take().text;
        e->value = Text(text);
        return e;
      }
      case Kind::name:
        take();
        if (t.text == "true" || t.text == "True")
          e->value = true;
        else if (t.text == "false" || t.text == "False")
          e->value = false;
        else if (t.text == "none" || t.text == "None")
          e->value = None();
        else
          e->kind = E::name, e->text = t.text;
        return e;
      default: break;
    }
    if (skip("(")) {
      if (skip(")")) return expression_of(E::tuple);
      ExpressionPtr inside = tuple(true);
      expect(")");
      return inside;
    }
    if (skip("[")) {
      e->kind = E::list;
      while (!is("]")) {
        if (!e->parts.empty()) expect(",");
        if (is("]")) break;
        e->parts.push_back(expression());
      }
      expect("]");
      return e;
    }
    if (skip("{")) {
      e->kind = E::dict;
      while (!is("}")) {
        if (!e->parts.empty()) expect(",");
        if (is("}")) break;
        e->parts.push_back(expression());
        expect(":");
        e->parts.push_back(expression());
      }
      expect("}");
      return e;
    }
    error(fmt::format("expected an expression, got {}", described()));
  }
  ExpressionPtr postfix(ExpressionPtr e) {
    for (int count = 0;; ++count) {
      if (count > 4 * kMostDeep) error("nested too deep");
      if (skip(".")) {
        if (now().kind == Kind::integer) {
          ExpressionPtr index = expression_of(E::constant);
          index->value = static_cast<std::int64_t>(std::stoll(take().text));
          e = of(E::item, std::move(e), std::move(index));
        } else {
          e = of(E::attribute, std::move(e));
          e->text = name();
        }
      } else if (skip("[")) {
        e = subscript(std::move(e));
      } else if (is("(")) {
        e = of(E::call, std::move(e));
        e->arguments = arguments();
      } else {
        return e;
      }
    }
  }
  ExpressionPtr subscript(ExpressionPtr of_what) {
    std::vector<ExpressionPtr> parts(1);
    bool is_slice = false;
    if (!is(":")) parts[0] = expression();
    while (skip(":")) {
      is_slice = true;
      if (parts.size() == 3) error("a slice has three parts at most");
      parts.push_back(is(":") || is("]") ? nullptr : expression());
    }
    expect("]");
    if (!is_slice) return of(E::item, std::move(of_what), std::move(parts[0]));
    parts.resize(3);
    parts.insert(parts.begin(), std::move(of_what));
    return expression_of(E::slice, std::move(parts));
  }
  CallArguments arguments() {
    CallArguments out;
    expect("(");
    bool first = true;
    while (!is(")")) {
      if (!std::exchange(first, false)) expect(",");
      if (is(")")) break;
      if (skip("**")) {
        out.double_star = expression();
      } else if (skip("*")) {
        out.star = expression();
      } else if (now().kind == Kind::name && ahead().kind == Kind::symbol && ahead().text == "=") {
        std::string key = take().text;
        take();
        out.named.emplace_back(std::move(key), expression());
      } else {
        if (!out.named.empty()) error("an argument without a name follows one with a name");
        out.positional.push_back(expression());
      }
    }
    expect(")");
    return out;
  }
  std::string dotted() {
    std::string out = name();
    while (skip(".")) out += "." + name();
    return out;
  }
  /// The filters, tests and calls behind an expression; of a block where it is null.
  ExpressionPtr filters(ExpressionPtr e, bool begins_with_bar) {
    bool inline_filter = !begins_with_bar;
    for (int count = 0;; ++count) {
      if (count > 4 * kMostDeep) error("nested too deep");
      if (inline_filter || skip("|")) {
        inline_filter = false;
        e = of(E::filter, std::move(e));
        e->text = dotted();
        if (is("(")) e->arguments = arguments();
      } else if (e != nullptr && e->kind != E::filter && is("(")) {
        e = of(E::call, std::move(e));
        e->arguments = arguments();
      } else if (e != nullptr && skip_name("is")) {
        const bool no = skip_name("not");
        e = of(E::test, std::move(e));
        e->text = dotted();
        if (is("(")) {
          e->arguments = arguments();
        } else if (begins_argument()) {
          if (is_name("is")) error("tests cannot follow each other");
          e->arguments.positional.push_back(postfix(primary()));
        }
        if (no) e = of(E::negated, std::move(e));
      } else {
        return e;
      }
    }
  }
  bool begins_argument() const {
    switch (now().kind) {
      case Kind::name:
        return now().text != "else" && now().text != "or" && now().text != "and" &&
               now().text != "if" && now().text != "in" && now().text != "not" &&
               now().text != "recursive";
      case Kind::string:
      case Kind::integer:
      case Kind::number: return true;
      default: return is("(") || is("[") || is("{");
    }
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0, loops_ = 0;
};

}  // namespace

Body parse(std::string_view text) { return Parser(lex(text)).whole(); }

}  // namespace strata::tokenizer::jinja
