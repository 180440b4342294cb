// Parameters, an optimizer's state and a count of steps as one value: Flax NNX's TrainState.
//
//   auto [params, rest] = nn::split(model, nn::of<nn::Param>(), nn::everything());
//   optim::TrainState state = optim::TrainState::create(params, optim::adamw(1e-3));
//   auto step = jit([&](const optim::TrainState& s, const tree::Tree& rest, const Array& x) {
//     const auto loss = [&](const tree::Tree& params) {
//       return loss_of(nn::merge(model, params, rest), x);
//     };
//     return s.apply_gradients(grad(loss)(s.params));
//   });
//   state = step(state, rest, x);
//
// For training written with functions of values; `Optimizer` (optimizer.h) changes a model in
// place.
#pragma once

#include "strata/nn/state.h"
#include "strata/optim/gradient_transformation.h"

namespace strata::optim {

/// The state of a training run. A tree with upstream's paths: `params/...`, `opt_state/...`,
/// `step`. Source: flax.nnx.helpers.TrainState. Deviation: upstream's also holds the model's
/// definition; here `apply` is given a model, abstract or not, which is its own definition.
/// `replace` is assignment to a field of a copy.
struct TrainState {
  Tree params, opt_state;
  Array step;  // i32, updates so far
  GradientTransformation tx;
  STRATA_FIELDS(params, opt_state, step, tx)

  /// The state before the first update.
  static TrainState create(Tree params, GradientTransformation tx, std::int32_t step = 0);

  /// The model with these parameters, and with further states such as those that `split` left:
  /// `state.apply(model, rest)(x)`. Throws Error where a leaf of the model has no value, and for a
  /// path that it lacks.
  template <tree::TreeLike M, std::same_as<Tree>... States>
  M apply(M model, const States&... states) const {
    return nn::merge(std::move(model), params, states...);
  }
  /// The state behind one update by these gradients. Throws Error, with the paths, where they are
  /// of other leaves than the parameters.
  TrainState apply_gradients(const Tree& grads, const Extra& extra = {}) const;
};

}  // namespace strata::optim
