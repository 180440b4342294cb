// Trees: structures of leaves (JAX's pytrees), at compile time where the type says it and without
// registration.
//
//   struct Params { Array w; std::vector<Array> layers; int heads; STRATA_FIELDS(w, layers, heads)
//   }; tree::map([](Array p, Array g) { return p - 0.1f * g; }, params, grads) tree::paths(params)
//   // {"w", "layers[0]", "layers[1]"} tree::structure(params) // "{w: *, layers: [*, *], heads:
//   4}"
//
// Trees are: a leaf; structs with STRATA_FIELDS; vector, array, pair, tuple, optional, map with
// string keys, variant (its active member). Numbers, strings, enumerations and everything declared
// by `is_static` are part of the structure. Another room declares its leaf types (`template <>
// inline constexpr bool tree::is_leaf<Array> = true`), and new kinds of node by specialising
// `Node`. The order of leaves is the order of fields, elements, or keys.
#pragma once

#include <fmt/core.h>

#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "strata/base/check.h"
#include "strata/base/error.h"
#include "strata/tree/fields.h"

namespace strata::tree {

/// Whether T is a leaf. Specialise for your own.
template <class T>
inline constexpr bool is_leaf = false;

/// Whether T is data that belongs to the structure. Such a type has a text: `fmt` formats it, or
/// `static_text` does.
template <class T>
inline constexpr bool is_static =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, std::string> ||
    std::same_as<T, const char*> || std::same_as<T, std::monostate> ||
    std::same_as<T, std::nullptr_t>;

/// Structs with STRATA_FIELDS.
template <class T>
concept Fields = requires(const T& t) {
  t.strata_fields();
  T::strata_field_names();
};

/// How the children of a node are visited: `Node<T>::visit(t, f)` calls `f(Step, child)` for each,
/// `t` const or not, and `open`/`close` are what the structure's text has around them.
template <class T>
struct Node;  // not defined: T is no tree

/// One step of a path: a field ("w"), an element (3) or a key ("gate").
struct Step {
  /// A field of a struct, an element by number, a key, or several at once as text.
  enum class Kind { field, element, key, path } kind;
  std::string_view name;
  std::size_t index = 0;
  /// The step to a field.
  static Step field(std::string_view name) { return {Kind::field, name}; }
  /// The step to an element.
  static Step element(std::size_t i) { return {Kind::element, {}, i}; }
  /// The step to the value of a key.
  static Step key(std::string_view name) { return {Kind::key, name}; }
  /// Several at once, as text: "layers/0/kernel".
  static Step path(std::string_view name) { return {Kind::path, name}; }
  /// Appends ".w", "[3]", "['gate']" or ".layers[0].kernel"; a field at the root has no dot.
  void append_to(std::string& path) const;
};

namespace internal {
/// True; refuses an aggregate that forgets a member, once for each.
template <class T>
constexpr bool check_members() {
  static_assert(!forgets_a_member<T>(),
                "STRATA_FIELDS leaves out a member of this struct: list all of them, or say "
                "STRATA_SOME_FIELDS where no program depends on the others");
  return true;
}
/// Throws Error where some bytes of a struct belong to no field.
bool require_all_fields(std::string_view names, std::size_t unlisted, std::size_t size);
}  // namespace internal

template <class T>
  requires Fields<T>
struct Node<T> {
  /// What the structure's text has before the children.
  static constexpr const char* open = "{";
  /// What the structure's text has behind the children.
  static constexpr const char* close = "}";
  /// Calls `f(step, child)` for each child in order.
  template <class U, class F>
  static void visit(U& t, F&& f) {
    static_assert(internal::check_members<T>());
    if constexpr (!std::is_aggregate_v<T> && !internal::leaves_members_out<T>) {
      [[maybe_unused]] static const bool checked = internal::require_all_fields(
          T::strata_field_names(), internal::unlisted_bytes(t), sizeof(T));
    }
    std::string_view names = T::strata_field_names();
    std::apply(
        [&](auto&... children) {
          (f(Step::field(internal::next_field_name(names)), children), ...);
        },
        t.strata_fields());
  }
};

namespace internal {
/// Nodes whose children are numbered.
template <class Derived>
struct Elements {
  static constexpr const char* open = "[";
  static constexpr const char* close = "]";
};
template <class U, class F>
void visit_range(U& t, F&& f) {
  std::size_t i = 0;
  for (auto& child : t) f(Step::element(i++), child);
}
template <class U, class F>
void visit_tuple(U& t, F&& f) {
  std::apply(
      [&](auto&... children) {
        std::size_t i = 0;
        (f(Step::element(i++), children), ...);
      },
      t);
}
}  // namespace internal

template <class T, class A>
struct Node<std::vector<T, A>> : internal::Elements<void> {
  template <class U, class F>
  static void visit(U& t, F&& f) {
    internal::visit_range(t, f);
  }
};
template <class T, std::size_t N>
struct Node<std::array<T, N>> : internal::Elements<void> {
  template <class U, class F>
  static void visit(U& t, F&& f) {
    internal::visit_range(t, f);
  }
};
template <class... Ts>
struct Node<std::tuple<Ts...>> {
  static constexpr const char* open = "(";
  static constexpr const char* close = ")";
  template <class U, class F>
  static void visit(U& t, F&& f) {
    internal::visit_tuple(t, f);
  }
};
template <class A, class B>
struct Node<std::pair<A, B>> {
  static constexpr const char* open = "(";
  static constexpr const char* close = ")";
  template <class U, class F>
  static void visit(U& t, F&& f) {
    f(Step::element(0), t.first);
    f(Step::element(1), t.second);
  }
};
template <class T, class C, class A>
struct Node<std::map<std::string, T, C, A>> {
  static constexpr const char* open = "{";
  static constexpr const char* close = "}";
  template <class U, class F>
  static void visit(U& t, F&& f) {
    for (auto& [key, child] : t) f(Step::key(key), child);
  }
};
template <class T>
struct Node<std::optional<T>> {
  static constexpr const char* open = "<";
  static constexpr const char* close = ">";
  template <class U, class F>
  static void visit(U& t, F&& f) {
    if (t) f(Step::element(0), *t);
  }
};
template <class... Ts>
struct Node<std::variant<Ts...>> {
  static constexpr const char* open = "|";
  static constexpr const char* close = "|";
  template <class U, class F>
  static void visit(U& t, F&& f) {
    std::visit([&](auto& child) { f(Step::element(t.index()), child); }, t);
  }
};

/// Types for which there is a `Node`.
template <class T>
concept IsNode = requires { Node<T>::open; };
/// What the functions below accept.
template <class T>
concept TreeLike = is_leaf<std::remove_cvref_t<T>> || is_static<std::remove_cvref_t<T>> ||
                   IsNode<std::remove_cvref_t<T>>;

namespace internal {
template <class T, class... Around>
constexpr bool all_trees();
template <class... Around, class... Ts>
constexpr bool all_trees_of(std::tuple<Ts...>*) {
  return (all_trees<std::remove_cvref_t<Ts>, Around...>() && ...);
}
template <class T>
struct Children {
  using type = std::tuple<>;  // of nodes that others declare nothing is known
};
template <Fields T>
struct Children<T> {
  using type = decltype(std::declval<const T&>().strata_fields());
};
template <class T, class A>
struct Children<std::vector<T, A>> {
  using type = std::tuple<T>;
};
template <class T, std::size_t N>
struct Children<std::array<T, N>> {
  using type = std::tuple<T>;
};
template <class... Ts>
struct Children<std::tuple<Ts...>> {
  using type = std::tuple<Ts...>;
};
template <class A, class B>
struct Children<std::pair<A, B>> {
  using type = std::tuple<A, B>;
};
template <class T, class C, class A>
struct Children<std::map<std::string, T, C, A>> {
  using type = std::tuple<T>;
};
template <class T>
struct Children<std::optional<T>> {
  using type = std::tuple<T>;
};
template <class... Ts>
struct Children<std::variant<Ts...>> {
  using type = std::tuple<Ts...>;
};
template <class T, class... Around>
constexpr bool all_trees() {
  if constexpr (!TreeLike<T>)
    return false;
  else if constexpr (is_leaf<T> || is_static<T> || (std::same_as<T, Around> || ...))
    return true;
  else if constexpr (Fields<T>)
    return check_members<T>() &&
           all_trees_of<T, Around...>(static_cast<typename Children<T>::type*>(nullptr));
  else
    return all_trees_of<T, Around...>(static_cast<typename Children<T>::type*>(nullptr));
}
}  // namespace internal
/// A tree whose children are trees, down to the leaves.
template <class T>
inline constexpr bool is_tree = internal::all_trees<std::remove_cvref_t<T>>();

/// Calls `f(leaf)` for each leaf in order; leaves of a mutable tree may be changed.
template <TreeLike T, class F>
void for_each(T& t, F&& f) {
  using U = std::remove_cvref_t<T>;
  if constexpr (is_leaf<U>)
    f(t);
  else if constexpr (!is_static<U>) {
    Node<U>::visit(t, [&](Step, auto& child) { for_each(child, f); });
  }
}

namespace internal {
template <class T, class F>
void for_each_path(T& t, std::string& path, F& f) {
  using U = std::remove_cvref_t<T>;
  if constexpr (is_leaf<U>)
    f(std::as_const(path), t);
  else if constexpr (!is_static<U>) {
    Node<U>::visit(t, [&](Step step, auto& child) {
      std::size_t size = path.size();
      step.append_to(path);
      for_each_path(child, path, f);
      path.resize(size);
    });
  }
}
}  // namespace internal

/// Calls `f(path, leaf)` for each leaf; paths read "params.layers[3].w". `root` begins every path.
template <TreeLike T, class F>
void for_each_path(T& t, F&& f, std::string root = {}) {
  internal::for_each_path(t, root, f);
}

/// The paths of the leaves in order: "w", "layers[0]".
template <TreeLike T>
std::vector<std::string> paths(const T& t, std::string root = {}) {
  std::vector<std::string> out;
  for_each_path(
      t, [&](const std::string& path, const auto&) { out.push_back(path); }, std::move(root));
  return out;
}

/// The shape of a tree without its leaves: equality, text, and how many leaves there are. Types do
/// not count: a struct and another one with the same fields and equal static data have equal
/// structures.
class Structure {
 public:
  Structure() = default;
  Structure(std::string text, std::size_t leaves) : text_(std::move(text)), leaves_(leaves) {}
  /// The structure as text: "{w: *, layers: [*, *]}".
  const std::string& text() const { return text_; }
  /// The number of leaves.
  std::size_t leaves() const { return leaves_; }
  bool operator==(const Structure&) const = default;

 private:
  std::string text_;
  std::size_t leaves_ = 0;
};

namespace internal {
template <class T>
void append_static(std::string& out, const T& value) {
  if constexpr (std::is_enum_v<T>)
    out += fmt::format("{}", static_cast<std::int64_t>(value));
  else if constexpr (std::same_as<T, std::string> || std::same_as<T, const char*>)
    out += fmt::format("\"{}\"", value);
  else if constexpr (std::same_as<T, std::monostate> || std::same_as<T, std::nullptr_t>)
    out += "none";
  else if constexpr (requires { value.static_text(); })
    out += value.static_text();
  else
    out += fmt::format("{}", value);
}

template <class T>
void append_structure(std::string& out, std::size_t& leaves, const T& t) {
  if constexpr (is_leaf<T>) {
    out += '*';
    if constexpr (requires { t.append_metadata(out); }) t.append_metadata(out);
    ++leaves;
  } else if constexpr (is_static<T>) {
    append_static(out, t);
  } else {
    out += Node<T>::open;
    if constexpr (requires { Node<T>::append_to(out, t); }) Node<T>::append_to(out, t);
    bool first = true;
    Node<T>::visit(t, [&](Step step, const auto& child) {
      if (!std::exchange(first, false)) out += ", ";
      if (step.kind != Step::Kind::element) {
        out += step.name;
        out += ": ";
      }
      append_structure(out, leaves, child);
    });
    out += Node<T>::close;
  }
}
}  // namespace internal

/// What stays of a tree without its leaves; equal for trees that `map` takes together.
template <TreeLike T>
Structure structure(const T& t) {
  std::string text;
  std::size_t leaves = 0;
  internal::append_structure(text, leaves, t);
  return Structure(std::move(text), leaves);
}

/// Leaves in order, as `Leaf`s. A tree whose leaves are of several types needs `Leaf` to be made
/// from each.
template <class Leaf, TreeLike T>
std::vector<Leaf> leaves(const T& t) {
  std::vector<Leaf> out;
  for_each(t, [&](const auto& leaf) { out.push_back(leaf); });
  return out;
}
/// The same, moving the leaves out of the tree.
template <class Leaf, TreeLike T>
std::vector<Leaf> take_leaves(T& t) {
  std::vector<Leaf> out;
  for_each(t, [&](auto& leaf) { out.push_back(std::move(leaf)); });
  return out;
}

/// What `flatten` returns: the leaves and the structure.
template <class Leaf>
struct Flat {
  std::vector<Leaf> leaves;
  Structure structure;
};
/// The leaves in order, and the structure.
template <class Leaf, TreeLike T>
Flat<Leaf> flatten(const T& t) {
  return {leaves<Leaf>(t), structure(t)};
}

/// A tree of `like`'s structure with the given leaves. Throws Error when their number differs.
template <class Leaf, TreeLike T>
T unflatten(T like, std::span<const Leaf> leaves) {
  std::size_t i = 0;
  for_each(like, [&](auto& leaf) {
    if (i < leaves.size()) leaf = leaves[i];
    ++i;
  });
  if (i != leaves.size())
    throw Error("tree::unflatten", "structure {} has {} leaves, got {}", structure(like).text(), i,
                leaves.size());
  return like;
}
template <class Leaf, TreeLike T>
T unflatten(T like, const std::vector<Leaf>& leaves) {
  return unflatten(std::move(like), std::span<const Leaf>(leaves));
}

namespace internal {
template <class T>
inline constexpr char type_tag = 0;
/// A leaf of a type that is checked when it is read.
struct AnyLeaf {
  const void* leaf;
  const void* tag;
  template <class T>
  const T& as() const {
    STRATA_CHECK(tag == &type_tag<T>, "trees mapped together have leaves of different types");
    return *static_cast<const T*>(leaf);
  }
};
template <class T>
std::vector<AnyLeaf> any_leaves(const T& t) {
  std::vector<AnyLeaf> out;
  for_each(t, [&]<class L>(const L& leaf) { out.push_back({&leaf, &type_tag<L>}); });
  return out;
}
/// Throws Error when the structures differ.
void check_same(const Structure& first, const Structure& other, std::size_t which);

template <class F, class L, class Columns, std::size_t... I>
decltype(auto) call_row(F& f, const L& leaf, [[maybe_unused]] const Columns& columns,
                        [[maybe_unused]] std::size_t row, std::index_sequence<I...>) {
  return f(leaf, columns[I][row].template as<L>()...);
}
template <class Rows, class F, class T, class... Rest>
void walk_rows(Rows&& rows, F& f, T& t, const Rest&... rest) {
  const std::array<std::vector<AnyLeaf>, sizeof...(Rest)> columns{any_leaves(rest)...};
  if constexpr (sizeof...(Rest) > 0) {
    const Structure first = structure(t);
    std::size_t which = 1;
    (check_same(first, structure(rest), which++), ...);
  }
  std::size_t row = 0;
  for_each(t, [&](auto& leaf) {
    rows(leaf, [&]() -> decltype(auto) {
      return call_row(f, std::as_const(leaf), columns, row, std::index_sequence_for<Rest...>());
    });
    ++row;
  });
}
}  // namespace internal

/// A tree of the first one's type whose leaves are `f(leaf, corresponding leaves of the rest...)`.
/// The trees may have different types when their structures are equal; otherwise Error. Static data
/// comes from the first.
template <class F, TreeLike T, TreeLike... Rest>
T map(F&& f, T t, const Rest&... rest) {
  internal::walk_rows([](auto& leaf, auto call) { leaf = call(); }, f, t, rest...);
  return t;
}

/// The same for results that are no leaves of the tree: `R`s in the order of leaves.
template <class R, class F, TreeLike T, TreeLike... Rest>
std::vector<R> map_leaves(F&& f, const T& t, const Rest&... rest) {
  std::vector<R> out;
  internal::walk_rows([&](const auto&, auto call) { out.push_back(call()); }, f, t, rest...);
  return out;
}

}  // namespace strata::tree
