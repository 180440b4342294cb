#include "strata/nn/transform/callee.h"

#include <algorithm>
#include <unordered_map>

namespace strata::nn::detail {

namespace {
class LeafPointers : public tree::Visitor {
 public:
  void leaf(Array& value, const tree::Kind&, MetadataPtr*) override {
    leaves.push_back({&value, argument});
  }
  std::vector<ArgumentLeaf> leaves;
  std::size_t argument = 0;
};
}  // namespace

std::vector<Array> leaves_of(const std::function<void(tree::Visitor&)>& accept) {
  LeafPointers visitor;
  accept(visitor);
  return values_of(visitor.leaves);
}

void set_leaves(const std::function<void(tree::Visitor&)>& accept, std::span<const Array> leaves) {
  LeafPointers visitor;
  accept(visitor);
  STRATA_CHECK(visitor.leaves.size() == leaves.size(),
               "a visit passes as many leaves as were given");
  for (std::size_t i = 0; i < leaves.size(); ++i) *visitor.leaves[i].value = leaves[i];
}

std::vector<ArgumentLeaf> argument_leaves(const Callee& callee) {
  LeafPointers visitor;
  for (; visitor.argument < callee.arguments(); ++visitor.argument)
    callee.accept(visitor.argument, visitor);
  return std::move(visitor.leaves);
}

std::vector<Array> values_of(std::span<const ArgumentLeaf> leaves) {
  std::vector<Array> out;
  for (const ArgumentLeaf& leaf : leaves) out.push_back(*leaf.value);
  return out;
}

tree::Tree argument_tree(const Callee& callee, std::size_t argument) {
  return tree::internal::collect([&](tree::Visitor& v) { callee.accept(argument, v); });
}

std::vector<std::string> argument_paths(const Callee& callee) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < callee.arguments(); ++i) {
    const tree::Tree argument = argument_tree(callee, i);
    for (const tree::Entry& e : argument.entries())
      out.push_back(e.name.empty() ? fmt::format("argument {}", i)
                                   : fmt::format("argument {}, {}", i, e.name));
  }
  return out;
}

void write_back(std::span<const ArgumentLeaf> leaves, std::span<const std::size_t> which,
                std::span<const Array> values) {
  for (std::size_t i = 0; i < which.size(); ++i) *leaves[which[i]].value = values[i];
}

void give_out(const Traced& traced, std::span<const ArgumentLeaf> leaves,
              std::span<const Array> outputs) {
  write_back(leaves, traced.changed, outputs.subspan(traced.results));
  deliver(traced.sown, outputs.subspan(traced.results + traced.changed.size()));
}

std::vector<std::size_t> changed_leaves(std::span<const Array> before,
                                        std::span<const Array> after) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i].state() != after[i].state()) out.push_back(i);
  return out;
}

namespace {
/// Throws Error where the function changed a variable that stands among its arguments twice, since
/// each place would get a value of its own. `count` leaves were traced, of which the last ones are
/// the arguments'.
void check_aliases(const Callee& callee, std::span<const std::size_t> changed, std::size_t count) {
  if (changed.empty()) return;
  const std::vector<ArgumentLeaf> leaves = argument_leaves(callee);
  const std::size_t before = count - leaves.size();
  const auto is_changed = [&](std::size_t i) {
    return std::binary_search(changed.begin(), changed.end(), i + before);
  };
  std::unordered_map<const Array*, std::size_t> place;  // looked up only
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const auto [it, fresh] = place.emplace(leaves[i].value, i);
    if (fresh || !(is_changed(i) || is_changed(it->second))) continue;
    const std::vector<std::string> paths = argument_paths(callee);
    throw Error("nn", "{} and {} are one variable, which the function changes; pass it once",
                paths[it->second], paths[i]);
  }
}
}  // namespace

Traced trace(Callee& callee, std::span<const Array> leaves, Trace::Kind kind,
             std::span<const Type> types, const std::vector<std::size_t>* always) {
  Traced out;
  Trace trace(kind);
  std::vector<Array> before, after;
  before.reserve(leaves.size());
  for (std::size_t i = 0; i < leaves.size(); ++i)
    before.push_back(
        trace.argument(i < types.size() ? types[i] : leaves[i].type(), leaves[i].weak()));
  std::vector<Array> results;
  {
    std::optional<Collector> collector;
    if (Collector::current()) collector.emplace();
    results = callee.call(before, after);
    if (collector) out.sown = std::move(collector->sown());
  }
  if (after.size() != before.size())
    throw Error(
        "nn",
        "the function changed how many arrays its arguments hold, from {} to {}: a transform "
        "writes back values only; add a cache, an adapter or a layer before it",
        before.size(), after.size());
  out.results = results.size();
  out.changed = always ? *always : changed_leaves(before, after);
  check_aliases(callee, out.changed, leaves.size());
  for (std::size_t i : out.changed) results.push_back(after[i]);
  for (Sown& one : out.sown) results.push_back(std::exchange(one.value, Array()));
  out.program = trace.finish(results);
  return out;
}

}  // namespace strata::nn::detail
