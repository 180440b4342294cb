// A configuration's keys of experts as what a step asks of routers, and a step's figures as
// metrics.
#pragma once

#include <optional>

#include "strata/train/config/config.h"
#include "strata/train/report/metrics.h"
#include "strata/train/step/routers.h"
#include "strata/train/step/step.h"

namespace strata::train {

/// None of a model without experts. Throws ConfigError for a key of experts that such a model
/// cannot follow: losses where there are no experts, a rate where routers have no bias.
std::optional<RouterOptions> router_options(const Config& config, const model::Model& model);

/// What a configuration asks of each step of a model. Throws as `router_options`.
StepOptions step_options(const Config& config, const model::Model& model);

/// "learning/moe_lb_loss", "learning/router_z_loss", "experts/largest_load", "experts/idle",
/// "experts/entropy", "experts/dropped", and for each layer with experts
/// "experts/layer_N/largest_load" and "experts/layer_N/entropy".
void add_scalars(const RouterFigures& figures, const RouterOutcome& outcome, Scalars& to);

}  // namespace strata::train
