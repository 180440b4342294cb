#include "strata/compile/plan/tile_pipelines.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "strata/compile/plan/grid_slices.h"
#include "strata/compile/plan/step_addresses.h"

namespace strata::compile {
namespace {

/// So many launches may stand between two of a pipeline.
constexpr std::size_t kMostBetween = 16;
/// So many numbers of parts are tried.
constexpr int kMostTries = 16;

/// A launch's use of a buffer.
struct Use {
  int memory;  // the buffer, or the one whose memory it takes
  const Address* at;
  std::int64_t bytes;
  bool writes;
  std::size_t parameter;
};

bool same_place(const Use& a, const Use& b) { return *a.at == *b.at && a.bytes == b.bytes; }

class TilePipelines {
 public:
  TilePipelines(Plan& plan, const TilePipelineLimits& limits)
      : plan_(plan),
        limits_(limits),
        memory_(memory_of_buffers(plan)),
        uses_(plan.buffers.size(), 0) {
    each_address(plan.steps,
                 [&](const Address& a) { ++uses_[static_cast<std::size_t>(a.buffer)]; });
  }

  void form(Steps& steps) {
    for (Step& s : steps) each_inner(s, [&](Steps& inner) { form(inner); });
    Steps out;
    for (std::size_t i = 0; i < steps.size();) i = pipeline_from(steps, i, out);
    steps = std::move(out);
  }

 private:
  // ---- who uses what
  const loop::Kernel& kernel(const Launch& l) const {
    return *plan_.kernels[static_cast<std::size_t>(l.kernel)];
  }
  std::vector<Use> uses(const Launch& l) const {
    std::vector<Use> out;
    std::vector<loop::Ref*> parameters = kernel(l).parameters();
    for (std::size_t i = 0; i < l.arguments.size(); ++i) {
      const loop::Ref& ref = *parameters[i];
      out.push_back({memory_[static_cast<std::size_t>(l.arguments[i].buffer)], &l.arguments[i],
                     ref.size * static_cast<std::int64_t>(byte_width(ref.dtype)),
                     ref.mode != loop::Ref::Mode::in, i});
    }
    return out;
  }
  /// Whether one writes what the other uses.
  static bool depend(const std::vector<Use>& a, const std::vector<Use>& b) {
    for (const Use& x : a)
      for (const Use& y : b)
        if (x.memory == y.memory && (x.writes || y.writes)) return true;
    return false;
  }

  // ---- pipelines
  struct Member {
    const Launch* launch;
    std::vector<Use> uses;
    std::size_t step;
  };
  using Members = std::vector<Member>;

  /// Moves steps from `i` on to `out`: a pipeline with what goes before it and after it, or one
  /// step. Returns the next.
  std::size_t pipeline_from(Steps& steps, std::size_t i, Steps& out) {
    auto alone = [&] {
      out.push_back(std::move(steps[i]));
      return i + 1;
    };
    const Launch* first = std::get_if<Launch>(&steps[i].what);
    if (!first || kernel(*first).grid < limits_.min_slices) return alone();
    Members members{{first, uses(*first), i}}, before, after;
    std::int64_t slices = 0;
    for (std::size_t j = i + 1; j < steps.size() && j <= members.back().step + kMostBetween; ++j) {
      const Launch* next = std::get_if<Launch>(&steps[j].what);
      if (!next) break;
      Member m{next, uses(*next), j};
      auto depends = [&](const Member& other) { return depend(other.uses, m.uses); };
      bool late = std::any_of(after.begin(), after.end(), depends);
      if (auto joined = late ? std::nullopt : parts_with(members, m)) {
        members.push_back(std::move(m));
        slices = bring_along(members, before).value_or(*joined);
      } else {
        late = late || std::any_of(members.begin(), members.end(), depends);
        (late ? after : before).push_back(std::move(m));
      }
    }
    if (members.size() == 1 || !is_worth_it(members)) return alone();
    const std::size_t last = members.back().step;
    TilePipeline pipeline = make(members, slices);
    auto move = [&](const Members& others) {
      for (const Member& m : others)
        if (m.step < last) out.push_back(std::move(steps[m.step]));
    };
    move(before);
    out.push_back({std::move(pipeline)});
    move(after);
    return last + 1;
  }

  /// Launches before the pipeline that make what its newest member reads become members, where
  /// nothing else before the pipeline needs them: a second product of as many elements, say, as the
  /// gradient of a softmax has. Returns the number of parts, if any came.
  std::optional<std::int64_t> bring_along(Members& members, Members& before) {
    std::optional<std::int64_t> slices;
    for (std::size_t i = before.size(); i-- > 0;) {
      auto needs_it = [&](const Member& other) { return depend(before[i].uses, other.uses); };
      if (!reads_from({before[i]}, members.back()) ||
          std::any_of(members.begin(), members.end() - 1, needs_it))
        continue;
      if (std::any_of(before.begin() + static_cast<std::ptrdiff_t>(i) + 1, before.end(), needs_it))
        continue;
      Members all = members;
      all.insert(all.end() - 1, before[i]);
      auto common = common_parts(all);
      if (!common) continue;
      members = std::move(all);
      before.erase(before.begin() + static_cast<std::ptrdiff_t>(i));
      slices = common;
    }
    return slices;
  }

  bool is_worth_it(const Members& members) const {
    bool parallel = std::any_of(members.begin(), members.end(),
                                [](const Member& m) { return m.launch->parallel; });
    return parallel && passed_on(members) >= limits_.min_forwarded_bytes;
  }
  /// Into how many parts the members and one more can be cut, if that one reads what they write.
  std::optional<std::int64_t> parts_with(const Members& members, const Member& more) {
    if (!reads_from(members, more)) return {};
    Members all = members;
    all.push_back(more);
    return common_parts(all);
  }
  /// Into how many parts all of them can be cut.
  std::optional<std::int64_t> common_parts(const Members& all) {
    std::int64_t common = 0;
    for (const Member& m : all) common = std::gcd(common, kernel(*m.launch).grid);
    int tries = 0;
    for (std::int64_t pieces = 1; common / pieces >= limits_.min_slices && tries < kMostTries;
         ++pieces) {
      if (common % pieces != 0) continue;
      ++tries;
      if (apart(all, common / pieces)) return common / pieces;
    }
    return {};
  }
  static bool reads_from(const Members& members, const Member& more) {
    for (const Member& m : members)
      for (const Use& w : m.uses)
        for (const Use& r : more.uses)
          if (w.writes && w.memory == r.memory) return true;
    return false;
  }
  /// Whether part p of each launch meets, in what others write, only their part p; and a part is
  /// small enough.
  bool apart(const Members& members, std::int64_t slices) {
    std::map<int, std::vector<std::pair<const Member*, const Use*>>> shared =
        shared_memory(members);
    std::int64_t bytes = 0;
    for (const auto& [memory, all] : shared) {
      for (auto [member, use] : all)
        if (!same_place(*use, *all[0].second) ||
            !by_slices(*member->launch, slices)[use->parameter])
          return false;
      bytes += all[0].second->bytes / slices;
    }
    return bytes <= limits_.max_slice_bytes;
  }
  /// What one member writes and another uses.
  static std::map<int, std::vector<std::pair<const Member*, const Use*>>> shared_memory(
      const Members& members) {
    std::map<int, std::vector<std::pair<const Member*, const Use*>>> shared;
    for (const Member& m : members)
      for (const Use& u : m.uses) shared[u.memory].push_back({&m, &u});
    std::erase_if(shared, [](const auto& entry) {
      const auto& all = entry.second;
      bool written =
          std::any_of(all.begin(), all.end(), [](const auto& x) { return x.second->writes; });
      return !written || std::all_of(all.begin(), all.end(),
                                     [&](const auto& x) { return x.first == all[0].first; });
    });
    return shared;
  }
  static std::int64_t passed_on(const Members& members) {
    std::int64_t bytes = 0;
    for (const auto& [memory, all] : shared_memory(members)) bytes += all[0].second->bytes;
    return bytes;
  }
  const std::vector<bool>& by_slices(const Launch& l, std::int64_t slices) {
    auto [it, fresh] = by_slices_.try_emplace({l.kernel, slices});
    if (fresh) it->second = accesses_own_slice(kernel(l), slices);
    return it->second;
  }

  // ---- a pipeline
  TilePipeline make(const Members& members, std::int64_t slices) {
    TilePipeline pipeline{.slices = slices};
    for (const auto& [memory, all] : shared_memory(members)) {
      for (auto [member, use] : all) keep_in_caches(*member->launch, use->parameter);
      const Address& at = *all[0].second->at;
      PlanBuffer& buffer = plan_.buffers[static_cast<std::size_t>(at.buffer)];
      bool alone = uses_[static_cast<std::size_t>(at.buffer)] == static_cast<int>(all.size()),
           whole = at.counter < 0 && at.offset == 0;
      if (buffer.kind != PlanBuffer::Kind::temporary || !alone || !whole ||
          all[0].second->bytes != buffer.bytes)
        continue;
      if (!all[0].second->writes || buffer.bytes / slices % 64 != 0) continue;
      buffer.kind = PlanBuffer::Kind::scratch;
    }
    place_scratch(members, pipeline);
    for (const Member& m : members) pipeline.launches.push_back(*m.launch);
    return pipeline;
  }
  /// What is passed on is read soon: it is not written past the caches, nor fetched from beyond.
  void keep_in_caches(const Launch& l, std::size_t parameter) {
    loop::Kernel& kernel = *plan_.kernels[static_cast<std::size_t>(l.kernel)];
    const loop::Ref* ref = kernel.parameters()[parameter];
    for (loop::Inst& i : kernel.arena)
      if (i.ref == ref) i.streaming = false;
    drop_fetches(kernel, *ref);
  }
  /// Places in the scratch of one part: those used at the same time are apart.
  void place_scratch(const Members& members, TilePipeline& pipeline) {
    struct Placed {
      std::size_t first, last;
      std::int64_t begin, end;
    };
    std::map<int, std::pair<std::size_t, std::size_t>> lives;
    std::vector<int> order;
    for (std::size_t n = 0; n < members.size(); ++n)
      for (const Address& a : members[n].launch->arguments) {
        if (plan_.buffers[static_cast<std::size_t>(a.buffer)].kind != PlanBuffer::Kind::scratch)
          continue;
        auto [it, fresh] = lives.try_emplace(a.buffer, n, n);
        if (fresh) order.push_back(a.buffer);
        it->second.second = n;
      }
    std::vector<Placed> placed;
    for (int b : order) {
      PlanBuffer& buffer = plan_.buffers[static_cast<std::size_t>(b)];
      auto [first, last] = lives.at(b);
      std::int64_t size = buffer.bytes / pipeline.slices, at = 0;
      std::sort(placed.begin(), placed.end(),
                [](const Placed& x, const Placed& y) { return x.begin < y.begin; });
      for (const Placed& p : placed)
        if (p.first <= last && first <= p.last && p.begin < at + size) at = std::max(at, p.end);
      buffer.offset = at;
      placed.push_back({first, last, at, at + size});
      pipeline.scratch_bytes = std::max(pipeline.scratch_bytes, at + size);
    }
  }

  Plan& plan_;
  const TilePipelineLimits limits_;
  std::vector<int> memory_;  // of each buffer: itself, or the argument whose memory a result takes
  std::vector<int> uses_;    // of each buffer, in the whole plan
  std::map<std::pair<int, std::int64_t>, std::vector<bool>> by_slices_;
};

template <class F>
void each_tile_pipeline(const Steps& steps, const F& f) {
  for (const Step& s : steps) {
    if (const auto* pipeline = std::get_if<TilePipeline>(&s.what)) f(*pipeline);
    each_inner(s, [&](const Steps& inner) { each_tile_pipeline(inner, f); });
  }
}

/// A kernel fetches what the next launch reads beside its results (Group::beside). Where that one
/// does not follow part by part, caches lose it before.
void leave_fetches_to_chains(Plan& plan) {
  std::vector<bool> pipelined(plan.kernels.size(), false);
  each_tile_pipeline(plan.steps, [&](const TilePipeline& pipeline) {
    for (const Launch& l : pipeline.launches) pipelined[static_cast<std::size_t>(l.kernel)] = true;
  });
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    if (pipelined[k]) continue;
    loop::Kernel& kernel = *plan.kernels[k];
    std::vector<bool> used(kernel.refs.size(), false);
    for (const loop::Inst& i : kernel.arena)
      if (i.ref && i.code != loop::Opcode::fetch) used[static_cast<std::size_t>(i.ref->id)] = true;
    for (const loop::Ref* ref : kernel.parameters())
      if (!used[static_cast<std::size_t>(ref->id)]) drop_fetches(kernel, *ref);
  }
}

}  // namespace

void form_tile_pipelines(Plan& plan, const TilePipelineLimits& limits) {
  TilePipelines(plan, limits).form(plan.steps);
  leave_fetches_to_chains(plan);
}

}  // namespace strata::compile
