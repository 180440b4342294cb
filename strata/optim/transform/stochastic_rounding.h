// Parameters of 16 bits that move by less than half of their last place: rounded at random, up as
// often as what is cut off says.
//
//   params = optim::apply_updates(params, updates, {.key = random::key(0), .step = count});
//
// The noise is a function of the key, the step, a leaf's path and an element's place alone. Source:
// Gupta et al., Deep Learning with Limited Numerical Precision (2015); Zamirai et al., Revisiting
// BFloat16 Training (2020).
#pragma once

#include "strata/api/random.h"
#include "strata/optim/gradient_transformation.h"

namespace strata::optim {

/// x, which is f32, in bf16: of its two neighbours the one away from 0 with the probability
/// (bits of x below bf16's last) / 2^16, which makes the mean x. What bf16 holds, infinities and
/// NaN stay. Throws Error for another dtype.
Array round_stochastically(const random::Key& key, const Array& x);

/// Where the noise comes from.
struct StochasticRounding {
  random::Key key;
  /// The count of steps, i32; the noise of another step is another.
  Array step;
};
/// params + updates, computed in f32; leaves of bf16 are rounded at random, others as apply_updates
/// rounds them.
Tree apply_updates(const Tree& params, const Tree& updates, const StochasticRounding& rounding);
/// The same as the last member of a chain: updates of bf16 parameters become, in f32, what leads to
/// the parameters rounded at random, so that the plain apply_updates ends there. State: count.
GradientTransformation stochastic_rounding(random::Key key = random::key(0));

}  // namespace strata::optim
