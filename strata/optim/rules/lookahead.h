// Two sets of weights, or two optimizers, in turn: Lookahead and sharpness-aware minimisation.
#pragma once

#include "strata/optim/gradient_transformation.h"
#include "strata/optim/options.h"

namespace strata::optim {

/// Weights for `lookahead`: the same ones as `fast/...` and `slow/...`.
Tree lookahead_params(const Tree& params);
/// The fast weights by `fast_optimizer`; every sync_period steps both become slow + slow_step_size
/// (fast - slow). Parameters and results have `fast/...` and `slow/...`, gradients are of the fast
/// ones. State: fast_state, steps_since_sync. Source: Zhang et al., Lookahead Optimizer (2019).
GradientTransformation lookahead(GradientTransformation fast_optimizer, std::int64_t sync_period,
                                 Rate slow_step_size, bool reset_state = false);

struct SamOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Steps of a round: all but the last climb.
  std::int64_t sync_period = 2;
  /// Whether the climbing optimizer begins anew in each round.
  bool reset_state = true;
  /// All steps of a round in one update, by Extra's grad_fn.
  bool opaque_mode = false;
  STRATA_FIELDS(sync_period, reset_state, opaque_mode)
};
/// Climbs by `adv_optimizer`, then moves the weights where the round began by `optimizer` with the
/// gradient at the top. State: steps_since_sync, opt_state, adv_state, cache. Source: Foret et al.,
/// Sharpness-Aware Minimization (2021).
GradientTransformation sam(GradientTransformation optimizer, GradientTransformation adv_optimizer,
                           SamOptions options = {});
/// g / |g|, of all leaves together.
GradientTransformation normalize();

}  // namespace strata::optim

namespace strata::optim::contrib {
using optim::normalize;
using optim::sam;
}  // namespace strata::optim::contrib
