// Reads StableHLO text.
//
//   Result<std::unique_ptr<ir::Module>> m = ir::parse(text, "program.mlir");
//   if (!m) return fail(m.status());   // "program.mlir:3:17: expected ','"
//
// Reads everything jaxlib prints, with or without locations (which are skipped), in the short and in the generic form,
// for every operation in the registry. Regions of reductions whose combiner is plain are recognised (`combiner`).
// Status: Code::invalid for text that is malformed, Code::unsupported for an operation, type or attribute of upstream
// that Strata does not have (the message names it). Bytes of any kind are safe: nesting and sizes have limits.
// Types are as the text states them; `verify` (ir/verify.h) compares them with what the operations infer.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/ir/text/attr_text.h"
#include "strata/ir/text/cursor.h"
#include "strata/ir/text/format.h"

namespace strata::ir {

struct ParseOptions {
  const Registry* registry = nullptr;  // null: Registry::global()
  TextLimits limits;
};

Result<std::unique_ptr<Module>> parse(std::string_view text, std::string_view filename = "text", const ParseOptions& options = {});

/// The reader as formats see it: tokens (Cursor), operands, attributes, types, regions. Failures throw SyntaxError.
class TextParser : public Cursor {
 public:
  TextParser(std::string_view text, std::string_view filename, const ParseOptions& options);
  std::unique_ptr<Module> module();

  // ---- for formats
  /// A value that has been defined: %0, %0#1, %arg.
  Value* operand();
  /// Values with commas between them, none when no '%' follows.
  Values operands();
  /// `{...}` if it follows; the entries join the draft.
  void attributes(Draft& draft);
  Attr attribute() { return parse_attr(*this, aliases_); }
  /// [1, 2].
  Ints ints();
  /// A type for each operand, compared with what they are.
  void operand_types(const Draft& draft, const std::vector<Type>& stated, std::size_t where);
  /// ": (T, T) -> T".
  void functional_type(Draft& draft);
  /// ": T" for all operands and the one result, or ": (T, T) -> T".
  void same_or_functional_type(Draft& draft);
  /// "{ ... }" whose arguments stand elsewhere in the text, as in `while`.
  struct Argument { std::string name; Type type; };
  std::unique_ptr<Block> region(const std::vector<Argument>& arguments);
  /// The name of a value that is being defined: "arg0" of %arg0.
  std::string value_name();
  const Registry& registry() const { return registry_; }

  // ---- for from_generic: an attribute that must be there, of a kind
  template <class T> const T& need(const Draft& draft, const std::string& name, std::string_view kind) {
    const Attr* a = draft.attrs.find(name);
    if (a == nullptr) fail_at(op_at_, fmt::format("{} requires attribute '{}'", draft.info->name, name));
    const T* value = std::get_if<T>(a);
    if (value == nullptr) fail_at(op_at_, fmt::format("attribute '{}' of {} is {}, which is no {}", name, draft.info->name, attr_text(*a), kind));
    return *value;
  }
  /// Where the operation under way begins, for messages.
  std::size_t op_offset() const { return op_at_; }

 private:
  struct Scope {
    std::map<std::string, Values, std::less<>> values;
    bool isolated = false;
  };
  class OpenScope;
  struct ResultName { std::string name; int count; };

  void alias_line();
  void function(Module& module);
  void arguments(Function& f);
  void results(Function& f, std::vector<Type>& types);
  void block_until_brace(Block& block, bool takes_header);
  void block_header(Block& block);
  bool terminator(Block& block);
  void operation(Block& block);
  std::vector<ResultName> result_names();
  void generic(Draft& draft);
  std::unique_ptr<Block> generic_region(bool isolated);
  void short_form(Draft& draft);
  const OpInfo& info(std::string_view name, std::size_t where);
  void add_op(Block& block, Draft draft, const std::vector<ResultName>& names, std::size_t where);
  void define(const std::string& name, Values values);
  std::string symbol();
  Location location(std::size_t offset) const;

  const Registry& registry_;
  std::string filename_;
  std::vector<std::size_t> lines_;
  AttrAliases aliases_;
  std::vector<Scope> scopes_;
  std::size_t op_at_ = 0;
};

}  // namespace strata::ir
