#include "strata/ir/text/parser.h"

#include <algorithm>
#include <array>

#include "strata/base/error.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

constexpr std::array<std::string_view, 3> kReturns = {"return", "func.return", "stablehlo.return"};

/// Dialects that jaxlib's text may hold: an unknown operation of theirs is unsupported, any other is a mistake.
bool is_upstream(std::string_view name) {
  constexpr std::array<std::string_view, 13> dialects = {"stablehlo.", "chlo.", "func.", "check.", "sdy.", "mhlo.", "shape.", "tensor.", "arith.", "vhlo.", "interpreter.", "mpmd.", "builtin."};
  return std::any_of(dialects.begin(), dialects.end(), [&](std::string_view d) { return name.substr(0, d.size()) == d; });
}

std::vector<std::size_t> line_starts(std::string_view text) {
  std::vector<std::size_t> out{0};
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') out.push_back(i + 1);
  return out;
}

std::string place(std::string_view filename, const std::vector<std::size_t>& lines, std::size_t offset) {
  auto line = std::upper_bound(lines.begin(), lines.end(), offset) - lines.begin();
  return fmt::format("{}:{}:{}", filename, line, offset - lines[static_cast<std::size_t>(line - 1)] + 1);
}

}  // namespace

namespace {

/// Equal as far as text says: a dimension's symbol stands in an attribute, its type shows '?'.
bool same_text(const Type& a, const Type& b) { return a == b || a.to_string() == b.to_string(); }
bool same_text(const std::vector<Type>& a, const std::vector<Type>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Type& x, const Type& y) { return same_text(x, y); });
}

bool is_symbolic(const Type& t) {
  return std::any_of(t.shape().dims().begin(), t.shape().dims().end(), [](const Dim& d) { return d.is_symbolic(); });
}

/// `strata.dims = ["B", ""]` names the '?' of an argument.
Type with_symbols(Type type, const Strings& symbols) {
  std::vector<Dim> dims = type.shape().dims();
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!symbols[i].empty() && !dims[i].is_static() && !dims[i].is_bounded()) dims[i] = Dim::symbolic(symbols[i]);
  return type.with(Shape(std::move(dims)));
}

/// Text has no symbols inside a function: results take those that the operation infers.
void refine_symbols(Op& op) {
  if (!op.info().infer || std::none_of(op.operands.begin(), op.operands.end(), [](const Value* v) { return is_symbolic(v->type()); })) return;
  try {
    std::vector<Type> inferred = op.info().infer(op.operands, op.attrs, op.regions);
    for (int i = 0; i < op.num_results() && i < static_cast<int>(inferred.size()); ++i)
      if (same_text(op.result(i)->type(), inferred[static_cast<std::size_t>(i)])) op.result(i)->set_type(inferred[static_cast<std::size_t>(i)]);
  } catch (const std::exception&) {  // the verifier says what is wrong, with its place
  }
}

}  // namespace

/// Names defined while it lives are forgotten at its end.
class TextParser::OpenScope {
 public:
  OpenScope(TextParser& p, bool isolated) : p_(p), nesting_(p) {
    p_.scopes_.emplace_back();
    p_.scopes_.back().isolated = isolated;
  }
  ~OpenScope() { p_.scopes_.pop_back(); }

 private:
  TextParser& p_;
  Nesting nesting_;
};

TextParser::TextParser(std::string_view text, std::string_view filename, const ParseOptions& options)
    : Cursor(text, options.limits), registry_(options.registry != nullptr ? *options.registry : Registry::global()), filename_(filename), lines_(line_starts(text)) {}

Location TextParser::location(std::size_t offset) const { return Location(place(filename_, lines_, offset)); }

// ---- module and functions ---------------------------------------------------------------------------------------

std::unique_ptr<Module> TextParser::module() {
  auto out = std::make_unique<Module>();
  while (peek() == '#') alias_line();
  bool wrapped = consume("module") || consume("builtin.module");
  if (wrapped) {
    if (peek() == '@') out->name = symbol();
    if (consume("attributes")) {
      expect("{");
      out->attrs = parse_attr_entries(*this, aliases_);
    }
    expect("{");
  }
  while (!at_end() && peek() != '}') {
    if (peek() == '#') alias_line();
    else function(*out);
  }
  if (wrapped) expect("}");
  skip_location();
  while (peek() == '#') alias_line();
  if (!at_end()) fail("expected the end of the text");
  return out;
}

void TextParser::alias_line() {
  expect("#");
  std::string name(suffix("the name of an alias"));
  expect("=");
  if (looking_at("loc")) skip_location();
  else aliases_.insert_or_assign(name, attribute());
}

std::string TextParser::symbol() {
  expect("@");
  if (text().substr(offset(), 1) == "\"") return string();
  return std::string(suffix("a symbol"));
}

void TextParser::function(Module& module) {
  std::size_t where = offset();
  if (!consume("func.func") && !consume("func")) {
    if (std::string_view name = try_word(); is_upstream(name)) fail_at(where, fmt::format("operation {} is not supported", name), Code::unsupported);
    fail_at(where, "expected a function");
  }
  bool visible = consume("public"), hidden = !visible && consume("private");
  if (consume("nested")) fail_at(where, "nested visibility is not supported", Code::unsupported);
  std::size_t name_at = offset();
  std::string name = symbol();
  if (module.find(name) != nullptr) fail_at(name_at, fmt::format("function @{} twice", name));
  Function& f = module.add(name);
  f.is_public = !hidden;
  f.has_visibility = visible || hidden;
  OpenScope scope(*this, true);
  arguments(f);
  std::vector<Type> types;
  if (consume("->")) results(f, types);
  f.result_attrs.resize(types.size());
  if (consume("attributes")) {
    expect("{");
    f.attrs = parse_attr_entries(*this, aliases_);
  }
  if (peek() != '{') fail_at(where, fmt::format("function @{} has no body, which is not supported", name), Code::unsupported);
  std::size_t body_at = offset();
  expect("{");
  block_until_brace(f.body, false);
  skip_location();
  if (!same_text(f.body.result_types(), types))
    fail_at(body_at, fmt::format("function @{} returns {}, but is declared to return {}", name, result_types_text(f.body.result_types()), result_types_text(types)));
}

void TextParser::arguments(Function& f) {
  expect("(");
  if (consume(")")) return;
  do {
    if (peek() != '%') fail_at(offset(), fmt::format("function @{} has no body, which is not supported", f.name), looking_at_type(*this) ? Code::unsupported : Code::invalid);
    std::string name = value_name();
    expect(":");
    define(name, {f.body.add_argument(parse_type(*this))});
    Attrs attrs = consume("{") ? parse_attr_entries(*this, aliases_) : Attrs{};
    Value* argument = f.body.arguments().back().get();
    const Attr* dims = attrs.find("strata.dims");
    const Strings* symbols = dims == nullptr ? nullptr : std::get_if<Strings>(dims);
    if (symbols != nullptr && static_cast<int>(symbols->size()) == argument->rank()) {
      argument->set_type(with_symbols(argument->type(), *symbols));
      attrs.erase("strata.dims");
    }
    f.arg_attrs.push_back(std::move(attrs));
    skip_location();
  } while (consume(","));
  expect(")");
}

void TextParser::results(Function& f, std::vector<Type>& types) {
  if (!consume("(")) {
    types.push_back(parse_type(*this));
    return;
  }
  if (consume(")")) return;
  do {
    types.push_back(parse_type(*this));
    f.result_attrs.push_back(consume("{") ? parse_attr_entries(*this, aliases_) : Attrs{});
    skip_location();
  } while (consume(","));
  expect(")");
}

// ---- blocks -----------------------------------------------------------------------------------------------------

/// Operations, a return, the closing brace.
void TextParser::block_until_brace(Block& block, bool takes_header) {
  if (takes_header && peek() == '^') block_header(block);
  while (peek() != '}') {
    if (at_end()) fail("expected '}}'");
    if (terminator(block)) {
      skip_location();
      if (peek() == '^') fail_at(offset(), "regions of several blocks are not supported", Code::unsupported);
      expect("}");
      return;
    }
    operation(block);
  }
  if (!block.ops().empty() || takes_header || scopes_.size() > 1) fail("a block ends without a return");
  fail("a function ends without a return");
}

void TextParser::block_header(Block& block) {
  expect("^");
  suffix("the name of a block");
  if (consume("(") && !consume(")")) {
    do {
      std::string name = value_name();
      expect(":");
      define(name, {block.add_argument(parse_type(*this))});
      skip_location();
    } while (consume(","));
    expect(")");
  }
  expect(":");
}

bool TextParser::terminator(Block& block) {
  bool quoted_name = consume("\"func.return\"") || consume("\"stablehlo.return\"");
  if (!quoted_name && std::none_of(kReturns.begin(), kReturns.end(), [&](std::string_view r) { return consume(r); })) return false;
  if (quoted_name) expect("(");
  block.results = operands();
  if (quoted_name) expect(")");
  Draft ignored;
  if (peek() == '{') attributes(ignored);
  std::vector<Type> types;
  if (consume(":")) {
    if (quoted_name) {
      types = parse_type_list(*this);
      expect("->");
      parse_type_list(*this);
    } else {
      do types.push_back(parse_type(*this));
      while (consume(","));
    }
  }
  if (!same_text(types, block.result_types())) fail("returned values are {}, but stated to be {}", type_list_text(block.result_types()), type_list_text(types));
  return true;
}

std::unique_ptr<Block> TextParser::region(const std::vector<Argument>& arguments) {
  auto block = std::make_unique<Block>();
  OpenScope scope(*this, false);
  for (const Argument& a : arguments) define(a.name, {block->add_argument(a.type)});
  expect("{");
  block_until_brace(*block, false);
  return block;
}

std::unique_ptr<Block> TextParser::generic_region(bool isolated) {
  auto block = std::make_unique<Block>();
  OpenScope scope(*this, isolated);
  expect("{");
  block_until_brace(*block, true);
  return block;
}

// ---- values -----------------------------------------------------------------------------------------------------

std::string TextParser::value_name() {
  if (peek() != '%') fail("expected a value");
  expect("%");
  return std::string(suffix("the name of a value"));
}

void TextParser::define(const std::string& name, Values values) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (scope->values.count(name) != 0) fail("value %{} is defined twice", name);
    if (scope->isolated) break;
  }
  scopes_.back().values.emplace(name, std::move(values));
}

Value* TextParser::operand() {
  std::size_t where = offset();
  std::string name = value_name();
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (auto it = scope->values.find(name); it != scope->values.end()) {
      std::int64_t index = 0;
      bool numbered = text().substr(offset(), 1) == "#" && consume("#");
      if (numbered) index = integer();
      if (index < 0 || index >= static_cast<std::int64_t>(it->second.size())) fail_at(where, fmt::format("value %{} has no result {}", name, index));
      return it->second[static_cast<std::size_t>(index)];
    }
    if (scope->isolated) break;
  }
  fail_at(where, fmt::format("value %{} is not defined", name));
}

Values TextParser::operands() {
  Values out;
  if (peek() != '%') return out;
  do out.push_back(operand());
  while (consume(","));
  return out;
}

// ---- operations -------------------------------------------------------------------------------------------------

std::vector<TextParser::ResultName> TextParser::result_names() {
  std::vector<ResultName> out;
  if (peek() != '%') return out;
  do {
    ResultName r{value_name(), 1};
    if (consume(":")) {
      std::int64_t count = integer();
      if (count < 1 || count > 1 << 20) fail("a value of {} results", count);
      r.count = static_cast<int>(count);
    }
    out.push_back(std::move(r));
  } while (consume(","));
  expect("=");
  return out;
}

const OpInfo& TextParser::info(std::string_view name, std::size_t where) {
  std::string full(name == "call" ? "func.call" : name);
  if (const OpInfo* found = registry_.find(full)) return *found;
  std::size_t end = std::min(text().find('\n', where), text().size());
  std::string_view line = text().substr(where, std::min<std::size_t>(end - where, 4000));
  std::size_t colon = line.rfind(" : ");
  std::string types = colon == std::string_view::npos || line.find("->", colon) == std::string_view::npos ? "" : " on " + std::string(line.substr(colon + 3, 200));
  if (!is_upstream(full)) fail_at(where, fmt::format("'{}' is no operation", full));
  fail_at(where, fmt::format("operation {} is not supported{}", full, types), Code::unsupported);
}

void TextParser::operation(Block& block) {
  std::size_t names_at = offset();
  std::vector<ResultName> names = result_names();
  std::size_t where = offset();
  Draft draft;
  bool is_generic = peek() == '"';
  std::string name = is_generic ? string() : std::string(word("an operation"));
  draft.info = &info(name, where);
  std::size_t enclosing = std::exchange(op_at_, where);
  if (is_generic) generic(draft);
  else short_form(draft);
  op_at_ = where;
  skip_location();
  if (draft.info->text != nullptr && draft.info->text->from_generic != nullptr) draft.info->text->from_generic(*this, draft);
  add_op(block, std::move(draft), names, names_at);
  op_at_ = enclosing;
}

void TextParser::add_op(Block& block, Draft draft, const std::vector<ResultName>& names, std::size_t where) {
  std::size_t stated = 0;
  for (const ResultName& n : names) stated += static_cast<std::size_t>(n.count);
  if (stated != draft.results.size() && !names.empty())
    fail_at(where, fmt::format("{} has {} results, but {} are named", draft.info->name, draft.results.size(), stated));
  auto made = std::make_unique<Op>(*draft.info, std::move(draft.operands), std::move(draft.attrs), std::move(draft.regions), std::move(draft.results), location(op_at_));
  Op& op = *block.append(std::move(made));
  refine_symbols(op);
  int next = 0;
  for (const ResultName& n : names) {
    Values group;
    for (int i = 0; i < n.count; ++i) group.push_back(op.result(next++));
    define(n.name, std::move(group));
  }
}

void TextParser::short_form(Draft& draft) {
  const TextFormat* format = draft.info->text;
  if (format == nullptr || format->parse == nullptr) fail("{} is written in the generic form", draft.info->name);
  format->parse(*this, draft);
}

/// (%a, %b) <{...}> ({...}, {...}) {...} : (T, T) -> T
void TextParser::generic(Draft& draft) {
  expect("(");
  draft.operands = operands();
  expect(")");
  if (peek() == '[') fail_at(offset(), "successor blocks are not supported", Code::unsupported);
  if (consume("<")) {
    attributes(draft);
    expect(">");
  }
  if (consume("(")) {
    if (!consume(")")) {
      do draft.regions.push_back(generic_region(draft.info->isolated));
      while (consume(","));
      expect(")");
    }
  }
  attributes(draft);
  functional_type(draft);
}

void TextParser::attributes(Draft& draft) {
  if (!consume("{")) return;
  std::size_t where = offset();
  for (const auto& [key, value] : parse_attr_entries(*this, aliases_)) {
    if (draft.attrs.has(key)) fail_at(where, fmt::format("attribute '{}' twice", key));
    draft.attrs.set(key, value);
  }
}

Ints TextParser::ints() {
  Ints out;
  expect("[");
  if (consume("]")) return out;
  do out.push_back(integer());
  while (consume(","));
  expect("]");
  return out;
}

void TextParser::operand_types(const Draft& draft, const std::vector<Type>& stated, std::size_t where) {
  if (stated.size() != draft.operands.size())
    fail_at(where, fmt::format("{} has {} operands, but {} types are given", draft.info->name, draft.operands.size(), stated.size()));
  for (std::size_t i = 0; i < stated.size(); ++i)
    if (!same_text(draft.operands[i]->type(), stated[i]))
      fail_at(where, fmt::format("operand {} of {} is {}, but stated to be {}", i, draft.info->name, draft.operands[i]->type().to_string(), stated[i].to_string()));
}

void TextParser::functional_type(Draft& draft) {
  expect(":");
  std::size_t where = offset();
  operand_types(draft, parse_type_list(*this), where);
  expect("->");
  draft.results = parse_result_types(*this);
}

void TextParser::same_or_functional_type(Draft& draft) {
  std::size_t colon = offset();
  expect(":");
  if (peek() == '(') {
    seek(colon);
    return functional_type(draft);
  }
  std::size_t where = offset();
  Type type = parse_type(*this);
  operand_types(draft, std::vector<Type>(draft.operands.size(), type), where);
  draft.results = {type};
}

Result<std::unique_ptr<Module>> parse(std::string_view text, std::string_view filename, const ParseOptions& options) {
  TextParser parser(text, filename, options);
  try {
    return parser.module();
  } catch (const SyntaxError& e) {
    return Status(e.code, "{}: {}", place(filename, line_starts(text), std::min(e.offset, text.size())), e.message);
  } catch (const Error& e) {
    return Status(Code::invalid, "{}: {}", place(filename, line_starts(text), parser.op_offset()), e.what());
  }
}

}  // namespace strata::ir
