#include "strata/data/pipeline/node.h"

#include <chrono>
#include <deque>
#include <iostream>
#include <set>

namespace strata::data::pipeline {
namespace {

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

const Json& part(const Json& state, const char* key) {
  if (!state.is_object()) throw StateError{fmt::format("expected an object with \"{}\"", key)};
  const auto it = state.find(key);
  if (it == state.end()) throw StateError{fmt::format("\"{}\" is missing", key)};
  return *it;
}

std::int64_t integer(const Json& value, const char* what, std::int64_t least, std::int64_t most) {
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX);
  if (!fits || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
    throw StateError{fmt::format(
        "\"{}\" is {}, allowed are integers from {} to {}", what,
        value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 100), least, most)};
  return value.get<std::int64_t>();
}

Timed::Timed(Stage& stage, std::int64_t elements)
    : stage_(stage), begin_(now()), elements_(elements) {}

Timed::~Timed() {
  stage_.elements += elements_;
  stage_.nanoseconds += now() - begin_;
}

Node::Node(Parents parents) : parents_(std::move(parents)) {
  if (!parents_.empty()) mode_ = parents_[0]->mode();
  for (const auto& p : parents_)
    if (p->mode() != mode_)
      throw Error("data::pipeline", "{} is of the other mode than {}; give all sources one mode",
                  p->name(), parents_[0]->name());
}

Node::~Node() = default;
Iterator::~Iterator() = default;

std::optional<std::uint64_t> default_seed(const Node::Parents& parents) {
  std::vector<std::uint64_t> entropy;
  std::deque<std::pair<const Node*, std::uint64_t>> queue;
  for (const auto& p : parents) queue.emplace_back(p.get(), 1);
  while (!queue.empty()) {
    const auto [node, depth] = queue.front();
    queue.pop_front();
    if (node->seed_mark()) {
      entropy.push_back(*node->seed_mark());
      entropy.push_back(depth);
    } else {
      for (const auto& p : node->parents()) queue.emplace_back(p.get(), depth + 1);
    }
  }
  if (entropy.empty()) return {};
  return seed_sequence(entropy, 1)[0];
}

std::uint64_t seed_or_default(std::optional<std::uint64_t> seed, const Node::Parents& parents,
                              const char* operation) {
  if (!seed) seed = default_seed(parents);
  if (!seed)
    throw Error(operation,
                "no seed: give one as an argument of {}, or mark one before with seed(s)",
                operation);
  return *seed;
}

bool any_above(const Node& node, const std::function<bool(const Node&)>& f) {
  if (f(node)) return true;
  for (const auto& p : node.parents())
    if (any_above(*p, f)) return true;
  return false;
}

void ReindexNode::do_get_many(std::span<const std::int64_t> indices, std::span<Element> out) const {
  thread_local std::vector<std::vector<std::int64_t>> spare;  // one for each operation in a chain
  std::vector<std::int64_t> mapped;
  if (!spare.empty()) {
    mapped = std::move(spare.back());
    spare.pop_back();
  }
  mapped.resize(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) mapped[i] = reindex(indices[i]);
  parent_->get_many(mapped, out);
  spare.push_back(std::move(mapped));
}

std::int64_t Iterator::next_index() {
  throw Error("data::DatasetIterator", "{} does not know the number of its next element",
              node_.name());
}

void Iterator::set_next_index(std::int64_t index) {
  throw Error("data::DatasetIterator",
              "{} cannot go to element {} without reading those before it; use set_state",
              node_.name(), index);
}

PipelineOptions merged_options(const Node& node) {
  const auto* iter = dynamic_cast<const IterNode*>(&node);
  if (iter && iter->options()) return *iter->options();
  for (const auto& p : node.parents())
    if (any_above(*p, [](const Node& n) {
          const auto* i = dynamic_cast<const IterNode*>(&n);
          return i && i->options();
        }))
      return merged_options(*p);
  return {};
}

void FilterHealth::count(bool passed) {
  constexpr std::int64_t kInterval = 1000, kWarnEvery = 60'000'000'000;
  ++(passed ? passed_ : dropped_);
  if (passed_ + dropped_ < kInterval) return;
  const double share = static_cast<double>(dropped_) / static_cast<double>(passed_ + dropped_);
  passed_ = dropped_ = 0;
  if (options_.filter_raise_threshold_ratio && share >= *options_.filter_raise_threshold_ratio)
    throw Error("data::filter",
                "{} dropped {:.2f} % of the last {} elements; filter_raise_threshold_ratio allows "
                "less than {}",
                name_, 100 * share, kInterval, *options_.filter_raise_threshold_ratio);
  if (!options_.filter_warn_threshold_ratio || share < *options_.filter_warn_threshold_ratio)
    return;
  if (last_warning_ >= 0 && now() - last_warning_ < kWarnEvery) return;
  last_warning_ = now();
  const std::string text =
      fmt::format("{} dropped {:.2f} % of the last {} elements", name_, 100 * share, kInterval);
  if (options_.warn)
    options_.warn(text);
  else
    std::cerr << "warning: " << text << "\n";
}

std::string python_bool(bool value) { return value ? "True" : "False"; }

void check_index(const MapNode& node, std::int64_t index) {
  if (index < 0 || node.size() == 0)
    throw Error("data::MapDataset", "element {} of {}, which has {}", index, node.name(),
                node.size());
}

std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? kInfinite : out;
}

}  // namespace strata::data::pipeline
