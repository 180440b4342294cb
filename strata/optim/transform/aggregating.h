// Gradients of single elements of a batch, averaged, and their variance.
//
//   optim::aggregating::add_mean_variance_to_opt(optim::sgd(0.1), {.accumulation_steps = 4})
//
// Source: Optax's experimental aggregating.
#pragma once

#include "strata/optim/gradient_transformation.h"
#include "strata/optim/options.h"

namespace strata::optim::aggregating {

/// The axes of a leaf that count the elements.
using ElementAxes = std::vector<std::int64_t>;

/// Preprocesses gradients of elements, aggregates them, and, where the aggregator's state is
/// `ready`, postprocesses what came of it; zeros and the old state elsewhere. With
/// `aggregator_has_aux` the aggregator's updates are `updates/...` and what it hands on, `aux/...`,
/// which the postprocessor finds in Extra's `more`. State: 0, 1, 2.
GradientTransformation process(GradientTransformation preprocessor,
                               GradientTransformation aggregator,
                               GradientTransformation postprocessor,
                               bool aggregator_has_aux = false);
/// The mean over the elements.
GradientTransformation average_per_element_updates(ElementAxes per_elt_axis = {0});
/// The mean of accumulation_steps updates at the last of them, zeros before. State: micro_step,
/// ready, avg_grad; nothing for one step.
GradientTransformation accumulate_avg_updates(std::int64_t accumulation_steps);
/// Both; without axes the second alone.
GradientTransformation average_incrementally_updates(std::optional<ElementAxes> per_elt_axis,
                                                     std::int64_t accumulation_steps);
/// How many elements there are. Throws Error where leaves differ.
std::int64_t get_batch_size_from_per_elt_updates(const Tree& per_elt_updates,
                                                 const ElementAxes& per_elt_axis);
/// The mean over elements as updates/..., and aux/sum_sq_diff_grads/..., aux/sample_size. State of
/// several steps: micro_step, ready, mean_grads, sum_sq_diff_grads. Source: Chan et al. (1979).
GradientTransformation get_per_element_mean_and_sum_sq_diff_grads(
    ElementAxes per_elt_axis = {0}, std::int64_t accumulation_steps = 1);
/// Moving means of mean and variance; updates pass. State: count, ema_decay, mean_grads_ema,
/// variance_grads_ema.
GradientTransformation track_per_element_mean_and_variance_with_ema(Rate ema_decay = 0.9);
/// Mean and variance of a state that has them, divided by 1 - decay^count. Throws Error where it
/// has none.
std::pair<Tree, Tree> get_unbiased_mean_and_variance_ema(const Tree& state);

struct MeanVarianceOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate ema_decay = 0.9;
  ElementAxes per_elt_axis = {0};
  std::int64_t accumulation_steps = 1;
  STRATA_FIELDS(ema_decay, per_elt_axis, accumulation_steps)
};
/// `opt` by means of gradients of elements, whose moving mean and variance are kept.
GradientTransformation add_mean_variance_to_opt(GradientTransformation opt,
                                                MeanVarianceOptions options = {});

}  // namespace strata::optim::aggregating
