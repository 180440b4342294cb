// Which checkpoints are written, and which stay: Orbax's policies as pure functions.
//
//   auto policy = any_of({latest_n(3), every_n_steps(1000)});
//   std::vector<bool> kept = policy({infos, now});
//
// Source: google/orbax, checkpoint/orbax/checkpoint/_src/checkpoint_managers/preservation_policy.py
// and save_decision_policy.py. Those of preemption are not here: a run asks its own signals.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace strata::checkpoint {

/// What a policy knows of a checkpoint.
struct CheckpointInfo {
  std::int64_t step = 0;
  /// When it was finished, in nanoseconds since 1970.
  std::int64_t time = 0;
  /// Numbers by name, where it was saved with some.
  std::optional<std::map<std::string, double>> metrics;
};

/// Which of the checkpoints, in the order of their steps, stay; `now` in nanoseconds since 1970.
using PreservationPolicy =
    std::function<std::vector<bool>(std::span<const CheckpointInfo> checkpoints, std::int64_t now)>;

/// All of them; those of the named steps.
PreservationPolicy preserve_all();
PreservationPolicy custom_steps(std::set<std::int64_t> steps);
/// The last `n`; all without a number.
PreservationPolicy latest_n(std::optional<std::int64_t> n);
/// Steps that `interval` divides; not `exact`: the first one, then each that is at least so much
/// later than the last kept. Of these the last `most`. Throws Error for an interval below 1.
PreservationPolicy every_n_steps(std::int64_t interval, bool exact = true,
                                 std::optional<std::int64_t> most = {});
/// For each multiple of `interval` the step nearest to it, the later of two; and the last one. Of
/// these the last `most`. Throws Error for an interval below 1.
PreservationPolicy every_n_steps_closest(std::int64_t interval,
                                         std::optional<std::int64_t> most = {});
/// The first, then each that is at least so many seconds later than the last kept.
PreservationPolicy every_n_seconds(std::int64_t seconds);
/// The `n` with the largest metric, with `smallest` the smallest; later ones where they are equal.
/// All without a number or where there are no more than it. Those without metrics stay too unless
/// `without_metrics` is false.
PreservationPolicy best_n(std::string metric, std::optional<std::int64_t> n, bool smallest = false,
                          bool without_metrics = true);
/// From the first one that is no older than so many seconds, all.
PreservationPolicy latest_duration(std::int64_t seconds);
/// Those that one of the policies keeps.
PreservationPolicy any_of(std::vector<PreservationPolicy> policies);

/// What a decision knows.
struct SaveQuestion {
  std::int64_t step = 0;
  /// The newest checkpoint.
  std::optional<CheckpointInfo> latest;
  /// Whether one is being written.
  bool saving = false;
  std::int64_t now = 0;
};
/// Whether a step is saved.
using SavePolicy = std::function<bool(const SaveQuestion& question)>;

/// Steps that `interval` divides. Throws Error for an interval below 1.
SavePolicy save_every(std::int64_t interval);
/// The named steps.
SavePolicy save_on(std::set<std::int64_t> steps);
/// Whenever none is being written, and so many seconds after the last one.
SavePolicy save_continuously(double seconds);
/// Where there is none yet.
SavePolicy save_first();
/// Where one of the policies says so.
SavePolicy save_when_any(std::vector<SavePolicy> policies);

}  // namespace strata::checkpoint
