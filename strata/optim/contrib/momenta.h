// Contributed rules with moments: ACProp, AdEMAMix, ADOPT, COCOB, MADGRAD.
#pragma once

#include "strata/optim/transform/masked.h"

namespace strata::optim::contrib {

struct ScaleByAcpropOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999, eps = 1e-16, eps_root = 1e-16;
  STRATA_FIELDS(b1, b2, eps, eps_root)
};
/// g / (sqrt(v' of the step before) + eps), of the first step g; v = (1 - b2) |g - m_before|^2 + b2
/// v
/// + eps_root. State: count, mu, nu. Source: Zhuang et al., Momentum Centering and Asynchronous
/// Update for Adaptive Gradient Methods (2021).
GradientTransformation scale_by_acprop(ScaleByAcpropOptions options = {});
struct AcpropOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999, eps = 1e-16, eps_root = 1e-16, weight_decay = 0.0;
  Mask mask = std::nullopt;
  STRATA_FIELDS(b1, b2, eps, eps_root, weight_decay, mask)
};
/// scale_by_acprop, decay and the rate.
GradientTransformation acprop(Rate learning_rate, AcpropOptions options = {});

struct ScaleByAdemamixOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999;
  /// May be schedules.
  Rate b3 = 0.9999, alpha = 6.0;
  Rate eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = std::nullopt;
  STRATA_FIELDS(b1, b2, b3, alpha, eps, eps_root, mu_dtype)
};
/// (m1' + alpha m2) / (sqrt(v' + eps_root) + eps), where m2 is the mean of decay b3. State: count,
/// count_m2, m1, m2, nu. Source: Pagliardini et al., The AdEMAMix Optimizer (2024).
GradientTransformation scale_by_ademamix(ScaleByAdemamixOptions options = {});
struct AdemamixOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999, b3 = 0.9999, alpha = 5.0, eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = std::nullopt;
  Rate weight_decay = 0.0;
  Mask mask = std::nullopt;
  STRATA_FIELDS(b1, b2, b3, alpha, eps, eps_root, mu_dtype, weight_decay, mask)
};
/// scale_by_ademamix, decay and the rate.
GradientTransformation ademamix(Rate learning_rate, AdemamixOptions options = {});

struct ScaleBySimplifiedAdemamixOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.99, b2 = 0.95, alpha = 0.0, eps = 1e-8, eps_root = 0.0;
  STRATA_FIELDS(b1, b2, alpha, eps, eps_root)
};
/// m = g + b1 m; (m + alpha g) / (sqrt(n' + eps_root) + eps). State: t, m, n. Source: Morwani et
/// al., Connections between Schedule-Free Optimizers, AdEMAMix, and Accelerated SGD Variants
/// (2025).
GradientTransformation scale_by_simplified_ademamix(ScaleBySimplifiedAdemamixOptions options = {});
struct SimplifiedAdemamixOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.99, b2 = 0.95, alpha = 0.0, eps = 1e-8, eps_root = 0.0, weight_decay = 0.0;
  Mask mask = std::nullopt;
  STRATA_FIELDS(b1, b2, alpha, eps, eps_root, weight_decay, mask)
};
/// scale_by_simplified_ademamix, decay and the rate.
GradientTransformation simplified_ademamix(Rate learning_rate,
                                           SimplifiedAdemamixOptions options = {});

struct AdoptOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.9999, eps = 1e-6;
  std::optional<DType> mu_dtype = std::nullopt;
  bool nesterov = false, use_clipping = true;
  /// The bound at a step. Empty: step^(1/4).
  std::function<Array(const Array& step)> clip_value_fn = {};
  STRATA_FIELDS(b1, b2, eps, mu_dtype, nesterov, use_clipping, clip_value_fn)
};
/// The mean of g / max(sqrt(v_before), eps), clipped; the first step moves nothing with the usual
/// bound. State: count, mu, nu. Source: Taniguchi et al., ADOPT (2024).
GradientTransformation scale_by_adopt(AdoptOptions options = {});
/// scale_by_adopt and the rate.
GradientTransformation adopt(Rate learning_rate, AdoptOptions options = {});

/// L = max(L, |g|), G = G + |g|, R = max(R - g (p - p0), 0), C = C - g; the result moves p to p0 +
/// C / (L max(G + L, alpha L)) (L + R). State: init_particles, cumulative_gradients, scale,
/// subgradients, reward. Source: Orabona and Tommasi, Training Deep Networks without Learning Rates
/// Through Coin Betting (2017).
GradientTransformation scale_by_cocob(Rate alpha = 100.0, Rate eps = 1e-8);
struct CocobOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate alpha = 100.0, eps = 1e-8, weight_decay = 0.0;
  Mask mask = std::nullopt;
  STRATA_FIELDS(alpha, eps, weight_decay, mask)
};
/// Decay, the rate (upward) and scale_by_cocob.
GradientTransformation cocob(Rate learning_rate = 1.0, CocobOptions options = {});

/// l = (rate + eps) sqrt(t); V = V + l g^2, s = s + l g; z = p0 - s / (cbrt(V) + eps); the result
/// moves p to (1 - momentum) z + momentum p. State: count, grad_sum_sq, s, x0. Source: Defazio and
/// Jelassi, Adaptivity without Compromise (2021).
GradientTransformation scale_by_madgrad(Rate learning_rate, Rate momentum = 0.9, Rate eps = 1e-6);
/// Decay and scale_by_madgrad.
GradientTransformation madgrad(Rate learning_rate, Rate momentum = 0.9, Rate weight_decay = 0.0,
                               Rate eps = 1e-6);

}  // namespace strata::optim::contrib
