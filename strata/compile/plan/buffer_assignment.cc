#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "strata/compile/plan/make_plan.h"

namespace strata::compile {
namespace {

constexpr std::int64_t kAlign = 64;

struct Life {
  int first = -1, last = -1;
  void touch(int from, int to) {
    first = first < 0 ? from : std::min(first, from);
    last = std::max(last, to);
  }
};

/// When each temporary is first and last used. A loop counts as one moment for whatever is also
/// used outside it, since its next round may need it again; what is used only inside lives within
/// one round.
class Lifetimes {
 public:
  explicit Lifetimes(const Plan& plan) : plan_(plan), lives_(plan.buffers.size()) {
    walk(plan.steps, {});
    std::map<int, std::vector<Use>> by_buffer;
    for (const Use& u : uses_) by_buffer[u.buffer].push_back(u);
    for (auto& [buffer, uses] : by_buffer) settle(lives_[static_cast<std::size_t>(buffer)], uses);
  }
  const Life& of(std::size_t buffer) const { return lives_[buffer]; }
  /// Lives end before this moment.
  int moments() const { return clock_ + 1; }

 private:
  struct Use {
    int buffer, time;
    std::vector<int> loops;
  };

  void use(const Address& a, const std::vector<int>& loops) {
    if (plan_.buffers[static_cast<std::size_t>(a.buffer)].kind == PlanBuffer::Kind::temporary)
      uses_.push_back({a.buffer, clock_, loops});
  }
  void walk(const Steps& steps, const std::vector<int>& loops) {
    for (const Step& step : steps) {
      ++clock_;
      std::visit([&](const auto& s) { visit(s, loops); }, step.what);
    }
  }
  void visit(const Launch& l, const std::vector<int>& loops) {
    for (const Address& a : l.arguments) use(a, loops);
  }
  void visit(const LaunchNative& l, const std::vector<int>& loops) {
    for (const Address& a : l.arguments) use(a, loops);
  }
  void visit(
      const TilePipeline& c,
      const std::vector<int>& loops) {  // one moment: all of its launches are under way together
    for (const Launch& l : c.launches) visit(l, loops);
  }
  void visit(const ConcurrentLaunches& s, const std::vector<int>& loops) {
    for (const Launch& l : s.launches) visit(l, loops);
  }
  void visit(const Copy& c, const std::vector<int>& loops) {
    use(c.from, loops);
    use(c.to, loops);
  }
  template <class F>
  void loop(std::vector<int> loops, F&& body) {
    int id = static_cast<int>(spans_.size());
    spans_.push_back({clock_, clock_});
    loops.push_back(id);
    body(loops);
    spans_[static_cast<std::size_t>(id)].second = ++clock_;
  }
  void visit(const CountedLoop& l, const std::vector<int>& loops) {
    loop(loops, [&](const auto& inside) { walk(l.body, inside); });
  }
  void visit(const WhileLoop& l, const std::vector<int>& loops) {
    loop(loops, [&](const auto& inside) {
      walk(l.condition, inside);
      ++clock_;
      use(l.predicate, inside);
      walk(l.body, inside);
    });
  }
  void visit(const Branch& b, const std::vector<int>& loops) {
    use(b.index, loops);
    for (const Steps& s : b.branches) walk(s, loops);
  }
  /// Uses that share a loop count inside it; a loop that not all uses share counts whole.
  void settle(Life& life, const std::vector<Use>& uses) {
    std::size_t common = uses[0].loops.size();
    for (const Use& u : uses) {
      std::size_t n = 0;
      while (n < common && n < u.loops.size() && u.loops[n] == uses[0].loops[n]) ++n;
      common = n;
    }
    for (const Use& u : uses) {
      if (u.loops.size() == common)
        life.touch(u.time, u.time);
      else {
        auto [begin, end] = spans_[static_cast<std::size_t>(u.loops[common])];
        life.touch(begin, end);
      }
    }
  }

  const Plan& plan_;
  std::vector<Life> lives_;
  std::vector<Use> uses_;
  std::vector<std::pair<int, int>> spans_;
  int clock_ = 0;
};

/// Placed buffers by the moments of their lives, so that those alive with another are found without
/// a look at all others: a tree over all moments, in which each stands at the few nodes whose spans
/// make up its life.
class Alive {
 public:
  explicit Alive(int moments) {
    while (width_ < static_cast<std::size_t>(moments)) width_ *= 2;
    at_.resize(2 * width_);
    below_.assign(2 * width_, 0);
  }
  void add(std::size_t buffer, const Life& life) {
    visit(life, [&](std::size_t node) {
      at_[node].push_back(buffer);
      for (std::size_t n = node; n > 0; n /= 2) ++below_[n];
    });
  }
  /// Each buffer whose life meets this one; some several times.
  template <class F>
  void each(const Life& life, F&& f) const {
    auto all = [&](std::size_t node) {
      for (std::size_t buffer : at_[node]) f(buffer);
    };
    std::unordered_set<std::size_t> above;
    std::vector<std::size_t> stack;
    visit(life, [&](std::size_t node) {
      for (std::size_t n = node / 2; n > 0 && above.insert(n).second; n /= 2) all(n);
      stack.push_back(node);
    });
    while (!stack.empty()) {
      std::size_t node = stack.back();
      stack.pop_back();
      if (below_[node] == 0) continue;
      all(node);
      if (node < width_) stack.insert(stack.end(), {2 * node, 2 * node + 1});
    }
  }

 private:
  template <class F>
  void visit(const Life& life, F&& f) const {
    auto low = static_cast<std::size_t>(life.first) + width_,
         high = static_cast<std::size_t>(life.last) + width_ + 1;
    for (; low < high; low /= 2, high /= 2) {
      if (low % 2) f(low++);
      if (high % 2) f(--high);
    }
  }

  std::size_t width_ = 1;
  std::vector<std::vector<std::size_t>> at_;
  std::vector<std::size_t> below_;  // how many stand at a node and below it
};

std::int64_t aligned_size(const PlanBuffer& buffer) {
  return std::max<std::int64_t>(kAlign, (buffer.bytes + kAlign - 1) / kAlign * kAlign);
}

}  // namespace

void assign_memory(Plan& plan) {
  Lifetimes lifetimes(plan);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i)
    if (plan.buffers[i].kind == PlanBuffer::Kind::temporary && lifetimes.of(i).first >= 0)
      order.push_back(i);
  // Large ones first, each at the lowest place where it meets nobody alive at the same time.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return plan.buffers[a].bytes > plan.buffers[b].bytes;
  });
  Alive placed(lifetimes.moments());
  std::vector<std::size_t> met(plan.buffers.size(), plan.buffers.size());  // by which buffer last
  for (std::size_t i : order) {
    PlanBuffer& buffer = plan.buffers[i];
    std::int64_t size = aligned_size(buffer);
    std::vector<std::pair<std::int64_t, std::int64_t>> busy;
    placed.each(lifetimes.of(i), [&](std::size_t j) {
      if (std::exchange(met[j], i) != i)
        busy.push_back(
            {plan.buffers[j].offset, plan.buffers[j].offset + aligned_size(plan.buffers[j])});
    });
    std::sort(busy.begin(), busy.end());
    std::int64_t at = 0;
    for (auto& [begin, end] : busy) {
      if (at + size <= begin) break;
      at = std::max(at, end);
    }
    buffer.offset = at;
    plan.arena_bytes = std::max(plan.arena_bytes, at + size);
    placed.add(i, lifetimes.of(i));
  }
}

}  // namespace strata::compile
