// Writes attributes and types into the tables of a file: in VHLO's encoding for the operations of a
// portable artifact, in the builtin one for modules and for operations of other dialects beside
// them.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "strata/ir/attr.h"
#include "strata/ir/bytecode/schema.h"
#include "strata/ir/bytecode/tables.h"
#include "strata/ir/text/cursor.h"

namespace strata::ir::bytecode {

/// Whose encoding.
enum class Flavor : std::uint8_t { vhlo, builtin };

/// Numbers of what it has written. Throws FormatError (Code::unsupported) for what the dialect or
/// that release has no word for.
class EntryWriter {
 public:
  EntryWriter(Tables& tables, Release release) : tables_(tables), release_(release) {}

  std::size_t attribute(const Attr& attr, Flavor flavor);
  /// What this text says: "[]", "array<i64>", "#stablehlo<comparison_type NOTYPE>".
  std::size_t attribute_of(const std::string& text, Flavor flavor) {
    return attribute(Opaque{text}, flavor);
  }
  /// A dictionary of the builtin dialect whose values have the flavor.
  std::size_t dictionary(const Attrs& attrs, Flavor flavor);
  /// An array of VHLO's dictionaries.
  std::size_t dictionaries(const std::vector<Attrs>& list);
  std::size_t function_type(const std::vector<Type>& taken, const std::vector<Type>& returned);
  std::size_t list(const Ints& values);   // a tensor of i64
  std::size_t flags(const Ints& values);  // a tensor of truth values
  std::size_t default_accuracy();
  std::size_t none_type();
  std::size_t unknown_location();
  std::size_t type(const Type& type, Flavor flavor);

 private:
  std::size_t text(Cursor& c, Flavor flavor);
  std::size_t plain(Cursor& c, Flavor flavor);
  std::size_t number(std::string_view text, std::string_view type, Flavor flavor);
  std::size_t string(std::string_view text, Flavor flavor);
  std::size_t symbol(Cursor& c, Flavor flavor);
  std::size_t array(const std::vector<std::size_t>& elements, Flavor flavor);
  std::size_t named(const std::vector<std::pair<std::size_t, std::size_t>>& entries, Flavor flavor);
  std::size_t integer(std::int64_t value, std::string_view type, Flavor flavor);
  std::size_t real(std::uint64_t bits, std::string_view type, Flavor flavor);
  std::size_t type_attribute(std::size_t type, Flavor flavor);
  std::size_t tensor(const Literal& value, std::size_t type, Flavor flavor);
  std::size_t dense(Cursor& c, Flavor flavor);
  std::size_t dense_array(Cursor& c);
  std::size_t foreign(Cursor& c, Flavor flavor);
  std::size_t stablehlo(std::string_view text);
  std::size_t accuracy(Cursor& c);
  std::size_t output_alias(Cursor& c);
  std::size_t mesh_axes(Cursor& c);

  std::size_t scalar(std::string_view name, Flavor flavor);
  std::size_t tensor_type(const Ints& dimensions, std::size_t element, Flavor flavor,
                          const std::string& bounds = "");
  std::size_t quantized(const Type& type, Flavor flavor);
  std::size_t types(const std::vector<Type>& all, Flavor flavor, std::uint64_t vhlo_code,
                    std::uint64_t builtin_code);
  void need(int major, int minor, std::string_view what) const;
  [[noreturn]] static void unsupported(std::string message) {
    throw FormatError{Code::unsupported, 0, std::move(message)};
  }

  Tables& tables_;
  Release release_;
  std::unordered_map<std::string, std::size_t> texts_[2];  // by flavor
  std::unordered_map<const void*, std::pair<Type, std::size_t>>
      types_[2];  // by identity, which the type held here keeps
};

}  // namespace strata::ir::bytecode
