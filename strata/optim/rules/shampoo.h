// Shampoo: gradients preconditioned by a matrix for each axis.
//
//   optim::shampoo(1e-2, {.precondition_frequency = 10})
#pragma once

#include "strata/optim/transform/masked.h"

namespace strata::optim {

struct ScaleByShampooOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Of the mean of gradients, and of the matrices' means; 1: their sums.
  Rate b1 = 0.9, b2 = 1.0;
  /// Added to eigenvalues.
  double eps = 1e-6;
  /// Steps between new roots.
  std::int64_t precondition_frequency = 10;
  /// Steps of the grafted rule alone before the first with matrices.
  std::int64_t start_preconditioning_step = 0;
  /// Longer axes have no matrix.
  std::int64_t max_preconditioner_dim = 1024;
  /// Whose norm a leaf's update takes: "adam", "adagrad", "sgd", or "none" for its own.
  std::string grafting = "adam";
  Rate grafting_b2 = 0.999, grafting_eps = 1e-8;
  STRATA_FIELDS(b1, b2, eps, precondition_frequency, start_preconditioning_step,
                max_preconditioner_dim, grafting, grafting_b2, grafting_eps)
};
/// m = (1 - b1) g + b1 m; for each axis i of at most max_preconditioner_dim elements L_i = b2 L_i +
/// (1 - b2) G G^T with that axis first (b2 = 1: the sum); result m' multiplied along every such
/// axis by (L_i + eps I)^(-1/(2k)), k their number, m' = m / (1 - b1^t), with the norm of the
/// grafted rule's step leaf by leaf. Leaves of fewer than two axes take the grafted step; without
/// grafting, m'. State: count, mu, nu (of adam and adagrad), statistics/PATH/AXIS, roots/PATH/AXIS.
/// Source: Gupta et al., Shampoo (2018); Anil et al., Scalable Second Order Optimization for Deep
/// Learning (2020). Deviation: long axes are left out, not cut into blocks. Throws Error for
/// complex leaves.
GradientTransformation scale_by_shampoo(ScaleByShampooOptions options = {});
struct ShampooOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 1.0;
  double eps = 1e-6;
  std::int64_t precondition_frequency = 10, start_preconditioning_step = 0,
               max_preconditioner_dim = 1024;
  std::string grafting = "adam";
  Rate grafting_b2 = 0.999, grafting_eps = 1e-8, weight_decay = 0.0;
  Mask mask = std::nullopt;
  STRATA_FIELDS(b1, b2, eps, precondition_frequency, start_preconditioning_step,
                max_preconditioner_dim, grafting, grafting_b2, grafting_eps, weight_decay, mask)
};
/// scale_by_shampoo, decay and the rate.
GradientTransformation shampoo(Rate learning_rate, ShampooOptions options = {});

}  // namespace strata::optim
