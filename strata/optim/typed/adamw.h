// Adam and AdamW.
//
//   auto simple = optim::typed::adam(1e-3);
//   auto optimizer = optim::typed::adamw(optim::warmup_cosine_decay_schedule(0.0, 3e-4, 100, 1000),
//                                 {.weight_decay = 0.1, .max_norm = 1.0, .mask =
//                                 optim::typed::mask_except_paths({"*norm*"})});
#pragma once

#include "strata/optim/typed/adam.h"
#include "strata/optim/typed/clip.h"
#include "strata/optim/typed/decay.h"
#include "strata/optim/typed/scale.h"

namespace strata::optim::typed {

struct AdamWOptions {
  double b1 = 0.9, b2 = 0.95, eps = 1e-8, weight_decay = 0.1;
  /// Bound on the global norm of the gradients; 0 for none.
  double max_norm = 0.0;
  /// The weights that decay; empty: all.
  Mask mask = {};
};
/// `adamw(3e-4)`, or a schedule in place of the number. Source: Loshchilov and Hutter, Decoupled
/// Weight Decay Regularization (2019).
inline auto adamw(Schedule schedule, AdamWOptions o = {}) {
  return chain(clip_by_global_norm(o.max_norm), scale_by_adam(o.b1, o.b2, o.eps),
               add_decayed_weights(o.weight_decay, std::move(o.mask)),
               scale_by_learning_rate(std::move(schedule)));
}
/// The type of what adamw makes.
using AdamW = decltype(adamw(std::declval<Schedule>()));

/// `adam(1e-3)`, or a schedule in place of the number. Source: Kingma and Ba, Adam (2015).
inline auto adam(Schedule schedule, double b1 = 0.9, double b2 = 0.999, double eps = 1e-8) {
  return chain(scale_by_adam(b1, b2, eps), scale_by_learning_rate(std::move(schedule)));
}

}  // namespace strata::optim::typed
