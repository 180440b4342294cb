// Updates times a rate.
#pragma once

#include "strata/optim/gradient_transformation.h"
#include "strata/optim/schedule/rate.h"

namespace strata::optim {

/// Updates times a number; an array as the number decides dtypes with them.
GradientTransformation scale(Rate step_size);
/// Updates times the schedule's value at the step, counted from 0, in their dtype. State: count.
GradientTransformation scale_by_schedule(Schedule step_size_fn);
/// Minus the rate times the updates: downhill; with `flip_sign` off, uphill. Without a rate they
/// stay as they are.
GradientTransformation scale_by_learning_rate(Rate learning_rate = {}, bool flip_sign = true);

}  // namespace strata::optim
