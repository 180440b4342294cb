// SOAP: Adam in the eigenbasis of Shampoo's matrices.
//
//   optim::soap(3e-3, {.precondition_frequency = 10})
#pragma once

#include "strata/optim/transform/masked.h"

namespace strata::optim {

struct ScaleBySoapOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.95, b2 = 0.95;
  /// Of the matrices' means; none: b2.
  Rate shampoo_beta = {};
  Rate eps = 1e-8;
  /// Steps between new bases.
  std::int64_t precondition_frequency = 10;
  /// Longer axes have no matrix.
  std::int64_t max_precond_dim = 10000;
  STRATA_FIELDS(b1, b2, shampoo_beta, eps, precondition_frequency, max_precond_dim)
};
/// The first step only sets matrices L_i = G G^T of each axis and their eigenvectors Q_i, largest
/// eigenvalues first, and moves nothing. Then with t from 1: m = (1 - b1) g + b1 m, v = (1 - b2)
/// g'^2
/// + b2 v, result sqrt(1 - b2^t) / (1 - b1^t) of m' / (sqrt(v) + eps) turned back, where g' and m'
/// are turned by Q_i along each axis; L_i are means; every precondition_frequency steps Q_i becomes
/// qr(L_i Q_i) with its columns, and v, in the order of their eigenvalues. Leaves of fewer than two
/// axes are not turned. State: count, mu (not turned), nu, statistics/PATH/AXIS, basis/PATH/AXIS.
/// Source: Vyas et al., SOAP (2024). Throws Error for complex leaves.
GradientTransformation scale_by_soap(ScaleBySoapOptions options = {});
struct SoapOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.95, b2 = 0.95, shampoo_beta = {}, eps = 1e-8, weight_decay = 0.01;
  Mask mask = std::nullopt;
  std::int64_t precondition_frequency = 10, max_precond_dim = 10000;
  STRATA_FIELDS(b1, b2, shampoo_beta, eps, weight_decay, mask, precondition_frequency,
                max_precond_dim)
};
/// scale_by_soap, decay and the rate. Deviation: weights decay in the first step too.
GradientTransformation soap(Rate learning_rate, SoapOptions options = {});

}  // namespace strata::optim
