// What the launches of a program took beside what they should take: the table of `strata-run
// --explain --time N`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "strata/compile/plan/launch_cost.h"
#include "strata/compile/plan/machine_peaks.h"
#include "strata/runtime/client.h"

namespace strata::compile {

/// What keeps a launch from being faster. latency: the call takes longer than the work, or the
/// caller works alone and neither arithmetic nor memory explains a quarter of its time, so that it
/// waits for what comes before in a chain.
enum class Bound : std::uint8_t { fma, memory, latency };

/// The roofline: the longest of what arithmetic, memory and the call itself take at the peaks, in
/// seconds.
struct Prediction {
  double arithmetic = 0, memory = 0, call = 0;
  double seconds() const;
};
Prediction predict(const LaunchCost& work, const MachinePeaks& peaks);
/// `measured`: seconds of one run of the launch.
Bound bound_of(const LaunchCost& work, const Prediction& prediction, double measured);

/// Times of whole runs of a program.
class Measured {
 public:
  /// A run: how long it took, what its launches took, and how long all threads together worked in
  /// chunks meanwhile.
  void add(double seconds, const runtime::LaunchTimes& times, double busy_seconds);
  double seconds() const;  // median
  double launch_seconds(
      std::size_t launch) const;  // median of what all its iterations of a run took together
  std::int64_t turns(std::size_t launch) const;  // of a launch in the last run
  /// Medians of the share of a run outside of parallel launches, and of the share of all threads'
  /// time in parallel ones that was not spent in chunks: starting them and waiting for the last.
  double serial_share(std::span<const LaunchCost> works) const;
  double waiting_share(std::span<const LaunchCost> works, int threads) const;

 private:
  struct Run {
    double seconds, busy_seconds;
    std::vector<runtime::LaunchTimes::Total> totals;
  };
  static double parallel_seconds(const Run& run, std::span<const LaunchCost> works);
  std::vector<Run> runs_;
};

/// A row for each launch that takes a thousandth or more, the slowest first; one for the others;
/// the serial and the waiting share; the last line says how much of the measured time they account
/// for.
std::string roofline(const std::vector<runtime::Launch>& launches,
                     const std::vector<LaunchCost>& works, const Measured& measured,
                     const MachinePeaks& peaks);

}  // namespace strata::compile
