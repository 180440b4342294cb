// Contributed rules by matrices and curvature: Muon, GaLore, Sophia; and private gradients.
#pragma once

#include "strata/optim/rules/adam.h"
#include "strata/optim/transform/masked.h"

namespace strata::optim::contrib {

/// Which axes of a leaf are a matrix's rows (what is summed over) and columns; others are a batch.
struct DimensionNumbers {
  std::vector<std::int64_t> reduction_axis = {0}, output_axis = {1};
};
/// Muon's name of it.
using MuonDimensionNumbers = DimensionNumbers;
/// GaLore's name of it.
using GaLoreDimensionNumbers = DimensionNumbers;
/// A leaf's numbers; none where it is no matrix.
using DimensionsOf =
    std::function<std::optional<DimensionNumbers>(const tree::Entry& entry, const Array& leaf)>;

/// Coefficients of Newton-Schulz steps, each three numbers: one for all steps, or one for each.
using NsCoeffs = std::vector<std::vector<double>>;
/// "standard" or "dion". Throws Error for another name.
NsCoeffs ns_coeffs_of(const std::string& preset);

struct OrthogonalizeOptions {
  strata::internal::Named named = strata::internal::Named();
  std::int64_t ns_steps = 5;
  /// "frobenius", "spectral": divided by that norm first; "aol", "schatten": rescaled in step one.
  std::string preconditioning = "frobenius";
  double eps = 1e-8;
};
/// The nearest matrix with orthonormal rows or columns, about: X = a X + (b A + c A^2) X with A =
/// X X^T, some times over. `ns_coeffs` has shape (3) or (steps, 3).
Array orthogonalize_via_newton_schulz(const Array& x, const Array& ns_coeffs,
                                      const OrthogonalizeOptions& options = {},
                                      const std::optional<DimensionNumbers>& dimensions = {});

struct ScaleByMuonOptions {
  strata::internal::Named named = strata::internal::Named();
  NsCoeffs ns_coeffs = {{3.4445, -4.7750, 2.0315}};
  std::int64_t ns_steps = 5;
  Rate beta = 0.95;
  double eps = 1e-8;
  std::optional<DType> mu_dtype = std::nullopt;
  bool nesterov = true, adaptive = false;
  std::string preconditioning = "frobenius";
  /// None: leaves of two axes.
  DimensionsOf weight_dimension_numbers = {};
  STRATA_FIELDS(ns_coeffs, ns_steps, beta, eps, mu_dtype, nesterov, adaptive, preconditioning,
                weight_dimension_numbers)
};
/// The momentum, orthogonalised; with `adaptive` times their product. State: count, mu, ns_coeffs.
/// Source: Jordan et al., Muon (2024).
GradientTransformation scale_by_muon(ScaleByMuonOptions options = {});
struct MuonOptions {
  strata::internal::Named named = strata::internal::Named();
  NsCoeffs ns_coeffs = {{3.4445, -4.7750, 2.0315}};
  std::int64_t ns_steps = 5;
  Rate beta = 0.95;
  double eps = 1e-8;
  Rate weight_decay = 0.0;
  Mask weight_decay_mask = std::nullopt;
  std::optional<DType> mu_dtype = std::nullopt;
  bool nesterov = true, adaptive = false;
  std::string preconditioning = "frobenius";
  Rate adam_b1 = 0.9, adam_b2 = 0.999, adam_eps_root = 0.0, adam_weight_decay = 0.0;
  /// None: the rate.
  Rate adam_learning_rate = {};
  DimensionsOf muon_weight_dimension_numbers = {};
  /// None: times sqrt(max(1, out / in)); else sqrt(max(in, out)) times it.
  std::optional<double> consistent_rms = std::nullopt;
  STRATA_FIELDS(ns_coeffs, ns_steps, beta, eps, weight_decay, weight_decay_mask, mu_dtype, nesterov,
                adaptive, preconditioning, adam_b1, adam_b2, adam_eps_root, adam_weight_decay,
                adam_learning_rate, muon_weight_dimension_numbers, consistent_rms)
};
/// Matrices by scale_by_muon, a scale by shape, decay and the rate; the rest by AdamW.
GradientTransformation muon(Rate learning_rate, MuonOptions options = {});

struct ScaleByGaloreOptions {
  strata::internal::Named named = strata::internal::Named();
  std::int64_t rank = 128, update_proj_gap = 200;
  double scale = 1.0;
  /// None: scale_by_adam.
  std::optional<GradientTransformation> base_optimizer = std::nullopt;
  DimensionsOf weight_dimension_numbers = {};
  STRATA_FIELDS(rank, update_proj_gap, scale, base_optimizer, weight_dimension_numbers)
};
/// base_optimizer on gradients of low rank: projected to the leading singular vectors of every
/// update_proj_gap-th gradient, and back. State: count, base_optimizer_state, projector. Source:
/// Zhao et al., GaLore (2024).
GradientTransformation scale_by_galore(ScaleByGaloreOptions options = {});
struct GaloreOptions {
  strata::internal::Named named = strata::internal::Named();
  std::int64_t rank = 128, update_proj_gap = 200;
  double scale = 1.0;
  std::optional<GradientTransformation> base_optimizer = std::nullopt;
  Rate weight_decay = 0.0;
  Mask mask = std::nullopt;
  DimensionsOf weight_dimension_numbers = {};
  STRATA_FIELDS(rank, update_proj_gap, scale, base_optimizer, weight_decay, mask,
                weight_dimension_numbers)
};
/// scale_by_galore, decay and the rate.
GradientTransformation galore(Rate learning_rate, GaloreOptions options = {});

/// The diagonal of the Hessian of Extra's obj_fn, about: r (H r) of random signs r. State: key.
GradientTransformation hutchinson_estimator_diag_hessian(random::Key key = random::key(0));
struct SophiaOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.965, b2 = 0.99, eps = 1e-8, weight_decay = 1e-4;
  Mask weight_decay_mask = std::nullopt;
  Rate gamma = 0.01;
  /// None: no clipping.
  Rate clip_threshold = 1.0;
  std::int64_t update_interval = 10;
  /// None: hutchinson_estimator_diag_hessian.
  std::optional<GradientTransformation> hessian_diagonal_fn = std::nullopt;
  std::optional<DType> mu_dtype = std::nullopt;
  STRATA_FIELDS(b1, b2, eps, weight_decay, weight_decay_mask, gamma, clip_threshold,
                update_interval, hessian_diagonal_fn, mu_dtype)
};
/// m' / max(gamma h, eps) within the threshold, where h is the mean of the Hessian's diagonal,
/// taken every update_interval steps after use; decay and the rate. State of the first member:
/// count, mu, nu, hessian_fn_state. Source: Liu et al., Sophia (2023).
GradientTransformation sophia(Rate learning_rate, SophiaOptions options = {});

/// Gradients of examples along axis 0: clipped, summed, with noise of noise_multiplier
/// l2_norm_clip, over their number. State: rng_key. Source: Abadi et al., Deep Learning with
/// Differential Privacy (2016).
GradientTransformation differentially_private_aggregate(Rate l2_norm_clip, Rate noise_multiplier,
                                                        random::Key key = random::key(0));
/// differentially_private_aggregate, momentum and the rate.
GradientTransformation dpsgd(Rate learning_rate, Rate l2_norm_clip, Rate noise_multiplier,
                             random::Key seed, Rate momentum = {}, bool nesterov = false);

}  // namespace strata::optim::contrib

namespace strata::optim {
/// The name of a preset, three numbers, or rows of them.
void read(const Option& given, const std::string& where, contrib::NsCoeffs& into);
}  // namespace strata::optim
