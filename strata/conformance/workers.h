// Jobs in forked processes: one that crashes, hangs or eats memory ends alone.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace strata::conformance {

struct WorkerLimits {
  int jobs = 1;
  double seconds = 60;                       // of one job
  std::size_t bytes = std::size_t{4} << 30;  // of data of one process
};

/// Calls `work(i)` for each i < count in a worker and `done(i, text)` here with what it returned,
/// in the order in which they end. Where a worker ended early `done` gets `ended` with a sentence
/// instead: "no end after 60 s", "signal 11". A worker does many jobs, so `work` must not depend on
/// what earlier ones left. The caller must not run threads.
void run_in_workers(std::size_t count, const WorkerLimits& limits,
                    const std::function<std::string(std::size_t)>& work,
                    const std::function<void(std::size_t, const std::string& text)>& done,
                    const std::function<void(std::size_t, const std::string& sentence)>& ended);

}  // namespace strata::conformance
