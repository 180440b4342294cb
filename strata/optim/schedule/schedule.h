// Learning rates as functions of the step. Optax's are in schedules.h.
//
//   optim::Schedule rate = optim::cosine_schedule(3e-4, 3e-5, 1000);
//   rate(Array(500)).item<float>()     // 1.65e-4
//
//   optim::Schedule same = optim::pieces_schedule(optim::parse_schedule("linear 0 -> 3e-4 over 100,
//   cosine -> 3e-5 over 900"));
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/api/numpy.h"
#include "strata/optim/schedule/schedule_text.h"

namespace strata::optim {

/// From the step's number (an i32 scalar, 0 first) to the rate (an f32 scalar); traced with the
/// step, so that one program serves all steps. A number or an array is a rate that does not change:
/// wherever optimizers take a schedule, `optim::adam(1e-3)` is one.
class Schedule {
 public:
  /// None: `if (schedule)` is false, and calling it is an Error.
  Schedule() = default;
  template <class T>
    requires std::is_arithmetic_v<T>
  Schedule(T rate) : Schedule(constant(static_cast<double>(rate))) {}  // NOLINT: implicit by intent
  Schedule(Array rate);                                                // NOLINT
  template <class F>
    requires(!std::same_as<F, Schedule> && std::is_invocable_r_v<Array, const F&, const Array&>)
  Schedule(F f) : f_(std::move(f)) {}  // NOLINT
  Array operator()(const Array& count) const;
  explicit operator bool() const { return static_cast<bool>(f_); }

 private:
  static Schedule constant(double rate);
  std::function<Array(const Array&)> f_;
};

/// The same value at each step.
Schedule constant_schedule(double value);

/// From `initial` to `final` along half a cosine: final + (initial - final) (1 + cos(pi count /
/// steps)) / 2, count at most `steps`; both ends are met exactly. Source: Loshchilov and Hutter,
/// SGDR (2017).
Schedule cosine_schedule(double initial, double final, std::int64_t steps);

/// Piece i from boundary i-1 on (counted anew from there) to boundary i, at which piece i+1 begins.
/// Throws Error unless there is one boundary fewer than pieces and none is below the one before.
Schedule join_schedules(std::vector<Schedule> pieces, std::vector<std::int64_t> boundaries);

/// How a rate falls: in a line, or as half a cosine.
enum class DecayStyle { linear, cosine };
/// Warm-up, stable, decay: straight from 0 to `peak`, `peak` for `stable_steps`, then to `end` over
/// `decay_steps`. Source: Hu et al., MiniCPM (2024); MaxText's lr_schedule_type "wsd".
Schedule wsd_schedule(double peak, std::int64_t warmup_steps, std::int64_t stable_steps,
                      std::int64_t decay_steps, double end = 0.0,
                      DecayStyle style = DecayStyle::linear);

/// The pieces of a text, one after the other (optim/schedule/schedule_text.h). Throws Error for
/// none.
Schedule pieces_schedule(const std::vector<SchedulePiece>& pieces);

}  // namespace strata::optim
