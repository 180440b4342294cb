// Streams of random keys by name.
//
//   nn::Rngs rngs(0);                                        // one stream, "default"
//   nn::Rngs rngs(0, {{"params", 1}, {"dropout", 2}});       // and others
//   nn::Linear layer(4, 8, rngs);                            // takes two keys of "params"
//   random::Key key = rngs("dropout");                       // fold(key, count); count + 1
//
// A call gives fold_in(key, count) and adds one to count, so that keys depend on the seed, the
// stream and how often it was called before, and on nothing else. Source: Flax NNX's rnglib.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "strata/api/random/key.h"
#include "strata/nn/compiled_visit.h"
#include "strata/nn/variable.h"

namespace strata::nn {

class Sampler;

/// A rule for streams: those that the filter takes get this size, or none.
struct StreamRule {
  tree::Filter filter;
  std::optional<Sizes> size;
};

/// One stream: a key, and how often it was asked.
struct RngStream {
  RngCount count;  // ui32 of the key's shape
  RngKey key;      // words, ui32[..., n]
  random::Implementation implementation = random::Implementation::threefry2x32;
  STRATA_FIELDS(count, key, implementation)

  RngStream() = default;
  /// From a seed or a key. `tag` is the stream's name, by which filters find it.
  explicit RngStream(std::int64_t seed, std::string tag = {});
  explicit RngStream(const random::Key& key, std::string tag = {});

  /// The next key.
  random::Key operator()();
  /// A new stream whose key is this one's next, with count 0.
  RngStream fork();
  /// A stack of k streams (or of a shape): keys split(next, k), counts 0. For vmap and Stack.
  RngStream split(const Sizes& k);
  /// A stack of k streams that are all the next key.
  RngStream broadcast(const Sizes& k);
  /// Samplers and initializers, of which each call takes the next key:
  /// `stream.sample().normal({2})` (sampler.h).
  Sampler sample();
  /// The name that filters find it by; empty where it was given none.
  const std::string& tag() const { return key.metadata().tag; }
};

/// Streams by name; a name that there is not is served by "default", where there is that.
class Rngs {
 public:
  Rngs() = default;
  explicit Rngs(std::int64_t default_seed) : Rngs(default_seed, {}) {}
  explicit Rngs(const random::Key& default_key);
  Rngs(std::int64_t default_seed,
       std::initializer_list<std::pair<std::string, std::int64_t>> streams);
  explicit Rngs(std::initializer_list<std::pair<std::string, std::int64_t>> streams);
  /// Streams that exist already, in this order.
  explicit Rngs(std::vector<std::pair<std::string, RngStream>> streams);

  /// The next key of a stream. Throws Error with the names there are where neither it nor "default"
  /// is among them.
  random::Key operator()(std::string_view name = "default") { return (*this)[name](); }
  RngStream& operator[](std::string_view name);
  /// Whether a stream has this very name.
  bool contains(std::string_view name) const;
  /// The names of the streams in their order.
  std::vector<std::string> names() const;
  /// The number of streams.
  std::size_t size() const { return streams_.size(); }
  /// Every stream forked, in the order in which they were given.
  Rngs fork();
  /// The same, each by the first rule that takes it: into a stack where the rule has a size.
  Rngs fork(const std::vector<StreamRule>& rules);
  /// Every stream as a stack of k.
  Rngs split(const Sizes& k);
  /// Every stream as a stack of k that are all its next key.
  Rngs broadcast(const Sizes& k);
  /// Each stream by the first rule that takes it. As upstream, a stream that none takes, or one
  /// without a size, has the same key and begins at 0: it gives the keys again that were taken of
  /// it.
  Rngs split(const std::vector<StreamRule>& rules);
  /// The same with stacks that are all one key: the next of a stream that a rule gives a size;
  /// others as in `split`.
  Rngs broadcast(const std::vector<StreamRule>& rules);
  /// Samplers and initializers of a stream (sampler.h): `rngs.sample("params").uniform({4})`.
  Sampler sample(std::string_view name = "default");

  /// The streams with their names, in their order.
  std::vector<std::pair<std::string, RngStream>>& streams() { return streams_; }
  const std::vector<std::pair<std::string, RngStream>>& streams() const { return streams_; }

 private:
  std::vector<std::pair<std::string, RngStream>> streams_;
};

}  // namespace strata::nn

/// A child for each stream, by name.
template <>
struct strata::tree::Node<strata::nn::Rngs> {
  static constexpr const char* open = "{";
  static constexpr const char* close = "}";
  template <class U, class F>
  static void visit(U& t, F&& f) {
    for (auto& [name, stream] : t.streams()) f(Step::key(name), stream);
  }
};

STRATA_COMPILED_VISIT(strata::nn::RngStream)
STRATA_COMPILED_VISIT(strata::nn::Rngs)
