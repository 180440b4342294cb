// Streams of random numbers of a whole module: split, forked, broadcast, reseeded.
//
//   Model stacked = nn::split_rngs(model, {.splits = 8, .only = nn::tag("dropout")});
//   Model forked = nn::fork_rngs(model);
//   nn::with_rngs(model, {.split = {{nn::tag("params"), 4}}, .fork = {nn::tag("dropout")}});
//   nn::reseed(model, {{"dropout", 42}});
//
// What makes new streams returns a copy of the module with these, and takes one key of each stream
// of the module it came from. Filters see a stream by its path and tag. Source: flax/nnx/rnglib.py
// (0.12.8) in tree mode; what graph mode puts back afterwards (restore_rngs) is here the module
// itself, which keeps its keys.
#pragma once

#include "strata/nn/random/rngs.h"

namespace strata::nn {

/// Streams of this name: their keys and counts, too.
inline tree::Filter tag(std::string name) { return tree::with_tag(std::move(name)); }

/// A stream of a module and where it stands.
struct StreamAt {
  tree::KeyPath path;
  RngStream* stream;
  /// "blocks/0/drop/rngs"
  std::string name() const;
};
namespace detail {
std::vector<StreamAt> streams_in(const std::function<void(tree::Visitor&)>& accept);
}  // namespace detail
/// The streams of a module in upstream's order, by path.
template <tree::TreeLike T>
std::vector<StreamAt> streams_of(T& node) {
  return detail::streams_in([&](tree::Visitor& v) { tree::accept(node, v); });
}

struct SplitRngsOptions {
  strata::internal::Named named = strata::internal::Named();
  /// How many streams one becomes, or their shape.
  Sizes splits = {};
  /// Which streams: those of which it takes both key and count.
  tree::Filter only = everything();
  /// Takes the first of the streams, without the axis.
  bool squeeze = false;
};
struct WithRngsOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Sizes by filter; of each list the first that takes a stream holds.
  std::vector<StreamRule> split = {}, broadcast = {};
  std::vector<tree::Filter> fork = {};
  tree::Filter only = everything();
};
/// The key of a stream that is reseeded, of a new single key: the key itself, for single streams
/// only; one for each place of a stack; or what a function says.
class ReseedPolicy {
 public:
  /// Gives the new key of the stream at `at`, of the shape of keys that it had, from a single one.
  /// Another shape makes the stream another stack.
  using Function =
      std::function<random::Key(const StreamAt& at, const random::Key& key, const Shape& shape)>;
  /// The key itself. Throws Error for a stack.
  static ReseedPolicy scalars_only();
  /// The key itself for a single stream, and one for each place of a stack: split(key, shape).
  static ReseedPolicy match_shape();
  ReseedPolicy(Function f) : f_(std::move(f)) {}  // NOLINT: implicit by intent
  random::Key operator()(const StreamAt& at, const random::Key& key, const Shape& shape) const {
    return f_(at, key, shape);
  }

 private:
  Function f_;
};

namespace detail {
using Streams = std::vector<StreamAt>;
void split_rngs(const Streams& from, const Streams& to, const SplitRngsOptions& options);
void fork_rngs(const Streams& from, const Streams& to, const std::vector<StreamRule>& rules);
void with_rngs(const Streams& from, const Streams& to, const WithRngsOptions& options);
void reseed(const Streams& streams, Rngs seeds, const ReseedPolicy& policy);
}  // namespace detail

/// A copy in which streams are stacks of `splits`, with counts of 0.
template <tree::TreeLike T>
T split_rngs(T& node, const SplitRngsOptions& options) {
  T out = node;
  detail::split_rngs(streams_of(node), streams_of(out), options);
  return out;
}
/// A copy in which streams are forked: by the first rule that takes key and count, into a stack
/// where it has a size. Streams that no rule takes stay.
template <tree::TreeLike T>
T fork_rngs(T& node, const std::vector<StreamRule>& rules = {{everything(), {}}}) {
  T out = node;
  detail::fork_rngs(streams_of(node), streams_of(out), rules);
  return out;
}
/// A copy in which streams are split, broadcast or forked. A stream that two of the lists take by
/// name is an error; `everything` yields, and of two such ones split goes before broadcast, that
/// before fork. Others stay.
template <tree::TreeLike T>
T with_rngs(T& node, const WithRngsOptions& options) {
  T out = node;
  detail::with_rngs(streams_of(node), streams_of(out), options);
  return out;
}
namespace detail {
/// Which streams of a copy are others than those it was copied from.
std::vector<bool> replaced(const Streams& originals, const Streams& copies);
/// Puts the originals in place of those that are others.
void put_back(const Streams& originals, const Streams& copies, const std::vector<bool>& which);

/// An argument of a function that splits streams: the copy that the function gets, and what becomes
/// of the original.
template <class T>
struct SplitArgument {
  using Copy = std::remove_const_t<T>;
  template <class Split>
  SplitArgument(T& given, const Split& split) : original(given) {
    if constexpr (std::is_const_v<T>) {
      Copy from = given;
      copy = split(from);
    } else {
      copy = split(given);
      which = replaced(streams_of(original), streams_of(copy));
    }
  }
  /// Writes what the function changed into the original, but for streams that were split.
  void write_back() {
    if constexpr (!std::is_const_v<T>) {
      put_back(streams_of(original), streams_of(copy), which);
      original = std::move(copy);
    }
  }
  T& original;
  Copy copy;
  std::vector<bool> which;
};
template <class F, class Split>
auto with_split_arguments(F f, Split split) {
  return [f = std::move(f), split = std::move(split)]<class... Args>(Args&&... args) mutable {
    std::tuple<SplitArgument<std::remove_reference_t<Args>>...> held(
        SplitArgument<std::remove_reference_t<Args>>(args, split)...);
    const auto call = [&](auto&... each) -> decltype(auto) { return f(each.copy...); };
    const auto write_back = [](auto&... each) { (each.write_back(), ...); };
    if constexpr (std::is_void_v<decltype(std::apply(call, held))>) {
      std::apply(call, held);
      std::apply(write_back, held);
    } else {
      auto result = std::apply(call, held);
      std::apply(write_back, held);
      return result;
    }
  };
}
}  // namespace detail

/// f on arguments whose streams are split, forked or both, as the functions above do:
///
///     auto ensemble = nn::split_rngs({.splits = 8}, nn::vmap(f));
///
/// Source: upstream's decorators of these names. Deviation: what f changes of arguments that are
/// lvalues is written back, as in graph mode; streams that were split only advance by one call.
template <class F>
auto split_rngs(const SplitRngsOptions& options, F f) {
  return detail::with_split_arguments(
      std::move(f), [options]<class T>(T& node) { return split_rngs(node, options); });
}
template <class F>
auto fork_rngs(const std::vector<StreamRule>& rules, F f) {
  return detail::with_split_arguments(std::move(f),
                                      [rules]<class T>(T& node) { return fork_rngs(node, rules); });
}
template <class F>
auto with_rngs(const WithRngsOptions& options, F f) {
  return detail::with_split_arguments(
      std::move(f), [options]<class T>(T& node) { return with_rngs(node, options); });
}
/// Gives the streams of these names new keys, in order of path: calls of the seed's stream. Counts
/// become 0. Throws Error for a stack, unless the policy says what to do.
template <tree::TreeLike T>
void reseed(T& node, Rngs seeds, const ReseedPolicy& policy = ReseedPolicy::scalars_only()) {
  detail::reseed(streams_of(node), std::move(seeds), policy);
}

}  // namespace strata::nn
