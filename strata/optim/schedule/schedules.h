// Optax's schedules, in its exact forms.
//
//   optim::adamw(optim::warmup_cosine_decay_schedule(0.0, 3e-4, 100, 1000, 3e-5))
//   optim::make_schedule("exponential_decay", {{"init_value", 0.1}, {"transition_steps", 10}, ...})
//
// c is the count of steps, 0 first; x = c - transition_begin. Of 0 steps a polynomial and
// an exponential are their initial value for ever; fewer are an Error. Source: Optax.
#pragma once

#include <map>

#include "strata/optim/schedule/rate.h"

namespace strata::optim {

struct PolynomialOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Steps before it begins; below 0: none.
  std::int64_t transition_begin = 0;
  STRATA_FIELDS(transition_begin)
};
/// (init - end) (1 - x / steps)^power + end, with x within 0 and steps.
Schedule polynomial_schedule(double init_value, double end_value, double power,
                             std::int64_t transition_steps, PolynomialOptions options = {});
/// The polynomial of power 1: straight from one value to the other.
Schedule linear_schedule(double init_value, double end_value, std::int64_t transition_steps,
                         PolynomialOptions options = {});

/// Factors by the step from which they hold.
using Boundaries = std::map<std::int64_t, double>;
/// init times the factors of all boundaries up to c. Throws Error for a negative factor.
Schedule piecewise_constant_schedule(double init_value, Boundaries boundaries_and_scales = {});
/// The same values at the boundaries, and between them straight lines ("linear") or halves of a
/// cosine ("cosine"). Throws Error for another type and for a negative factor.
Schedule piecewise_interpolate_schedule(const std::string& interpolate_type, double init_value,
                                        Boundaries boundaries_and_scales = {});

struct ExponentialOptions {
  strata::internal::Named named = strata::internal::Named();
  std::int64_t transition_begin = 0;
  /// In steps: whole powers only.
  bool staircase = false;
  /// A bound: below for a falling rate, above for a growing one.
  std::optional<double> end_value = std::nullopt;
  STRATA_FIELDS(transition_begin, staircase, end_value)
};
/// init decay_rate^(x / steps), init before it begins.
Schedule exponential_decay(double init_value, std::int64_t transition_steps, double decay_rate,
                           ExponentialOptions options = {});

struct CosineDecayOptions {
  strata::internal::Named named = strata::internal::Named();
  /// The end as a part of the beginning, and the cosine's power.
  double alpha = 0.0, exponent = 1.0;
  STRATA_FIELDS(alpha, exponent)
};
/// init ((1 - alpha) ((1 + cos(pi c / steps)) / 2)^exponent + alpha). Throws Error unless it has a
/// step. Source: Loshchilov and Hutter, SGDR (2017).
Schedule cosine_decay_schedule(double init_value, std::int64_t decay_steps,
                               CosineDecayOptions options);
Schedule cosine_decay_schedule(double init_value, std::int64_t decay_steps, double alpha = 0.0);

struct LinearOnecycleOptions {
  strata::internal::Named named = strata::internal::Named();
  double pct_start = 0.3, pct_final = 0.85, div_factor = 25.0, final_div_factor = 1e4;
  STRATA_FIELDS(pct_start, pct_final, div_factor, final_div_factor)
};
/// From peak / div_factor to the peak at pct_start of the steps, back at pct_final, then to
/// 1 / final_div_factor of that. Source: Smith and Topin, Super-convergence (2017).
Schedule linear_onecycle_schedule(std::int64_t transition_steps, double peak_value,
                                  LinearOnecycleOptions options = {});
struct CosineOnecycleOptions {
  strata::internal::Named named = strata::internal::Named();
  double pct_start = 0.3, div_factor = 25.0, final_div_factor = 1e4;
  STRATA_FIELDS(pct_start, div_factor, final_div_factor)
};
/// The same in two halves of a cosine.
Schedule cosine_onecycle_schedule(std::int64_t transition_steps, double peak_value,
                                  CosineOnecycleOptions options = {});

/// Straight from init to the peak, which stays.
Schedule warmup_constant_schedule(double init_value, double peak_value, std::int64_t warmup_steps);
struct WarmupCosineOptions {
  strata::internal::Named named = strata::internal::Named();
  double end_value = 0.0, exponent = 1.0;
  STRATA_FIELDS(end_value, exponent)
};
/// Straight from init to the peak over `warmup_steps`, then along a cosine to the end at
/// `decay_steps`, which counts the warm-up too.
Schedule warmup_cosine_decay_schedule(double init_value, double peak_value,
                                      std::int64_t warmup_steps, std::int64_t decay_steps,
                                      WarmupCosineOptions options);
Schedule warmup_cosine_decay_schedule(double init_value, double peak_value,
                                      std::int64_t warmup_steps, std::int64_t decay_steps,
                                      double end_value = 0.0);
/// Straight from init to the peak, then an exponential decay.
Schedule warmup_exponential_decay_schedule(double init_value, double peak_value,
                                           std::int64_t warmup_steps, std::int64_t transition_steps,
                                           double decay_rate, ExponentialOptions options = {});

/// One cycle of `sgdr_schedule`.
struct SgdrCycle {
  double init_value = 0.0, peak_value = 0.0;
  std::int64_t warmup_steps = 0, decay_steps = 0;
  double end_value = 0.0, exponent = 1.0;
  STRATA_FIELDS(init_value, peak_value, warmup_steps, decay_steps, end_value, exponent)
};
/// Cycles of warm-up and cosine, one after the other: warm restarts. Source: Loshchilov and Hutter,
/// SGDR (2017).
Schedule sgdr_schedule(const std::vector<SgdrCycle>& cosine_kwargs);

}  // namespace strata::optim
