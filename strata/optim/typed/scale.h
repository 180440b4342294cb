// Updates times a rate.
#pragma once

#include "strata/optim/typed/schedule.h"
#include "strata/optim/typed/transform.h"

namespace strata::optim::typed {

/// schedule(count) * updates; count is the number of updates before this one.
struct ScaleBySchedule {
  Schedule schedule;
  /// What the transformation remembers for parameters P.
  template <class P>
  struct State {
    Array count;
    STRATA_FIELDS(count)
  };
  /// The state before the first update, for these parameters.
  template <class P>
  State<P> init(const P&) const {
    return {zeros({}, DType::i32)};
  }
  /// The updates that become of these, and the next state.
  template <class P>
  std::pair<P, State<P>> update(P updates, const State<P>& state, const P&) const {
    Array rate = schedule(state.count);
    return {tree::map([&](const Array& u) { return astype(rate * u, u.dtype()); }, updates),
            {state.count + 1}};
  }
};
/// Updates times the schedule's value at the step, counted from 0.
inline ScaleBySchedule scale_by_schedule(Schedule schedule) { return {std::move(schedule)}; }
/// Updates times a factor.
inline ScaleBySchedule scale(double factor) { return {factor}; }
/// -schedule(count) * updates: downhill. `scale_by_learning_rate(3e-4)`: a rate that stays.
inline ScaleBySchedule scale_by_learning_rate(Schedule schedule) {
  return {[schedule = std::move(schedule)](const Array& count) { return -schedule(count); }};
}

}  // namespace strata::optim::typed
