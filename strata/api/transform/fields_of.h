// Trees that have another tree in place of each of their arrays: Jacobians by several arrays.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "strata/api/array.h"

namespace strata {

namespace internal {
/// The type of a tree T with trees Leaf in place of its arrays.
template <class T, class Leaf>
struct WithLeaves;

}  // namespace internal

/// A struct with STRATA_FIELDS that has another tree in place of each of its arrays: what a
/// Jacobian of a struct's fields is. A tuple of the fields in their order, which structured
/// bindings take apart, and `j[&Params::w]` is field w's. Itself a tree under the names of the
/// struct's fields.
template <class T, class Leaf>
class FieldsOf {
  template <class... Fields>
  static auto replaced(const std::tuple<Fields&...>&)
      -> std::tuple<typename internal::WithLeaves<std::remove_const_t<Fields>, Leaf>::type...>;

 public:
  /// The struct that it was made from is no part of the tree.
  static constexpr bool strata_leaves_members_out = true;
  /// What stands in place of the fields, in their order.
  using Tuple = decltype(replaced(std::declval<const T&>().strata_fields()));
  FieldsOf() = default;
  FieldsOf(T like, Tuple fields) : like_(std::move(like)), fields_(std::move(fields)) {}

  /// What stands in place of a field of this type.
  template <class Field>
  using Of = typename internal::WithLeaves<Field, Leaf>::type;
  /// What stands in place of a field. Throws Error for one that STRATA_FIELDS does not list.
  template <class Field>
  const Of<Field>& operator[](Field T::* field) const {
    const Of<Field>* found = nullptr;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto listed = like_.strata_fields();
      auto one = [&](const auto& member, const auto& mine) {
        if constexpr (std::same_as<decltype(&member), const Field*> &&
                      std::same_as<decltype(&mine), const Of<Field>*>)
          if (&member == &(like_.*field)) found = &mine;
      };
      (one(std::get<I>(listed), std::get<I>(fields_)), ...);
    }(std::make_index_sequence<std::tuple_size_v<Tuple>>());
    if (found == nullptr) throw Error("jacobian", "STRATA_FIELDS does not list this field");
    return *found;
  }
  /// Field number I.
  template <std::size_t I>
  const auto& get() const {
    return std::get<I>(fields_);
  }
  /// The struct whose fields these stand for; its own arrays mean nothing.
  const T& like() const { return like_; }

  auto strata_fields() {
    return std::apply([](auto&... each) { return std::tie(each...); }, fields_);
  }
  auto strata_fields() const {
    return std::apply([](const auto&... each) { return std::tie(each...); }, fields_);
  }
  static constexpr std::string_view strata_field_names() { return T::strata_field_names(); }

 private:
  T like_;  // by whose addresses fields are found
  Tuple fields_;
};

}  // namespace strata

template <class T, class Leaf>
struct std::tuple_size<strata::FieldsOf<T, Leaf>>
    : std::tuple_size<typename strata::FieldsOf<T, Leaf>::Tuple> {};
template <std::size_t I, class T, class Leaf>
struct std::tuple_element<I, strata::FieldsOf<T, Leaf>> {
  using type = const std::tuple_element_t<I, typename strata::FieldsOf<T, Leaf>::Tuple>;
};

namespace strata::internal {

template <class T, class Leaf>
struct WithLeaves {
  static_assert(tree::is_static<T> || tree::Fields<T>,
                "the Jacobian of such a result has no type: it is a tree of arrays in a vector, "
                "array, pair, tuple, optional, variant, map or a struct with STRATA_FIELDS");
  using type = std::conditional_t<tree::is_static<T>, T, FieldsOf<T, Leaf>>;
};
template <class Leaf>
struct WithLeaves<Array, Leaf> {
  using type = Leaf;
};
template <class T, class Old, class Leaf>
struct WithLeaves<FieldsOf<T, Old>, Leaf> {
  using type = FieldsOf<T, typename WithLeaves<Old, Leaf>::type>;
};
template <class T, class A, class Leaf>
struct WithLeaves<std::vector<T, A>, Leaf> {
  using type = std::vector<typename WithLeaves<T, Leaf>::type>;
};
template <class T, std::size_t n, class Leaf>
struct WithLeaves<std::array<T, n>, Leaf> {
  using type = std::array<typename WithLeaves<T, Leaf>::type, n>;
};
template <class... T, class Leaf>
struct WithLeaves<std::tuple<T...>, Leaf> {
  using type = std::tuple<typename WithLeaves<T, Leaf>::type...>;
};
template <class A, class B, class Leaf>
struct WithLeaves<std::pair<A, B>, Leaf> {
  using type = std::pair<typename WithLeaves<A, Leaf>::type, typename WithLeaves<B, Leaf>::type>;
};
template <class T, class C, class A, class Leaf>
struct WithLeaves<std::map<std::string, T, C, A>, Leaf> {
  using type = std::map<std::string, typename WithLeaves<T, Leaf>::type, C>;
};
template <class T, class Leaf>
struct WithLeaves<std::optional<T>, Leaf> {
  using type = std::optional<typename WithLeaves<T, Leaf>::type>;
};
template <class... T, class Leaf>
struct WithLeaves<std::variant<T...>, Leaf> {
  using type = std::variant<typename WithLeaves<T, Leaf>::type...>;
};

template <class T>
inline constexpr bool is_fields_of = false;
template <class T, class Leaf>
inline constexpr bool is_fields_of<FieldsOf<T, Leaf>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class T, class C, class A>
inline constexpr bool is_map<std::map<std::string, T, C, A>> = true;

/// `like` with next() in place of each of its arrays, in order.
template <class Leaf, class T, class Next>
typename WithLeaves<T, Leaf>::type with_leaves(const T& like, Next& next) {
  using Out = typename WithLeaves<T, Leaf>::type;
  if constexpr (std::same_as<T, Array>) {
    return next();
  } else if constexpr (tree::is_static<T>) {
    return like;
  } else if constexpr (tree::Fields<T>) {
    auto fields = [&](const auto&... each) {
      return typename Out::Tuple{with_leaves<Leaf>(each, next)...};  // braces: in this order
    };
    if constexpr (is_fields_of<T>)
      return Out(like.like(), std::apply(fields, like.strata_fields()));
    else
      return Out(like, std::apply(fields, like.strata_fields()));
  } else if constexpr (requires { std::variant_size<T>::value; }) {
    std::optional<Out> out;
    auto alternative = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      if (like.index() == I)
        out.emplace(std::in_place_index<I>, with_leaves<Leaf>(std::get<I>(like), next));
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (alternative(std::integral_constant<std::size_t, I>()), ...);
    }(std::make_index_sequence<std::variant_size_v<T>>());
    return std::move(*out);
  } else if constexpr (requires { like.has_value(); }) {
    return like ? Out(with_leaves<Leaf>(*like, next)) : Out();
  } else if constexpr (is_map<T>) {
    Out out;
    for (const auto& [key, one] : like) out.emplace(key, with_leaves<Leaf>(one, next));
    return out;
  } else if constexpr (requires { like.size(); }) {  // a vector, or an array
    Out out;
    if constexpr (requires { out.resize(like.size()); }) out.resize(like.size());
    for (std::size_t i = 0; i < like.size(); ++i) out[i] = with_leaves<Leaf>(like[i], next);
    return out;
  } else {  // a tuple, or a pair
    return std::apply([&](const auto&... each) { return Out{with_leaves<Leaf>(each, next)...}; },
                      like);
  }
}

}  // namespace strata::internal
