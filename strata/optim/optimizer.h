// An optimizer and its state beside a model: Flax NNX's Optimizer.
//
//   optim::Optimizer optimizer(model, optim::adamw(1e-3));          // by the model's Params
//   auto step = nn::jit([](Model& m, optim::Optimizer& o, const Batch& b) {
//     auto [loss, grads] = nn::value_and_grad(loss_of)(m, b);
//     o.update(m, grads);
//     return loss;
//   });
//
// The state's paths are upstream's: `opt_state/0/mu/layers/0/kernel`. Source: flax.nnx.Optimizer.
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/variable.h"
#include "strata/optim/gradient_transformation.h"

namespace strata::optim {

/// A transformation and its state for the leaves of one model, and the number of updates so far. A
/// tree, so that transforms carry it beside the model.
struct Optimizer {
  nn::OptState step;  // ui32, updates so far
  Tree opt_state;
  GradientTransformation tx;
  STRATA_FIELDS(step, opt_state, tx)

  Optimizer() = default;
  /// The state for the leaves of the model that `wrt` takes. Throws Error where it takes none.
  template <tree::TreeLike M>
  Optimizer(const M& model, GradientTransformation rule, tree::Filter wrt = nn::of<nn::Param>())
      : Optimizer(tree::of(model), std::move(rule), std::move(wrt), 0) {}

  /// Moves the model's leaves that `grads` has, in whatever order; returns the updates. Throws
  /// Error where `grads` has other leaves than the state was made for, naming them.
  template <tree::TreeLike M>
  Tree update(M& model, const Tree& grads, const Extra& extra = {}) {
    auto [updates, params] = advance(tree::of(model), grads, extra);
    tree::assign(model, params);
    return updates;
  }

 private:
  Optimizer(const Tree& model, GradientTransformation tx, tree::Filter wrt, int);
  /// Updates and the new parameters.
  std::pair<Tree, Tree> advance(const Tree& model, const Tree& grads, const Extra& extra);
};

/// A model and its optimizer as one tree; paths `model/...`, `opt_state/...`, `step`. Source:
/// flax.nnx.ModelAndOptimizer.
template <tree::TreeLike M>
struct ModelAndOptimizer : Optimizer {
  M model;
  STRATA_FIELDS(model, opt_state, step, tx)

  ModelAndOptimizer() = default;
  /// Throws Error where `wrt` takes none of the model's leaves.
  ModelAndOptimizer(M given, GradientTransformation rule, tree::Filter wrt = nn::of<nn::Param>())
      : Optimizer(given, std::move(rule), std::move(wrt)), model(std::move(given)) {}
  /// Moves the model's leaves that `grads` has; returns the updates. Throws Error as Optimizer's.
  Tree update(const Tree& grads, const Extra& extra = {}) {
    return Optimizer::update(model, grads, extra);
  }
};

}  // namespace strata::optim

STRATA_COMPILED_VISIT(strata::optim::Optimizer)
