#include "strata/tokenizer/byte_trie.h"

#include <algorithm>

namespace strata::tokenizer {

ByteTrie::ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> strings) {
  if (strings.empty()) return;
  std::stable_sort(strings.begin(), strings.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  // Breadth first: a node is a range of the sorted strings that share `depth` bytes.
  struct Pending {
    std::size_t begin, end, depth;
  };
  std::vector<Pending> pending = {{0, strings.size(), 0}};
  nodes_.emplace_back();
  for (std::size_t node = 0; node < pending.size(); ++node) {
    auto [begin, end, depth] = pending[node];
    while (begin < end && strings[begin].first.size() == depth)
      nodes_[node].value = strings[begin++].second;
    nodes_[node].children = static_cast<std::int32_t>(labels_.size());
    while (begin < end) {
      const char label = strings[begin].first[depth];
      std::size_t last = begin;
      while (last < end && strings[last].first[depth] == label) ++last;
      labels_.push_back(static_cast<unsigned char>(label));
      targets_.push_back(static_cast<std::int32_t>(nodes_.size()));
      nodes_.emplace_back();
      pending.push_back({begin, last, depth + 1});
      begin = last;
    }
    nodes_[node].count = static_cast<std::int32_t>(labels_.size()) - nodes_[node].children;
  }
}

std::int32_t ByteTrie::child(std::int32_t node, unsigned char label) const {
  const Node& n = nodes_[static_cast<std::size_t>(node)];
  const auto begin = labels_.begin() + n.children, end = begin + n.count;
  const auto found = std::lower_bound(begin, end, label);
  return found == end || *found != label
             ? -1
             : targets_[static_cast<std::size_t>(found - labels_.begin())];
}

std::pair<std::size_t, std::int32_t> ByteTrie::longest(std::string_view text) const {
  std::pair<std::size_t, std::int32_t> out{0, -1};
  prefixes(text, [&](std::size_t n, std::int32_t value) { out = {n, value}; });
  return out;
}

}  // namespace strata::tokenizer
