// Exponential moving averages of a model's variables.
//
//   nn::EMA ema(model, 0.999, nn::of<nn::Param>());
//   ...  ema.update(model);                     // after each step of training
//   Model smooth = ema.apply_to(model);
#pragma once

#include "strata/nn/state.h"

namespace strata::nn {

/// e <- decay e + (1 - decay) x for each variable that the filter took, in the variable's dtype.
/// The averages begin as copies. Source: Flax NNX's EMA. Deviation: `apply_to` copies the averages,
/// as models are values; a later update does not change that copy.
struct EMA {
  /// The averages, by their paths in the model.
  tree::Tree params;
  double decay = 0.0;
  STRATA_FIELDS(params, decay)

  EMA() = default;
  template <class M>
  EMA(const M& model, double rate, const tree::Filter& only = everything())
      : EMA(state(model, only), rate, nullptr) {}

  /// Moves the averages towards the model's values. Throws Error where the model lacks one of the
  /// variables.
  template <class M>
  void update(const M& model) {
    move_towards(tree::of(model));
  }
  /// A copy of the model with the averages in place of what they are of. Throws Error where the
  /// model lacks one of the variables.
  template <class M>
  M apply_to(M model) const {
    nn::update(model, params);
    return model;
  }

 private:
  EMA(tree::Tree averages, double rate, std::nullptr_t);
  void move_towards(const tree::Tree& model);
};

}  // namespace strata::nn
