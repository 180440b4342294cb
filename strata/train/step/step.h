// One training step: loss, gradients, optimizer, as one compiled program that reuses the memory of
// its state.
//
//   train::Optimizer optimizer{.rule = optim::adamw(1e-3), .max_norm = 1.0};
//   train::State state = train::init(random::key(0), model, optimizer);
//   train::Step step = train::make_step(model, optimizer, {.micro_batches = 4});
//   auto [outcome, next] = step(std::move(state), {tokens, targets});
//   outcome.loss.item<float>()
#pragma once

#include <functional>
#include <optional>

#include "strata/model/model.h"
#include "strata/optim/gradient_transformation.h"
#include "strata/train/step/batch.h"
#include "strata/train/step/routers.h"

namespace strata::train {

/// What becomes of gradients.
struct Optimizer {
  /// Any rule; it is given the loss, its gradients and the loss as a function too.
  optim::GradientTransformation rule;
  /// Bound on the norm of all gradients, which are multiplied by min(1, max_norm / norm); 0 for
  /// none. Source: Pascanu et al., On the difficulty of training recurrent neural networks (2013).
  double max_norm = 0;
  /// Whether the rule sees weights and gradients as f32 whatever their dtypes; what it remembers is
  /// f32 always.
  bool in_f32 = true;
  /// Weights that stay as they are, which may be packed blocks (ui8). The rule does not see them,
  /// nor do the norms.
  std::optional<tree::Filter> frozen = std::nullopt;
};

/// What a run carries from step to step.
struct State {
  tree::Tree params;
  tree::Tree optimizer;
  STRATA_FIELDS(params, optimizer)
};

/// Weights in `weight_dtype`, and the rule's first state for those that are not frozen.
State init(const Array& key, const model::ModelPtr& model, const Optimizer& optimizer,
           DType weight_dtype = DType::f32);

/// What a step came to. Norms are sqrt of the sum of squares, f32, one for each leaf of the weights
/// in the order of tree::paths: one that is no number tells which tensor holds such.
struct Outcome {
  Array loss;             // mean over the targets by their weights, in nats
  Array total_weights;    // sum of the weights of the targets, f32
  Array gradient_norms;   // of the gradients before clipping, (leaves); 0 for frozen weights
  Array parameter_norms;  // of the weights after the step, (leaves); 0 for frozen weights
  std::optional<RouterOutcome> routers = std::nullopt;  // where StepOptions::routers ask
  /// Of a model with layers that predict further tokens: their mean loss times mtp_loss_factor.
  std::optional<Array> mtp_loss = std::nullopt;
  /// The mean z-loss of the targets, times its multiplier, which `loss` contains; where
  /// StepOptions::z_loss asks.
  std::optional<Array> z_loss = std::nullopt;
  STRATA_FIELDS(loss, total_weights, gradient_norms, parameter_norms, routers, mtp_loss, z_loss)
};

struct StepOptions {
  /// The batch is worked off in this many equal parts, one after the other, whose gradients are
  /// added in f32 before the one update: memory of a part, result of the whole. Loss and gradients
  /// are those of the undivided batch, since each target counts by its share in the weights of the
  /// whole batch; gradients to the bit but for what docs/configuration.md lists.
  std::int64_t micro_batches = 1;
  /// Of a model with experts: the losses of its routers, which are added to what is minimised, and
  /// not to Outcome::loss. None: routers are neither asked nor counted.
  std::optional<RouterOptions> routers = std::nullopt;
  /// Of a model with layers that predict further tokens (model/decoder/multi_token.h): what their
  /// mean loss over all that they predict in the whole batch is worth in what is minimised.
  double mtp_loss_factor = 0.1;
  /// Each target's loss has this times log(Z)^2 on top (model/z_loss.h); 0 for none.
  double z_loss = 0;
};

/// (state, batch) -> (outcome, state). Compiled at its first call for each shape; the given state's
/// memory is taken for the new one, so move it in. Where the optimizer clips, and the loss or a
/// gradient is not finite, the state stays as it was (first_trouble.h). The function throws Error
/// when B is no multiple of `micro_batches`.
using Step = std::function<std::pair<Outcome, State>(State, Batch)>;
Step make_step(model::ModelPtr model, Optimizer optimizer, const StepOptions& options = {});

/// The same of weights that are there.
State init(tree::Tree weights, const Optimizer& optimizer);

/// What is minimised (f32: the loss, and those of routers and further tokens) and its gradients as
/// the step takes them, of all weights but the frozen ones; traceable.
std::pair<Array, tree::Tree> loss_and_gradients(
    const tree::Tree& params, const Batch& batch, const model::ModelPtr& model,
    const StepOptions& options = {}, const std::optional<tree::Filter>& frozen = std::nullopt);

/// (params, batch) -> (sum of the weighted losses of the targets, sum of their weights), f32,
/// compiled.
using Eval = std::function<std::pair<Array, Array>(const tree::Tree&, Batch)>;
Eval make_eval(model::ModelPtr model);
/// What a batch of evaluation comes to where routers, further tokens or log(Z) have losses of their
/// own: Eval's two, and those losses as a step's outcome has them, of this batch.
struct Evaluation {
  Array loss_sum, total_weights;
  std::optional<RouterOutcome> routers;
  std::optional<Array> mtp_loss, z_loss;
  STRATA_FIELDS(loss_sum, total_weights, routers, mtp_loss, z_loss)
};
using Evaluate = std::function<Evaluation(const tree::Tree&, Batch)>;
/// Of a model that has such losses by `options`, whose micro_batches counts as 1.
Evaluate make_evaluation(model::ModelPtr model, StepOptions options);
/// The same signature: (how often the `layer`th layer that predicts further tokens says what the
/// model itself does once it has read so far, the weights of what it was asked for).
Eval make_acceptance(model::ModelPtr model, std::int64_t layer);

}  // namespace strata::train
