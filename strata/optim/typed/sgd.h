// Stochastic gradient descent.
//
//   auto optimizer = optim::typed::sgd(0.1, {.momentum = 0.9, .nesterov = true});
#pragma once

#include "strata/optim/typed/momentum.h"
#include "strata/optim/typed/scale.h"

namespace strata::optim::typed {

struct SgdOptions {
  /// 0: none, and no trace is kept.
  double momentum = 0.0;
  bool nesterov = false;
};
/// -schedule(count) * (the gradients, or their trace). `sgd(0.1)`: a rate that stays.
inline auto sgd(Schedule schedule, SgdOptions o = {}) {
  return chain(when(o.momentum > 0, trace(o.momentum, o.nesterov)),
               scale_by_learning_rate(std::move(schedule)));
}

}  // namespace strata::optim::typed
