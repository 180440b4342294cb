#include "strata/nn/transform/jit.h"

#include <algorithm>

namespace strata::nn::detail {

namespace {

/// Writes a key and notes where the leaves stand.
class KeyVisitor : public tree::Visitor {
 public:
  KeyVisitor(std::string& key, std::vector<ArgumentLeaf>& leaves, std::size_t argument)
      : key_(key), leaves_(leaves), argument_(argument) {}
  void enter(const tree::Step& step) override {
    if (step.kind == tree::Step::Kind::key) constant(step.name);
  }
  void leaf(Array& value, const tree::Kind& kind, MetadataPtr* metadata) override {
    strata::internal::append_type(key_, value);
    const tree::Kind* address = &kind;
    key_.append(reinterpret_cast<const char*>(&address), sizeof address);
    if (metadata && *metadata && !(*metadata)->empty()) note(**metadata);
    leaves_.push_back({&value, argument_});
  }
  void constant(std::string_view bytes) override {
    const std::size_t size = bytes.size();
    key_.append(reinterpret_cast<const char*>(&size), sizeof size);
    key_ += bytes;
  }

 private:
  /// Each part behind its length, so that no two metadata have the same bytes.
  void note(const Metadata& metadata) {
    const std::size_t counts[] = {metadata.out_sharding.size(), metadata.notes.size()};
    key_.append(reinterpret_cast<const char*>(counts), sizeof counts);
    for (const std::string& axis : metadata.out_sharding) constant(axis);
    constant(metadata.tag);
    for (const auto& [name, text] : metadata.notes) {
      constant(name);
      constant(text);
    }
  }
  std::string& key_;
  std::vector<ArgumentLeaf>& leaves_;
  std::size_t argument_;
};

}  // namespace

JitCore::Arguments& JitCore::arguments() {
  thread_local Arguments arguments;
  return arguments;
}

void JitCore::Arguments::begin(const void* types) {
  key.assign(reinterpret_cast<const char*>(&types), sizeof types);
  strata::internal::append_settings(key);
  if (Collector::current()) key += Collector::key();
  leaves.clear();
}

void JitCore::Arguments::add(std::size_t argument,
                             const std::function<void(tree::Visitor&)>& accept) {
  KeyVisitor visitor(key, leaves, argument);
  accept(visitor);
}

std::shared_ptr<const CompiledState> JitCore::find(const std::string& key) const {
  std::lock_guard lock(mutex_);
  const auto it = compiled_.find(key);
  return it == compiled_.end() ? nullptr : it->second;
}

std::shared_ptr<const CompiledState> JitCore::compile(
    const Arguments& arguments, Callee& callee,
    const std::function<std::shared_ptr<const void>()>& like) {
  Traced traced = trace(callee, values_of(arguments.leaves), Trace::Kind::jit);
  std::vector<bool> donated;
  for (const ArgumentLeaf& leaf : arguments.leaves) {
    const auto& given = options_.donate_argnums;
    donated.push_back(std::find(given.begin(), given.end(), leaf.argument) != given.end());
  }
  // Only what is changed gives its memory away: the rest stays the caller's.
  for (std::size_t i = 0; i < donated.size(); ++i)
    donated[i] = donated[i] && std::binary_search(traced.changed.begin(), traced.changed.end(), i);
  strata::internal::CallDevice device;
  for (const ArgumentLeaf& leaf : arguments.leaves) device.add(*leaf.value, options_.name);
  auto compiled = std::make_shared<const CompiledState>(
      CompiledState{strata::internal::compile(std::move(traced.program), options_.name,
                                              std::move(donated), device),
                    traced.results, std::move(traced.changed), std::move(traced.sown), like()});
  std::lock_guard lock(mutex_);
  return compiled_.emplace(arguments.key, std::move(compiled)).first->second;
}

void JitCore::run(const CompiledState& compiled, std::span<const ArgumentLeaf> leaves,
                  const std::function<void(Array)>& result) const {
  strata::internal::Call call(compiled.bound);
  if (compiled.bound.donates) {
    const std::vector<bool>& donated = compiled.bound.donated;
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (donated[i])
        call.give(std::move(*leaves[i].value));
      else
        call.give(*leaves[i].value);
  } else {
    for (const ArgumentLeaf& leaf : leaves) call.add(*leaf.value, false);
  }
  call.run();
  for (std::size_t r = 0; r < compiled.results; ++r) result(call.take());
  for (std::size_t i : compiled.changed) *leaves[i].value = call.take();
  if (compiled.sown.empty()) return;
  std::vector<Array> sown;
  for (std::size_t i = 0; i < compiled.sown.size(); ++i) sown.push_back(call.take());
  deliver(compiled.sown, sown);
}

std::size_t JitCore::cache_size() const {
  std::lock_guard lock(mutex_);
  return compiled_.size();
}

}  // namespace strata::nn::detail
