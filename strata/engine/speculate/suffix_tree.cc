#include "strata/engine/speculate/suffix_tree.h"

#include <algorithm>

namespace strata::engine {

void SuffixTree::add(std::span<const std::int32_t> tokens, std::size_t from, std::size_t to,
                     std::int64_t times) {
  const auto count = [&](std::size_t end, std::size_t length) {
    Node* node = &root_;
    for (std::size_t i = end + 1 - length; i < end; ++i) node = &node->children[tokens[i]];
    Node& last = node->children[tokens[end]];
    last.count += times;
    if (last.count <= 0 && last.children.empty()) node->children.erase(tokens[end]);
  };
  // Beginnings of a sequence end earlier and are counted there: the last node alone is counted
  // here. They are there first and go last.
  if (times > 0)
    for (std::size_t end = from; end < to; ++end)
      for (std::size_t length = 1; length <= std::min(depth_, end + 1); ++length)
        count(end, length);
  else
    for (std::size_t end = to; end-- > from;)
      for (std::size_t length = std::min(depth_, end + 1); length > 0; --length) count(end, length);
}

SuffixTree::Guessed SuffixTree::guess(std::span<const std::int32_t> tokens, std::int64_t most,
                                      double least) const {
  for (std::size_t length = std::min(depth_ - 1, tokens.size()); length > 0; --length) {
    const Node* node = &root_;
    for (const std::int32_t t : tokens.last(length)) {
      const auto it = node->children.find(t);
      node = it == node->children.end() ? nullptr : &it->second;
      if (node == nullptr) break;
    }
    if (node == nullptr || node->children.empty()) continue;
    Guessed out{.matched = length};
    double probability = 1;
    while (static_cast<std::int64_t>(out.tokens.size()) < most && !node->children.empty()) {
      std::int64_t total = 0;
      for (const auto& [token, child] : node->children) total += child.count;
      const auto best = std::max_element(
          node->children.begin(), node->children.end(),
          [](const auto& a, const auto& b) { return a.second.count < b.second.count; });
      probability *= static_cast<double>(best->second.count) / static_cast<double>(total);
      if (!(probability >= least)) break;
      out.tokens.push_back(best->first);
      out.score += probability;
      node = &best->second;
    }
    return out;
  }
  return {};
}

}  // namespace strata::engine
