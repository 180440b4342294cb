// STRATA_FIELDS: a struct lists its fields once and is a tree from then on.
//
//   struct Params { strata::Array w, b; STRATA_FIELDS(w, b) };
//
// gives `strata_fields()`, references to w and b as a tuple, and their names. Works in structs
// inside functions too (no member templates); a struct without fields of interest writes
// `STRATA_FIELDS()`.
#pragma once

#include <string_view>
#include <tuple>

/// Makes a struct a tree of the fields that are named, in that order; see above.
#define STRATA_FIELDS(...)                                     \
  auto strata_fields() { return std::tie(__VA_ARGS__); }       \
  auto strata_fields() const { return std::tie(__VA_ARGS__); } \
  static constexpr std::string_view strata_field_names() { return #__VA_ARGS__; }

namespace strata::tree::internal {

/// Takes the next name off a list as the preprocessor writes it: "w, b".
constexpr std::string_view next_field_name(std::string_view& names) {
  const std::size_t comma = names.find(',');
  std::string_view name = names.substr(0, comma);
  names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 1);
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  return name;
}

}  // namespace strata::tree::internal
