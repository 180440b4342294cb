// tree::Tree: a run-time handle over any tree of arrays.
//
//   tree::Tree t = tree::of(model);                     // leaves with paths, kinds, metadata
//   t.names()                                           // {"layers/0/kernel", "layers/0/bias",
//   ...} tree::Tree kernels = t.filter(tree::path("**/kernel")); auto [params, rest] =
//   t.split<2>({tree::of_kind(tree::kinds::param), tree::everything()}); tree::assign(model,
//   tree::merge({params, rest}));   // back into the typed struct, by path
//
// The library works on this one type, compiled once; typed structs are what users write. A Tree is
// a value: copies share what does not change. It is itself a tree, so jit, grad, vmap and scan take
// it as an argument. Leaves stand in the order of fields; `sorted` gives upstream's order. Source
// of the idea: Flax NNX's State.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "strata/api/tree/filter.h"
#include "strata/api/tree/visitor.h"
#include "strata/base/recycle.h"
#include "strata/tree/key_path.h"

namespace strata::tree {

/// Leaves by path; see above.
class Tree {
 public:
  Tree() = default;
  /// Throws Error where two leaves have the same path.
  Tree(std::vector<Entry> entries, std::vector<Array> values);
  /// Of plain arrays by their paths: `Tree({{"kernel", w}, {"bias", b}})`.
  Tree(std::initializer_list<std::pair<std::string, Array>> leaves);

  /// The number of leaves.
  std::size_t size() const { return values_.size(); }
  /// Whether there are no leaves.
  bool empty() const { return values_.empty(); }
  /// What is known of leaf i.
  const Entry& entry(std::size_t i) const { return layout_->entries[i]; }
  /// The value of leaf i.
  const Array& value(std::size_t i) const { return values_[i]; }
  /// What is known of each leaf, in order; of a temporary a copy.
  std::span<const Entry> entries() const&;
  std::vector<Entry> entries() && {
    return {std::as_const(*this).entries().begin(), std::as_const(*this).entries().end()};
  }
  /// The value of each leaf, in order; of a temporary a copy.
  std::span<const Array> values() const& { return values_; }
  std::vector<Array> values() && { return {values_.begin(), values_.end()}; }
  /// The paths as text.
  std::vector<std::string> names() const;

  /// The place of a path, "layers/0/kernel"; none where the tree has no such leaf.
  std::optional<std::size_t> find(std::string_view name) const;
  /// Whether there is a leaf at a path.
  bool contains(std::string_view name) const { return find(name).has_value(); }
  /// The value at a path. Throws Error with the nearest path where there is none.
  const Array& operator[](std::string_view name) const;
  /// Puts a value at a path that the tree has. Throws Error otherwise.
  void set(std::string_view name, Array value);
  /// The leaves below a path, with what is left of theirs; the leaf at the path itself has none
  /// left.
  Tree subtree(std::string_view prefix) const;
  /// The leaves with a path in front of theirs.
  Tree below(std::string_view prefix) const;

  /// The same paths, kinds and metadata with other values. Throws Error for another number.
  Tree with_values(std::vector<Array> values) const;
  /// The same leaves with other metadata.
  Tree with_metadata(const std::function<MetadataPtr(const Entry&)>& f) const;
  /// Each value replaced by f(entry, value), or f(value).
  Tree map(const std::function<Array(const Entry&, const Array&)>& f) const;
  Tree map(const std::function<Array(const Array&)>& f) const;
  /// f(value, value of `other` at the same place). Throws Error where the paths differ.
  Tree map(const Tree& other, const std::function<Array(const Array&, const Array&)>& f) const;

  /// The leaves that the filter takes.
  Tree filter(const Filter& filter) const;
  /// A tree for each filter; a leaf goes to the first that takes it. Throws Error where leaves are
  /// left over, or where a filter that takes everything is not the last.
  std::vector<Tree> split(std::span<const Filter> filters) const;
  template <std::size_t N>
  std::array<Tree, N> split(const std::array<Filter, N>& filters) const {
    std::vector<Tree> parts = split(std::span<const Filter>(filters));
    std::array<Tree, N> out;
    std::move(parts.begin(), parts.end(), out.begin());
    return out;
  }
  /// The leaves in upstream's order: by path, numbers before names and by size.
  Tree sorted() const;

  /// Paths, kinds, types and metadata as text, a line each.
  std::string to_string() const;
  /// Whether both have the same paths in the same order; kinds and metadata count, values do not.
  friend bool same_structure(const Tree& a, const Tree& b);
  /// Paths that only one of the two has, as a sentence of at most five each; empty where there are
  /// none.
  friend std::string differences(const Tree& a, const Tree& b);

  /// Kinds and notes of all leaves as text; names stand beside it in a structure.
  std::string_view kinds_text() const { return layout_ ? layout_->text : std::string_view(); }
  void accept(Visitor& visitor);
  /// The leaf at i for those who visit.
  Array& mutable_value(std::size_t i) { return values_[i]; }

 private:
  struct Layout {
    std::vector<Entry> entries;
    std::unordered_map<std::string_view, std::size_t> place;  // of names; looked up only
    std::string text;                                         // kinds and notes
  };
  std::shared_ptr<const Layout> layout_;
  /// Copies of a tree come and go with every step: their lists are kept for the next ones.
  std::vector<Array, Recycled<Array>> values_;
};

/// All leaves of the trees. Where two have the same path, the later one's value holds.
Tree merge(std::span<const Tree> trees);
inline Tree merge(std::initializer_list<Tree> trees) {
  return merge(std::span<const Tree>(trees.begin(), trees.size()));
}
/// Whether both have the same leaves with the same types and bits.
bool equal(const Tree& a, const Tree& b);

/// The tree of a typed one.
template <TreeLike T>
Tree of(const T& t);
/// Writes values into the leaves of a typed tree, by path. Leaves that `from` lacks stay as they
/// are. Throws Error for a path that the typed tree lacks, naming the nearest one it has.
template <TreeLike T>
void assign(T& t, const Tree& from);
/// A copy of `like` with the values of a tree that has every leaf of it. Throws Error otherwise.
template <TreeLike T>
T as(T like, const Tree& from);

namespace internal {
Tree collect(const std::function<void(Visitor&)>& accept);
void assign(const std::function<void(Visitor&)>& accept, const Tree& from, bool all);
}  // namespace internal

template <TreeLike T>
Tree of(const T& t) {
  return internal::collect([&](Visitor& v) { accept_const(t, v); });
}
template <TreeLike T>
void assign(T& t, const Tree& from) {
  internal::assign([&](Visitor& v) { accept(t, v); }, from, false);
}
template <TreeLike T>
T as(T like, const Tree& from) {
  internal::assign([&](Visitor& v) { accept(like, v); }, from, true);
  return like;
}

/// A Tree among the nodes of typed trees.
template <>
struct Node<Tree> {
  static constexpr const char* open = "{";
  static constexpr const char* close = "}";
  template <class U, class F>
  static void visit(U& t, F&& f) {
    for (std::size_t i = 0; i < t.size(); ++i) {
      const Step step = Step::path(t.entry(i).name);
      if constexpr (std::is_const_v<U>)
        f(step, t.value(i));
      else
        f(step, t.mutable_value(i));
    }
  }
  /// Joins kinds and metadata to the structure's text.
  static void append_to(std::string& text, const Tree& t);
};

}  // namespace strata::tree
