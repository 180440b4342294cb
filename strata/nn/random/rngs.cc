#include "strata/nn/random/rngs.h"

#include <algorithm>

namespace strata::nn {

namespace {
RngStream stream_of(const random::Key& key, std::string tag) {
  RngStream out;
  const Metadata notes{.tag = std::move(tag)};
  out.key = RngKey(key.words, notes);
  out.count = RngCount(numpy::zeros(Sizes(key.shape()), DType::ui32), notes);
  out.implementation = key.implementation;
  return out;
}
/// A new stream of the same name and generator.
RngStream like(const RngStream& of, const random::Key& key) { return stream_of(key, of.tag()); }
}  // namespace

RngStream::RngStream(std::int64_t seed, std::string tag)
    : RngStream(random::key(Array(seed)), std::move(tag)) {}
RngStream::RngStream(const random::Key& key, std::string tag) {
  *this = stream_of(key, std::move(tag));
}

random::Key RngStream::operator()() {
  if (!key.has_value())
    strata::internal::fail("RngStream", "the stream has no key yet; give it a seed");
  if (count.ndim() != 0)
    strata::internal::fail("RngStream",
                           "the stream is a stack of {}; call it under vmap or scan, or take one",
                           count.shape().to_string());
  const random::Key next = random::fold_in(random::Key(key, implementation), count);
  count = count + Array::scalar(std::uint64_t{1}, DType::ui32, false);
  return next;
}
RngStream RngStream::fork() { return like(*this, (*this)()); }
RngStream RngStream::split(const Sizes& k) { return like(*this, random::split((*this)(), k)); }
RngStream RngStream::broadcast(const Sizes& k) {
  const random::Key next = (*this)();
  std::vector<std::int64_t> shape = k.get();
  shape.push_back(next.words.shape(-1));
  return like(*this, random::Key(numpy::broadcast_to(next.words, shape), implementation));
}

Rngs::Rngs(const random::Key& default_key) {
  streams_.emplace_back("default", RngStream(default_key, "default"));
}
Rngs::Rngs(std::int64_t default_seed,
           std::initializer_list<std::pair<std::string, std::int64_t>> streams) {
  streams_.emplace_back("default", RngStream(default_seed, "default"));
  for (const auto& [name, seed] : streams) streams_.emplace_back(name, RngStream(seed, name));
}
Rngs::Rngs(std::initializer_list<std::pair<std::string, std::int64_t>> streams) {
  for (const auto& [name, seed] : streams) streams_.emplace_back(name, RngStream(seed, name));
}
Rngs::Rngs(std::vector<std::pair<std::string, RngStream>> streams) : streams_(std::move(streams)) {}

RngStream& Rngs::operator[](std::string_view name) {
  const auto named = [&](std::string_view wanted) {
    return std::find_if(streams_.begin(), streams_.end(),
                        [&](const auto& s) { return s.first == wanted; });
  };
  auto it = named(name);
  if (it == streams_.end()) it = named("default");
  if (it == streams_.end()) {
    std::string have;
    for (const auto& [n, stream] : streams_) have += (have.empty() ? "" : ", ") + n;
    strata::internal::fail("Rngs", "there is no stream {} and none called default, only [{}]", name,
                           have);
  }
  return it->second;
}

bool Rngs::contains(std::string_view name) const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [&](const auto& s) { return s.first == name; });
}
std::vector<std::string> Rngs::names() const {
  std::vector<std::string> out;
  for (const auto& [name, stream] : streams_) out.push_back(name);
  return out;
}
namespace {
using Streams = std::vector<std::pair<std::string, RngStream>>;
/// The first rule that takes a stream, which filters see by its tag alone.
const StreamRule* rule_of(const RngStream& stream, const std::vector<StreamRule>& rules) {
  static constexpr tree::Kind kind("RngStream");
  const tree::Entry entry(tree::KeyPath(), kind, stream.key.metadata_ref());
  for (const StreamRule& rule : rules)
    if (rule.filter(entry, stream.key)) return &rule;
  return nullptr;
}
/// A stream for each, by its name: what `made` answers for its rule.
Rngs each(Streams& streams, const std::vector<StreamRule>& rules,
          const std::function<RngStream(RngStream&, const StreamRule*)>& made) {
  Streams out;
  for (auto& [name, stream] : streams) {
    const RngStream now = made(stream, rule_of(stream, rules));
    out.emplace_back(name, RngStream(random::Key(now.key, now.implementation), name));
  }
  return Rngs(std::move(out));
}
}  // namespace

Rngs Rngs::fork() { return fork(std::vector<StreamRule>()); }
Rngs Rngs::fork(const std::vector<StreamRule>& rules) {
  return each(streams_, rules, [](RngStream& stream, const StreamRule* rule) {
    return rule && rule->size ? stream.split(*rule->size) : stream.fork();
  });
}
Rngs Rngs::split(const std::vector<StreamRule>& rules) {
  return each(streams_, rules, [](RngStream& stream, const StreamRule* rule) {
    return rule && rule->size ? stream.split(*rule->size) : stream;
  });
}
Rngs Rngs::broadcast(const std::vector<StreamRule>& rules) {
  return each(streams_, rules, [](RngStream& stream, const StreamRule* rule) {
    return rule && rule->size ? stream.broadcast(*rule->size) : stream;
  });
}
Rngs Rngs::split(const Sizes& k) { return split({StreamRule{everything(), k}}); }
Rngs Rngs::broadcast(const Sizes& k) { return broadcast({StreamRule{everything(), k}}); }

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::RngStream)
STRATA_COMPILE_VISIT(strata::nn::Rngs)
