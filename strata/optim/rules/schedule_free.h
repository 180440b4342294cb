// Optimizers that choose their own rate or need no schedule: schedule-free forms, Mechanic, and
// rates that fall on a plateau.
#pragma once

#include "strata/optim/gradient_transformation.h"
#include "strata/optim/options.h"

namespace strata::optim {

struct ScheduleFreeOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, weight_lr_power = 2.0;
  /// Of z; none: the parameters'.
  std::optional<DType> state_dtype = std::nullopt;
  STRATA_FIELDS(b1, weight_lr_power, state_dtype)
};
/// z moves by base_optimizer, x is a mean of z weighted by powers of the largest rate so far, and
/// the parameters are b1 x + (1 - b1) z. State: b1, weight_sum, step_count (from 1), max_lr,
/// base_optimizer_state, z. Source: Defazio et al., The Road Less Scheduled (2024).
GradientTransformation schedule_free(GradientTransformation base_optimizer, Rate learning_rate,
                                     ScheduleFreeOptions options = {});
struct ScheduleFreeSgdOptions {
  strata::internal::Named named = strata::internal::Named();
  std::optional<std::int64_t> warmup_steps = std::nullopt;
  Rate b1 = 0.9, weight_decay = {}, weight_lr_power = 2.0;
  std::optional<DType> state_dtype = std::nullopt;
  STRATA_FIELDS(warmup_steps, b1, weight_decay, weight_lr_power, state_dtype)
};
/// schedule_free over sgd.
GradientTransformation schedule_free_sgd(Rate learning_rate = 1.0,
                                         ScheduleFreeSgdOptions options = {});
struct ScheduleFreeAdamwOptions {
  strata::internal::Named named = strata::internal::Named();
  std::optional<std::int64_t> warmup_steps = std::nullopt;
  Rate b1 = 0.9, b2 = 0.999, eps = 1e-8, weight_decay = 0.0, weight_lr_power = 2.0;
  std::optional<DType> state_dtype = std::nullopt;
  STRATA_FIELDS(warmup_steps, b1, b2, eps, weight_decay, weight_lr_power, state_dtype)
};
/// schedule_free over AdamW without its first moment.
GradientTransformation schedule_free_adamw(Rate learning_rate = 0.0025,
                                           ScheduleFreeAdamwOptions options = {});
/// The weights to evaluate with: x, from a state of schedule_free and its parameters.
Tree schedule_free_eval_params(const Tree& state, const Tree& params);

struct MechanizeOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate weight_decay = 0.01, eps = 1e-8, s_init = 1e-6;
  std::int64_t num_betas = 6;
  STRATA_FIELDS(weight_decay, eps, s_init, num_betas)
};
/// Finds the factor of base_optimizer's steps while it runs. State: base_optimizer_state, count, r,
/// m, v, s, x0. Source: Cutkosky et al., Mechanic: A Learning Rate Tuner (2023).
GradientTransformation mechanize(GradientTransformation base_optimizer,
                                 MechanizeOptions options = {});

struct PlateauOptions {
  strata::internal::Named named = strata::internal::Named();
  double factor = 0.1;
  std::int64_t patience = 10;
  double rtol = 1e-4, atol = 0.0;
  std::int64_t cooldown = 0, accumulation_size = 1;
  double min_scale = 0.0;
  STRATA_FIELDS(factor, patience, rtol, atol, cooldown, accumulation_size, min_scale)
};
/// Updates times a scale that falls by `factor` where the loss, averaged over accumulation_size
/// steps, is not below (1 - rtol) best - atol for `patience` averages. Needs Extra's value. State:
/// scale, best_value, plateau_count, cooldown_count, count, avg_value. Throws Error for a factor
/// outside of 0 and 1 and tolerances that are negative, both 0, or above 1.
GradientTransformation reduce_on_plateau(PlateauOptions options = {});

}  // namespace strata::optim

namespace strata::optim::contrib {
using optim::mechanize;
using optim::reduce_on_plateau;
using optim::schedule_free;
using optim::schedule_free_adamw;
using optim::schedule_free_eval_params;
using optim::schedule_free_sgd;
}  // namespace strata::optim::contrib
