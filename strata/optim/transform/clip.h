// Bounds on updates.
#pragma once

#include "strata/optim/gradient_transformation.h"
#include "strata/optim/math/trees.h"
#include "strata/optim/schedule/rate.h"

namespace strata::optim {

/// Each element within -max_delta and max_delta.
GradientTransformation clip(Rate max_delta);
/// g / max(1, rms(g) / threshold), leaf by leaf. Source: Shazeer and Stern, Adafactor (2018).
GradientTransformation clip_by_block_rms(Rate threshold);
/// g where the norm of all leaves is below max_norm, else g / norm max_norm. Source: Pascanu et
/// al., On the difficulty of training recurrent neural networks (2013).
GradientTransformation clip_by_global_norm(Rate max_norm);
/// Each unit's norm at most `clipping` times its weights' norm, which counts at least eps. Units
/// are what `unitwise_norm` says. Source: Brock et al., High-Performance Large-Scale Image
/// Recognition Without Normalization (2021).
GradientTransformation adaptive_grad_clip(Rate clipping, Rate eps = 1e-3,
                                          std::optional<std::vector<std::int64_t>> axis = {});

/// The norm of x along axes, in x's shape. Without axes: of at most one axis longer than 1, all; of
/// 2 or 3 the first; of 4 and 5 all but the last. Throws Error for more.
Array unitwise_norm(const Array& x, const std::optional<std::vector<std::int64_t>>& axis = {});
/// grad where its norm is below max_norm, else grad max_norm / max(norm, div_eps).
Array unitwise_clip(const Array& g_norm, const Array& max_norm, const Array& grad,
                    double div_eps = 1e-6);
/// Gradients of examples along axis 0: their sum, each clipped by the norm over all leaves; and how
/// many were clipped.
std::pair<Tree, Array> per_example_global_norm_clip(const Tree& grads, Rate l2_norm_clip);
/// The same leaf by leaf, with the norm shared out among leaves, evenly or by their sizes; how many
/// were clipped in each.
std::pair<Tree, Tree> per_example_layer_norm_clip(const Tree& grads, Rate global_l2_norm_clip,
                                                  bool uniform = true);

struct SafeNorm {
  strata::internal::Named named = strata::internal::Named();
  /// As numpy::linalg::norm's; none: the root of the sum of squares.
  std::optional<double> ord = std::nullopt;
  Axes axis = {};
  bool keepdims = false;
};
/// The norm of x, min_norm where it is not above it; its derivative there is 0.
Array safe_norm(const Array& x, Rate min_norm, const SafeNorm& options = {});
/// The root of the mean square of x, min_rms where it is not above it; its derivative there is 0.
Array safe_root_mean_squares(const Array& x, Rate min_rms);

}  // namespace strata::optim
