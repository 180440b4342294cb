#include <algorithm>
#include <map>

#include "strata/compile/make_plan.h"

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

/// When each temporary is first and last used. A loop counts as one moment for whatever is also used outside it, since
/// its next round may need it again; what is used only inside lives within one round.
class Lifetimes {
 public:
  explicit Lifetimes(const Plan& plan) : plan_(plan), lives_(plan.buffers.size()) {
    walk(plan.steps, {});
    std::map<int, std::vector<Use>> by_buffer;
    for (const Use& u : uses_) by_buffer[u.buffer].push_back(u);
    for (auto& [buffer, uses] : by_buffer) settle(lives_[static_cast<std::size_t>(buffer)], uses);
  }
  const Life& of(std::size_t buffer) const { return lives_[buffer]; }

 private:
  struct Use {
    int buffer, time;
    std::vector<int> loops;
  };

  void use(const Address& a, const std::vector<int>& loops) {
    if (plan_.buffers[static_cast<std::size_t>(a.buffer)].kind == PlanBuffer::Kind::temporary) uses_.push_back({a.buffer, clock_, loops});
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

}  // namespace

void assign_memory(Plan& plan) {
  Lifetimes lifetimes(plan);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i)
    if (plan.buffers[i].kind == PlanBuffer::Kind::temporary && lifetimes.of(i).first >= 0) order.push_back(i);
  // Large ones first, each at the lowest place where it meets nobody alive at the same time.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return plan.buffers[a].bytes > plan.buffers[b].bytes; });
  std::vector<std::size_t> placed;
  for (std::size_t i : order) {
    PlanBuffer& buffer = plan.buffers[i];
    std::int64_t size = std::max<std::int64_t>(kAlign, (buffer.bytes + kAlign - 1) / kAlign * kAlign);
    std::vector<std::pair<std::int64_t, std::int64_t>> busy;
    for (std::size_t j : placed) {
      const Life &a = lifetimes.of(i), &b = lifetimes.of(j);
      if (a.first <= b.last && b.first <= a.last)
        busy.push_back({plan.buffers[j].offset,
                        plan.buffers[j].offset + std::max<std::int64_t>(kAlign, (plan.buffers[j].bytes + kAlign - 1) / kAlign * kAlign)});
    }
    std::sort(busy.begin(), busy.end());
    std::int64_t at = 0;
    for (auto& [begin, end] : busy) {
      if (at + size <= begin) break;
      at = std::max(at, end);
    }
    buffer.offset = at;
    plan.arena_bytes = std::max(plan.arena_bytes, at + size);
    placed.push_back(i);
  }
}

}  // namespace strata::compile
