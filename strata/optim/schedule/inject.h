// Hyperparameters as leaves of the state.
//
//   auto tx = optim::inject_hyperparams("adamw", {{"learning_rate", 1e-3}});
//   Tree state = tx.init(params);
//   state.set("hyperparams/learning_rate", Array(1e-4f));        // from now on
#pragma once

#include "strata/optim/registry.h"

namespace strata::optim {

struct InjectOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Parameters that stay as they are.
  std::vector<std::string> static_args = {};
  /// Of numbers; none: the highest of the parameters'.
  std::optional<DType> hyperparam_dtype = std::nullopt;
  STRATA_FIELDS(static_args, hyperparam_dtype)
};
/// The rule of a name whose numbers are leaves of state, `hyperparams/NAME`, which may be assigned;
/// a schedule's value is there too, and has its count below `hyperparams_states`. State: count,
/// hyperparams, hyperparams_states, inner_state. Booleans, texts and whole numbers stay.
GradientTransformation inject_hyperparams(const std::string& rule, Options arguments,
                                          InjectOptions options = {});

}  // namespace strata::optim
