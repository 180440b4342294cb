// Reads StableHLO text.
//
//   Result<std::unique_ptr<ir::Module>> m = ir::parse(text, "program.mlir");
//   if (!m) return fail(m.status());   // "program.mlir:3:17: expected ','"
//
// Reads everything jaxlib prints, in the short and in the generic form, for every operation in the
// registry: functions with bodies and without, modules and those inside them, `sdy.mesh`
// (ir/declaration.h). Locations (`loc(...)`, `#loc = ...`) are skipped: an operation's place is the
// line of this text. A `dense_resource` becomes the constant it names, `{-# dialect_resources #-}`
// in the same text. Regions of reductions whose combiner is plain are recognised (`combiner`). A
// file of several programs between lines
// `// -----` is cut by `split_parts` first.
// Status: Code::invalid for text that is malformed, Code::unsupported for an operation, type or
// attribute of upstream that Strata does not have (the message names it). Bytes of any kind are
// safe: nesting and sizes have limits. Types are as the text states them; `verify` (ir/verify.h)
// compares them with what the operations infer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/ir/text/attr_text.h"
#include "strata/ir/text/attrs_cache.h"
#include "strata/ir/text/cursor.h"
#include "strata/ir/text/format.h"
#include "strata/ir/text/type_text.h"
#include "strata/ir/text/value_table.h"

namespace strata::ir {

struct ParseOptions {
  const Registry* registry = nullptr;  // null: Registry::global()
  TextLimits limits;
  int first_line = 1;  // what the first line is called in messages and places
};

/// One program of a file, and the line of the file on which it begins (for
/// `ParseOptions::first_line`).
struct TextPart {
  std::string_view text;
  int first_line = 1;
};
/// The programs between lines that begin with `// -----`, blanks apart; a text without such a line
/// is one part.
std::vector<TextPart> split_parts(std::string_view text);

Result<std::unique_ptr<Module>> parse(std::string_view text, std::string_view filename = "text",
                                      const ParseOptions& options = {});

/// The reader as formats see it: tokens (Cursor), operands, attributes, types, regions. Failures
/// throw SyntaxError.
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
  struct Argument {
    std::string_view name;
    Type type;
  };
  std::unique_ptr<Block> region(const std::vector<Argument>& arguments);
  /// "{ ^bb0(%a: T): ... }". Isolated: values from around are not visible.
  std::unique_ptr<Block> region_with_arguments(bool isolated);
  /// What follows the name in the generic form: (%a) <{...}> ({...}) {...} : (T) -> T.
  void generic_form(Draft& draft);
  /// The name of a value that is being defined: "arg0" of %arg0. Part of the text.
  std::string_view value_name();
  const Registry& registry() const { return registry_; }

  // ---- for from_generic: an attribute that must be there, of a kind
  template <class T>
  const T& need(const Draft& draft, const std::string& name, std::string_view kind) {
    const Attr* a = draft.attrs.find(name);
    if (a == nullptr)
      fail_at(op_at_, fmt::format("{} requires attribute '{}'", draft.info->name, name));
    const T* value = std::get_if<T>(a);
    if (value == nullptr)
      fail_at(op_at_, fmt::format("attribute '{}' of {} is {}, which is no {}", name,
                                  draft.info->name, attr_text(*a), kind));
    return *value;
  }
  /// Where the operation under way begins, for messages.
  std::size_t op_offset() const { return op_at_; }

 private:
  /// Names defined while it lives are forgotten at its end.
  class OpenScope {
   public:
    OpenScope(TextParser& p, bool isolated) : p_(p), nesting_(p) { p_.values_.open(isolated); }
    ~OpenScope() { p_.values_.close(); }

   private:
    TextParser& p_;
    Nesting nesting_;
  };
  struct ResultName {
    std::string_view name;
    int count;
  };

  static bool is_upstream(std::string_view operation);
  // ---- module_text.cc
  bool looking_at_alias();
  void alias_line();
  void skip_resources();
  void module_body(Module& module, bool until_brace);
  void module_item(Module& module);
  Module& inner_module(Module& around);
  void name_module(const Module& module, std::size_t where);
  void nested_module(Module& module);
  void mesh(Module& module);
  void generic_mesh(Module& module);
  void generic_module(Module& module);
  void generic_function(Module& module);
  Function& new_function(Module& module, std::string name, std::size_t where);
  void set_visibility(Function& f, std::string_view word);
  void function(Module& module);
  void arguments(Function& f, bool& named);
  void argument(Function& f, Type type, Attrs attrs);
  void results(Function& f, std::vector<Type>& types);
  void body(Function& f, std::size_t where, const std::vector<Type>& stated);
  // ---- parser.cc
  void block_until_brace(Block& block, bool takes_header);
  void block_header(Block& block);
  bool terminator(Block& block);
  void operation(Block& block);
  void result_names(std::vector<ResultName>& out);
  void short_form(Draft& draft);
  const OpInfo& info(std::string_view name, std::size_t where);
  void add_op(Block& block, Draft draft, const std::vector<ResultName>& names, std::size_t where);
  void define(std::string_view name, Value* value, int count, std::size_t where);
  std::string symbol();
  Location location(std::size_t offset);

  const Registry& registry_;
  Shared<std::string> filename_;
  std::uint32_t line_;  // of line_at_, for places that follow each other
  std::size_t line_at_ = 0, line_start_ = 0;
  AttrAliases aliases_;
  TypeCache types_;
  AttrsCache attrs_;
  ValueTable values_;
  std::unordered_map<std::string_view, const OpInfo*> infos_;
  std::vector<std::unordered_set<std::string_view>>
      symbols_;                    // functions and modules of the modules around
  std::vector<ResultName> names_;  // of the operation under way, before its regions
  std::size_t op_at_ = 0;
};

}  // namespace strata::ir
