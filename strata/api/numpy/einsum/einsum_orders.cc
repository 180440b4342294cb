// einsum_path, and the orders in which einsum multiplies: all, the cheapest next, a search between.
#include <functional>
#include <limits>
#include <optional>
#include <queue>

#include "strata/api/numpy/einsum/einsum_path.h"
#include "strata/api/numpy/einsum/einsum_search.h"
#include "strata/api/trace/trace.h"

namespace strata::numpy {
namespace {

using detail::both;
using detail::either;
using detail::Letters;
using detail::Problem;
using detail::without;
using Ids = std::set<int>;
using Pairs =
    std::vector<std::vector<int>>;  // ids: those of operands, then of products in their order

/// A product of two in a search: its letters, and what it costs.
struct Step {
  Letters letters;
  double flops;
};

/// The pairs of a depth-first search, with what upstream's prunes: steps that were costed once keep
/// their cost.
class Search {
 public:
  explicit Search(const Problem& problem) : problem_(problem) {}

 protected:
  Step step(const std::vector<Letters>& inputs, const Ids& remaining, int i, int j) {
    const Letters &a = inputs[static_cast<std::size_t>(i)],
                  &b = inputs[static_cast<std::size_t>(j)];
    auto [found, is_new] = known_.try_emplace({a, b});
    if (is_new) {
      Letters keep = problem_.output;
      for (int r : remaining)
        if (r != i && r != j) keep = either(keep, inputs[static_cast<std::size_t>(r)]);
      const Letters all = either(a, b);
      found->second = {both(all, keep), problem_.flops(all, !without(both(a, b), keep).empty(), 2)};
    }
    return found->second;
  }
  static Ids after(Ids remaining, int i, int j, int made) {
    remaining.erase(i), remaining.erase(j);
    remaining.insert(made);
    return remaining;
  }
  template <class F>
  static void for_pairs(const Ids& remaining, F f) {
    for (auto i = remaining.begin(); i != remaining.end(); ++i)
      for (auto j = std::next(i); j != remaining.end(); ++j) f(*i, *j);
  }
  Ids all() const {
    Ids out;
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) out.insert(static_cast<int>(i));
    return out;
  }

  const Problem& problem_;
  Pairs best_;
  double best_flops_ = std::numeric_limits<double>::infinity();

 private:
  std::map<std::pair<Letters, Letters>, Step> known_;
};

class Optimal : Search {
 public:
  using Search::Search;
  Pairs find() {
    look({}, problem_.inputs, all(), 0);
    return best_;
  }

 private:
  void look(const Pairs& path, const std::vector<Letters>& inputs, const Ids& remaining,
            double flops) {
    if (remaining.size() == 1) {
      best_ = path;
      best_flops_ = flops;
      return;
    }
    for_pairs(remaining, [&](int i, int j) {
      const Step s = step(inputs, remaining, i, j);
      if (flops + s.flops >= best_flops_) return;
      Pairs longer = path;
      longer.push_back({i, j});
      std::vector<Letters> more = inputs;
      more.push_back(s.letters);
      look(longer, more, after(remaining, i, j, static_cast<int>(inputs.size())), flops + s.flops);
    });
  }
};

class Branch : Search {
 public:
  Branch(const Problem& problem, std::size_t branches) : Search(problem), branches_(branches) {}
  Pairs find() {
    look({}, problem_.inputs, all(), 0, 0);
    return best_;
  }

 private:
  static constexpr double kMuchWorse = 4;
  struct Candidate {
    double cost, flops, all_flops, size;
    int i, j;
    Letters letters;
    auto key() const { return std::tie(cost, flops, all_flops, size, i, j); }
    bool operator<(const Candidate& other) const { return key() < other.key(); }
  };

  std::optional<Candidate> candidate(const std::vector<Letters>& inputs, const Ids& remaining,
                                     int i, int j, double flops, double size) {
    const Step s = step(inputs, remaining, i, j);
    const double own = problem_.size(s.letters), all_flops = flops + s.flops,
                 largest = std::max(size, own);
    if (!(std::pair(all_flops, largest) < std::pair(best_flops_, best_size_))) return std::nullopt;
    double& progress =
        progress_.try_emplace(inputs.size(), std::numeric_limits<double>::infinity()).first->second;
    if (all_flops < progress)
      progress = all_flops;
    else if (all_flops > kMuchWorse * progress)
      return std::nullopt;
    const double removed = own - problem_.size(inputs[static_cast<std::size_t>(i)]) -
                           problem_.size(inputs[static_cast<std::size_t>(j)]);
    return Candidate{removed, s.flops, all_flops, largest, i, j, s.letters};
  }

  void look(const Pairs& path, const std::vector<Letters>& inputs, const Ids& remaining,
            double flops, double size) {
    if (remaining.size() == 1) {
      best_ = path;
      best_flops_ = flops;
      best_size_ = size;
      return;
    }
    std::vector<Candidate> candidates;
    // Outer products only where nothing else is left.
    for (const bool outer : {false, true}) {
      if (!candidates.empty()) break;
      for_pairs(remaining, [&](int i, int j) {
        if (!outer &&
            both(inputs[static_cast<std::size_t>(i)], inputs[static_cast<std::size_t>(j)]).empty())
          return;
        if (auto c = candidate(inputs, remaining, i, j, flops, size))
          candidates.push_back(std::move(*c));
      });
    }
    std::sort(candidates.begin(), candidates.end());
    for (std::size_t k = 0; k < std::min(branches_, candidates.size()); ++k) {
      const Candidate& c = candidates[k];
      Pairs longer = path;
      longer.push_back({c.i, c.j});
      std::vector<Letters> more = inputs;
      more.push_back(c.letters);
      look(longer, more, after(remaining, c.i, c.j, static_cast<int>(inputs.size())), c.all_flops,
           c.size);
    }
  }

  std::size_t branches_;
  double best_size_ = std::numeric_limits<double>::infinity();
  std::map<std::size_t, double> progress_;
};

/// Terms of equal letters at once, then the pair that frees most memory, then outer products.
class Greedy {
 public:
  explicit Greedy(const Problem& problem) : problem_(problem), output_(problem.output) {
    Letters common = problem.inputs[0];
    for (const Letters& l : problem.inputs) common = both(common, l);
    output_ = either(output_, common);
    next_ = static_cast<int>(problem.inputs.size());
  }

  Pairs find() {
    merge_equal_terms();
    for (const auto& [letters, id] : remaining_)
      for (char c : without(letters, output_)) users_[c].insert(letters);
    push_first_pairs();
    while (!queue_.empty()) {
      const Candidate c = queue_.top();
      queue_.pop();
      if (remaining_.contains(c.a) && remaining_.contains(c.b)) take(c);
    }
    take_outer_products();
    return path_;
  }

 private:
  struct Candidate {
    double cost;
    int later, earlier;
    Letters a, b, letters;
    bool operator>(const Candidate& other) const {
      return std::tie(cost, later, earlier) > std::tie(other.cost, other.later, other.earlier);
    }
  };

  void merge_equal_terms() {
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      const auto [found, is_new] = remaining_.try_emplace(problem_.inputs[i], static_cast<int>(i));
      if (is_new) continue;
      path_.push_back({found->second, static_cast<int>(i)});
      found->second = next_++;
    }
  }

  Candidate candidate(Letters a, Letters b) const {
    const Letters all = either(a, b), shared = both(a, b);
    Letters letters = both(all, output_);
    for (char c : without(all, output_))
      if (users_.at(c).size() >= (shared.contains(c) ? 3u : 2u)) letters.insert(c);
    const double cost = problem_.size(letters) - problem_.size(a) - problem_.size(b);
    int first = remaining_.at(a), second = remaining_.at(b);
    if (first > second) std::swap(a, b), std::swap(first, second);
    return {cost, second, first, std::move(a), std::move(b), std::move(letters)};
  }
  void push_best(const Letters& a, const std::vector<Letters>& others) {
    std::optional<Candidate> best;
    for (const Letters& b : others)
      if (Candidate c = candidate(a, b); !best || *best > c) best = std::move(c);
    if (best) queue_.push(std::move(*best));
  }
  void push_first_pairs() {
    for (const auto& [c, keys] : users_) {
      std::vector<Letters> in_order(keys.begin(), keys.end());
      std::sort(in_order.begin(), in_order.end(), [&](const Letters& x, const Letters& y) {
        return remaining_.at(x) < remaining_.at(y);
      });
      for (std::size_t i = 0; i + 1 < in_order.size(); ++i)
        push_best(in_order[i],
                  {in_order.begin() + static_cast<std::ptrdiff_t>(i) + 1, in_order.end()});
    }
  }

  void take(const Candidate& c) {
    path_.push_back({remaining_.at(c.a), remaining_.at(c.b)});
    for (const Letters& gone : {c.a, c.b}) {
      remaining_.erase(gone);
      for (char letter : without(gone, output_)) users_[letter].erase(gone);
    }
    if (const auto same = remaining_.find(c.letters); same != remaining_.end())
      path_.push_back({same->second, next_++});
    for (char letter : without(c.letters, output_)) users_[letter].insert(c.letters);
    remaining_[c.letters] = next_++;
    std::set<Letters> others;
    for (char letter : without(c.letters, output_))
      others.insert(users_[letter].begin(), users_[letter].end());
    others.erase(c.letters);
    push_best(c.letters, {others.begin(), others.end()});
  }

  void take_outer_products() {
    using Entry = std::tuple<double, int, Letters>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    for (const auto& [letters, id] : remaining_)
      queue.emplace(problem_.size(both(letters, output_)), id, letters);
    auto pop = [&] {
      Entry e = queue.top();
      queue.pop();
      return e;
    };
    auto [size, first, letters] = pop();
    while (!queue.empty()) {
      const auto [other_size, second, others] = pop();
      path_.push_back({std::min(first, second), std::max(first, second)});
      const Letters made = both(either(letters, others), output_);
      queue.emplace(problem_.size(made), next_++, made);
      std::tie(size, first, letters) = pop();
    }
  }

  const Problem& problem_;
  Letters output_;
  int next_ = 0;
  std::map<Letters, int> remaining_;
  std::map<char, std::set<Letters>> users_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue_;
  Pairs path_;
};

/// Ids become places in the list as it is at each step.
std::vector<std::vector<std::int64_t>> places(const Pairs& pairs, std::size_t operands) {
  std::vector<int> ids;
  for (std::size_t i = 0; i < operands; ++i) ids.push_back(static_cast<int>(i));
  int made = static_cast<int>(operands);
  std::vector<std::vector<std::int64_t>> out;
  for (const std::vector<int>& pair : pairs) {
    std::vector<std::int64_t> at;
    for (int id : pair) at.push_back(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
    std::sort(at.begin(), at.end());
    for (auto p = at.rbegin(); p != at.rend(); ++p) ids.erase(ids.begin() + *p);
    ids.push_back(made++);
    out.push_back(std::move(at));
  }
  return out;
}

using Path = std::vector<std::vector<std::int64_t>>;

/// The way that the automatic ones take for so many operands.
std::string way_for(const std::string& how, std::size_t n) {
  if (how == "auto")
    return n <= 4    ? "optimal"
           : n <= 6  ? "branch-all"
           : n <= 8  ? "branch-2"
           : n <= 14 ? "branch-1"
                     : "greedy";
  if (how == "auto-hq" && n <= 16) return n <= 5 ? "optimal" : "dp";
  return how;
}

Path found(const Problem& problem, const std::string& how) {
  const std::size_t n = problem.inputs.size();
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  const std::string way = way_for(how, n);
  const bool is_greedy = way == "greedy" || way == "eager" || way == "opportunistic",
             is_dynamic = way == "dp" || way == "dynamic-programming";
  const std::map<std::string, std::size_t> branches = {
      {"branch-all", kAll}, {"branch-2", 2}, {"branch-1", 1}};
  if (way == "auto-hq")
    internal::fail("einsum_path", "\"auto-hq\" looks for the order of 16 operands at most, got {}",
                   n);
  if (way != "optimal" && way != "none" && !is_greedy && !is_dynamic && !branches.contains(way))
    internal::fail("einsum_path", "there is no way \"{}\" to look for an order", how);
  if (n == 1) return {{0}};
  if (n == 2) return {{0, 1}};
  if (way == "none") return Path(n - 1, {0, 1});
  if (is_dynamic) return detail::dynamic_path(problem);
  return places(is_greedy          ? Greedy(problem).find()
                : way == "optimal" ? Optimal(problem).find()
                                   : Branch(problem, branches.at(way)).find(),
                n);
}

Problem problem_of(const detail::Equation& e, const std::vector<Array>& operands) {
  Problem out{.inputs = {}, .output = Letters(e.output.begin(), e.output.end()), .sizes = {}};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    out.inputs.emplace_back(e.inputs[i].begin(), e.inputs[i].end());
    for (std::size_t d = 0; d < e.inputs[i].size(); ++d)
      out.sizes[e.inputs[i][d]] = static_cast<double>(operands[i].shape()[static_cast<int>(d)]);
  }
  return out;
}

/// What the steps cost.
void add_costs(EinsumPath& out, const Problem& problem) {
  std::vector<Letters> terms = problem.inputs;
  Letters all;
  std::size_t letters = 0;
  for (const Letters& l : terms) all = either(all, l), letters += l.size();
  out.naive_scaling = static_cast<std::int64_t>(all.size());
  out.naive_flop_count = problem.flops(all, letters > all.size(), terms.size());
  for (const std::vector<std::int64_t>& step : out.path) {
    Letters taken, kept = problem.output;
    for (auto p = step.rbegin(); p != step.rend(); ++p) {
      taken = either(taken, terms[static_cast<std::size_t>(*p)]);
      terms.erase(terms.begin() + *p);
    }
    for (const Letters& l : terms) kept = either(kept, l);
    const Letters made = both(taken, kept);
    out.optimized_flop_count += problem.flops(taken, made.size() < taken.size(), step.size());
    out.optimized_scaling =
        std::max(out.optimized_scaling, static_cast<std::int64_t>(taken.size()));
    out.largest_intermediate = std::max(out.largest_intermediate, problem.size(made));
    terms.push_back(made);
  }
}

}  // namespace

Path detail::find_path(const Equation& equation, const std::vector<Array>& operands,
                       const EinsumOptimize& optimize) {
  return found(problem_of(equation, operands), optimize.name());
}

EinsumPath einsum_path(const std::string& subscripts, const std::vector<Array>& operands,
                       const EinsumOptimize& optimize, Where where) {
  internal::Site site(where);
  if (operands.empty()) internal::fail("einsum_path", "needs at least one operand");
  const detail::Equation e = detail::parse_equation(subscripts, operands);
  const Problem problem = problem_of(e, operands);
  EinsumPath out;
  out.path = found(problem, optimize.name());
  add_costs(out, problem);
  out.text = detail::path_text(e, out);
  return out;
}

}  // namespace strata::numpy
