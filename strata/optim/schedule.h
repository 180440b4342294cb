// Learning rates as functions of the step.
#pragma once

#include <functional>

#include "strata/api/numpy.h"

namespace strata::optim {

/// From the step's number (i32 scalar, 0 first) to the rate (f32 scalar); traced with the step.
using Schedule = std::function<Array(const Array& count)>;

Schedule constant_schedule(double value);
/// From `initial` to `final` over `steps` steps, `final` afterwards.
Schedule linear_schedule(double initial, double final, std::int64_t steps);
/// `peak` * ((1 - alpha) * (1 + cos(pi * count / steps)) / 2 + alpha), count at most `steps`.
/// Source: Loshchilov and Hutter, SGDR (2017).
Schedule cosine_decay_schedule(double peak, std::int64_t steps, double alpha = 0.0);
/// Piece i from boundary i-1 (counted anew from there) to boundary i; one boundary fewer than pieces.
Schedule join_schedules(std::vector<Schedule> pieces, std::vector<std::int64_t> boundaries);
/// Linear from 0 over `warmup` steps, then cosine to peak * alpha at `steps`.
Schedule warmup_cosine_schedule(double peak, std::int64_t warmup, std::int64_t steps, double alpha = 0.1);

}  // namespace strata::optim
