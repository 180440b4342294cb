#include "strata/ir/text/parser.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "strata/base/error.h"
#include "strata/ir/declaration.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

constexpr std::array<std::string_view, 3> kReturns = {"return", "func.return", "stablehlo.return"};

/// Dialects that jaxlib's text may hold: an unknown operation of theirs is unsupported, any other is a mistake.
bool is_upstream(std::string_view name) {
  constexpr std::array<std::string_view, 13> dialects = {"stablehlo.", "chlo.", "func.", "check.", "sdy.", "mhlo.", "shape.", "tensor.", "arith.", "vhlo.", "interpreter.", "mpmd.", "builtin."};
  return std::any_of(dialects.begin(), dialects.end(), [&](std::string_view d) { return name.substr(0, d.size()) == d; });
}

std::string place(std::string_view filename, std::string_view text, int first_line, std::size_t offset) {
  std::string_view before = text.substr(0, std::min(offset, text.size()));
  std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("{}:{}:{}", filename, first_line + std::count(before.begin(), before.end(), '\n'), before.size() - line_start + 1);
}

}  // namespace

namespace {

bool is_symbolic(const Type& t) {
  return std::any_of(t.shape().dims().begin(), t.shape().dims().end(), [](const Dim& d) { return d.is_symbolic(); });
}

/// Equal as far as text says: a dimension's symbol stands in an attribute, its type shows '?'.
bool same_text(const Type& a, const Type& b) { return a == b || ((is_symbolic(a) || is_symbolic(b)) && a.to_string() == b.to_string()); }
bool same_text(const std::vector<Type>& a, const std::vector<Type>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Type& x, const Type& y) { return same_text(x, y); });
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
  OpenScope(TextParser& p, bool isolated) : p_(p), nesting_(p) { p_.values_.open(isolated); }
  ~OpenScope() { p_.values_.close(); }

 private:
  TextParser& p_;
  Nesting nesting_;
};

TextParser::TextParser(std::string_view text, std::string_view filename, const ParseOptions& options)
    : Cursor(text, options.limits),
      registry_(options.registry != nullptr ? *options.registry : Registry::global()),
      filename_(std::make_shared<const std::string>(filename)),
      line_(static_cast<std::uint32_t>(options.first_line)) {
  set_types(&types_);
}

/// Places are asked for from the front to the back, but for the operations around a region.
Location TextParser::location(std::size_t offset) {
  std::string_view t = text();
  if (offset >= line_at_) {
    for (const char *p = t.data() + line_at_, *end = t.data() + offset; (p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)))) != nullptr;) {
      ++line_;
      line_start_ = static_cast<std::size_t>(++p - t.data());
    }
    line_at_ = offset;
    return Location(fmt::format("{}:{}:{}", *filename_, line_, offset - line_start_ + 1));
  }
  std::string_view between = t.substr(offset, line_at_ - offset);
  std::size_t start = t.substr(0, offset).rfind('\n') + 1;
  return Location(fmt::format("{}:{}:{}", *filename_, line_ - std::count(between.begin(), between.end(), '\n'), offset - start + 1));
}

// ---- modules ----------------------------------------------------------------------------------------------------

std::unique_ptr<Module> TextParser::module() {
  auto out = std::make_unique<Module>();
  while (peek() == '#') alias_line();
  function_names_.emplace_back();
  std::size_t start = offset();
  if (consume("module") || consume("builtin.module")) {
    nested_module(*out);
  } else if (looking_at("\"builtin.module\"")) {
    generic_module(*out);
  } else {
    module_body(*out, false);
  }
  skip_location();
  while (peek() == '#' || looking_at("{-#")) peek() == '#' ? alias_line() : skip_resources();
  bool again = looking_at("module") || looking_at("func.func") || looking_at("builtin.module");
  if (again && start != offset()) fail("a module is followed by another; programs of one file are told apart by lines `// -----`");
  if (!at_end()) fail("expected the end of the text");
  return out;
}

/// After the word: [@name] [attributes {...}] { ... }
void TextParser::nested_module(Module& module) {
  if (peek() == '@') module.name = symbol();
  if (consume("attributes")) {
    expect("{");
    module.attrs = parse_attr_entries(*this, aliases_);
  }
  expect("{");
  module_body(module, true);
  expect("}");
}

void TextParser::module_body(Module& module, bool until_brace) {
  Nesting nesting(*this);
  while (!at_end() && peek() != '}' && !looking_at("{-#")) module_item(module);
  if (until_brace && at_end()) fail("expected '}}'");
}

void TextParser::module_item(Module& module) {
  if (peek() == '#') return alias_line();
  std::size_t where = offset();
  if (consume("func.func") || consume("func")) return function(module);
  if (looking_at("\"func.func\"")) return generic_function(module);
  if (consume("sdy.mesh")) return mesh(module);
  if (consume("\"sdy.mesh\"")) return generic_mesh(module);
  if (looking_at("module") || looking_at("builtin.module") || looking_at("\"builtin.module\"")) fail_at(where, "modules in modules are not supported", Code::unsupported);
  bool is_quoted = peek() == '"';
  std::string name = is_quoted ? string() : std::string(try_word());
  if (is_upstream(name)) fail_at(where, fmt::format("operation {} is not supported", name), Code::unsupported);
  fail_at(where, "expected a function");
}

/// sdy.mesh @name = <["x"=2, "y"=4]> {attributes}
void TextParser::mesh(Module& module) {
  std::size_t where = offset();
  std::string name = symbol();
  for (const Mesh& m : meshes(module))
    if (m.name == name) fail_at(where, fmt::format("mesh @{} twice", name));
  expect("=");
  expect("<");
  std::string text = fmt::format("<{}>", balanced('<', '>'));
  Draft rest;
  attributes(rest);
  skip_location();
  add_mesh(module, {std::move(name), std::move(text), rest.attrs.empty() ? "" : attrs_text(rest.attrs)});
}

/// "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> {attributes} : () -> ()
void TextParser::generic_mesh(Module& module) {
  std::size_t where = offset();
  expect("(");
  expect(")");
  Draft head;
  expect("<");
  attributes(head);
  expect(">");
  Draft rest;
  attributes(rest);
  functional_type(head);
  skip_location();
  constexpr std::string_view prefix = "#sdy.mesh";
  const Attr *name = head.attrs.find("sym_name"), *mesh = head.attrs.find("mesh");
  const std::string* word = name == nullptr ? nullptr : std::get_if<std::string>(name);
  const Opaque* value = mesh == nullptr ? nullptr : std::get_if<Opaque>(mesh);
  if (word == nullptr || value == nullptr || value->text.substr(0, prefix.size()) != prefix) fail_at(where, "sdy.mesh requires sym_name and mesh");
  add_mesh(module, {*word, value->text.substr(prefix.size()), rest.attrs.empty() ? "" : attrs_text(rest.attrs)});
}

void TextParser::alias_line() {
  expect("#");
  std::string name(suffix("the name of an alias"));
  expect("=");
  if (looking_at("loc")) skip_location();
  else aliases_.insert_or_assign(name, attribute());
}

/// {-# dialect_resources: {...} #-}: read where a constant asks for it.
void TextParser::skip_resources() {
  std::size_t start = offset();
  std::size_t end = text().find("#-}", start);
  if (end == std::string_view::npos) fail("'{{-#' without its '#-}}'");
  seek(end + 3);
}

// ---- functions --------------------------------------------------------------------------------------------------

std::string TextParser::symbol() {
  expect("@");
  if (next_char() == '"') return string();
  return std::string(suffix("a symbol"));
}

Function& TextParser::new_function(Module& module, std::string name, std::size_t where) {
  module.functions.push_back(std::make_unique<Function>(std::move(name)));
  Function& f = *module.functions.back();
  if (!function_names_.back().insert(f.name).second) fail_at(where, fmt::format("function @{} twice", f.name));
  return f;
}

void TextParser::set_visibility(Function& f, std::string_view word) {
  f.is_public = word != "private" && word != "nested";
  if (word == "nested") fail("nested visibility is not supported");
  f.has_visibility = !word.empty();
}

void TextParser::function(Module& module) {
  std::size_t where = offset();
  std::string_view visibility;
  for (std::string_view word : {"public", "private", "nested"})
    if (visibility.empty() && consume(word)) visibility = word;
  std::size_t name_at = offset();
  Function& f = new_function(module, symbol(), name_at);
  set_visibility(f, visibility);
  OpenScope scope(*this, true);
  bool named = true;
  arguments(f, named);
  std::vector<Type> types;
  if (consume("->")) results(f, types);
  f.result_attrs.resize(types.size());
  if (consume("attributes")) {
    expect("{");
    f.attrs = parse_attr_entries(*this, aliases_);
  }
  if (peek() != '{' || looking_at("{-#")) {
    declare(f, types);
    skip_location();
    return;
  }
  if (!named) fail_at(where, fmt::format("function @{} has a body, but its arguments have no names", f.name));
  std::size_t body_at = offset();
  body(f, body_at, false, types);
}

/// "{ ... }" whose results must be those that the function declares.
void TextParser::body(Function& f, std::size_t where, bool takes_header, const std::vector<Type>& stated) {
  expect("{");
  block_until_brace(f.body, takes_header);
  skip_location();
  if (!same_text(f.body.result_types(), stated))
    fail_at(where, fmt::format("function @{} returns {}, but is declared to return {}", f.name, result_types_text(f.body.result_types()), result_types_text(stated)));
}

/// (%a: T {...}, %b: T), or types alone where no body follows.
void TextParser::arguments(Function& f, bool& named) {
  expect("(");
  if (consume(")")) return;
  named = peek() == '%';
  do {
    std::string_view name;
    std::size_t where = offset();
    if (named) {
      name = value_name();
      expect(":");
    }
    Type type = parse_type(*this);
    argument(f, std::move(type), consume("{") ? parse_attr_entries(*this, aliases_) : Attrs{});
    if (named) define(name, f.body.arguments().back().get(), nullptr, 1, where);
    skip_location();
  } while (consume(","));
  expect(")");
}

void TextParser::argument(Function& f, Type type, Attrs attrs) {
  Value* argument = f.body.add_argument(std::move(type));
  const Attr* dims = attrs.find("strata.dims");
  const Strings* symbols = dims == nullptr ? nullptr : std::get_if<Strings>(dims);
  if (symbols != nullptr && static_cast<int>(symbols->size()) == argument->rank()) {
    argument->set_type(with_symbols(argument->type(), *symbols));
    attrs.erase("strata.dims");
  }
  f.arg_attrs.push_back(std::move(attrs));
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

// ---- the generic form of modules and functions --------------------------------------------------------------------

/// "builtin.module"() <{sym_name = "m"}> ({ ... }) {attributes} : () -> ()
void TextParser::generic_module(Module& module) {
  expect("\"builtin.module\"");
  expect("(");
  expect(")");
  Draft head;
  if (consume("<")) {
    attributes(head);
    expect(">");
  }
  expect("(");
  expect("{");
  if (peek() == '^') {
    Block none;
    block_header(none);
  }
  module_body(module, true);
  expect("}");
  expect(")");
  attributes(head);
  functional_type(head);
  if (const Attr* name = head.attrs.find("sym_name"))
    if (const std::string* text = std::get_if<std::string>(name)) {
      module.name = *text;
      head.attrs.erase("sym_name");
    }
  for (const auto& [key, value] : head.attrs) module.attrs.set(key, value);  // beside its meshes
}

namespace {

std::vector<Type> types_of(const Values& values) {
  std::vector<Type> out;
  for (const Value* v : values) out.push_back(v->type());
  return out;
}

/// "[{}, {a = 1}]" as attributes by position.
std::vector<Attrs> attr_list(TextParser& p, const Attr* attr, std::size_t count, std::string_view name, std::size_t where) {
  std::vector<Attrs> out(attr == nullptr ? count : 0);
  if (attr == nullptr) return out;
  const Opaque* list = std::get_if<Opaque>(attr);
  if (list == nullptr) p.fail_at(where, fmt::format("'{}' is no list of attributes", name));
  Cursor c(list->text, p.limits());
  try {
    c.expect("[");
    if (!c.consume("]")) {
      do {
        c.expect("{");
        out.push_back(parse_attr_entries(c, {}));
      } while (c.consume(","));
      c.expect("]");
    }
  } catch (const SyntaxError& e) {
    p.fail_at(where, fmt::format("'{}': {}", name, e.message));
  }
  if (out.size() != count) p.fail_at(where, fmt::format("'{}' has {} entries for {} values", name, out.size(), count));
  return out;
}

}  // namespace

/// "func.func"() <{function_type = (T) -> T, sym_name = "f"}> ({ ^bb0(%a: T): ... }) : () -> ()
void TextParser::generic_function(Module& module) {
  std::size_t where = offset();
  expect("\"func.func\"");
  expect("(");
  expect(")");
  Draft head;
  expect("<");
  attributes(head);
  expect(">");
  auto text_of = [&](const char* name) -> const std::string* {
    const Attr* a = head.attrs.find(name);
    return a == nullptr ? nullptr : std::get_if<std::string>(a);
  };
  const std::string *name = text_of("sym_name"), *visibility = text_of("sym_visibility");
  const Attr* type = head.attrs.find("function_type");
  const Opaque* function_type = type == nullptr ? nullptr : std::get_if<Opaque>(type);
  if (name == nullptr || function_type == nullptr) fail_at(where, "a function requires sym_name and function_type");
  Cursor c(function_type->text, limits());
  std::vector<Type> taken = parse_type_list(c);
  c.expect("->");
  std::vector<Type> returned = parse_result_types(c);
  Function& f = new_function(module, *name, where);
  set_visibility(f, visibility == nullptr ? "" : std::string_view(*visibility));
  std::vector<Attrs> arg_attrs = attr_list(*this, head.attrs.find("arg_attrs"), taken.size(), "arg_attrs", where);
  f.result_attrs = attr_list(*this, head.attrs.find("res_attrs"), returned.size(), "res_attrs", where);
  for (const char* own : {"sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs"}) head.attrs.erase(own);
  expect("(");
  OpenScope scope(*this, true);
  std::size_t body_at = offset();
  expect("{");
  if (consume("}")) {
    for (std::size_t i = 0; i < taken.size(); ++i) argument(f, taken[i], std::move(arg_attrs[i]));
    expect(")");
    attributes(head);
    functional_type(head);
    f.attrs = std::move(head.attrs);
    return declare(f, returned);
  }
  seek(body_at);
  body(f, body_at, true, returned);
  if (std::vector<Type> types = types_of(f.body.argument_values()); !same_text(types, taken))
    fail_at(where, fmt::format("function @{} takes {}, but its type says {}", f.name, type_list_text(types), type_list_text(taken)));
  for (std::size_t i = 0; i < taken.size(); ++i) {
    Attrs attrs = std::move(arg_attrs[i]);
    const Attr* dims = attrs.find("strata.dims");
    const Strings* symbols = dims == nullptr ? nullptr : std::get_if<Strings>(dims);
    Value* v = f.body.argument(static_cast<int>(i));
    if (symbols != nullptr && static_cast<int>(symbols->size()) == v->rank()) {
      v->set_type(with_symbols(v->type(), *symbols));
      attrs.erase("strata.dims");
    }
    f.arg_attrs.push_back(std::move(attrs));
  }
  expect(")");
  attributes(head);
  functional_type(head);
  f.attrs = std::move(head.attrs);
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
  fail("a {} ends without a return", values_.level() > 1 ? "block" : "function");
}

void TextParser::block_header(Block& block) {
  expect("^");
  suffix("the name of a block");
  if (consume("(") && !consume(")")) {
    do {
      std::size_t where = offset();
      std::string_view name = value_name();
      expect(":");
      define(name, block.add_argument(parse_type(*this)), nullptr, 1, where);
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
  for (const Argument& a : arguments) define(a.name, block->add_argument(a.type), nullptr, 1, offset());
  expect("{");
  block_until_brace(*block, false);
  return block;
}

std::unique_ptr<Block> TextParser::region_with_arguments(bool isolated) {
  auto block = std::make_unique<Block>();
  OpenScope scope(*this, isolated);
  expect("{");
  block_until_brace(*block, true);
  return block;
}

// ---- values -----------------------------------------------------------------------------------------------------

std::string_view TextParser::value_name() {
  if (peek() != '%') fail("expected a value");
  seek(offset() + 1);
  return suffix("the name of a value");
}

void TextParser::define(std::string_view name, Value* value, Op* op, int count, std::size_t where) {
  int first = op == nullptr ? 0 : value->index();
  if (!values_.define({.name = name, .value = value, .op = op, .first = first, .count = count})) fail_at(where, fmt::format("value %{} is defined twice", name));
}

Value* TextParser::operand() {
  std::size_t where = offset();
  std::string_view name = value_name();
  const ValueTable::Entry* found = values_.find(name);
  if (found == nullptr) fail_at(where, fmt::format("value %{} is not defined", name));
  std::int64_t index = 0;
  if (next_char() == '#') {
    expect("#");
    index = integer();
  }
  if (index < 0 || index >= found->count) fail_at(where, fmt::format("value %{} has no result {}", name, index));
  return found->at(index);
}

Values TextParser::operands() {
  Values out;
  if (peek() != '%') return out;
  do out.push_back(operand());
  while (consume(","));
  return out;
}

// ---- operations -------------------------------------------------------------------------------------------------

void TextParser::result_names(std::vector<ResultName>& out) {
  if (peek() != '%') return;
  do {
    ResultName r{value_name(), 1};
    if (consume(":")) {
      std::int64_t count = integer();
      if (count < 1 || count > 1 << 20) fail("a value of {} results", count);
      r.count = static_cast<int>(count);
    }
    out.push_back(r);
  } while (consume(","));
  expect("=");
}

const OpInfo& TextParser::info(std::string_view name, std::size_t where) {
  std::string_view full = name == "call" ? "func.call" : name;
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
  std::vector<ResultName> names = std::exchange(names_, {});
  names.clear();
  result_names(names);
  std::size_t where = offset();
  Draft draft;
  bool is_generic = peek() == '"';
  std::string_view name = is_generic ? raw_string() : word("an operation");
  auto known = infos_.find(name);
  if (known == infos_.end()) known = infos_.emplace(name, &info(name, where)).first;
  draft.info = known->second;
  std::size_t enclosing = std::exchange(op_at_, where);
  if (is_generic) generic_form(draft);
  else short_form(draft);
  op_at_ = where;
  skip_location();
  if (draft.info->text != nullptr && draft.info->text->from_generic != nullptr) draft.info->text->from_generic(*this, draft);
  add_op(block, std::move(draft), names, names_at);
  op_at_ = enclosing;
  names_ = std::move(names);
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
    define(n.name, op.result(next), &op, n.count, where);
    next += n.count;
  }
}

void TextParser::short_form(Draft& draft) {
  const TextFormat* format = draft.info->text;
  if (format == nullptr || format->parse == nullptr) fail("{} is written in the generic form", draft.info->name);
  format->parse(*this, draft);
}

/// (%a, %b) <{...}> ({...}, {...}) {...} : (T, T) -> T
void TextParser::generic_form(Draft& draft) {
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
      do draft.regions.push_back(region_with_arguments(draft.info->isolated));
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

std::vector<TextPart> split_parts(std::string_view text) {
  constexpr std::string_view mark = "// -----";
  std::vector<TextPart> out{{text, 1}};
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    if (text.substr(at, mark.size()) == mark) {
      std::size_t begin = static_cast<std::size_t>(out.back().text.data() - text.data());
      out.back().text = text.substr(begin, at - begin);
      out.push_back({text.substr(std::min(end + 1, text.size())), line + 1});
    }
    at = end + 1;
    ++line;
  }
  return out;
}

Result<std::unique_ptr<Module>> parse(std::string_view text, std::string_view filename, const ParseOptions& options) {
  TextParser parser(text, filename, options);
  try {
    return parser.module();
  } catch (const SyntaxError& e) {
    return Status(e.code, "{}: {}", place(filename, text, options.first_line, e.offset), e.message);
  } catch (const Error& e) {
    return Status(Code::invalid, "{}: {}", place(filename, text, options.first_line, parser.op_offset()), e.what());
  }
}

}  // namespace strata::ir
