#include "strata/ir/text/printer.h"

#include <fmt/format.h>

#include <algorithm>

#include "strata/ir/declaration.h"
#include "strata/ir/text/attr_text.h"
#include "strata/ir/text/dims_text.h"
#include "strata/ir/text/literal_text.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

std::vector<Type> types_of(const Values& values) {
  std::vector<Type> out;
  for (const Value* v : values) out.push_back(v->type());
  return out;
}

/// MLIR keeps an operation's own attributes (properties) apart from those of other dialects, whose
/// names have a dot.
bool is_foreign(const std::string& name) { return name.find('.') != std::string::npos; }

constexpr std::string_view kFunctionReturn = "func.return";

/// Shardy's regions end by a return of its own, all others by StableHLO's.
std::string_view terminator_of(const Op& op) {
  return op.name().substr(0, 4) == "sdy." ? "sdy.return" : "stablehlo.return";
}

std::string join(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

// ---- module and functions ----------------------------------------------------------------------

TextPrinter::TextPrinter(const PrintOptions& options)
    : options_(options), names_([this](const Op& op) { return printed_regions(op); }) {}

void TextPrinter::module(const Module& m) {
  if (options_.generic) names_.generic(m);
  nested_module(m);
  out_ += "\n";
}

void TextPrinter::nested_module(const Module& m) {
  if (options_.generic) {
    out_ += "\"builtin.module\"()";
    if (!m.name.empty()) out_ += " <{sym_name = " + quoted(m.name) + "}>";
    out_ += " ({";
    if (m.functions.empty() && m.modules.empty() &&
        meshes(m).empty()) {  // as upstream marks a block without operations
      newline();
      out_ += "^bb0:";
    }
    module_items(m);
    out_ += "})";
    if (Attrs attrs = text_attributes(m); !attrs.empty()) out_ += " " + attrs_text(attrs);
    out_ += " : () -> ()";
    return;
  }
  out_ += "module";
  if (!m.name.empty()) out_ += " " + symbol_text(m.name);
  if (Attrs attrs = text_attributes(m); !attrs.empty()) out_ += " attributes " + attrs_text(attrs);
  out_ += " {";
  module_items(m);
  out_ += "}";
}

void TextPrinter::module_items(const Module& m) {
  ++indent_;
  for (const Mesh& mesh : meshes(m)) {
    newline();
    std::string attributes = mesh.attributes.empty() ? "" : " " + mesh.attributes;
    if (options_.generic)
      out_ += "\"sdy.mesh\"() <{mesh = #sdy.mesh" + mesh.text +
              ", sym_name = " + quoted(mesh.name) + "}>" + attributes + " : () -> ()";
    else
      out_ += "sdy.mesh " + symbol_text(mesh.name) + " = " + mesh.text + attributes;
  }
  auto inner = m.modules.begin();
  for (std::size_t i = 0; i <= m.functions.size(); ++i) {
    for (; inner != m.modules.end() && ((*inner)->functions_before <= i || i == m.functions.size());
         ++inner) {
      newline();
      nested_module(**inner);
    }
    if (i == m.functions.size()) break;
    newline();
    function(*m.functions[i]);
  }
  --indent_;
  newline();
}

void TextPrinter::function(const Function& f) {
  if (options_.generic) return generic_function(f);
  forms_.clear();
  names_.function(f.body);
  out_ += "func.func ";
  if (f.has_visibility || !f.is_public) out_ += f.is_public ? "public " : "private ";
  signature(f);
  if (Attrs attrs = text_attributes(f); !attrs.empty()) out_ += " attributes " + attrs_text(attrs);
  if (is_declaration(f)) return;
  out_ += " {";
  ++indent_;
  block(f.body, kFunctionReturn);
  --indent_;
  newline();
  out_ += "}";
}

Attrs TextPrinter::argument_attributes(const Function& f, int i) const {
  auto n = static_cast<std::size_t>(i);
  return with_dims(f.body.argument(i)->type(), n < f.arg_attrs.size() ? f.arg_attrs[n] : Attrs{});
}

/// @f(%arg0: T {...}) -> (T {...})
void TextPrinter::signature(const Function& f) {
  out_ += symbol_text(f.name) + "(";
  for (int i = 0; i < f.body.num_arguments(); ++i) {
    if (i > 0) out_ += ", ";
    if (!is_declaration(f)) out_ += name(f.body.argument(i)) + ": ";
    out_ += f.body.argument(i)->type().to_string();
    if (Attrs attrs = argument_attributes(f, i); !attrs.empty()) out_ += " " + attrs_text(attrs);
  }
  out_ += ")";
  std::vector<Type> types = result_types(f);
  bool bare = types.size() == 1 && !types[0].is_tuple() &&
              std::all_of(f.result_attrs.begin(), f.result_attrs.end(),
                          [](const Attrs& a) { return a.empty(); });
  std::vector<std::string> results;
  for (std::size_t i = 0; i < types.size(); ++i)
    results.push_back(types[i].to_string() +
                      (i < f.result_attrs.size() && !f.result_attrs[i].empty()
                           ? " " + attrs_text(f.result_attrs[i])
                           : ""));
  if (!types.empty()) out_ += " -> " + (bare ? results[0] : "(" + join(results) + ")");
}

/// "func.func"() <{function_type = (T) -> T, sym_name = "f"}> ({ ... }) : () -> ()
void TextPrinter::generic_function(const Function& f) {
  auto list = [](const std::vector<Attrs>& all) {
    std::string text;
    for (const Attrs& a : all) text += (text.empty() ? "" : ", ") + attrs_text(a);
    return Opaque{"[" + text + "]"};
  };
  auto any = [](const std::vector<Attrs>& all) {
    return std::any_of(all.begin(), all.end(), [](const Attrs& a) { return !a.empty(); });
  };
  std::vector<Attrs> arguments;
  for (int i = 0; i < f.body.num_arguments(); ++i) arguments.push_back(argument_attributes(f, i));
  Attrs own;
  own.set("function_type", Opaque{type_list_text(types_of(f.body.argument_values())) + " -> " +
                                  result_types_text(result_types(f))});
  own.set("sym_name", f.name);
  if (f.has_visibility || !f.is_public)
    own.set("sym_visibility", std::string(f.is_public ? "public" : "private"));
  if (any(arguments)) own.set("arg_attrs", list(arguments));
  if (any(f.result_attrs)) own.set("res_attrs", list(f.result_attrs));
  out_ += "\"func.func\"() <" + attrs_text(own) + "> (";
  if (is_declaration(f)) {
    out_ += "{";
    newline();
    out_ += "}";
  } else {
    region_with_arguments(f.body, kFunctionReturn);
  }
  out_ += ")";
  if (Attrs attrs = text_attributes(f); !attrs.empty()) out_ += " " + attrs_text(attrs);
  out_ += " : () -> ()";
}

// ---- blocks and operations ---------------------------------------------------------------------

void TextPrinter::newline() {
  out_ += '\n';
  out_.append(static_cast<std::size_t>(indent_) * 2, ' ');
}

void TextPrinter::block(const Block& b, std::string_view terminator) {
  bool in_function = terminator == kFunctionReturn;
  for (const auto& o : b.ops()) {
    newline();
    op(*o, in_function);
  }
  newline();
  std::vector<std::string> values;
  for (const Value* v : b.results) values.push_back(name(v));
  if (options_.generic) {
    out_ += fmt::format("\"{}\"({}) : {} -> ()", terminator, join(values),
                        type_list_text(b.result_types()));
    return;
  }
  out_ += in_function ? "return" : terminator;
  if (!values.empty())
    out_ += " " + join(values) + " : " + types(b.results);
  else if (!in_function)
    out_ += " ";  // as upstream's declarative format does
}

void TextPrinter::region(const Block& b, std::string_view terminator) {
  out_ += "{";
  ++indent_;
  block(b, terminator);
  --indent_;
  newline();
  out_ += "}";
}

void TextPrinter::region_with_arguments(const Block& b, std::string_view terminator) {
  out_ += "{";
  if (b.num_arguments() > 0) {
    newline();
    out_ += "^bb0(";
    for (int i = 0; i < b.num_arguments(); ++i) {
      if (i > 0) out_ += ", ";
      out_ += "%";
      names_.append(b.argument(i), out_);
      out_ += ": " + b.argument(i)->type().to_string();
    }
    out_ += "):";
  }
  ++indent_;
  block(b, terminator);
  --indent_;
  newline();
  out_ += "}";
}

void TextPrinter::op(const Op& o, bool in_function) {
  names_.append_defined(o, out_);
  const TextFormat* format = o.info().text;
  if (options_.generic || format == nullptr || format->print == nullptr) {
    out_ += "\"" + o.name() + "\"";
    return generic_form(o);
  }
  bool in_func_dialect = in_function && o.name().substr(0, 5) ==
                                            "func.";  // functions let their own dialect be left out
  out_ += in_func_dialect ? o.name().substr(5) : o.name();
  format->print(*this, o);
}

void TextPrinter::generic_form(const Op& o) {
  const GenericForm& f = form(o);
  out_ += "(";
  operands(o);
  out_ += ")";
  Attrs own, foreign;
  for (const auto& [key, value] : f.attrs) (is_foreign(key) ? foreign : own).set(key, value);
  if (!own.empty()) out_ += " <" + attrs_text(own) + ">";
  for (std::size_t i = 0; i < f.regions.size(); ++i) {
    out_ += i == 0 ? " (" : ", ";
    region_with_arguments(*f.regions[i], terminator_of(o));
  }
  if (!f.regions.empty()) out_ += ")";
  if (!foreign.empty()) out_ += " " + attrs_text(foreign);
  functional_type(o);
}

/// The generic form is made once per operation: names are given to the blocks that it makes. Not
/// for one that has none of its own and a short form: that shows no blocks.
GenericForm& TextPrinter::form(const Op& o) {
  if (auto it = forms_.find(&o); it != forms_.end()) return it->second;
  const TextFormat* format = o.info().text;
  GenericForm made;
  if (format != nullptr && format->to_generic != nullptr) {
    made = format->to_generic(o);
  } else {
    made.attrs = o.attrs;
    for (const auto& r : o.regions) made.regions.push_back(r.get());
  }
  return forms_.emplace(&o, std::move(made)).first->second;
}

std::vector<const Block*> TextPrinter::printed_regions(const Op& o) {
  const TextFormat* format = o.info().text;
  bool is_short = !options_.generic && format != nullptr && format->print != nullptr;
  if (o.regions.empty() && (is_short || format == nullptr || format->to_generic == nullptr))
    return {};
  return form(o).regions;
}

// ---- pieces ------------------------------------------------------------------------------------

void TextPrinter::dense(const Literal& value) {
  out_ += " ";
  append_dense(value, out_);
  out_ += " : ";
  out_ += text_of(value.type());
}

void TextPrinter::operands(const Op& o) {
  for (std::size_t i = 0; i < o.operands.size(); ++i) {
    out_ += i > 0 ? ", %" : "%";
    names_.append(o.operands[i], out_);
  }
}

void TextPrinter::other_attributes(const Op& o, std::initializer_list<std::string_view> shown) {
  Attrs rest;
  for (const auto& [key, value] : o.attrs)
    if (std::find(shown.begin(), shown.end(), key) == shown.end()) rest.set(key, value);
  if (!rest.empty()) out_ += " " + attrs_text(rest);
}

void TextPrinter::functional_type(const Op& o) {
  out_ += " : (";
  for (std::size_t i = 0; i < o.operands.size(); ++i) {
    if (i > 0) out_ += ", ";
    out_ += text_of(o.operands[i]->type());
  }
  out_ += ") -> ";
  if (o.num_results() != 1) out_ += "(";
  for (int i = 0; i < o.num_results(); ++i) {
    if (i > 0) out_ += ", ";
    out_ += text_of(o.result(i)->type());
  }
  if (o.num_results() != 1) out_ += ")";
}

void TextPrinter::same_or_functional_type(const Op& o) {
  bool same = o.num_results() == 1 &&
              std::all_of(o.operands.begin(), o.operands.end(),
                          [&](const Value* v) { return v->type() == o.result()->type(); });
  if (!same) return functional_type(o);
  out_ += " : ";
  out_ += text_of(o.result()->type());
}

const std::string& TextPrinter::text_of(const Type& type) {
  auto [it, is_new] = types_.try_emplace(type.identity());
  if (is_new) it->second = {type, type.to_string()};
  return it->second.second;
}

std::string TextPrinter::list(const std::vector<std::int64_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string TextPrinter::types(const Values& values) {
  std::vector<std::string> out;
  for (const Value* v : values) out.push_back(v->type().to_string());
  return join(out);
}

std::string print(const Module& module, const PrintOptions& options) {
  TextPrinter p(options);
  p.module(module);
  return p.text();
}

std::string print(const Function& function, const PrintOptions& options) {
  TextPrinter p(options);
  if (options.generic) p.number(function);
  p.function(function);
  return p.text() + "\n";
}

}  // namespace strata::ir
