// The clock of timed drivers (compile_plan.h).
#include <chrono>
#include <mutex>

#include "strata/compile/llvm/compile_plan.h"
#include "strata/compile/llvm/runtime_symbols.h"

namespace strata::compile {
namespace {

using Clock = std::chrono::steady_clock;

struct Profile {
  std::mutex mutex;
  std::vector<LaunchTime> launches;
};
Profile& profile() {
  static Profile& p = *new Profile;
  return p;
}

thread_local Clock::time_point launch_began;

void begin_launch(std::int64_t) { launch_began = Clock::now(); }
void end_launch(std::int64_t launch) {
  double seconds = std::chrono::duration<double>(Clock::now() - launch_began).count();
  Profile& p = profile();
  std::lock_guard lock(p.mutex);
  if (p.launches.size() <= static_cast<std::size_t>(launch)) p.launches.resize(static_cast<std::size_t>(launch) + 1);
  LaunchTime& t = p.launches[static_cast<std::size_t>(launch)];
  ++t.runs;
  t.seconds += seconds;
}

}  // namespace

void register_profile_symbols() {
  add_runtime_symbol("strata_profile_begin", reinterpret_cast<void*>(&begin_launch));
  add_runtime_symbol("strata_profile_end", reinterpret_cast<void*>(&end_launch));
}

std::vector<LaunchTime> launch_times() {
  Profile& p = profile();
  std::lock_guard lock(p.mutex);
  return p.launches;
}
void reset_launch_times() {
  Profile& p = profile();
  std::lock_guard lock(p.mutex);
  p.launches.clear();
}

}  // namespace strata::compile
