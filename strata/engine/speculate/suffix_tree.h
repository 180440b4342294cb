// A tree of the token sequences that were seen, by which the next tokens are guessed.
//
//   SuffixTree tree(16);
//   tree.add(tokens, 0, tokens.size(), 1);
//   tree.guess(last_tokens, 4, 0.3);
//
// Every sequence of at most `depth` tokens that stands in a text is a path from the root, with the
// number of places where it stands. Source: Oliaro et al., SuffixDecoding (2024), whose tree is
// compressed.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace strata::engine {

class SuffixTree {
 public:
  explicit SuffixTree(std::int64_t depth) : depth_(static_cast<std::size_t>(depth)) {}

  /// Counts the sequences that end at tokens[from] .. tokens[to - 1] once more, or once less for
  /// times = -1.
  void add(std::span<const std::int32_t> tokens, std::size_t from, std::size_t to,
           std::int64_t times);
  /// The likeliest tokens behind the longest end of `tokens` that was seen with something behind
  /// it, each as long as the product of their parts of the counts is `least` or more. Of equally
  /// likely ones the first. `matched`: how long that end is, and what the products sum up to.
  struct Guessed {
    std::vector<std::int32_t> tokens;
    double score = 0;
    std::size_t matched = 0;
  };
  Guessed guess(std::span<const std::int32_t> tokens, std::int64_t most, double least) const;
  bool empty() const { return root_.children.empty(); }

 private:
  struct Node {
    std::int64_t count = 0;
    std::map<std::int32_t, Node> children;
  };
  std::size_t depth_;
  Node root_;
};

}  // namespace strata::engine
