// Rules with first and second moments beside Adam.
#pragma once

#include "strata/optim/transform/masked.h"

namespace strata::optim {

struct AmsgradOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = std::nullopt;
  bool bias_correction_mu = true, bias_correction_nu = true;
  STRATA_FIELDS(b1, b2, eps, eps_root, mu_dtype, bias_correction_mu, bias_correction_nu)
};
/// As Adam by the largest second moment so far. State: count, mu, nu, nu_max. Source: Reddi et al.,
/// On the Convergence of Adam and Beyond (2018).
GradientTransformation scale_by_amsgrad(AmsgradOptions options = {});
/// scale_by_amsgrad and the rate.
GradientTransformation amsgrad(Rate learning_rate, AmsgradOptions options = {});

struct AdamaxOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999, eps = 1e-8;
  STRATA_FIELDS(b1, b2, eps)
};
/// v = max(|g| + eps, b2 v); result m / (1 - b1^t) / v. State: count, mu, nu. Source: Kingma and
/// Ba, Adam (2015).
GradientTransformation scale_by_adamax(AdamaxOptions options = {});
/// scale_by_adamax and the rate.
GradientTransformation adamax(Rate learning_rate, AdamaxOptions options = {});
struct AdamaxWOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999, eps = 1e-8, weight_decay = 1e-4;
  Mask mask = std::nullopt;
  STRATA_FIELDS(b1, b2, eps, weight_decay, mask)
};
/// adamax with decay before the rate.
GradientTransformation adamaxw(Rate learning_rate, AdamaxWOptions options = {});

struct BeliefOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999, eps = 1e-16, eps_root = 1e-16;
  bool nesterov = false;
  STRATA_FIELDS(b1, b2, eps, eps_root, nesterov)
};
/// v = (1 - b2) |g - m|^2 + b2 v + eps_root with the new m; result m' / (sqrt(v') + eps). State:
/// count, mu, nu. Source: Zhuang et al., AdaBelief (2020).
GradientTransformation scale_by_belief(BeliefOptions options = {});
/// scale_by_belief and the rate.
GradientTransformation adabelief(Rate learning_rate, BeliefOptions options = {});

struct ScaleByYogiOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999, eps = 1e-3, eps_root = 0.0, initial_accumulator_value = 1e-6;
  STRATA_FIELDS(b1, b2, eps, eps_root, initial_accumulator_value)
};
/// v = v - (1 - b2) sign(v - |g|^2) |g|^2, else as Adam; moments begin at a value. State: count,
/// mu, nu. Source: Zaheer et al., Adaptive Methods for Nonconvex Optimization (2018).
GradientTransformation scale_by_yogi(ScaleByYogiOptions options = {});
struct YogiOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999, eps = 1e-3;
  STRATA_FIELDS(b1, b2, eps)
};
/// scale_by_yogi and the rate.
GradientTransformation yogi(Rate learning_rate, YogiOptions options = {});

struct RadamOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0.0, threshold = 5.0;
  bool nesterov = false;
  STRATA_FIELDS(b1, b2, eps, eps_root, threshold, nesterov)
};
/// Adam with a rectified variance once rho = rho_inf - 2 t b2^t / (1 - b2^t) is at the threshold,
/// before that the mean alone; rho_inf = 2 / (1 - b2) - 1. State: count, mu, nu. Source: Liu et
/// al., On the Variance of the Adaptive Learning Rate and Beyond (2020).
GradientTransformation scale_by_radam(RadamOptions options = {});
/// scale_by_radam and the rate.
GradientTransformation radam(Rate learning_rate, RadamOptions options = {});

struct ScaleByAdanOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.98, b2 = 0.92, b3 = 0.99, eps = 1e-8, eps_root = 0.0;
  STRATA_FIELDS(b1, b2, b3, eps, eps_root)
};
/// With d = g - g_before (0 first): moments m of g, v of d, n of the squares of g + (1 - b2) d;
/// result (m' + (1 - b2) v') / (sqrt(n' + eps_root) + eps). State: m, v, n, g, t. Source: Xie et
/// al., Adan (2022).
GradientTransformation scale_by_adan(ScaleByAdanOptions options = {});
struct AdanOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.98, b2 = 0.92, b3 = 0.99, eps = 1e-8, eps_root = 1e-8, weight_decay = 0.0;
  Mask mask = std::nullopt;
  STRATA_FIELDS(b1, b2, b3, eps, eps_root, weight_decay, mask)
};
/// scale_by_adan, decay and the rate.
GradientTransformation adan(Rate learning_rate, AdanOptions options = {});

struct ScaleByLionOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.99;
  std::optional<DType> mu_dtype = std::nullopt;
  /// "hard": the sign; "smooth": tanh(smooth_beta x); "refined": x within 1, else its sign.
  std::string mode = "hard";
  double smooth_beta = 1.0;
  STRATA_FIELDS(b1, b2, mu_dtype, mode, smooth_beta)
};
/// The sign of x = (1 - b1) g + b1 m; then m = (1 - b2) g + b2 m. State: count, mu. Throws Error
/// for another mode. Source: Chen et al., Symbolic Discovery of Optimization Algorithms (2023).
GradientTransformation scale_by_lion(ScaleByLionOptions options = {});
struct LionOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.99;
  std::optional<DType> mu_dtype = std::nullopt;
  Rate weight_decay = 1e-3;
  Mask mask = std::nullopt;
  STRATA_FIELDS(b1, b2, mu_dtype, weight_decay, mask)
};
/// scale_by_lion, decay and the rate.
GradientTransformation lion(Rate learning_rate, LionOptions options = {});

struct LambOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999, eps = 1e-6, eps_root = 0.0, weight_decay = 0.0;
  Mask mask = std::nullopt;
  STRATA_FIELDS(b1, b2, eps, eps_root, weight_decay, mask)
};
/// scale_by_adam, decay, scale_by_trust_ratio and the rate. Source: You et al., Large Batch
/// Optimization for Deep Learning: Training BERT in 76 minutes (2020).
GradientTransformation lamb(Rate learning_rate, LambOptions options = {});

struct ScaleByNovogradOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.25, eps = 1e-8, eps_root = 0.0, weight_decay = 0.0;
  std::optional<DType> mu_dtype = std::nullopt;
  STRATA_FIELDS(b1, b2, eps, eps_root, weight_decay, mu_dtype)
};
/// v the squared norm of a leaf, its mean later; s = g / (sqrt(v + eps_root) + eps) + decay p; m =
/// s first, then b1 m + s, the result. State: count, mu, nu (a number for each leaf). Source:
/// Ginsburg et al., NovoGrad (2019).
GradientTransformation scale_by_novograd(ScaleByNovogradOptions options = {});
struct NovogradOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.25, eps = 1e-6, eps_root = 0.0, weight_decay = 0.0;
  STRATA_FIELDS(b1, b2, eps, eps_root, weight_decay)
};
/// scale_by_novograd and the rate.
GradientTransformation novograd(Rate learning_rate, NovogradOptions options = {});

}  // namespace strata::optim
