#include "strata/pjrt/profiler/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <tuple>

#include "strata/pjrt/error.h"

namespace strata::pjrt {
namespace {

template <class Clock>
std::int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

struct Running {
  std::mutex mutex;
  std::shared_ptr<Profile> profile;
  std::atomic<bool> any = false;
};
Running& running() {
  static Running& r = *new Running;  // runs may outlive statics
  return r;
}

/// What is within another comes after it.
template <class T>
bool earlier(const T& a, const T& b) {
  return std::tuple(a.begin_ns, -a.end_ns) < std::tuple(b.begin_ns, -b.end_ns);
}

/// A pair of lines, and until when it is taken.
struct Lane {
  Line programs, launches;
  std::thread::id thread;
  std::int64_t end_ns = 0;
};

/// The first lane that is free, or whose last run contains this one: a callback's program runs
/// within the one that called.
template <class Run>
Lane& lane_for(std::vector<Lane>& lanes, const Run& run) {
  for (Lane& lane : lanes)
    if (run.begin_ns >= lane.end_ns || (lane.thread == run.thread && run.end_ns <= lane.end_ns))
      return lane;
  const std::string number = lanes.empty() ? "" : fmt::format(" #{}", lanes.size() + 1);
  lanes.push_back({{"XLA Modules" + number, {}},
                   {"XLA Ops" + number, {}},
                   {}});  // names by which tools know such lines
  return lanes.back();
}

}  // namespace

Profile::Profile()
    : began_world_ns_(clock_ns<std::chrono::system_clock>()),
      began_ns_(clock_ns<std::chrono::steady_clock>()) {}

std::int64_t Profile::now_ns() const { return clock_ns<std::chrono::steady_clock>() - began_ns_; }

void Profile::run(const std::shared_ptr<Program>& program, int device, void* const* arguments,
                  void* const* results) {
  Run run{.device = device,
          .thread = std::this_thread::get_id(),
          .name = program->name,
          .begin_ns = now_ns()};
  bool made = false;
  run.executable = program->timed(&made);
  if (made) {
    const std::int64_t ready_ns = now_ns();
    keep({.device = device,
          .thread = run.thread,
          .name = "compile " + run.name + " with clocks",
          .begin_ns = run.begin_ns,
          .end_ns = ready_ns});
  }
  run.begin_ns = now_ns();
  try {
    run.executable->run_timed(arguments, results, run.times);
  } catch (...) {
    run.end_ns = now_ns();
    keep(std::move(run));
    throw;
  }
  run.end_ns = now_ns();
  keep(std::move(run));
}

void Profile::keep(Run run) {
  std::size_t launched = 0;
  for (const auto& total : run.times.totals) launched += static_cast<std::size_t>(total.runs);
  std::lock_guard lock(mutex_);
  if (runs_.size() >= kMostRuns) {
    ++runs_lost_;
    return;
  }
  run.times.spans.resize(std::min(run.times.spans.size(), kMostSpans - spans_));
  spans_ += run.times.spans.size();
  spans_lost_ += static_cast<std::int64_t>(launched - run.times.spans.size());
  runs_.push_back(std::move(run));
}

Plane Profile::plane(int device, const std::vector<const Run*>& runs) const {
  Plane out{.name = fmt::format("/device:CUSTOM:Strata:{}", device)};
  std::map<std::pair<std::string, const runtime::Executable*>, std::size_t>
      kinds;  // of a program; those of its launches follow
  std::vector<Lane> lanes;
  for (const Run* run : runs) {
    const auto [kind, is_new] =
        kinds.emplace(std::pair(run->name, run->executable.get()), out.kinds.size());
    if (is_new) {
      out.kinds.push_back({run->name});
      if (run->executable)
        for (const runtime::Launch& launch : run->executable->launches())
          out.kinds.push_back(
              {launch.name, {{"hlo_module", run->name}, {"long_name", launch.text}}});
    }
    Lane& lane = lane_for(lanes, *run);
    lane.thread = run->thread;
    lane.end_ns = std::max(lane.end_ns, run->end_ns);
    lane.programs.events.push_back({kind->second, run->begin_ns, run->end_ns});
    for (const auto& span : run->times.spans)
      lane.launches.events.push_back({kind->second + 1 + static_cast<std::size_t>(span.launch),
                                      span.begin_ns - began_ns_, span.end_ns - began_ns_});
  }
  for (Lane& lane : lanes) {
    std::stable_sort(lane.launches.events.begin(), lane.launches.events.end(), earlier<Event>);
    out.lines.push_back(std::move(lane.programs));
    out.lines.push_back(std::move(lane.launches));
  }
  return out;
}

std::string Profile::data() const {
  std::lock_guard lock(mutex_);
  std::map<int, std::vector<const Run*>> devices;
  for (const Run& run : runs_) devices[run.device].push_back(&run);
  std::vector<Plane> planes;
  for (auto& [device, runs] : devices) {
    std::stable_sort(runs.begin(), runs.end(),
                     [](const Run* a, const Run* b) { return earlier(*a, *b); });
    planes.push_back(plane(device, runs));
  }
  std::vector<std::string> warnings;
  if (runs_lost_ > 0)
    warnings.push_back(fmt::format("{} runs of programs after the first {} are not in this profile",
                                   runs_lost_, kMostRuns));
  if (spans_lost_ > 0)
    warnings.push_back(fmt::format(
        "{} launches are not in this profile: of a run it keeps the first {}, of all {}",
        spans_lost_, runtime::LaunchTimes::kMostSpans, kMostSpans));
  return xspace(planes, warnings, began_world_ns_);
}

std::shared_ptr<Profile> running_profile() {
  Running& r = running();
  if (!r.any.load(std::memory_order_relaxed)) return nullptr;
  std::lock_guard lock(r.mutex);
  return r.profile;
}

void start_profile(std::shared_ptr<Profile> profile) {
  Running& r = running();
  std::lock_guard lock(r.mutex);
  if (r.profile) fail(PJRT_Error_Code_ALREADY_EXISTS, "another profiler runs");
  r.profile = std::move(profile);
  r.any = true;
}

void stop_profile(const Profile& profile) {
  Running& r = running();
  std::lock_guard lock(r.mutex);
  if (r.profile.get() != &profile) return;
  r.any = false;
  r.profile.reset();
}

}  // namespace strata::pjrt
