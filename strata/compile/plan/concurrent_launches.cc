#include "strata/compile/plan/concurrent_launches.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "strata/compile/llvm/runtime_functions.h"
#include "strata/compile/plan/launch_cost.h"
#include "strata/compile/plan/step_addresses.h"

namespace strata::compile {
namespace {

/// ConcurrentLaunches that a launch may join into one, and steps after which a row that is no more
/// than kFewStreams is given up.
constexpr std::size_t kMostJoined = 8, kLook = 32, kFewStreams = 4;
/// Lanes of work that a claim should have at least, and claims that there should be at most.
constexpr double kClaimedWork = 2e5;
constexpr double kMostClaims = 4096;

class FindStreams {
 public:
  FindStreams(Plan& plan, const ConcurrencyLimits& limits)
      : plan_(plan),
        limits_(limits),
        memory_(memory_of_buffers(plan)),
        uses_(plan.buffers.size(), 0),
        users_(plan.buffers.size(), 0) {
    each_address(plan.steps, [&](const Address& a) {
      ++uses_[static_cast<std::size_t>(a.buffer)];
      ++users_[static_cast<std::size_t>(memory_[static_cast<std::size_t>(a.buffer)])];
    });
  }

  void form(Steps& steps) {
    for (Step& s : steps) each_inner(s, [&](Steps& inner) { form(inner); });
    Steps out;
    std::size_t next = 0;  // row to look at
    for (std::size_t i = 0; i < steps.size();) {
      if (i >= next) {
        Row row = row_from(steps, i);
        if (is_worth_it(row)) {
          out.push_back({make(row)});
          i += row.members.size();
          continue;
        }
        // So that all rows together cost in proportion to the steps.
        next = i + (row.members.size() > 2 * kLook ? row.members.size() / 8 : 1);
      }
      out.push_back(std::move(steps[i++]));
    }
    steps = std::move(out);
  }

 private:
  struct Member {
    const Launch* launch;
    int stream;  // as it was when it came; find()
    double work;
  };
  struct LaunchStream {
    int merged_into;
    double work = 0;
    std::int64_t passed_on = 0;  // bytes of temporaries that it writes
    int launches = 0;
  };
  /// Steps that stand one behind the other, and the streams that they fall into.
  struct Row {
    std::vector<Member> members;
    std::vector<LaunchStream> streams;
    std::size_t live = 0;  // streams that are none of others
    double work = 0;
    // Of memory that the row's launches use: which stream, and whether one writes it.
    struct Used {
      std::vector<int> streams;
      bool written = false;
    };
    std::unordered_map<int, Used> used;

    int find(int s) {
      auto up = [this](int x) -> int& { return streams[static_cast<std::size_t>(x)].merged_into; };
      while (up(s) != s) s = up(s) = up(up(s));
      return s;
    }
  };
  struct Use {
    int buffer, memory;
    bool writes;
    std::int64_t bytes;
  };

  const loop::Kernel& kernel(const Launch& l) const {
    return *plan_.kernels[static_cast<std::size_t>(l.kernel)];
  }
  double work(const Launch& l) {
    auto [it, fresh] = work_.try_emplace(l.kernel, 0.0);
    if (fresh) it->second = lanes_of(cost_of(kernel(l)));
    return it->second;
  }
  std::vector<Use> uses(const Launch& l) const {
    std::vector<Use> out;
    const std::vector<loop::Ref*> parameters = kernel(l).parameters();
    for (std::size_t i = 0; i < l.arguments.size(); ++i) {
      const int buffer = l.arguments[i].buffer;
      out.push_back({buffer, memory_[static_cast<std::size_t>(buffer)],
                     parameters[i]->mode != loop::Ref::Mode::in,
                     plan_.buffers[static_cast<std::size_t>(buffer)].bytes});
    }
    return out;
  }
  const PlanBuffer& buffer(int b) const { return plan_.buffers[static_cast<std::size_t>(b)]; }

  Row row_from(const Steps& steps, std::size_t i) {
    Row row;
    for (; i < steps.size(); ++i) {
      const Launch* l = std::get_if<Launch>(&steps[i].what);
      if (!l || !add(row, *l)) break;
      if (row.members.size() >= kLook && row.live < kFewStreams) break;
    }
    return row;
  }

  /// Adds a launch, unless its stream would become too large.
  bool add(Row& row, const Launch& l) {
    if (l.arguments.size() > kMostStreamPlaces ||
        std::any_of(l.arguments.begin(), l.arguments.end(),
                    [](const Address& a) { return a.counter >= 0; }))
      return false;
    const std::vector<Use> all = uses(l);
    std::set<int> joined;
    std::int64_t passed_on = 0;
    for (const Use& u : all) {
      if (u.writes && buffer(u.buffer).kind == PlanBuffer::Kind::temporary) passed_on += u.bytes;
      auto found = row.used.find(u.memory);
      if (found == row.used.end() || !(u.writes || found->second.written)) continue;
      if (users_[static_cast<std::size_t>(u.memory)] > limits_.most_users) return false;
      for (int s : found->second.streams) joined.insert(row.find(s));
      if (joined.size() > kMostJoined) return false;
    }
    const double own = work(l);
    LaunchStream sum{.merged_into = static_cast<int>(row.streams.size()),
                     .work = own,
                     .passed_on = passed_on,
                     .launches = 1};
    for (int s : joined) {
      const LaunchStream& other = row.streams[static_cast<std::size_t>(s)];
      sum.work += other.work;
      sum.passed_on += other.passed_on;
      sum.launches += other.launches;
    }
    if (!joined.empty() && (sum.work > limits_.most_work || sum.passed_on > limits_.most_scratch))
      return false;
    const int stream = sum.merged_into;
    row.streams.push_back(sum);
    for (int s : joined) row.streams[static_cast<std::size_t>(s)].merged_into = stream;
    row.live += 1 - joined.size();
    row.work += own;
    row.members.push_back({&l, stream, own});
    for (const Use& u : all) {
      Row::Used& used = row.used[u.memory];
      used.written |= u.writes;
      if (used.streams.empty() || used.written)
        used.streams = {stream};
      else
        used.streams.push_back(stream);
    }
    return true;
  }

  bool is_worth_it(Row& row) const {
    if (static_cast<std::int64_t>(row.live) < limits_.least_streams ||
        row.work < limits_.least_work)
      return false;
    return std::all_of(row.streams.begin(), row.streams.end(), [&](const LaunchStream& s) {
      const bool is_live = &row.streams[static_cast<std::size_t>(s.merged_into)] == &s;
      return !is_live || s.launches == 1 || s.work <= limits_.most_share * row.work;
    });
  }

  ConcurrentLaunches make(Row& row) {
    std::map<int, std::vector<const Member*>> by_stream;
    std::vector<int> order;  // by the first launch
    for (const Member& m : row.members) {
      std::vector<const Member*>& launches = by_stream[row.find(m.stream)];
      if (launches.empty()) order.push_back(row.find(m.stream));
      launches.push_back(&m);
    }
    ConcurrentLaunches out{.streams = static_cast<std::int64_t>(order.size())};
    const double claimed = std::max(kClaimedWork, row.work / kMostClaims);
    ConcurrentLaunches::Claim open{.count = 0};  // of small streams, together
    double open_work = 0;
    auto close = [&] {
      if (open.count > 0) out.claims.push_back(open);
      open = {.first = static_cast<std::int64_t>(out.launches.size()), .count = 0};
      open_work = 0;
    };
    for (int s : order) {
      const std::vector<const Member*>& launches = by_stream.at(s);
      const double work = row.streams[static_cast<std::size_t>(s)].work;
      if (launches.size() == 1 && work >= 2 * claimed && kernel(*launches[0]->launch).grid > 1) {
        close();
        cut(*launches[0]->launch, work / claimed, out);
        close();
        continue;
      }
      place_scratch(launches, out);
      for (const Member* m : launches) out.launches.push_back(*m->launch);
      open.count += static_cast<std::int64_t>(launches.size());
      open_work += work;
      if (open_work >= claimed) close();
    }
    close();
    return out;
  }

  void cut(const Launch& l, double pieces, ConcurrentLaunches& out) {
    const std::int64_t grid = kernel(l).grid,
                       grain = std::max<std::int64_t>(
                           1, static_cast<std::int64_t>(static_cast<double>(grid) / pieces));
    const auto number = static_cast<std::int64_t>(out.launches.size());
    for (std::int64_t begin = 0; begin < grid; begin += grain)
      out.claims.push_back({number, 1, begin, std::min(grid, begin + grain)});
    out.launches.push_back(l);
  }

  /// Gives what the stream alone uses places in a thread's scratch; those used at the same time are
  /// apart.
  void place_scratch(const std::vector<const Member*>& launches, ConcurrentLaunches& out) {
    struct Life {
      std::size_t first, last;
      int uses = 0;
      bool is_made = false;  // by the first to use it
    };
    std::map<int, Life> lives;
    std::vector<int> order;
    for (std::size_t n = 0; n < launches.size(); ++n) {
      const Launch& l = *launches[n]->launch;
      const std::vector<loop::Ref*> parameters = kernel(l).parameters();
      for (std::size_t i = 0; i < l.arguments.size(); ++i) {
        const int b = l.arguments[i].buffer;
        if (buffer(b).kind != PlanBuffer::Kind::temporary) continue;
        auto [it, fresh] = lives.try_emplace(b, Life{n, n});
        if (fresh) {
          order.push_back(b);
          it->second.is_made =
              parameters[i]->mode != loop::Ref::Mode::in && l.arguments[i].offset == 0 &&
              buffer(b).bytes ==
                  parameters[i]->size * static_cast<std::int64_t>(byte_width(parameters[i]->dtype));
        }
        it->second.last = n;
        ++it->second.uses;
      }
    }
    struct Placed {
      std::size_t first, last;
      std::int64_t begin, end;
    };
    std::vector<Placed> placed;
    for (int b : order) {
      const Life& life = lives.at(b);
      if (!life.is_made || life.uses != uses_[static_cast<std::size_t>(b)]) continue;
      PlanBuffer& buffer = plan_.buffers[static_cast<std::size_t>(b)];
      constexpr std::int64_t kAlign = 64;
      const std::int64_t size = (buffer.bytes + kAlign - 1) / kAlign * kAlign;
      std::int64_t at = 0;
      std::sort(placed.begin(), placed.end(),
                [](const Placed& x, const Placed& y) { return x.begin < y.begin; });
      for (const Placed& p : placed)
        if (p.first <= life.last && life.first <= p.last && p.begin < at + size)
          at = std::max(at, p.end);
      buffer.kind = PlanBuffer::Kind::scratch;
      buffer.offset = at;
      placed.push_back({life.first, life.last, at, at + size});
      out.scratch_bytes = std::max(out.scratch_bytes, at + size);
    }
  }

  Plan& plan_;
  const ConcurrencyLimits limits_;
  std::vector<int> memory_;  // of each buffer: itself, or the argument whose memory a result takes
  std::vector<int> uses_;    // of each buffer, in the whole plan
  std::vector<std::int64_t> users_;  // of each memory
  std::map<int, double> work_;       // of kernels
};

}  // namespace

void form_concurrent_launches(Plan& plan, const ConcurrencyLimits& limits) {
  FindStreams(plan, limits).form(plan.steps);
}

}  // namespace strata::compile
