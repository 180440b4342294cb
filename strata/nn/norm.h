// Normalisation layers as functions of arrays.
#pragma once

#include "strata/api/numpy.h"

namespace strata::nn {

/// x / sqrt(mean(x^2) + epsilon) * weight over the last axis. x: (..., D), weight: (D). Computed in f32, the quotient
/// rounded to x's dtype before the weight is applied, as MaxText's RMSNorm does.
/// Source: Zhang and Sennrich, Root Mean Square Layer Normalization (2019).
Array rms_norm(const Array& x, const Array& weight, double epsilon = 1e-5);

}  // namespace strata::nn
