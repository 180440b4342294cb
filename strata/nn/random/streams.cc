#include "strata/nn/random/streams.h"

#include <algorithm>

#include "strata/api/random.h"

namespace strata::nn {

namespace {

/// Collects the streams that a visit passes.
class StreamFinder : public tree::Visitor {
 public:
  void enter(const tree::Step& step) override { path_.push_back(tree::key_of(step)); }
  void leave() override { path_.pop_back(); }
  void leaf(Array&, const tree::Kind&, MetadataPtr*) override {}
  void node(const void* object, const std::type_info& type) override {
    if (type != typeid(RngStream)) return;
    found.push_back({path_, static_cast<RngStream*>(const_cast<void*>(object))});
  }
  std::vector<StreamAt> found;

 private:
  tree::KeyPath path_;
};

/// A variable of a stream as filters see it.
template <class V>
bool takes(const tree::Filter& filter, const StreamAt& at, const char* name, const V& variable) {
  tree::KeyPath path = at.path;
  path.push_back(tree::GetAttrKey{name});
  return filter(tree::Entry(path, V::kind(), variable.metadata_ref()), variable);
}
bool takes_variables(const tree::Filter& filter, const StreamAt& at) {
  return takes(filter, at, "key", at.stream->key) && takes(filter, at, "count", at.stream->count);
}
/// The stream itself, which is no Variable.
bool takes_stream(const tree::Filter& filter, const StreamAt& at) {
  static constexpr tree::Kind kind("RngStream");
  return filter(tree::Entry(at.path, kind, at.stream->key.metadata_ref()), at.stream->key);
}
const StreamRule* first_rule(const std::vector<StreamRule>& rules, const StreamAt& at) {
  const auto it = std::find_if(rules.begin(), rules.end(),
                               [&](const StreamRule& r) { return takes_stream(r.filter, at); });
  return it == rules.end() ? nullptr : &*it;
}

}  // namespace

std::string StreamAt::name() const {
  return tree::keystr(path, {.simple = true, .separator = "/"});
}

ReseedPolicy ReseedPolicy::scalars_only() {
  return {[](const StreamAt& at, const random::Key& key, const Shape& shape) {
    if (shape.rank() != 0)
      strata::internal::fail("reseed",
                             "the stream {} is a stack of {}; ReseedPolicy::match_shape() gives "
                             "each place a key of its own",
                             at.name(), shape.to_string());
    return key;
  }};
}
ReseedPolicy ReseedPolicy::match_shape() {
  return {[](const StreamAt&, const random::Key& key, const Shape& shape) {
    return shape.rank() == 0 ? key : random::split(key, shape);
  }};
}

namespace detail {

std::vector<StreamAt> streams_in(const std::function<void(tree::Visitor&)>& accept) {
  StreamFinder finder;
  accept(finder);
  std::sort(finder.found.begin(), finder.found.end(),
            [](const StreamAt& a, const StreamAt& b) { return tree::path_less(a.path, b.path); });
  return std::move(finder.found);
}

void split_rngs(const Streams& from, const Streams& to, const SplitRngsOptions& o) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!takes_variables(o.only, from[i])) continue;
    RngStream parts = from[i].stream->split(o.splits);
    if (o.squeeze) {
      if (o.splits.size() == 0 || parts.key.shape(0) == 0)
        strata::internal::fail("split_rngs", "there is no first of no streams");
      const random::Key keys(parts.key, parts.implementation);
      parts = RngStream(keys[{0}], parts.tag());
    }
    *to[i].stream = std::move(parts);
  }
}

void fork_rngs(const Streams& from, const Streams& to, const std::vector<StreamRule>& rules) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto it = std::find_if(rules.begin(), rules.end(), [&](const StreamRule& r) {
      return takes_variables(r.filter, from[i]);
    });
    if (it == rules.end()) continue;
    *to[i].stream = it->size ? from[i].stream->split(*it->size) : from[i].stream->fork();
  }
}

void with_rngs(const Streams& from, const Streams& to, const WithRngsOptions& o) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const StreamAt& at = from[i];
    if (!takes_stream(o.only, at)) continue;
    const StreamRule* split = first_rule(o.split, at);
    const StreamRule* broadcast = first_rule(o.broadcast, at);
    const auto fork = std::find_if(o.fork.begin(), o.fork.end(),
                                   [&](const tree::Filter& f) { return takes_stream(f, at); });
    std::string by_name;
    int specific = 0;
    const auto note = [&](const char* list, const tree::Filter& filter) {
      if (filter.takes_everything()) return;
      ++specific;
      by_name += fmt::format("{}{} by {}", by_name.empty() ? "" : ", ", list, filter.text());
    };
    if (split) note("split", split->filter);
    if (broadcast) note("broadcast", broadcast->filter);
    if (fork != o.fork.end()) note("fork", *fork);
    if (specific > 1)
      strata::internal::fail("with_rngs", "the stream {} is taken twice: {}", at.name(), by_name);
    const auto size = [&](const StreamRule& rule, const char* list) -> const Sizes& {
      if (!rule.size)
        strata::internal::fail("with_rngs", "{} by {} has no size", list, rule.filter.text());
      return *rule.size;
    };
    if (split)
      *to[i].stream = at.stream->split(size(*split, "split"));
    else if (broadcast)
      *to[i].stream = at.stream->broadcast(size(*broadcast, "broadcast"));
    else if (fork != o.fork.end())
      *to[i].stream = at.stream->fork();
  }
}

std::vector<bool> replaced(const Streams& originals, const Streams& copies) {
  std::vector<bool> out;
  for (std::size_t i = 0; i < originals.size(); ++i)
    out.push_back(originals[i].stream->key.state() != copies[i].stream->key.state());
  return out;
}

void put_back(const Streams& originals, const Streams& copies, const std::vector<bool>& which) {
  for (std::size_t i = 0; i < which.size() && i < copies.size(); ++i)
    if (which[i]) *copies[i].stream = *originals[i].stream;
}

void reseed(const Streams& streams, Rngs seeds, const ReseedPolicy& policy) {
  for (const StreamAt& at : streams) {
    const std::string name = at.stream->tag();
    if (!seeds.contains(name)) continue;
    const Shape shape = random::Key(at.stream->key, at.stream->implementation).shape();
    *at.stream = RngStream(policy(at, seeds(name), shape), name);
  }
}

}  // namespace detail

}  // namespace strata::nn
