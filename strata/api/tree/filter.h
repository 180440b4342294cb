// Filters: which leaves of a tree are meant.
//
//   tree::of_kind(tree::kinds::param) && !tree::path("**/bias")
//   tree::path_contains("lora")
//
// A filter is a value; whoever reads a configuration makes them by name. Source of the idea: Flax
// NNX's filters.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/api/array.h"
#include "strata/tree/key_path.h"
#include "strata/tree/kind.h"

namespace strata::tree {

/// What is known of a leaf beside its value.
struct Entry {
  /// The path as text, "layers/0/kernel", and as keys.
  std::string name;
  KeyPath path;
  const Kind* kind = &kinds::param;
  MetadataPtr metadata;

  Entry() = default;
  explicit Entry(KeyPath path, const Kind& kind = kinds::param, MetadataPtr metadata = {});
  /// From text; an element of digits is a number.
  explicit Entry(std::string_view name, const Kind& kind = kinds::param, MetadataPtr metadata = {});
};
/// The keys of "layers/0/kernel": digits are numbers, the rest names.
KeyPath parse_path(std::string_view name);
/// The element of a path as text.
std::string key_text(const KeyEntry& key);
/// Numbers before names; numbers by size, names by letters.
bool path_less(const KeyPath& a, const KeyPath& b);

/// A predicate of leaves, and its text for messages.
class Filter {
 public:
  /// Whether a leaf is meant, by what is known of it and its value.
  using Predicate = std::function<bool(const Entry&, const Array&)>;
  Filter(std::string text, Predicate predicate, bool everything = false)
      : text_(std::move(text)), predicate_(std::move(predicate)), everything_(everything) {}

  bool operator()(const Entry& entry, const Array& value) const { return predicate_(entry, value); }
  /// As messages name it: "Param", "not path **/bias".
  const std::string& text() const { return text_; }
  /// Whether it was made to take every leaf.
  bool takes_everything() const { return everything_; }

 private:
  std::string text_;
  Predicate predicate_;
  bool everything_;
};

/// All leaves.
Filter everything();
/// No leaf.
Filter nothing();
/// Leaves of a kind or a special case of it.
Filter of_kind(const Kind& kind);
/// Leaves whose metadata has this tag.
Filter with_tag(std::string tag);
/// Leaves whose path has an element equal to `key`; inexact: an element that contains it.
Filter path_contains(std::string key, bool exact = true);
/// Leaves at these paths.
Filter path_in(std::vector<std::string> names);
/// Leaves whose path fits a pattern: `*` stands for anything within an element, `**` for any number
/// of elements, `?` for a character.
Filter path(std::string pattern);
/// Leaves whose whole path a regular expression matches (ECMAScript). Throws Error for one that is
/// none.
Filter regex(const std::string& pattern);
/// A predicate of one's own.
Filter where(Filter::Predicate predicate, std::string text = "a predicate");

/// What both take.
Filter operator&&(const Filter& a, const Filter& b);
/// What either takes.
Filter operator||(const Filter& a, const Filter& b);
/// What it does not take.
Filter operator!(const Filter& f);
/// What one of them takes; nothing where there are none.
Filter any(std::vector<Filter> filters);
/// What all of them take; everything where there are none.
Filter all_of(std::vector<Filter> filters);

}  // namespace strata::tree
