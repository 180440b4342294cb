// The clock that timed drivers call before and after each launch.
#pragma once

#include <cstdint>

#include "strata/runtime/client.h"

namespace strata::compile {

/// What the launches of this thread's drivers add their times to while it lives: `times`, or
/// nothing when that is null. A driver that runs within a launch of another (a callback that runs a
/// program) has a clock of its own.
class LaunchClock {
 public:
  explicit LaunchClock(runtime::LaunchTimes* times);
  ~LaunchClock();
  LaunchClock(const LaunchClock&) = delete;
  LaunchClock& operator=(const LaunchClock&) = delete;

  void begin(std::int64_t launch);
  void end(std::int64_t launch);

 private:
  runtime::LaunchTimes* times_;
  LaunchClock* outer_;
  std::int64_t began_ns_ = 0;
};

/// Gives generated code the clock, as strata_profile_begin and strata_profile_end.
void register_launch_clock();

}  // namespace strata::compile
