// Strings by their bytes, for finding those that begin at a place.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::tokenizer {

/// Immutable; built once from strings with values. Equal strings keep the last value.
class ByteTrie {
 public:
  ByteTrie() = default;
  explicit ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> strings);

  /// Calls `found(length, value)` for each string that `text` begins with, shortest first. Takes
  /// time for the longest of them.
  template <class Found>
  void prefixes(std::string_view text, const Found& found) const {
    std::int32_t node = nodes_.empty() ? -1 : 0;
    for (std::size_t n = 0; node >= 0; ++n) {
      if (nodes_[static_cast<std::size_t>(node)].value >= 0)
        found(n, nodes_[static_cast<std::size_t>(node)].value);
      if (n == text.size()) return;
      node = child(node, static_cast<unsigned char>(text[n]));
    }
  }
  /// The longest string that `text` begins with: its length and value; {0, -1} where none is.
  std::pair<std::size_t, std::int32_t> longest(std::string_view text) const;
  bool empty() const { return nodes_.empty(); }

 private:
  struct Node {
    std::int32_t value = -1;
    std::int32_t children = 0;  // where they begin in labels_
    std::int32_t count = 0;
  };
  std::int32_t child(std::int32_t node, unsigned char label) const;
  std::vector<Node> nodes_;
  std::vector<unsigned char> labels_;  // ascending within a node
  std::vector<std::int32_t> targets_;
};

}  // namespace strata::tokenizer
