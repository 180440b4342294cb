// Types as text. Printing is `Type::to_string`.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "strata/ir/text/cursor.h"
#include "strata/type/type.h"

namespace strata::ir {

/// What a type alias (`!t = tensor<4xf32>`, `!e = f32`) stands for: a type, or an element type as a
/// scalar of it.
struct TypeAlias {
  Type type;
  bool is_element = false;
};

/// Tensor types by their text, so that each spelling is read once, and the text's aliases. The text
/// must outlive it.
class TypeCache {
 public:
  const TypeAlias* alias(std::string_view name) const {
    auto it = aliases_.find(name);
    return it == aliases_.end() ? nullptr : &it->second;
  }
  /// Returns whether the name is new.
  bool add_alias(std::string_view name, TypeAlias alias) {
    return aliases_.emplace(name, std::move(alias)).second;
  }
  const Type* find(std::string_view text) const {
    auto it = types_.find(text);
    return it == types_.end() ? nullptr : &it->second;
  }
  void add(std::string_view text, const Type& type) { types_.emplace(text, type); }

 private:
  std::unordered_map<std::string_view, Type> types_;
  std::unordered_map<std::string_view, TypeAlias> aliases_;
};

/// tensor<4x?xf32, #stablehlo.bounds<?, 8>>, tuple<...>, !stablehlo.token, !stablehlo.future<...>,
/// !strata.ref<4xf32>, or an alias of one. A type of upstream that Strata does not have (unranked)
/// fails as unsupported.
Type parse_type(Cursor& c);
/// f32, ui8, i1, complex<f32>; nothing (and nothing consumed) when the text is none of them.
std::optional<DType> try_dtype(Cursor& c);
/// What stands behind `!name =`.
TypeAlias parse_alias(Cursor& c);
/// T, or (T, T), as after an arrow.
std::vector<Type> parse_result_types(Cursor& c);
/// (T, T).
std::vector<Type> parse_type_list(Cursor& c);
/// Whether a type follows.
bool looking_at_type(Cursor& c);

/// Equal as far as text says: the name of a symbolic dimension stands in an attribute, its type
/// shows '?'.
bool same_text(const Type& a, const Type& b);
bool same_text(const std::vector<Type>& a, const std::vector<Type>& b);
bool is_symbolic(const Type& type);

/// "(T, T)", and "T" or "(T, T)" as after an arrow.
std::string type_list_text(const std::vector<Type>& types);
std::string result_types_text(const std::vector<Type>& types);

}  // namespace strata::ir
