#include "strata/compile/plan/double_buffer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "strata/compile/plan/step_addresses.h"

namespace strata::compile {
namespace {

/// Addresses in an iteration of a loop, of which the driver will have three.
constexpr int kMostAddresses = 256;

using Pair =
    std::pair<int, int>;  // buffers of equal size that change places: the temporary, the carry

class DoubleBuffering {
 public:
  explicit DoubleBuffering(Plan& plan) : plan_(plan), uses_(uses_in(plan.steps)) {}

  void run(Steps& steps) {
    Steps out;
    for (Step& step : steps) {
      each_inner(step, [&](Steps& inner) { run(inner); });
      auto* loop = std::get_if<CountedLoop>(&step.what);
      if (!loop || !doubled(*loop, out)) out.push_back(std::move(step));
    }
    steps = std::move(out);
  }

 private:
  std::vector<int> uses_in(const Steps& steps) const {
    std::vector<int> out(plan_.buffers.size(), 0);
    each_address(steps, [&](const Address& a) { ++out[static_cast<std::size_t>(a.buffer)]; });
    return out;
  }
  const PlanBuffer& buffer(const Address& a) const {
    return plan_.buffers[static_cast<std::size_t>(a.buffer)];
  }
  bool is_whole(const Address& a, std::int64_t bytes) const {
    return a.offset == 0 && a.counter < 0 && buffer(a).bytes == bytes;
  }

  /// The copies at the end of an iteration after which nobody asks for what they copied, by number
  /// of their step.
  std::vector<std::size_t> late_copies(const CountedLoop& loop) const {
    const std::vector<int> inside = uses_in(loop.body);
    std::vector<int> after(plan_.buffers.size(), 0);
    std::vector<std::size_t> out;
    std::vector<bool> taken(plan_.buffers.size(), false);
    for (std::size_t s = loop.body.size(); s-- > 0;) {
      const auto* c = std::get_if<Copy>(&loop.body[s].what);
      if (!c) break;
      const auto from = static_cast<std::size_t>(c->from.buffer),
                 to = static_cast<std::size_t>(c->to.buffer);
      const bool own =
          buffer(c->from).kind == PlanBuffer::Kind::temporary && inside[from] == uses_[from];
      if (own && from != to && !taken[from] && !taken[to] && is_whole(c->from, c->bytes) &&
          is_whole(c->to, c->bytes) && after[from] == 0 && after[to] == 0) {
        out.push_back(s);
        taken[from] = taken[to] = true;
      }
      ++after[from], ++after[to];
    }
    return out;
  }

  static Steps without(const Steps& steps, const std::vector<std::size_t>& left_out) {
    Steps out;
    for (std::size_t s = 0; s < steps.size(); ++s)
      if (std::find(left_out.begin(), left_out.end(), s) == left_out.end()) out.push_back(steps[s]);
    return out;
  }
  static void exchange(Steps& steps, const std::vector<Pair>& pairs) {
    each_address(steps, [&](Address& a) {
      for (auto [x, y] : pairs)
        if (a.buffer == x || a.buffer == y) {
          a.buffer = a.buffer == x ? y : x;
          return;
        }
    });
  }
  /// What counted with `counter` now counts with factor * counter + constant.
  static void recount(Steps& steps, int counter, std::int64_t factor, std::int64_t constant) {
    each_address(steps, [&](Address& a) {
      if (a.counter != counter) return;
      a.offset += constant * a.stride;
      a.stride *= factor;
      if (factor == 0) a.counter = -1;
    });
  }

  /// Appends what the loop becomes and keeps count of uses, or does nothing.
  bool doubled(CountedLoop& loop, Steps& out) {
    if (loop.count < 4) return false;
    const std::vector<std::size_t> copies = late_copies(loop);
    std::int64_t bytes = 0;
    std::vector<Pair> pairs;
    for (std::size_t s : copies) {
      const Copy& c = std::get<Copy>(loop.body[s].what);
      bytes += c.bytes;
      pairs.emplace_back(c.from.buffer, c.to.buffer);
    }
    int addresses = 0;
    each_address(loop.body, [&](const Address&) { ++addresses; });
    if (bytes == 0 || addresses > kMostAddresses) return false;

    const std::vector<int> before = uses_in(loop.body);
    const std::size_t begin = out.size();
    const std::int64_t odd = loop.count % 2;
    Steps last = loop.body;
    recount(last, loop.counter, 0, loop.reverse ? 0 : loop.count - 1);
    Steps first = without(loop.body, copies), second = first;
    exchange(second, pairs);
    // Backwards the turn of the greater number comes first, and that of an odd count's last
    // iteration is number 0.
    recount(first, loop.counter, 2, loop.reverse ? 1 + odd : 0);
    recount(second, loop.counter, 2, loop.reverse ? odd : 1);
    loop.body = std::move(first);
    for (Step& s : second) loop.body.push_back(std::move(s));
    loop.count /= 2;
    out.push_back({std::move(loop)});
    if (odd)
      for (Step& s : last) out.push_back(std::move(s));
    const std::vector<int> now =
        uses_in(Steps(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end()));
    for (std::size_t b = 0; b < uses_.size(); ++b) uses_[b] += now[b] - before[b];
    return true;
  }

  Plan& plan_;
  std::vector<int> uses_;  // of each buffer, in the plan
};

}  // namespace

void double_buffer_carries(Plan& plan) { DoubleBuffering(plan).run(plan.steps); }

}  // namespace strata::compile
