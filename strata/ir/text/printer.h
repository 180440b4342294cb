// Writes StableHLO text.
//
//   std::string text = ir::print(module);
//
// Byte for byte what jaxlib's MLIR prints for the same module without locations, in the short and
// in the generic form (constants without elements apart: `dense<>`, though upstream remembers the
// value of a splat); what it prints, `parse` reads, and printing again gives the same text.
// Operations of Strata's own, and what upstream has no word for, appear as strata.* operations and
// attributes (the names of an argument's symbolic dimensions: `strata.dims = ["B", ""]`). A broken
// graph (a value from nowhere) prints too, as %<<unknown>>.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "strata/ir/graph.h"
#include "strata/ir/text/format.h"
#include "strata/ir/text/names.h"

namespace strata::ir {

struct PrintOptions {
  bool generic = false;  // every operation in the generic form, modules and functions too
};

std::string print(const Module& module, const PrintOptions& options = {});
/// One function, without a module around it.
std::string print(const Function& function, const PrintOptions& options = {});

/// The writer as formats see it.
class TextPrinter {
 public:
  explicit TextPrinter(const PrintOptions& options);
  void module(const Module& module);
  void function(const Function& function);
  /// Before a function alone in the generic form: a module gives its own numbers.
  void number(const Function& function) { names_.generic(function.body); }
  const std::string& text() const { return out_; }

  // ---- for formats
  TextPrinter& operator<<(std::string_view text) {
    out_ += text;
    return *this;
  }
  template <class... Args>
  void format(fmt::format_string<Args...> f, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), f, std::forward<Args>(args)...);
  }
  /// " dense<...> : T".
  void dense(const Literal& value);
  /// "%0", "%0#1".
  std::string name(const Value* value) const { return "%" + names_.of(value); }
  /// "%a, %b".
  void operands(const Op& op);
  /// " {a = 1 : i64}" of the attributes that the short form has not shown; nothing when there are
  /// none.
  void other_attributes(const Op& op, std::initializer_list<std::string_view> shown = {});
  /// " : (T, T) -> T".
  void functional_type(const Op& op);
  /// " : T" when all types are equal and there is one result, else functional.
  void same_or_functional_type(const Op& op);
  /// "[1, 2]".
  static std::string list(const std::vector<std::int64_t>& values);
  /// "T, T".
  static std::string types(const Values& values);
  /// "{", the block's operations, "}"; its arguments are written by the caller. `terminator`
  /// returns its results.
  void region(const Block& block, std::string_view terminator = "stablehlo.return");
  /// The same with its arguments: "{", "^bb0(%a: T):" if there are any, ...
  void region_with_arguments(const Block& block, std::string_view terminator = "stablehlo.return");
  void newline();
  /// What follows the name in the generic form.
  void generic_form(const Op& op);

 private:
  void module_items(const Module& module);
  void nested_module(const Module& module);
  void signature(const Function& function);
  void generic_function(const Function& function);
  Attrs argument_attributes(const Function& function, int argument) const;
  void op(const Op& op, bool in_function);
  void block(const Block& block, std::string_view terminator);
  GenericForm& form(const Op& op);
  std::vector<const Block*> printed_regions(const Op& op);
  const std::string& text_of(const Type& type);

  PrintOptions options_;
  std::string out_;
  int indent_ = 0;
  Names names_;
  std::unordered_map<const Op*, GenericForm> forms_;  // looked up, never iterated
  std::unordered_map<const void*, std::pair<Type, std::string>>
      types_;  // by identity, which the type held here keeps
};

}  // namespace strata::ir
