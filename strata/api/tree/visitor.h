// One virtual interface through which the library sees every tree.
//
// `accept` is the only template that is made for a user's struct; what the library does with trees
// (filters, states, optimizers, checkpoints, transforms of modules) is compiled once, behind a
// Visitor.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <typeinfo>
#include <variant>

#include "strata/api/array.h"
#include "strata/tree/kind.h"

namespace strata::tree {

/// Static data that can be set from outside: where it stands.
using Setting =
    std::variant<bool*, std::optional<bool>*, std::int64_t*, std::optional<std::int64_t>*>;

/// What goes through a tree in the order of its fields, elements and keys.
class Visitor {
 public:
  virtual ~Visitor() = default;
  /// Before each child. Optionals and variants add no step: `bias`, not `bias[0]`.
  virtual void enter(const Step&) {}
  /// After each child.
  virtual void leave() {}
  /// An array. `metadata` is where the leaf keeps its own, null for a plain array.
  virtual void leaf(Array& value, const Kind& kind, MetadataPtr* metadata) = 0;
  /// Static data as bytes: of numbers and enumerations their own, of texts the characters, of
  /// others what `static_text` says.
  virtual void constant(std::string_view) {}
  /// A flag or number that is static data, before it: may be changed. The step before names it.
  virtual void setting(const Setting&) {}
  /// A struct of the user's, before its fields.
  virtual void node(const void* object, const std::type_info& type) {
    (void)object;
    (void)type;
  }
};

namespace internal {
template <class T>
inline constexpr bool is_transparent = false;
template <class T>
inline constexpr bool is_transparent<std::optional<T>> = true;
template <class... Ts>
inline constexpr bool is_transparent<std::variant<Ts...>> = true;

template <class T>
inline constexpr bool is_setting = std::is_constructible_v<Setting, T*>;

template <class T>
void accept_constant(const T& value, Visitor& visitor) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    visitor.constant({reinterpret_cast<const char*>(&value), sizeof value});
  } else if constexpr (std::same_as<T, std::string> || std::same_as<T, const char*>) {
    visitor.constant(value);
  } else if constexpr (!std::same_as<T, std::monostate> && !std::same_as<T, std::nullptr_t>) {
    std::string text;
    append_static(text, value);
    visitor.constant(text);
  }
}
}  // namespace internal

/// Takes the visitor through a tree of arrays.
template <TreeLike T>
void accept(T& t, Visitor& visitor) {
  if constexpr (internal::is_setting<T>) visitor.setting(&t);
  if constexpr (requires { t.accept(visitor); }) {
    t.accept(visitor);  // a tree whose shape is known at run time only
  } else if constexpr (is_leaf<T>) {
    static_assert(std::derived_from<T, Array>, "the leaves of such trees are arrays");
    if constexpr (requires { T::kind(); })
      visitor.leaf(t, T::kind(), &t.metadata_ref());
    else
      visitor.leaf(t, kinds::param, nullptr);
  } else if constexpr (is_static<T>) {
    internal::accept_constant(t, visitor);
  } else {
    if constexpr (Fields<T>) visitor.node(&t, typeid(T));
    std::uint32_t count = 0;
    Node<T>::visit(t, [&](Step step, auto& child) {
      ++count;
      if constexpr (internal::is_transparent<T>) {
        accept(child, visitor);
      } else {
        visitor.enter(step);
        accept(child, visitor);
        visitor.leave();
      }
    });
    if constexpr (!Fields<T>) internal::accept_constant(count, visitor);
    if constexpr (requires { t.valueless_by_exception(); })
      internal::accept_constant(t.index(), visitor);
  }
}
/// The same of a tree that the visitor only reads.
template <TreeLike T>
void accept_const(const T& t, Visitor& visitor) {
  accept(const_cast<T&>(t), visitor);
}

}  // namespace strata::tree
