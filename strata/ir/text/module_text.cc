// Modules and functions, as TextParser reads them.
#include "strata/base/error.h"
#include "strata/ir/declaration.h"
#include "strata/ir/text/dims_text.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

/// ": () -> ()", which closes the generic form of what has neither operands nor results.
void no_types(Cursor& c, const char* what) {
  c.expect(":");
  std::size_t where = c.offset();
  bool operands = !parse_type_list(c).empty();
  c.expect("->");
  if (!parse_result_types(c).empty() || operands)
    c.fail_at(where, fmt::format("{} has neither operands nor results", what));
}

}  // namespace

std::unique_ptr<Module> TextParser::module() {
  auto out = std::make_unique<Module>();
  while (looking_at_alias()) alias_line();
  std::size_t start = offset();
  if (consume("module") || consume("builtin.module")) {
    nested_module(*out);
  } else if (looking_at("\"builtin.module\"")) {
    generic_module(*out);
  } else {
    module_body(*out, false);
  }
  skip_location();
  while (looking_at_alias() || looking_at("{-#"))
    looking_at_alias() ? alias_line() : skip_resources();
  bool again = looking_at("module") || looking_at("func.func") || looking_at("builtin.module");
  if (again && start != offset())
    fail(
        "a module is followed by another; programs of one file are told apart by lines `// -----`");
  if (!at_end()) fail("expected the end of the text");
  return out;
}

Module& TextParser::inner_module(Module& around) {
  around.modules.push_back(std::make_unique<Module>());
  around.modules.back()->functions_before = around.functions.size();
  return *around.modules.back();
}

/// After the word: [@name] [attributes {...}] { ... }
void TextParser::nested_module(Module& module) {
  std::size_t where = offset();
  if (peek() == '@') module.name = symbol();
  name_module(module, where);
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
  symbols_.emplace_back();
  while (!at_end() && peek() != '}' && !looking_at("{-#")) {
    module_item(module);
    skip_location();
  }
  symbols_.pop_back();
  if (until_brace && at_end()) fail("expected '}}'");
}

/// Its name is a symbol of the module around.
void TextParser::name_module(const Module& module, std::size_t where) {
  if (!module.name.empty() && !symbols_.empty() && !symbols_.back().insert(module.name).second)
    fail_at(where, fmt::format("module @{} twice", module.name));
}

void TextParser::module_item(Module& module) {
  if (looking_at_alias()) return alias_line();
  std::size_t where = offset();
  if (consume("func.func") || consume("func")) return function(module);
  if (looking_at("\"func.func\"")) return generic_function(module);
  if (consume("sdy.mesh")) return mesh(module);
  if (consume("\"sdy.mesh\"")) return generic_mesh(module);
  if (consume("module") || consume("builtin.module")) return nested_module(inner_module(module));
  if (looking_at("\"builtin.module\"")) return generic_module(inner_module(module));
  bool is_quoted = peek() == '"';
  std::string name = is_quoted ? string() : std::string(try_word());
  if (is_upstream(name))
    fail_at(where, fmt::format("operation {} is not supported", name), Code::unsupported);
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
  add_mesh(module,
           {std::move(name), std::move(text), rest.attrs.empty() ? "" : attrs_text(rest.attrs)});
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
  no_types(*this, "a mesh");
  skip_location();
  constexpr std::string_view prefix = "#sdy.mesh";
  const Attr *name = head.attrs.find("sym_name"), *mesh = head.attrs.find("mesh");
  const std::string* word = name == nullptr ? nullptr : std::get_if<std::string>(name);
  const Opaque* value = mesh == nullptr ? nullptr : std::get_if<Opaque>(mesh);
  if (word == nullptr || value == nullptr || value->text.substr(0, prefix.size()) != prefix)
    fail_at(where, "sdy.mesh requires sym_name and mesh");
  add_mesh(module, {*word, value->text.substr(prefix.size()),
                    rest.attrs.empty() ? "" : attrs_text(rest.attrs)});
}

bool TextParser::looking_at_alias() { return peek() == '#' || peek() == '!'; }

/// #name = attribute, or !name = type.
void TextParser::alias_line() {
  if (consume("!")) {
    const std::size_t where = offset();
    const std::string_view name = suffix("the name of a type alias");
    expect("=");
    if (!types_.add_alias(name, parse_alias(*this)))
      fail_at(where, fmt::format("type alias !{} twice", name));
    return;
  }
  expect("#");
  std::string name(suffix("the name of an alias"));
  expect("=");
  if (looking_at("loc"))
    skip_location();
  else
    aliases_.insert_or_assign(name, attribute());
}

/// {-# dialect_resources: {...} #-}: read where a constant asks for it.
void TextParser::skip_resources() {
  std::size_t start = offset();
  std::size_t end = text().find("#-}", start);
  if (end == std::string_view::npos) fail("'{{-#' without its '#-}}'");
  seek(end + 3);
}

// ---- functions ---------------------------------------------------------------------------------

std::string TextParser::symbol() {
  expect("@");
  if (next_char() == '"') return string();
  return std::string(suffix("a symbol"));
}

Function& TextParser::new_function(Module& module, std::string name, std::size_t where) {
  module.functions.push_back(std::make_unique<Function>(std::move(name)));
  Function& f = *module.functions.back();
  if (!symbols_.back().insert(f.name).second)
    fail_at(where, fmt::format("function @{} twice", f.name));
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
  if (!named)
    fail_at(where, fmt::format("function @{} has a body, but its arguments have no names", f.name));
  std::size_t body_at = offset();
  expect("{");
  body(f, body_at, types);
}

/// After "{" and what names the arguments: "... }" whose results must be those that the function
/// declares.
void TextParser::body(Function& f, std::size_t where, const std::vector<Type>& stated) {
  block_until_brace(f.body, false);
  skip_location();
  if (!same_text(f.body.result_types(), stated))
    fail_at(where,
            fmt::format("function @{} returns {}, but is declared to return {}", f.name,
                        result_types_text(f.body.result_types()), result_types_text(stated)));
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
    if (named) define(name, f.body.arguments().back().get(), 1, where);
    skip_location();
  } while (consume(","));
  expect(")");
}

void TextParser::argument(Function& f, Type type, Attrs attrs) {
  take_dims(*f.body.add_argument(std::move(type)), attrs);
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

// ---- the generic form of modules and functions -------------------------------------------------

/// "builtin.module"() <{sym_name = "m"}> ({ ... }) {attributes} : () -> ()
void TextParser::generic_module(Module& module) {
  std::size_t where = offset();
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
  no_types(*this, "a module");
  if (const Attr* name = head.attrs.find("sym_name"))
    if (const std::string* text = std::get_if<std::string>(name)) {
      module.name = *text;
      name_module(module, where);
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
std::vector<Attrs> attr_list(TextParser& p, const Attr* attr, std::size_t count,
                             std::string_view name, std::size_t where) {
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
  if (out.size() != count)
    p.fail_at(where, fmt::format("'{}' has {} entries for {} values", name, out.size(), count));
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
  if (name == nullptr || function_type == nullptr)
    fail_at(where, "a function requires sym_name and function_type");
  Cursor c(function_type->text, limits());
  std::vector<Type> taken = parse_type_list(c);
  c.expect("->");
  std::vector<Type> returned = parse_result_types(c);
  Function& f = new_function(module, *name, where);
  set_visibility(f, visibility == nullptr ? "" : std::string_view(*visibility));
  std::vector<Attrs> arg_attrs =
      attr_list(*this, head.attrs.find("arg_attrs"), taken.size(), "arg_attrs", where);
  f.result_attrs =
      attr_list(*this, head.attrs.find("res_attrs"), returned.size(), "res_attrs", where);
  for (const char* own : {"sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs"})
    head.attrs.erase(own);
  expect("(");
  OpenScope scope(*this, true);
  std::size_t body_at = offset();
  expect("{");
  if (consume("}")) {
    for (std::size_t i = 0; i < taken.size(); ++i) argument(f, taken[i], std::move(arg_attrs[i]));
    expect(")");
    attributes(head);
    no_types(*this, "a function's definition");
    f.attrs = std::move(head.attrs);
    return declare(f, returned);
  }
  if (peek() == '^') block_header(f.body);
  if (std::vector<Type> types = types_of(f.body.argument_values()); types != taken)
    fail_at(where, fmt::format("function @{} takes {}, but its type says {}", f.name,
                               type_list_text(types), type_list_text(taken)));
  for (std::size_t i = 0; i < taken.size();
       ++i) {  // before the body: its results take the names of dimensions
    take_dims(*f.body.argument(static_cast<int>(i)), arg_attrs[i]);
    f.arg_attrs.push_back(std::move(arg_attrs[i]));
  }
  body(f, body_at, returned);
  expect(")");
  attributes(head);
  no_types(*this, "a function's definition");
  f.attrs = std::move(head.attrs);
}

}  // namespace strata::ir
