// einsum's order by dynamic programming: the best way to each set of operands from the best ways to
// two parts of it. Source: Pfeifer, Haegeman and Verstraete, Phys. Rev. E 90, 033315
// (arXiv:1304.6112), as opt_einsum 3.4 has it (paths.py, DynamicProgramming).
#include <cstdint>
#include <limits>
#include <memory>

#include "strata/api/numpy/einsum/einsum_search.h"
#include "strata/api/trace/trace.h"

namespace strata::numpy::detail {
namespace {

using Set = std::uint64_t;  // of operands, a bit each

/// An operand, or what is multiplied at once.
struct Tree {
  int operand = -1;
  std::vector<std::shared_ptr<const Tree>> parts;
};
using TreePtr = std::shared_ptr<const Tree>;

TreePtr leaf(int operand) { return std::make_shared<const Tree>(Tree{operand, {}}); }
TreePtr product(std::vector<TreePtr> parts) {
  return std::make_shared<const Tree>(Tree{-1, std::move(parts)});
}

/// The best way to a set that is known.
struct Way {
  Set set;
  Letters letters;
  double cost;
  TreePtr tree;
};

/// Ways to the sets of one size, in the order in which they were found first.
class Ways {
 public:
  void offer(Way way) {
    const auto [found, is_new] = place_.try_emplace(way.set, all_.size());
    if (is_new)
      all_.push_back(std::move(way));
    else
      all_[found->second] = std::move(way);
  }
  double cost(Set set) const {
    const auto found = place_.find(set);
    return found == place_.end() ? std::numeric_limits<double>::infinity()
                                 : all_[found->second].cost;
  }
  const std::vector<Way>& all() const { return all_; }

 private:
  std::vector<Way> all_;
  std::map<Set, std::size_t> place_;
};

class Dynamic {
 public:
  explicit Dynamic(const Problem& problem) : problem_(problem) { sum_single_letters(); }

  TreePtr find() {
    std::vector<std::pair<double, TreePtr>> parts;
    for (const TreePtr& number : numbers_) parts.emplace_back(1, number);
    for (const std::vector<int>& graph : subgraphs()) {
      const Way way = best(graph);
      parts.emplace_back(problem_.size(way.letters), way.tree);
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    TreePtr out = parts[0].second;
    for (std::size_t i = 1; i < parts.size(); ++i) out = product({out, parts[i].second});
    return out;
  }

 private:
  /// Letters that one operand has and nobody else are summed first; an operand that has no others
  /// is a number then.
  void sum_single_letters() {
    std::map<char, int> count;
    for (const Letters& l : problem_.inputs)
      for (char c : l) ++count[c];
    for (char c : problem_.output) ++count[c];
    for (std::size_t j = 0; j < problem_.inputs.size(); ++j) {
      const Letters& letters = problem_.inputs[j];
      Letters rest;
      for (char c : letters)
        if (count[c] > 1) rest.insert(c);
      const TreePtr operand = leaf(static_cast<int>(j));
      if (rest.empty() && !letters.empty()) {
        numbers_.push_back(product({operand}));
        continue;
      }
      trees_.push_back(rest == letters ? operand : product({operand}));
      inputs_.push_back(std::move(rest));
    }
  }

  /// Operands that are connected by letters that are summed.
  std::vector<std::vector<int>> subgraphs() const {
    std::vector<std::vector<int>> out;
    std::set<int> unused;
    for (std::size_t i = 0; i < inputs_.size(); ++i) unused.insert(static_cast<int>(i));
    while (!unused.empty()) {
      std::vector<int> graph, queue = {*unused.begin()};
      unused.erase(unused.begin());
      while (!queue.empty()) {
        const int j = queue.back();
        queue.pop_back();
        graph.push_back(j);
        const Letters summed = without(input(j), problem_.output);
        for (auto k = unused.begin(); k != unused.end();) {
          const bool touches = !both(summed, input(*k)).empty();
          if (touches) queue.push_back(*k);
          k = touches ? unused.erase(k) : std::next(k);
        }
      }
      std::sort(graph.begin(), graph.end());
      out.push_back(std::move(graph));
    }
    return out;
  }

  /// Costs are capped, and the cap raised until there is a way: most ways are never looked at.
  Way best(const std::vector<int>& graph) const {
    std::vector<Ways> ways(graph.size() + 1);
    Set whole = 0;
    Letters letters;
    for (int j : graph) {
      ways[1].offer({Set{1} << j, input(j), 0, trees_[static_cast<std::size_t>(j)]});
      whole |= Set{1} << j;
      letters = either(letters, input(j));
    }
    double least = std::numeric_limits<double>::infinity();
    for (char c : letters) least = std::min(least, problem_.sizes.at(c));
    const double raise = letters.empty() ? 2 : std::max(least, 2.0);
    for (double cap = problem_.size(both(letters, problem_.output)); ways.back().all().empty();
         cap *= raise)
      for (std::size_t n = 2; n <= graph.size(); ++n)
        for (std::size_t m = 1; m <= n / 2; ++m) join(ways, m, n, whole, cap);
    return ways.back().all()[0];
  }

  void join(std::vector<Ways>& ways, std::size_t m, std::size_t n, Set whole, double cap) const {
    for (const Way& a : ways[m].all())
      for (const Way& b : ways[n - m].all()) {
        if ((a.set & b.set) != 0 || (m == n - m && a.set >= b.set)) continue;
        const Letters shared = without(both(a.letters, b.letters), problem_.output);
        if (shared.empty()) continue;
        const Letters all = either(a.letters, b.letters);
        const double cost = a.cost + b.cost + problem_.size(all);
        const Set set = a.set | b.set;
        if (cost > cap || cost >= ways[n].cost(set)) continue;
        ways[n].offer({set, without(all, without(shared, letters_of(whole & ~set))), cost,
                       product({a.tree, b.tree})});
      }
  }

  Letters letters_of(Set set) const {
    Letters out;
    for (std::size_t j = 0; j < inputs_.size(); ++j)
      if (set >> j & 1) out = either(out, inputs_[j]);
    return out;
  }
  const Letters& input(int j) const { return inputs_[static_cast<std::size_t>(j)]; }

  const Problem& problem_;
  std::vector<Letters> inputs_;
  std::vector<TreePtr> trees_, numbers_;
};

/// The steps of a tree, from the last to the first: operands that were not met yet stand before the
/// products that are still to come.
std::vector<std::vector<std::int64_t>> steps_of(const TreePtr& tree) {
  std::vector<TreePtr> waiting = {tree};
  std::vector<int> operands;
  std::vector<std::vector<std::int64_t>> out;
  while (!waiting.empty()) {
    const TreePtr node = waiting.back();
    waiting.pop_back();
    std::vector<int> leaves;
    for (const TreePtr& part : node->parts)
      if (part->operand >= 0) leaves.push_back(part->operand);
    std::sort(leaves.begin(), leaves.end());
    std::vector<std::int64_t> step;
    for (int i : leaves) {
      const auto at = std::lower_bound(operands.begin(), operands.end(), i);
      step.push_back(at - operands.begin());
      operands.insert(at, i);
    }
    for (const TreePtr& part : node->parts) {
      if (part->operand >= 0) continue;
      step.push_back(static_cast<std::int64_t>(operands.size() + waiting.size()));
      waiting.push_back(part);
    }
    out.insert(out.begin(), std::move(step));
  }
  return out;
}

}  // namespace

std::vector<std::vector<std::int64_t>> dynamic_path(const Problem& problem) {
  constexpr std::size_t kMost = 64;
  if (problem.inputs.size() > kMost)
    internal::fail("einsum_path", "\"dp\" is for {} operands at most, got {}", kMost,
                   problem.inputs.size());
  return steps_of(Dynamic(problem).find());
}

}  // namespace strata::numpy::detail
