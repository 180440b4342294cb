// What is recorded while a profiler runs: when each program ran, and each of its launches.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "strata/pjrt/profiler/xspace.h"
#include "strata/pjrt/program.h"

namespace strata::pjrt {

class Profile {
 public:
  /// Launches beyond these are not kept, nor runs.
  static constexpr std::size_t kMostSpans = 1 << 20, kMostRuns = 1 << 18;

  Profile();

  /// Runs the program as Executable::run_at does, with a clock, and keeps what it told. Any thread.
  void run(const std::shared_ptr<Program>& program, int device, void* const* arguments,
           void* const* results);

  /// What has been kept, as a tensorflow.profiler.XSpace: a plane for each device that ran
  /// something, whose lines are the programs and below them what these launched. Programs that ran
  /// at the same time stand on lines of their own.
  std::string data() const;

 private:
  /// A program's run; or, without executable, what it took to compile the program with clocks.
  struct Run {
    int device = 0;
    std::thread::id thread;
    std::string name;
    std::shared_ptr<runtime::Executable> executable;
    std::int64_t begin_ns = 0, end_ns = 0;  // since the profile began
    runtime::LaunchTimes times;
  };
  std::int64_t now_ns() const;
  void keep(Run run);
  Plane plane(int device, const std::vector<const Run*>& runs) const;

  // Read in this order: a thread that waits between the two makes events early, never later than
  // the world's clock when they ended.
  const std::int64_t began_world_ns_;  // since 1970
  const std::int64_t began_ns_;        // of steady_clock
  mutable std::mutex mutex_;
  std::vector<Run> runs_;
  std::size_t spans_ = 0;
  std::int64_t runs_lost_ = 0, spans_lost_ = 0;
};

/// The profile that runs are to be recorded in, if any: a single look where there is none.
std::shared_ptr<Profile> running_profile();
/// Throws Failure when another one runs.
void start_profile(std::shared_ptr<Profile> profile);
/// Nothing begins in it any more.
void stop_profile(const Profile& profile);

}  // namespace strata::pjrt
