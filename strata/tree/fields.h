// STRATA_FIELDS: a struct lists its fields once and is a tree from then on.
//
//   struct Params { strata::Array w, b; STRATA_FIELDS(w, b) };
//
// gives `strata_fields()`, references to w and b as a tuple, and their names. Works in structs
// inside functions too (no member templates).
//
// All members are listed: one that is left out would be frozen into compiled functions. A struct
// without constructors and private members that leaves one out does not compile; another one is
// refused when its first tree is visited, as far as bytes tell (a small member may hide where
// alignment leaves room). Members on which no program depends (a cache, a lock) may be left out by
//
//   struct Layer { strata::Array w; std::string note; STRATA_SOME_FIELDS(w) };
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

/// Makes a struct a tree of the fields that are named, in that order; see above.
#define STRATA_FIELDS(...)                                     \
  auto strata_fields() { return std::tie(__VA_ARGS__); }       \
  auto strata_fields() const { return std::tie(__VA_ARGS__); } \
  static constexpr std::string_view strata_field_names() { return #__VA_ARGS__; }

/// Makes a struct a tree of these fields where others are left out; no program may depend on those.
#define STRATA_SOME_FIELDS(...) \
  STRATA_FIELDS(__VA_ARGS__)    \
  static constexpr bool strata_leaves_members_out = true;

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

/// Initialises any member of a T, but no base.
template <class T>
struct AnyMember {
  template <class Member>
    requires(!std::is_base_of_v<Member, T>)
  operator Member() const;  // NOLINT: implicit by intent
};
template <class T, std::size_t... I>
constexpr bool has_members(std::index_sequence<I...>) {
  return requires { T{((void)I, AnyMember<T>())...}; };
}

template <class T>
inline constexpr std::size_t field_count =
    std::tuple_size_v<decltype(std::declval<const T&>().strata_fields())>;
template <class T>
inline constexpr bool leaves_members_out = requires { T::strata_leaves_members_out; };
/// Whether an aggregate has more members than it lists.
template <class T>
constexpr bool forgets_a_member() {
  if constexpr (std::is_aggregate_v<T> && !leaves_members_out<T>)
    return has_members<T>(std::make_index_sequence<field_count<T> + 1>());
  else
    return false;
}

/// The place of a field within its object.
struct FieldSpan {
  std::size_t from, size, alignment;
};
/// Bytes of an object of `size` bytes that are neither its first `begin` ones nor of its fields nor
/// left free by their alignment; 0 where a field is outside of it. Sorts the spans.
std::size_t unlisted_bytes(std::span<FieldSpan> fields, std::size_t begin, std::size_t size,
                           std::size_t alignment);
template <class T>
std::size_t unlisted_bytes(const T& t) {
  auto spans = std::apply(
      [&](const auto&... field) {
        return std::array<FieldSpan, sizeof...(field)>{
            FieldSpan{static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&field) -
                                               reinterpret_cast<const std::byte*>(&t)),
                      sizeof(field), alignof(decltype(field))}...};
      },
      t.strata_fields());
  return unlisted_bytes(spans, std::is_polymorphic_v<T> ? sizeof(void*) : 0,
                        std::is_empty_v<T> ? 0 : sizeof(T), alignof(T));
}

}  // namespace strata::tree::internal
