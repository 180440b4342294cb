// Steps that are passed over because the loss or the gradients stand out from those before.
//
//   optim::GradientTransformation rule = skip_spikes(adamw(1e-3), {.interval = 128, .factor = 6});
#pragma once

#include <cstdint>

#include "strata/optim/gradient_transformation.h"

namespace strata::train {

struct SpikeOptions {
  /// How many steps are remembered.
  std::int64_t interval = 128;
  /// How many standard deviations above the mean are a spike.
  double factor = 6;
};

/// `inner`, but for steps whose loss or whose gradients' norm (as the rule sees them, clipped) is
/// above mean + factor * deviation of the last `interval` ones: these update nothing, and `inner`'s
/// state stays. Nothing is passed over before max(2, interval / 2) steps are there, this one among
/// them; what is passed over joins the memory, so that a new level is soon usual. A loss that is no
/// number is a spike. State: inner_state, losses and grad_norms (interval), count, is_skipped.
/// Source: MaxText 0.2.5, optimizers.py (skip_step_on_spikes), after OLMo-core's
/// SkipStepOptimizer.
optim::GradientTransformation skip_spikes(optim::GradientTransformation inner,
                                          const SpikeOptions& options);

}  // namespace strata::train
