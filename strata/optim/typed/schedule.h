// Schedules of which both ends are met exactly, for optimizers over typed trees; Optax's own forms,
// which differ in the last bits, are in optim/schedules.h.
#pragma once

#include "strata/optim/schedule.h"

namespace strata::optim::typed {

/// Straight from `initial` to `final` over `steps` steps, `final` from there on; both ends are met
/// exactly. Over 0 steps it is `final` from the start (Optax: `initial`, for ever).
Schedule linear_schedule(double initial, double final, std::int64_t steps);

/// `cosine_schedule` under Optax's parameters: from `initial` to `initial * alpha`.
Schedule cosine_decay_schedule(double initial, std::int64_t decay_steps, double alpha = 0.0);

/// Straight from `initial` to `peak` over `warmup_steps`, then along a cosine to `end` at
/// `decay_steps`, which counts the warm-up too.
Schedule warmup_cosine_decay_schedule(double initial, double peak, std::int64_t warmup_steps,
                                      std::int64_t decay_steps, double end = 0.0);

}  // namespace strata::optim::typed
